"""What the fields of entries must be: hashes, times, names and addresses."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from supm._errors import ParameterError, PublicationError

__all__ = [
    "as_tuple",
    "check_address",
    "check_commitments",
    "check_hash",
    "check_label",
    "check_time",
]

_HASH: Final = re.compile("[0-9a-f]{64}")
_ADDRESS: Final = re.compile("0x[0-9a-fA-F]{40}")
_LONGEST: Final = 200
_MOST_PARTIES: Final = 100_000
_TIME: Final = len("2026-11-18T14:00:00Z")


def check_hash(name: str, text: object) -> None:
    """Raise ParameterError unless a text is a SHA-256 in 64 hexadecimal digits.

    Examples
    --------
    >>> check_hash("content", "0" * 64)
    """
    if not isinstance(text, str) or _HASH.fullmatch(text) is None:
        raise ParameterError(name, "a hash of 64 hexadecimal digits", text)


def check_time(text: object) -> None:
    """Raise ParameterError unless a text is a time in UTC, to the second.

    Examples
    --------
    >>> check_time("2026-11-18T14:00:00Z")
    """
    if not isinstance(text, str) or len(text) != _TIME or not _is_time(text):
        raise ParameterError("time", "a time in UTC such as 2026-11-18T14:00:00Z", text)


@lru_cache(maxsize=1024)
def _is_time(text: str) -> bool:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").isoformat() + "Z" == text  # noqa: DTZ007  the Z says UTC
    except ValueError:
        return False


def check_label(name: str, text: object) -> None:
    """Raise ParameterError unless a text is a plain file name: printable, and no path.

    Examples
    --------
    >>> check_label("name", "release.json")
    """
    good = isinstance(text, str) and 0 < len(text) <= _LONGEST and text.isprintable()
    if not good or "/" in str(text) or "\\" in str(text):
        raise ParameterError(name, f"a file name of at most {_LONGEST} characters", text)


def check_commitments(given: object) -> None:
    """Raise ParameterError unless each party's place has a hash or nothing.

    Examples
    --------
    >>> check_commitments(("0" * 64, ""))
    """
    if not isinstance(given, tuple) or not 0 < len(given) <= _MOST_PARTIES:
        raise ParameterError("commitments", "one for each party", type(given))
    for each in given:
        if each != "":
            check_hash("each of commitments", each)


def check_address(name: str, text: object) -> None:
    """Raise ParameterError unless a text is the address of an account or contract.

    Examples
    --------
    >>> check_address("contract", "0x" + "0" * 40)
    """
    if not isinstance(text, str) or _ADDRESS.fullmatch(text) is None:
        raise ParameterError(name, "0x and 40 hexadecimal digits", text)


def as_tuple(given: object) -> tuple[Any, ...]:
    """Return a list of JSON as a tuple."""
    if not isinstance(given, list):
        message = "a list is missing in an entry of the log."
        raise PublicationError(message)
    return tuple(given)
