"""The frame: the verbs as a cyclopts app, errors in one sentence, exit codes, and the help."""

from __future__ import annotations

import difflib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

from cyclopts import (
    App,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
    ValidationError,
)
from cyclopts.argument import Argument

from supm._errors import ParameterError
from supm.reporting.text import printable

_WIDTH, _INDENT = 96, 24
_WRONG_USAGE: Final = 2
_HEAD: Final = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)


def reading(read: Callable[[str], Any], metavar: str) -> Parameter:
    """Return how an argument is read; what is given again replaces what was given before."""

    def convert(_: Any, tokens: Any) -> Any:  # noqa: ANN401  as cyclopts calls it
        return read(tokens[-1].value)

    return Parameter(
        converter=convert,
        n_tokens=1,
        accepts_keys=False,
        # A dash stands for the standard output, and a number may be negative.
        allow_leading_hyphen=True,
        metavar=metavar,
    )


class Help(NamedTuple):
    """What there is to say about a verb or an act."""

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
    """Return the help of a verb or of an act."""
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


def make_app(verbs: Iterable[str]) -> App:
    """Return the command line; the file of a verb is loaded when the verb is called."""
    app = App(
        name="supm",
        help_flags=(),
        version_flags=(),
        # What is given again replaces what was given before, as in every shell script.
        default_parameter=Parameter(allow_repeating=True, negative=()),
    )
    for verb in verbs:
        app.command(f"supm.cli.{verb}:verb", name=verb)
    return app


def run(typed: list[str], verbs: Iterable[str]) -> int:
    """Call the verb that was typed, and return the exit code."""
    app = make_app(verbs)
    chain, apps, rest = app.parse_commands(typed)
    if {"--help", "-h"} & {*rest}:
        with app.app_stack(apps):
            print(help_of(("supm", *chain), apps[-1]))
        return 0
    try:
        if apps[-1].default_command is None:
            raise UnknownCommandError(unused_tokens=rest or [""], app=apps[-1])
        verb, bound, _ = app.parse_args(typed, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        words = f"{_sentence(error)} See {' '.join(('supm', *chain))} --help."
        print(f"supm: error: {printable(words)}", file=sys.stderr)
        return _WRONG_USAGE
    try:
        return verb(*bound.args, **bound.kwargs) or 0
    except NotTogetherError as error:
        error.args = (f"{error} See {' '.join(('supm', *chain))} --help.",)
        raise
    except ParameterError as error:
        with app.app_stack(apps):
            error.args = (_option_of(error.name, apps[-1]) + str(error)[len(error.name) :],)
        raise


def _option_of(name: str, app: App) -> str:
    """Return how the option is typed that the library knows by a name."""
    for argument in app.assemble_argument_collection():
        field = argument.field_info
        further = [each for each in get_args(field.annotation)[1:] if isinstance(each, str)]
        if name in (field.name, *further) and argument.name != "*":
            return argument.name
    return name


def _sentence(error: CycloptsError) -> str:
    if isinstance(error, UnknownCommandError):
        return _no_such_act(error)
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        return _missing(error, error.argument)
    if isinstance(error, UnknownOptionError):
        typed = error.token.keyword or error.token.value
        return _no_such_option(typed, _names(error.argument_collection))
    if isinstance(error, UnusedCliTokensError):
        return f"no such argument: {' '.join(error.unused_tokens or ())}."
    if isinstance(error, CoercionError | ValidationError) and error.argument is not None:
        return _refused(error, error.argument)
    # What several options break together is said by the verb's own validator.
    return " ".join((getattr(error, "exception_message", "") or str(error)).split())


def _no_such_act(error: UnknownCommandError) -> str:
    app, (typed, *_) = error.app, error.unused_tokens or [""]
    acts = [name for name in (app or ()) if not name.startswith("-")]
    noun = "VERB" if app is not None and app.name == ("supm",) else "ACT"
    listed = ", ".join(acts)
    if not typed:
        return f"{noun} must be given, one of {listed}."
    return f"{noun} must be one of {listed}, got {typed!r}.{_meant(typed, acts)}"


def _missing(error: MissingArgumentError, argument: Argument) -> str:
    unknown = [each for each in error.unused_tokens or () if each.startswith("--")]
    if error.keyword is not None or argument.tokens:
        return f"{error.keyword or argument.name} must be followed by a value."
    for typed in unknown:
        meant = difflib.get_close_matches(typed, [argument.name])
        if meant:
            return _no_such_option(typed, meant)
    return f"{argument.name} must be given."


def _no_such_option(typed: str, names: Iterable[str]) -> str:
    return f"no such argument: {typed}.{_meant(typed, names)}"


def _refused(error: CoercionError | ValidationError, argument: Argument) -> str:
    token = getattr(error, "token", None) or (argument.tokens[-1] if argument.tokens else None)
    name = (token.keyword if token else None) or argument.name
    got = "" if token is None else token.value
    choices = _choices(argument.hint)
    if error.__cause__ is not None:
        rule, meant = str(error.__cause__), ""
    elif choices:
        rule, meant = f"one of {', '.join(choices)}", _meant(got, choices)
    else:
        rule, meant = "left without a value", ""
    rule, _, hint = rule.partition("\n")
    return f"{name} must be {rule}, got {got!r}.{meant}{f' {hint}' if hint else ''}"


def _choices(hint: Any) -> list[str]:  # noqa: ANN401  any annotation
    if get_origin(hint) is Literal:
        return [str(each) for each in get_args(hint)]
    return [name for part in get_args(hint) for name in _choices(part)]


def _meant(typed: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(typed, list(names), n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _names(arguments: Iterable[Argument]) -> Iterator[str]:
    for each in arguments:
        yield from each.names


def exclusive(*, needed: bool = False, **given: object) -> None:
    """Refuse several arguments where there may be one."""
    names = [name if name.isupper() else f"--{name.replace('_', '-')}" for name in given]
    there = [name for name, value in zip(names, given.values(), strict=True) if value]
    if len(there) > 1:
        raise NotTogetherError(f"{there[1]} cannot go with {there[0]}.")
    if needed and not there:
        raise NotTogetherError(f"{', '.join(names[:-1])} or {names[-1]} must be given.")


class UsageError(ParameterError):
    """Options that do not go together, said in a sentence of one's own."""

    def __init__(self, sentence: str) -> None:
        super(ParameterError, self).__init__(sentence)


class NotTogetherError(UsageError):
    """None of several options, or more than one of them, so that the help is worth a look."""
