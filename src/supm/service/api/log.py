"""The log of releases over HTTP: for everybody, to read only, and for nobody to believe unchecked.

`supm.publication.remote.RemoteLog` is the other end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.responses import PlainTextResponse

from supm._errors import PublicationError
from supm.publication.entry import ReleaseEntry, read_entry
from supm.publication.history import entry_at
from supm.publication.log import Log
from supm.service.answers import Refused, json_answer
from supm.service.api.openapi import answers
from supm.service.errors import StoreError
from supm.service.received_reports import JSON

router = APIRouter(prefix="/log", tags=["releases"])

_TEXT: Final = "text/plain"
_FILE: Final = "application/octet-stream"
_MOST_ENTRIES: Final = 1000
_MOST_CHARACTERS: Final = 1 << 20
_LARGEST: Final = (1 << 53) - 1
_HASH: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_KEY: Final = "log.example+f3e73440+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
_MOST_BYTES: Final = 180
_PLAIN: Final = frozenset("._-+=@()[], ")
_NO_NAME: Final = "release"
_REASONS: Final = {
    404: "the log has no such entry or file",
    422: "a number or a hash is not one, or they do not go together",
    503: "the log cannot be read now; see Retry-After",
}

Whole = Annotated[int, Query(ge=0, le=_LARGEST, examples=[3])]
Kind = Annotated[Literal["key", "chain"], Query(examples=["key"])]
_OF_CONTENT: Final[dict[str, Any]] = {
    "pattern": "^[0-9a-f]{64}$",
    "description": "The SHA-256 of a published file.",
    "examples": [_HASH],
}
Asked = Annotated[str, Query(**_OF_CONTENT)]
Content = Annotated[str, Path(**_OF_CONTENT)]


@contextmanager
def reading_log() -> Iterator[None]:
    """Turn what goes wrong with the file of a log into an answer that names no file."""
    try:
        yield
    except PublicationError:
        raise StoreError("the log cannot be read.") from None


def log_of(request: Request) -> Log:
    """Return the log of the service."""
    log: Log = request.app.state.log
    return log


def release_at(log: Log, place: int) -> ReleaseEntry:
    """Return the release at a place."""
    entry = read_entry(entry_at(log, place))
    if not isinstance(entry, ReleaseEntry):
        raise PublicationError(f"entry {place} is no release of a file.")
    return entry


def safe_name(name: str) -> str:
    """Return a name under which a file can be stored anywhere, close to the one it was given.

    Examples
    --------
    >>> safe_name("release.json")
    'release.json'
    >>> safe_name('..$(reboot)".html')
    '(reboot)_.html'
    """
    plain = "".join(each if each.isalnum() or each in _PLAIN else "_" for each in name)
    short = plain.encode()[:_MOST_BYTES].decode(errors="ignore")
    return short.lstrip("._- ").rstrip(". ") or _NO_NAME


def _told(example: object, *codes: int, media_type: str = JSON) -> dict[int | str, dict[str, Any]]:
    found = answers(example, *codes, media_type=media_type)
    for code in found:
        if code in _REASONS:
            found[code]["description"] = _REASONS[int(code)]
    return found


@router.get("/key", responses=_told(_KEY, media_type=_TEXT), response_class=PlainTextResponse)
def show_key(request: Request) -> Response:
    """Return the public key with which the log began."""
    return PlainTextResponse(f"{log_of(request).first_key}\n")


@router.get(
    "/checkpoint",
    responses=_told("log.example\n3\n…", media_type=_TEXT),
    response_class=PlainTextResponse,
)
def show_checkpoint(request: Request) -> Response:
    """Return the newest checkpoint, a signed note: how many entries there are, and their root."""
    with reading_log():
        return PlainTextResponse(log_of(request).checkpoint().text)


@router.get("/entries", responses=_told(['{"kind":"release","…":"…"}'], 422))
def show_entries(request: Request, start: Whole, stop: Whole) -> Response:
    """Return the texts of entries from one place up to another.

    At most 1,000, and fewer where they are long or the log ends: ask again from where it stopped.
    """
    if start > stop:
        raise Refused(422, "start must not be after stop.")
    with reading_log():
        return json_answer(_page(log_of(request), start, min(stop, start + _MOST_ENTRIES)))


def _page(log: Log, start: int, stop: int) -> list[str]:
    """Return entries until they are too long for one answer; the first is told in any case."""
    found, length = list[str](), 0
    # One by one: an entry may have 16 MiB, and a thousand of those must never be held at once.
    for place in range(start, min(stop, log.size)):
        found.append(entry_at(log, place))
        length += len(found[-1])
        if length > _MOST_CHARACTERS:
            break
    return found


@router.get("/places", responses=_told([0, 2, 5], 422))
def show_places(request: Request, kind: Kind) -> Response:
    """Return where changes of keys are, or where contracts are named, in order."""
    with reading_log():
        return json_answer(log_of(request).places(kind))


@router.get("/find", responses=_told([2], 422))
def show_place(request: Request, content: Asked) -> Response:
    """Return a list with the place of the release of a file, or an empty one."""
    with reading_log():
        place = log_of(request).find(content)
    return json_answer([] if place is None else [place])


@router.get("/inclusion", responses=_told([_HASH], 404, 422))
def show_inclusion(request: Request, index: Whole, size: Whole) -> Response:
    """Return the hashes that lead from an entry to the root of the first entries."""
    log = log_of(request)
    if index >= size:
        raise Refused(422, "index must be below size.")
    with reading_log():
        _check_size(log, size)
        return json_answer([each.hex() for each in log.inclusion(index, size)])


@router.get("/consistency", responses=_told([_HASH], 404, 422))
def show_consistency(request: Request, first: Whole, second: Whole) -> Response:
    """Return the hashes which show that the first entries are the beginning of more."""
    log = log_of(request)
    if first > second:
        raise Refused(422, "first must not be above second.")
    with reading_log():
        _check_size(log, second)
        return json_answer([each.hex() for each in log.consistency(first, second)])


@router.get("/proof/{content}", responses=_told({"version": 1, "release": {"…": "…"}}, 404, 422))
def show_proof(request: Request, content: Content) -> Response:
    """Return the proof that a file was published: all that a reader needs beside file and key."""
    log = log_of(request)
    with reading_log():
        return Response(log.proof_at(_find(log, content)).to_json(), media_type=JSON)


@router.get(
    "/files/{content}",
    responses=_told("the bytes of the file", 404, 422, media_type=_FILE),
    response_class=Response,
)
def show_file(request: Request, content: Content) -> Response:
    """Return a published file, where the log keeps a copy."""
    log = log_of(request)
    with reading_log():
        name, held = release_at(log, _find(log, content)).name, log.kept(content)
    if held is None:
        raise Refused(404, "the log keeps no copy of this file; ask its publisher for it.")
    return Response(held, media_type=_FILE, headers={"Content-Disposition": _as_download(name)})


def _as_download(name: str) -> str:
    """Return the header of RFC 6266 that has a browser store an answer and never show it."""
    safe = safe_name(name)
    plain = "".join(each if each.isascii() else "_" for each in safe)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe, safe='')}"


def _find(log: Log, content: str) -> int:
    place = log.find(content)
    if place is None:
        raise Refused(404, "the log has no release with this SHA-256.")
    return place


def _check_size(log: Log, size: int) -> None:
    if size > log.size:
        raise Refused(404, "the log does not have so many entries.")
