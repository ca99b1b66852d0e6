"""Arguments: each is checked as it is read, and what is wrong is one sentence with a hint."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from supm._errors import ParameterError
from supm._validation import EPSILON, Integers, Reals

__all__ = ["Parser", "epsilon", "epsilons", "real", "trust", "weights", "whole"]

_MOST_BUDGETS: Final = 100
_WEIGHT: Final = 1e-6, 1e6
_CHOICE: Final = re.compile(r"invalid choice: (.*) \(choose from (.*)\)")
# What argparse says, and what we say.
_SENTENCES: Final = (
    (re.compile(r"^argument (\S+): must be (.*)$"), r"\1 must be \2."),
    (re.compile(r"^argument (\S+): expected one argument$"), r"\1 must be followed by a value."),
    (re.compile(r"^argument (\S+): not allowed with argument (\S+)$"), r"\1 cannot go with \2."),
    (re.compile(r"^the following arguments are required: (.*)$"), r"\1 must be given."),
    (re.compile(r"^one of the arguments (\S+) (\S+) is required$"), r"\1 or \2 must be given."),
    (
        re.compile(r"^one of the arguments (\S+) (\S+) (\S+) is required$"),
        r"\1, \2 or \3 must be given.",
    ),
    (re.compile(r"^unrecognized arguments: (.*)$"), r"no such argument: \1."),
)
_TRUST: Final = ("u", "t", "untrusted", "trusted")
_TRUST_OF_TEST: Final = (*_TRUST, "d", "device")


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence, without the lines of usage before it."""

    _acts: argparse._SubParsersAction[Any] | None = None

    def parse_known_args(  # type: ignore[override]  # argparse's overloads say no more than this
        self,
        args: Sequence[str] | None = None,
        namespace: Any = None,  # noqa: ANN401  argparse takes any object
    ) -> tuple[Any, list[str]]:
        """Refuse what is not known where the verb is known, so that its own help is named.

        Parameters
        ----------
        args : sequence of str, optional
            What was typed.
        namespace : Namespace, optional
            What was read before.

        Returns
        -------
        tuple of Namespace and list of str
        """
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def add_subparsers(
        self,
        **options: Any,  # noqa: ANN401  argparse's own
    ) -> argparse._SubParsersAction[Any]:
        """Take acts, which are listed where none is given.

        Parameters
        ----------
        **options : object
            Those of argparse.

        Returns
        -------
        action
            To add each act to.
        """
        self._acts = super().add_subparsers(**options)
        return self._acts

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where the help is, and leave with code 2.

        Parameters
        ----------
        message : str
            What argparse found.
        """
        self.exit(2, f"supm: error: {self._sentence(message)} See {self.prog} --help.\n")

    def _sentence(self, message: str) -> str:
        """Say what argparse says, and which acts there are where none was given."""
        acts = self._acts
        if acts is None or not message.endswith(f"required: {acts.metavar}"):
            return _sentence(message)
        return f"{acts.metavar} must be given, one of {', '.join(acts.choices)}."


def epsilon(text: str) -> float:
    """Read an epsilon as argparse wants it done.

    Parameters
    ----------
    text : str
        What was typed.

    Returns
    -------
    float
        A number in the interval that all mechanisms take.

    Examples
    --------
    >>> epsilon("0.5")
    0.5
    """
    return real(EPSILON.low, EPSILON.high)(text)


def epsilons(text: str) -> list[float]:
    """Read a list of different epsilons as argparse wants it done.

    Parameters
    ----------
    text : str
        Numbers with commas between.

    Returns
    -------
    list of float

    Examples
    --------
    >>> epsilons("1,2.5")
    [1.0, 2.5]
    """
    parts = text.split(",")
    if len(parts) > 1 and not all(part.strip() for part in parts):
        _refuse("numbers with single commas between", text)
    numbers = [epsilon(part) for part in parts]
    if len(numbers) > _MOST_BUDGETS:
        _refuse(f"at most {_MOST_BUDGETS} numbers", f"{len(numbers)} of them")
    if len(set(numbers)) < len(numbers):
        _refuse("different numbers", text)
    return numbers


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of whole numbers in an interval.

    Parameters
    ----------
    low, high : int
        The least and the greatest.

    Returns
    -------
    callable
        From text to int, as argparse wants it done.

    Examples
    --------
    >>> whole(2, 10)("7")
    7
    """

    def read(text: str) -> int:
        try:
            return Integers("", low, high).check(int(text))
        except ParameterError as error:
            raise argparse.ArgumentTypeError(str(error).strip(" .")) from None
        except ValueError:
            _refuse("a whole number", text)

    return read


def real(low: float, high: float) -> Callable[[str], float]:
    """Return a reader of numbers in an interval.

    Parameters
    ----------
    low, high : float
        The least and the greatest.

    Returns
    -------
    callable
        From text to float, as argparse wants it done.

    Examples
    --------
    >>> real(0.0, 1.0)("0.25")
    0.25
    """

    def read(text: str) -> float:
        try:
            return Reals("", low, high).check(float(text))
        except ValueError:
            _refuse(f"a number in [{low:g}, {high:g}]", text)

    return read


def trust(text: str) -> str:
    """Check three letters of trust as argparse wants it done.

    Parameters
    ----------
    text : str
        A letter for each phase, with commas between.

    Returns
    -------
    str
        The same.

    Examples
    --------
    >>> trust("u,u,d")
    'u,u,d'
    """
    parts = [part.strip().lower() for part in text.split(",")]
    fits = len(parts) == 3 and {*parts[:2]} <= {*_TRUST} and parts[2] in _TRUST_OF_TEST
    if not fits:
        rule = (
            "three letters with commas between, for reduce, train and test: u (untrusted), "
            "t (trusted), and for test also d (the owner's device)"
        )
        _refuse(rule, text)
    return text


def weights(text: str) -> str | dict[str, float]:
    """Read how much each class counts as argparse wants it done.

    Parameters
    ----------
    text : str
        The word balanced, or classes with their numbers and commas between.

    Returns
    -------
    str or dict of str to float

    Examples
    --------
    >>> weights("yes=3,no=1")
    {'yes': 3.0, 'no': 1.0}
    """
    if text == "balanced":
        return text
    found: dict[str, float] = {}
    for part in text.split(","):
        name, sign, number = part.rpartition("=")
        if not sign or name.strip() in found:
            _refuse("balanced, or different classes with a number each, such as yes=3,no=1", text)
        found[name.strip()] = real(*_WEIGHT)(number)
    return found


def _refuse(rule: str, got: str) -> NoReturn:
    message = f"must be {rule}, got {got!r}"
    raise argparse.ArgumentTypeError(message) from None


def _sentence(message: str) -> str:
    # Some versions of Python quote the choices, and others do not.
    told = _CHOICE.sub(lambda found: _one_of(found[2].replace("'", ""), found[1]), message)
    for pattern, words in _SENTENCES:
        if pattern.match(told):
            return pattern.sub(words, told)
    return f"{told.rstrip('.')}."


def _one_of(choices: str, got: str) -> str:
    return f"must be one of {choices}, got {got}"
