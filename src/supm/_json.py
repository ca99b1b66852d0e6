"""JSON from strangers, read strictly, and JSON of ours, written in one way only.

A message is hashed and consented to, so one meaning must have one text, in every language: it is
written by RFC 8785, which writes numbers as JavaScript does, and what is not plain JSON (NaN, a key
that occurs twice) is refused instead of guessed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

import rfc8785

_LONGEST: Final = 1 << 24
_LARGEST: Final = (1 << 53) - 1
Refusal = Callable[[str], Exception]


def canonical(form: Any) -> str:  # noqa: ANN401  any plain value of JSON
    """Return the one text of a value by RFC 8785; a whole number of 2^53 or more has none.

    Examples
    --------
    >>> canonical({"b": 4.0, "a": [True, None, 1e16]})
    '{"a":[true,null,10000000000000000],"b":4}'
    """
    return rfc8785.dumps(form).decode()


def read_object(text: object, noun: str, refuse: Refusal) -> dict[str, Any]:
    """Return the object that a text holds, or raise what ``refuse`` makes of a sentence.

    Parameters
    ----------
    text : object
        What a stranger sent.
    noun : str
        What it should be: "schema".
    refuse : callable
        Makes the exception: a class of `supm._errors`.

    Returns
    -------
    dict
        Whose values are still to be checked.

    Examples
    --------
    >>> read_object('{"a": 1}', "study", ValueError)
    {'a': 1}
    >>> read_object('{"a": 1, "a": 2}', "study", ValueError)
    Traceback (most recent call last):
    ValueError: the key 'a' occurs twice in one object; keep one of them.
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise refuse(f"a {noun} must be text of at most {_LONGEST} characters.")
    form = _Reader(noun, refuse).read(text)
    if not isinstance(form, dict):
        raise refuse(f"the {noun} must be a JSON object.")
    return form


def check_fields(
    form: dict[str, Any], known: Iterable[str], noun: str, refuse: Refusal, *, path: str = ""
) -> None:
    """Refuse a field that is not known.

    Examples
    --------
    >>> check_fields({"b": 1}, ["a"], "a study", ValueError)
    Traceback (most recent call last):
    ValueError: b is not a field of a study; its fields are a.
    """
    allowed = list(known)
    for name in form:
        if name not in allowed:
            fields_of = f"{noun}; its fields are {', '.join(allowed)}"
            raise refuse(f"{path}{_shown(name)} is not a field of {fields_of}.")


def _shown(name: str) -> str:
    """Cut a stranger's name short, and write what does not print as an escape."""
    return name[:60] if name[:60].isprintable() else repr(name[:60])


def _whole(digits: str) -> int | float:
    """Read a number as JavaScript would: what was written as 1e16 is read as that double."""
    number = int(digits)
    if abs(number) <= _LARGEST:
        return number
    if math.isinf(double := float(digits)):
        raise ValueError("a number has too many digits")
    return double


class _Reader:
    def __init__(self, noun: str, refuse: Refusal) -> None:
        self._noun = noun
        self._refuse = refuse

    def read(self, text: str) -> object:
        try:
            return json.loads(
                text,
                object_pairs_hook=self._distinct,
                parse_constant=self._refuse_constant,
                parse_int=_whole,
            )
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise self._refuse(f"the {self._noun} is not JSON: {error.msg} ({place}).") from None
        except RecursionError:
            raise self._refuse(
                f"the {self._noun} is not a {self._noun}: it is nested too deeply."
            ) from None
        except _Refused as error:
            raise self._refuse(str(error)) from None
        except ValueError:
            raise self._refuse(
                f"the {self._noun} is not JSON that can be read: a number has too many digits."
            ) from None

    def _distinct(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        form = dict(pairs)
        if len(form) < len(pairs):
            # Counted once: a stranger may have sent a million keys.
            often = Counter(name for name, _ in pairs)
            twice = next(name for name, times in often.items() if times > 1)
            raise _Refused(f"the key {twice[:60]!r} occurs twice in one object; keep one of them.")
        return form

    def _refuse_constant(self, token: str) -> NoReturn:
        raise _Refused(f"{token} is not a number of JSON; a bound must be finite.")


class _Refused(Exception):  # noqa: N818  it never leaves this file
    """A refusal on its way out of the parser."""
