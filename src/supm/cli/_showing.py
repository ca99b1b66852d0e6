"""One face for what was measured, whether the target has classes or is a number."""

from __future__ import annotations

from typing import Any, TypeAlias

from supm.cli._curve import Curve
from supm.cli._figures import between, figures, for_machines, hint
from supm.cli._numbers import number_between, number_curve, number_figures, number_for_machines
from supm.cli._outcome import NumberOutcome, Outcome
from supm.cli._output import paragraph
from supm.cli._picture import curve
from supm.cli._plans import plans

__all__ = ["for_a_picture", "in_plain_values", "in_words"]

_Measured: TypeAlias = Outcome | NumberOutcome


def in_words(outcome: _Measured, name: str) -> str:
    """Return figures, what they mean, and the plans that led to them.

    Parameters
    ----------
    outcome : Outcome or NumberOutcome
        What was measured.
    name : str
        Whose data.

    Returns
    -------
    str
    """
    if isinstance(outcome, NumberOutcome):
        shown, words = number_figures(outcome), [number_between(outcome)]
    else:
        shown, words = figures(outcome), [between(outcome), hint(outcome)]
    blocks = [
        f"{name}: {outcome.people} people, target {outcome.target!r}.",
        shown,
        *map(paragraph, filter(None, words)),
        plans(outcome.results, outcome.people),
    ]
    return "\n\n".join(blocks)


def for_a_picture(outcome: _Measured, name: str) -> Curve:
    """Return what a picture shows.

    Parameters
    ----------
    outcome : Outcome or NumberOutcome
        What was measured.
    name : str
        Whose data.

    Returns
    -------
    Curve
    """
    if isinstance(outcome, NumberOutcome):
        return number_curve(outcome, name)
    return curve(outcome, name)


def in_plain_values(outcome: _Measured) -> dict[str, Any]:
    """Return everything as plain values for JSON.

    Parameters
    ----------
    outcome : Outcome or NumberOutcome
        What was measured.

    Returns
    -------
    dict
    """
    if isinstance(outcome, NumberOutcome):
        return number_for_machines(outcome)
    return for_machines(outcome)
