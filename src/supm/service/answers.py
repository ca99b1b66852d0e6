"""What the service answers: JSON, and one sentence where it refuses."""

from __future__ import annotations

import math
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from supm._errors import MessageError, SupmError
from supm.service.errors import Busy, StoreError, UnknownStudy

_JSON: Final = "application/json"
_UNKNOWN: Final = {
    404: "there is nothing at this address.",
    405: "this address does not take this method.",
}
# The first that fits; an empty sentence is the error's own, which never shows what was sent.
_KNOWN: Final[dict[type[Exception], tuple[int, str, float | None]]] = {
    Busy: (503, "too many reports wait; try again.", 1.0),
    StoreError: (503, "the database does not answer; try again.", 5.0),
    UnknownStudy: (404, "", None),
    MessageError: (422, "", None),
    SupmError: (409, "", None),
}


class Refused(Exception):  # noqa: N818  a request that is refused is no error of the service
    """A request is refused."""

    def __init__(self, status: int, sentence: str, *, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.retry_after = status, sentence, retry_after


def json_answer(form: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:  # noqa: ANN401  whatever JSON can hold
    """Return an answer in JSON."""
    return Response(msgspec.json.encode(form), status, headers, media_type=_JSON)


def refusal_answer(error: Refused) -> Response:
    """Return the answer to a refused request."""
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return json_answer({"error": error.sentence}, error.status, headers)


def as_refused(error: Exception) -> Refused:
    """Return the refusal that an error of the library or of the framework amounts to."""
    if isinstance(error, Refused):
        return error
    for kind, (status, sentence, wait) in _KNOWN.items():
        if isinstance(error, kind):
            return Refused(status, sentence or str(error), retry_after=wait)
    code = getattr(error, "status_code", None)
    if code in _UNKNOWN:
        return Refused(code, _UNKNOWN[code])
    return Refused(500, "the aggregator failed; nothing of this request was kept.")


async def answer_error(_: Request, error: Exception) -> Response:
    """Answer with the refusal that an error amounts to."""
    return refusal_answer(as_refused(error))
