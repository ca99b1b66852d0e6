"""From what was typed to a call of a verb, and from what goes wrong to one sentence."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, get_args, get_origin

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
from supm.cli._help import help_of
from supm.cli._types import NotTogetherError
from supm.reporting.words import printable

__all__ = ["make_app", "run"]

_WRONG_USAGE: Final = 2


def make_app(verbs: Iterable[str]) -> App:
    """Return the command line; the file of a verb is loaded when the verb is called.

    Parameters
    ----------
    verbs : iterable of str
        Their names.

    Returns
    -------
    App
    """
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
    """Call the verb that was typed, and return the exit code.

    Parameters
    ----------
    typed : list of str
        The arguments.
    verbs : iterable of str
        The names of all verbs.

    Returns
    -------
    int
    """
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
