"""The help of a verb: its docstring, with what can be typed."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

from cyclopts import App
from cyclopts.argument import Argument

__all__ = ["Help", "help_of", "sections"]

_WIDTH, _INDENT = 96, 24
_HEAD: Final = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)


class Help(NamedTuple):
    """What there is to say about a verb or an act.

    Parameters
    ----------
    usage, text : str
        What is typed, and what it does.
    entries : dict of str to list of tuple of str and str
        Under "acts", "arguments" and "options": what each is called, and what it is.
    examples, notes : str
        Lines as they are, or nothing.
    """

    usage: str
    text: str
    entries: dict[str, list[tuple[str, str]]]
    examples: str
    notes: str

    def __str__(self) -> str:
        """Return it as lines for a terminal."""
        blocks = [self.usage, self.text]
        for kind, entries in self.entries.items():
            blocks.append(f"{kind}:\n" + "\n".join(_entry(*each) for each in entries))
        if self.examples:
            blocks.append(f"examples:\n{textwrap.indent(self.examples, '  ')}")
        return "\n\n".join(filter(None, [*blocks, self.notes]))


def help_of(words: Sequence[str], app: App) -> Help:
    """Return the help of a verb or of an act.

    Parameters
    ----------
    words : sequence of str
        What is typed for it.
    app : App
        The verb.

    Returns
    -------
    Help
    """
    verb = app.default_command
    text = sections(inspect.getdoc(verb) or "" if verb else app.help)
    return Help(
        usage=" ".join(_usage(words, app)),
        text=text[""],
        entries=_options(app) if verb else {"acts": list(_acts(app))},
        examples=textwrap.dedent(text.get("Examples", "").replace("::\n", "", 1)).strip("\n"),
        notes=_notes(app) if verb else "",
    )


def sections(text: str) -> dict[str, str]:
    """Split a docstring at its headings; what stands before them has no name."""
    first, *rest = _HEAD.split(text)
    parts = zip(rest[::2], rest[1::2], strict=True)
    return {"": first.strip(), **{name: content.strip("\n") for name, content in parts}}


def _acts(app: App) -> Iterator[tuple[str, str]]:
    for name in app:
        verb = app[name].default_command
        first = sections(inspect.getdoc(verb) or "")[""].partition("\n")[0] if verb else ""
        yield name, first


def _notes(app: App) -> str:
    """Return what options that verbs share have to say together."""
    shared = [each.hint for each in app.assemble_argument_collection() if each.name == "*"]
    return "\n\n".join(sections(inspect.getdoc(each) or "").get("Notes", "") for each in shared)


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


def _options(app: App) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for each in app.assemble_argument_collection(parse_docstring=True):
        if each.show:
            kind = "options" if each.name.startswith("-") else "arguments"
            words = " ".join((each.parameter.help or "").split())
            found.setdefault(kind, []).append((_label(each), words))
    return found


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
    indent = " " * _INDENT
    told = textwrap.fill(words, _WIDTH, initial_indent=indent, subsequent_indent=indent)
    start = f"  {label}"
    if len(start) + 2 > _INDENT or not told:
        return f"{start}\n{told}".rstrip()
    return start + told[len(start) :]
