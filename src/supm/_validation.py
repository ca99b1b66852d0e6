"""Constraints on public parameters, declared once and checked where a value is made.

A declaration knows how to check a value and how to list values that break it, so the tests of bad
input are generated from the same line that rejects it.
"""

from __future__ import annotations

import difflib
import math
import numbers
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from supm._errors import ParameterError

_SHOWN: Final = 5
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_HASH: Final = re.compile("[0-9a-f]{64}")
# Control characters and marks that turn a line around: they change what is shown beside them.
_COMMANDS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Reals:
    """A finite real number in a closed interval.

    Examples
    --------
    >>> Reals("confidence", 0.5, 0.999).check(0.95)
    0.95
    >>> Reals("confidence", 0.5, 0.999).check(2)
    Traceback (most recent call last):
    supm._errors.ParameterError: confidence must be a number in [0.5, 0.999], got 2.
    """

    name: str
    low: float
    high: float
    hint: str = ""

    def check(self, value: object) -> float:
        """Return the value as a float, or raise ParameterError."""
        number = as_float(value)
        if self.low <= number <= self.high:
            return number
        interval = f"[{_shortest(self.low)}, {_shortest(self.high)}]"
        raise ParameterError(self.name, f"a number in {interval}", value, self.hint)

    def violations(self) -> list[object]:
        """Values that must be refused."""
        beyond = [math.nextafter(self.low, -math.inf), math.nextafter(self.high, math.inf)]
        return [*beyond, math.nan, math.inf, -math.inf, "1", None, True, [1.0], 1j]


@dataclass(frozen=True)
class Integers:
    """A whole number in a closed interval.

    Examples
    --------
    >>> Integers("size", 2, 2**40).check(5)
    5
    >>> Integers("size", 2, 2**40).check(2**64)
    Traceback (most recent call last):
    supm._errors.ParameterError: size must be a whole number in [2, 2^40], got 18446744073709551616.
    """

    name: str
    low: int
    high: int
    hint: str = ""

    def check(self, value: object) -> int:
        """Return the value as an int, or raise ParameterError."""
        if not isinstance(value, bool) and isinstance(value, numbers.Integral):
            number = int(value)
            if self.low <= number <= self.high:
                return number
        raise ParameterError(
            self.name,
            f"a whole number in [{_power(self.low)}, {_power(self.high)}]",
            value,
            self.hint,
        )

    def violations(self) -> list[object]:
        """Values that must be refused."""
        return [self.low - 1, self.high + 1, -(2**70), 2**64, 2.5, "3", None, True, math.nan]


EPSILON = Reals(
    "epsilon",
    1e-6,
    1e4,
    "An epsilon is a finite promise; where no privacy is wanted, say so with NoGuarantee(reason).",
)


def keep_checked(value: object, *rules: Reals | Integers, **named: Reals | Integers) -> None:
    """Check fields of a frozen value, each by its rule, and keep them as plain numbers.

    A rule is for the field of its name, or for that by which it is given. Equal values have equal
    text then, whatever the kind of their numbers was.
    """
    for name, rule in ({each.name: each for each in rules} | named).items():
        object.__setattr__(value, name, rule.check(getattr(value, name)))


def check_kind(name: str, value: object, kind: type) -> None:
    """Raise ParameterError, which names the kinds only, if a value is of another kind.

    Examples
    --------
    >>> check_kind("seed", "7", int)
    Traceback (most recent call last):
    supm._errors.ParameterError: seed must be of kind int, got <class 'str'>.
    """
    if not isinstance(value, kind):
        raise ParameterError(name, f"of kind {kind.__name__}", type(value))


def check_text(name: str, text: object, longest: int) -> None:
    """Raise ParameterError where a text is too long, not UTF-8, or would command a terminal."""
    check_kind(name, text, str)
    if len(str(text)) > longest:
        got = f"{len(str(text))} characters"
        raise ParameterError(name, f"a text of at most {longest} characters", got)
    if commands_a_terminal(str(text).translate({10: " ", 9: " "})):
        raise ParameterError(name, "a text without control characters", "a text that has one")
    if not is_unicode(str(text)):
        wanted = "Unicode text without lone surrogates"
        raise ParameterError(name, wanted, "a text that has one")


def is_unicode(text: str) -> bool:
    """Say whether a text has no lone surrogates, so that it can be written as UTF-8."""
    return not _SURROGATES.search(text)


def commands_a_terminal(text: str) -> bool:
    """Say whether a text would move, hide or turn around what is shown beside it.

    Owners read names and values of a stranger's study before they consent to it.
    """
    return _COMMANDS.search(text) is not None


def is_hash(text: object) -> bool:
    """Say whether a text is a SHA-256 in hexadecimal: 64 digits."""
    return isinstance(text, str) and _HASH.fullmatch(text) is not None


def check_hash(name: str, text: object) -> None:
    """Raise ParameterError where a text is no SHA-256 in hexadecimal."""
    if not is_hash(text):
        raise ParameterError(name, "a hash of 64 hexadecimal digits", text)


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return what a wrong name may have meant, or else some of the names that there are.

    Examples
    --------
    >>> suggestion("AGE", ["age", "ward"])
    "Did you mean 'age'?"
    >>> suggestion("x", ["age", "ward"])
    "There are 'age', 'ward'."
    """
    known = list(names)
    by_case = {each.casefold(): each for each in known}
    close = difflib.get_close_matches(name.casefold(), by_case, n=1)
    if close:
        return f"Did you mean {by_case[close[0]]!r}?"
    shown = ", ".join(repr(each) for each in known[:_SHOWN])
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"There {'is' if len(known) == 1 else 'are'} {shown}{more}."


def as_float(value: object) -> float:
    """Return NaN, which is in no interval, for what no float can be."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _shortest(number: float) -> str:
    """Print six digits where they are the number, and all of them otherwise: 1 - 1e-12 is not 1."""
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))


def _power(number: int) -> str:
    exponent = number.bit_length() - 1
    return f"2^{exponent}" if exponent >= 16 and number == 1 << exponent else str(number)
