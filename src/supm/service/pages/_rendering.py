"""From a template and what it shows to a page."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

__all__ = ["error_page", "render"]

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
    """Return a page; whatever is put into it is escaped.

    Parameters
    ----------
    request : Request
        What is answered.
    template : str
        The name of a file among the templates.
    context : dict
        What it shows.
    status : int, default 200
        The status of the answer.

    Returns
    -------
    Response
    """
    return _TEMPLATES.TemplateResponse(request, template, context, status_code=status)


def error_page(request: Request, status: int) -> Response:
    """Return a page that says what went wrong, and nothing of why."""
    known = HTTPStatus(status)
    sentence = _SENTENCES.get(known, "This did not work.")
    return render(request, "error.html", {"title": known.phrase, "sentence": sentence}, status)
