"""Who may do what: tokens, invitations, the dashboard's cookie, and headers that protect pages."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Final
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from supm._random import RandomSource, secure
from supm.service.answers import Refused
from supm.service.store import Opened, Store

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_RAW_HEADERS: Final = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
_YEAR: Final = (b"strict-transport-security", b"max-age=31536000")
_RAW_HEADERS_OF_TLS: Final = [*_RAW_HEADERS, _YEAR]
_INVITATION_BYTES: Final = 10
_LONGEST_SECRET: Final = 200
_BLANKS: Final = re.compile(r"[\s-]+")


def new_token(source: RandomSource | None = None) -> str:
    """Return a new token for an analyst: 256 random bits."""
    words = (source or secure()).words(4).tobytes()
    return base64.urlsafe_b64encode(words).decode().rstrip("=")


def new_invitation(source: RandomSource | None = None) -> str:
    """Return a new invitation: 80 random bits in four groups of letters and digits."""
    words = (source or secure()).words(2).tobytes()[:_INVITATION_BYTES]
    code = base64.b32encode(words).decode().lower()
    return "-".join(code[place : place + 4] for place in range(0, len(code), 4))


def hash_token(token: str) -> str:
    """Return what is stored of a token.

    Examples
    --------
    >>> hash_token("a")[:8]
    'ca978112'
    """
    return hashlib.sha256(token.encode()).hexdigest()


def hash_invitation(code: str) -> str:
    """Return what is stored of an invitation, however it was typed.

    Examples
    --------
    >>> hash_invitation("ABCD efgh") == hash_invitation("abcd-efgh")
    True
    """
    return hash_token(_BLANKS.sub("", code[:_LONGEST_SECRET]).lower())


def fits(token: str, stored: str) -> bool:
    """Say whether a token is the one whose hash is stored, in a time that tells nothing."""
    return hmac.compare_digest(hash_token(token[:_LONGEST_SECRET]), stored)


def cookie_name(name: str) -> str:
    """Return the name of the cookie that holds the token of a study."""
    return f"supm-{name}"


def sign_in(request: Request, response: Response, name: str, token: str) -> None:
    """Put the token of a study into a cookie that no script can read."""
    response.set_cookie(
        cookie_name(name),
        token,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        max_age=12 * 3600,
    )


def given_token(request: Request, name: str) -> str | None:
    """Return the token that a request brings for a study, or None."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return token.strip()
    return request.cookies.get(cookie_name(name))


def may_act(request: Request) -> bool:
    """Say whether a request that brings a token was meant: another site cannot have made it."""
    if not is_own_origin(request):
        return False
    bearer = request.headers.get("authorization", "").lower().startswith("bearer ")
    return bearer or request.headers.get("x-supm") == "1"


def is_own_origin(request: Request) -> bool:
    """Say whether a request came from a page of this service, or from no page at all."""
    origin = request.headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc == request.headers.get("host")
    except ValueError:
        return False


def store_of(request: Request) -> Store:
    """Return the store of the service."""
    store: Store = request.app.state.store
    return store


async def look_up(request: Request, name: str) -> Opened:
    """Return a study, or raise UnknownStudy."""
    return await run_in_threadpool(store_of(request).find, name)


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


class SecurityHeaders:
    """Adds the headers that protect pages, where an answer does not set its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        wanted = _RAW_HEADERS_OF_TLS if scope.get("scheme") == "https" else _RAW_HEADERS

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                more = [pair for pair in wanted if pair[0] not in given]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await self._app(scope, receive, guarded)
