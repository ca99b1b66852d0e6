"""A page for each verb of the command line, from the docstrings that are also its help."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from supm.cli import VERBS
from supm.cli._frame import Help, help_of, make_app

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = Path(__file__).parent / "cli" / "generated"


def page(verb: str) -> str:
    """Return the page of a verb and of its acts, as Markdown."""
    app = make_app([verb])
    found = app[verb]
    with app.app_stack([app, found]):
        blocks = list(_blocks(("supm", verb), found, 1))
    if found.default_command is None:
        for act in found:
            with app.app_stack([app, found, found[act]]):
                blocks += _blocks(("supm", verb, act), found[act], 2)
    return "\n\n".join(blocks) + "\n"


def _blocks(words: tuple[str, ...], app: App, level: int) -> Iterator[str]:
    told: Help = help_of(words, app)
    yield f"{'#' * level} `{' '.join(words)}`"
    yield told.text.replace("<", "\\<")
    yield f"```text\n{told.usage}\n```"
    for kind, entries in told.entries.items():
        rows = "\n\n".join(f"`{label}`\n: {text or '…'}" for label, text in entries)
        yield f"**{kind.capitalize()}**\n\n{rows}"
    if told.examples:
        yield f"**Examples**\n\n```console\n{told.examples}\n```"
    if told.notes:
        yield f"```text\n{told.notes}\n```"


def _write(_: Sphinx) -> None:
    FOLDER.mkdir(exist_ok=True, parents=True)
    for verb in VERBS:
        (FOLDER / f"{verb}.md").write_text(page(verb), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Write the pages before they are read; Sphinx calls this."""
    app.connect("builder-inited", _write)
