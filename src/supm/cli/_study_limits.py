"""Minimums and deadlines of a study: read by phase, and said while they matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from supm._errors import ParameterError
from supm.cli._output import counted

if TYPE_CHECKING:
    from supm.service.store import Opened

__all__ = ["by_phase", "limit_lines", "moment_to_come", "whole_number"]

_PHASES: Final = ("reduce", "train", "test")


def by_phase(option: str, given: list[str], read: Callable[[str, str], float]) -> dict[str, float]:
    """Return values by phase; one that names none is for reduce and train.

    Parameters
    ----------
    option : str
        The option that they were given by.
    given : list of str
        What was typed, such as ``500`` or ``train=500``.
    read : callable
        Reads a value, from the option and the text.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> by_phase("--minimum", ["5", "train=7"], whole_number)
    {'reduce': 5, 'train': 7}
    """
    found: dict[str, float] = {}
    for text in given:
        phase, sign, value = text.rpartition("=")
        if sign and phase not in _PHASES:
            raise ParameterError(option, f"about one of {', '.join(_PHASES)}", phase)
        found |= dict.fromkeys((phase,) if sign else _PHASES[:2], read(option, value))
    return found


def limit_lines(form: dict[str, Any], opened: Opened) -> Iterator[str]:
    """Say the minimums and deadlines of the phases that are under way or still to come.

    Parameters
    ----------
    form : dict
        The status of a study.
    opened : Opened
        The study.

    Yields
    ------
    str
    """
    for phase, least in form["minimums"].items():
        if _matters(phase, opened, form["reports"]):
            verb = "is" if least == 1 else "are"
            yield f"To {phase}, {counted(least, 'report')} or more {verb} needed."
    for phase, when in form["deadlines"].items():
        if _matters(phase, opened, form["reports"]):
            yield f"Reports to {phase} are taken until {when}."


def _matters(phase: str, opened: Opened, reports: dict[str, int]) -> bool:
    """Tell a phase that the study has, and that has not ended."""
    from supm.service.store.values import State  # noqa: PLC0415  loaded when the verb runs

    study = opened.study
    if opened.state is State.CLOSED or study.question(phase) is None:
        return False
    if phase == "reduce" and study.attributes is not None:
        return False
    return phase == opened.open_phase or phase not in reports


def whole_number(option: str, text: str) -> int:
    """Return a whole number.

    Parameters
    ----------
    option : str
        The option that it was given by.
    text : str
        What was typed.

    Returns
    -------
    int
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 12):
        raise ParameterError(option, "a whole number, such as 500 or train=500", text)
    return int(text)


def moment_to_come(option: str, text: str) -> float:
    """Return a moment that has not passed.

    Parameters
    ----------
    option : str
        The option that it was given by.
    text : str
        A date or a time, in UTC unless it says otherwise.

    Returns
    -------
    float
        In Unix seconds.
    """
    from datetime import UTC, datetime  # noqa: PLC0415  loaded when the verb runs

    try:
        when = datetime.fromisoformat(text)
        # In UTC it is shown later on, where it may be out of what a calendar holds.
        when = when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        wanted = "a date or time such as 2030-12-01 or train=2030-12-01T18:00+01:00"
        raise ParameterError(option, wanted, text) from None
    if when <= datetime.now(UTC):
        raise ParameterError(option, "a time to come (UTC unless it says otherwise)", text)
    return when.timestamp()
