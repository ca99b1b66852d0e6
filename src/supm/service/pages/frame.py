"""From a template and what it shows to a page."""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeAlias

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from supm.service.errors import StoreError, UnknownStudy

Page: TypeAlias = Callable[..., Response]

_ENVIRONMENT: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES: Final = Jinja2Templates(env=_ENVIRONMENT)
_SENTENCES: Final = {
    HTTPStatus.NOT_FOUND: "There is no such page. The address may have been mistyped.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not take what was sent to it.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The service cannot reach its database now. Try again soon.",
}


def render(
    request: Request, template: str, context: dict[str, Any], status: int = HTTPStatus.OK
) -> Response:
    """Return a page; whatever is put into it is escaped."""
    return _TEMPLATES.TemplateResponse(request, template, context, status_code=status)


def error_page(request: Request, status: int) -> Response:
    """Return a page that says what went wrong, and nothing of why."""
    known = HTTPStatus(status)
    sentence = _SENTENCES.get(known, "This did not work.")
    return render(request, "error.html", {"title": known.phrase, "sentence": sentence}, status)


def shown(page: Page) -> Callable[[Request], Response]:
    """Return a page that shows its errors as pages; those of the API are JSON."""

    def answer(request: Request) -> Response:
        try:
            return page(request, **request.path_params)
        except HTTPException as error:
            return error_page(request, error.status_code)
        except UnknownStudy:
            return error_page(request, HTTPStatus.NOT_FOUND)
        except StoreError:
            return error_page(request, HTTPStatus.SERVICE_UNAVAILABLE)

    return answer


PLOTLY_VERSION: Final = importlib.metadata.version("plotly")
"""Part of the script's address, so that a browser may keep it for good."""

_FOLDER: Final = Path(__file__).parent.parent / "static"
_PLOTLY: Final = "plotly.min.js"
_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_LEVEL: Final = 6
# Before it writes the styles of its maps into a page, Plotly looks whether they are there.
_MARK: Final = re.compile(rb'getElementById\("([0-9a-f]{64})"\)')
_lock: Final = Lock()


@dataclass(frozen=True, kw_only=True, repr=False)
class _Asset:
    body: bytes
    packed: bytes
    tag: str
    kind: str


def asset_response(request: Request, name: str) -> Response:
    """Return a file of the package, compressed where the browser reads that."""
    with _lock:
        asset = _read(name)
    kept = name == _PLOTLY and request.query_params.get("v") == PLOTLY_VERSION
    headers = {
        "etag": asset.tag,
        "vary": "accept-encoding",
        # Others are checked each time: a new release must not meet an old script.
        "cache-control": "public, max-age=31536000, immutable" if kept else "no-cache",
    }
    if asset.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        packed = headers | {"content-encoding": "gzip"}
        return Response(asset.packed, media_type=asset.kind, headers=packed)
    return Response(asset.body, media_type=asset.kind, headers=headers)


@lru_cache(maxsize=1)
def plotly_marks() -> tuple[str, ...]:
    """Return the ids of elements whose presence keeps Plotly from writing styles into a page."""
    return tuple(sorted({found.decode() for found in _MARK.findall(_bytes_of(_PLOTLY))}))


@lru_cache(maxsize=64)
def _read(name: str) -> _Asset:
    body = _bytes_of(name)
    return _Asset(
        body=body,
        packed=gzip.compress(body, _LEVEL, mtime=0),
        tag=f'W/"{hashlib.sha256(body).hexdigest()[:32]}"',
        kind=_KINDS[Path(name).suffix],
    )


def _bytes_of(name: str) -> bytes:
    if name == _PLOTLY:
        return (files("plotly") / "package_data" / _PLOTLY).read_bytes()
    # Names are compared with what is there: an address cannot lead out of the folder.
    for path in _FOLDER.iterdir():
        if path.name == name and path.suffix in _KINDS:
            return path.read_bytes()
    raise HTTPException(404)
