"""The form that asks the analyst for the token of a study, and the cookie that keeps it."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from supm.service.answers import Refused
from supm.service.limits import read_body
from supm.service.pages.frame import error_page, render, shown
from supm.service.security import cookie_name, fits, is_own_origin, sign_in, store_of

_LONGEST_FORM: Final = 4096


def enter_page(request: Request, name: str) -> Response:
    """Return the form that asks for the token."""
    opened = store_of(request).find(name)
    return render(request, "enter.html", {"name": opened.name, "wrong": False})


async def enter(request: Request) -> Response:
    """Take the token from the form, and keep it in a cookie that no script can read."""
    if not is_own_origin(request):
        return error_page(request, HTTPStatus.FORBIDDEN)
    try:
        body = await read_body(request, _LONGEST_FORM)
    except Refused as refused:
        return error_page(request, HTTPStatus(refused.status))
    token = parse_qs(body.decode("ascii", "replace")).get("token", [""])[0].strip()
    return await run_in_threadpool(shown(partial(_entered, token=token)), request)


def leave(request: Request, name: str) -> Response:
    """Forget the token."""
    if not is_own_origin(request):
        return error_page(request, HTTPStatus.FORBIDDEN)
    opened = store_of(request).find(name)
    response = go(f"/studies/{opened.name}/enter")
    response.delete_cookie(cookie_name(opened.name), httponly=True, samesite="strict")
    return response


def go(path: str) -> RedirectResponse:
    """Send the browser to another page of this host."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


def _entered(request: Request, name: str, *, token: str) -> Response:
    store = store_of(request)
    if not fits(token, store.token_hash(store.find(name).name)):
        shown = {"name": name, "wrong": True}
        return render(request, "enter.html", shown, HTTPStatus.FORBIDDEN)
    response = go(f"/studies/{name}/dashboard")
    sign_in(request, response, name, token)
    return response
