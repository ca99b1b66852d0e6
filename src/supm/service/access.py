"""What endpoints and pages need: the parts of the service, and whether the analyst is asking."""

from __future__ import annotations

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from supm.service.answers import Refused
from supm.service.open_questions import find_study
from supm.service.security import fits, given_token, may_act
from supm.service.store import Opened, Store


def store_of(request: Request) -> Store:
    """Return the store of the service."""
    store: Store = request.app.state.store
    return store


async def look_up(request: Request, name: str) -> Opened:
    """Return a study, or raise UnknownStudy."""
    return await run_in_threadpool(find_study, store_of(request), name)


def brings_token(request: Request, name: str) -> bool:
    """Say whether a request brings the token of a study that exists."""
    token = given_token(request, name)
    return token is not None and fits(token, store_of(request).token_hash(name))


async def check_analyst(request: Request, name: str, *, acts: bool = False) -> Opened:
    """Return a study whose analyst is asking, or raise Refused."""
    opened = await look_up(request, name)
    if given_token(request, name) is None:
        raise Refused(401, "this needs the study's token (Authorization: Bearer …).")
    if not await run_in_threadpool(brings_token, request, name):
        raise Refused(403, "the token is not this study's.")
    if acts and not may_act(request):
        raise Refused(403, "the request comes from another site, or lacks the header X-SUPM: 1.")
    return opened


def check_media_type(request: Request, *allowed: str) -> str:
    """Return the media type of a body, or raise Refused."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in allowed:
        raise Refused(415, f"the Content-Type must be {' or '.join(allowed)}.")
    return given
