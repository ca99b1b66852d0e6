"""The help of a verb: its docstring, with what can be typed."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, get_args, get_origin

from cyclopts import App
from cyclopts.argument import Argument

__all__ = ["help_of", "sections"]

_WIDTH, _INDENT = 96, 24
_HEAD: Final = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)


def help_of(words: Sequence[str], app: App) -> str:
    """Return the help of a verb or of an act.

    Parameters
    ----------
    words : sequence of str
        What is typed for it.
    app : App
        The verb.

    Returns
    -------
    str
        Lines without a final newline.
    """
    verb = app.default_command
    text = sections(inspect.getdoc(verb) or "" if verb else app.help)
    blocks = [" ".join(_usage(words, app)), text[""]]
    if verb is None:
        blocks.append("acts:\n" + "\n".join(_acts(app)))
    else:
        blocks += _options(app)
    if "Examples" in text:
        lines = textwrap.dedent(text["Examples"].replace("::\n", "", 1)).strip("\n")
        blocks.append(f"examples:\n{textwrap.indent(lines, '  ')}")
    if verb:
        blocks += _notes(app)
    return "\n\n".join(blocks)


def sections(text: str) -> dict[str, str]:
    r"""Split a docstring at its headings; what stands before them has no name.

    Parameters
    ----------
    text : str
        A docstring without the indent of its lines.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> sections("Do it.\n\nNotes\n-----\nAt once.\n")
    {'': 'Do it.', 'Notes': 'At once.'}
    """
    first, *rest = _HEAD.split(text)
    parts = zip(rest[::2], rest[1::2], strict=True)
    return {"": first.strip(), **{name: content.strip("\n") for name, content in parts}}


def _acts(app: App) -> Iterator[str]:
    for name in app:
        verb = app[name].default_command
        first = sections(inspect.getdoc(verb) or "")[""].partition("\n")[0] if verb else ""
        yield _entry(name, first)


def _usage(words: Sequence[str], app: App) -> Iterator[str]:
    yield from ("usage:", *words)
    if app.default_command is None:
        yield "ACT …"
        return
    arguments = [each for each in app.assemble_argument_collection() if each.show]
    named = [each for each in arguments if each.name.startswith("-")]
    yield from (_label(each) for each in named if each.required)
    if not all(each.required for each in named):
        yield "[options]"
    for each in arguments:
        if each not in named:
            yield each.name if each.required else f"[{each.name}]"


def _options(app: App) -> Iterator[str]:
    """Return the arguments in blocks: by their groups where they have any."""
    blocks: dict[str, list[str]] = {}
    for each in app.assemble_argument_collection(parse_docstring=True):
        if each.show:
            kind = "options" if each.name.startswith("-") else "arguments"
            blocks.setdefault(kind, []).append(_entry(_label(each), each.parameter.help or ""))
    for name, entries in blocks.items():
        yield f"{name}:\n" + "\n".join(entries)


def _notes(app: App) -> Iterator[str]:
    """Return what options that verbs share have to say together."""
    for each in app.assemble_argument_collection():
        if each.name == "*":
            yield sections(inspect.getdoc(each.hint) or "").get("Notes", "")


def _label(argument: Argument) -> str:
    if not argument.name.startswith("-"):
        return argument.name
    takes = argument.hint is not bool
    names = ", ".join(sorted(argument.names, key=len) if takes else argument.names)
    return f"{names} {argument.parameter.metavar or _metavar(argument.hint)}" if takes else names


def _metavar(hint: Any) -> str:  # noqa: ANN401  any annotation
    if get_origin(hint) is Literal:
        return "|".join(map(str, get_args(hint)))
    found = [_metavar(each) for each in get_args(hint) if each is not type(None)]
    return found[0] if found else {int: "N", float: "X"}.get(hint, "TEXT")


def _entry(label: str, words: str) -> str:
    """Put words beside their label, or under it where it is long."""
    told = textwrap.fill(
        " ".join(words.split()),
        _WIDTH,
        initial_indent=" " * _INDENT,
        subsequent_indent=" " * _INDENT,
    )
    start = f"  {label}"
    if len(start) + 2 > _INDENT or not told:
        return f"{start}\n{told}".rstrip()
    return start + told[len(start) :]
