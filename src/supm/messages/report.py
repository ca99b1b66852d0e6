"""The report: all that leaves an owner. It says which question it answers, and not whose it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from supm._errors import MessageError
from supm._validation import is_hash
from supm.messages.codec import Message
from supm.messages.question import PHASES

_ID: Final = re.compile("[0-9a-f]{32}")
MOST_SYMBOLS: Final = 1 << 20
"""How long an answer may be."""

_LARGEST: Final = 1 << 53


@dataclass(frozen=True, kw_only=True)
class Report(Message):
    """One owner's answer to one question.

    Parameters
    ----------
    study : str
        The hash of the study that was consented to.
    phase : {"reduce", "train", "test"}
        Which question it answers.
    group : int
        The group that the owner drew.
    symbols : tuple of int
        The randomised answer: whole numbers of the question's alphabet.
    id : str
        128 random bits in hexadecimal. They belong to the report and to nobody: a report that is
        sent twice counts once.

    Examples
    --------
    >>> report = Report(study="0" * 64, phase="train", group=0, symbols=(2, 0), id="f" * 32)
    >>> Report.from_json(report.to_json()) == report
    True
    """

    noun = "a report"
    version = 1
    study: str
    phase: str
    group: int
    symbols: tuple[int, ...]
    id: str

    def __post_init__(self) -> None:
        _check(is_hash(self.study), "study", "a hash of 64 hexadecimal digits")
        _check(self.phase in PHASES, "phase", f"one of {', '.join(PHASES)}")
        _check(_is_whole(self.group, 256), "group", "a whole number below 256")
        _check(_are_symbols(self.symbols), "symbols", "1 to 2^20 whole numbers below 2^53")
        object.__setattr__(self, "symbols", tuple(self.symbols))
        _check(_is_id(self.id), "id", "32 hexadecimal digits")


def _check(condition: object, name: str, constraint: str) -> None:
    if not condition:
        message = f"{name} of a report must be {constraint}."
        raise MessageError(message)


def _is_id(text: object) -> bool:
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def _are_symbols(given: object) -> bool:
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST_SYMBOLS:
        return False
    return all(_is_whole(symbol, _LARGEST) for symbol in given)


def _is_whole(number: object, below: int) -> bool:
    return type(number) is int and 0 <= number < below
