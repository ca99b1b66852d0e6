"""The texts inside messages: hashes, and words that somebody wrote."""

from __future__ import annotations

import re
from typing import Final

from supm._errors import ParameterError
from supm._validation import check_kind
from supm.schema._fields import commands_a_terminal

__all__ = ["check_text", "is_hash"]

_HASH: Final = re.compile("[0-9a-f]{64}")


def check_text(name: str, text: object, longest: int) -> None:
    """Raise ParameterError where a text is too long, not UTF-8, or would command a terminal.

    Examples
    --------
    >>> check_text("purpose", "to find who is ill", 2000)
    """
    check_kind(name, text, str)
    if len(str(text)) > longest:
        got = f"{len(str(text))} characters"
        raise ParameterError(name, f"a text of at most {longest} characters", got)
    if commands_a_terminal(str(text).translate({10: " ", 9: " "})):
        raise ParameterError(name, "a text without control characters", "a text that has one")
    try:
        str(text).encode()
    except UnicodeEncodeError:
        wanted = "Unicode text without lone surrogates"
        raise ParameterError(name, wanted, "a text that has one") from None


def is_hash(text: object) -> bool:
    """Say whether a text is the hash of a study: 64 hexadecimal digits.

    Examples
    --------
    >>> is_hash("0" * 64), is_hash("0" * 63)
    (True, False)
    """
    return isinstance(text, str) and _HASH.fullmatch(text) is not None
