"""What an owner holds in the end: that a report arrived, what it was and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from supm._errors import MessageError
from supm.messages import Report

__all__ = ["ANOTHER_GROUP", "VERDICTS", "Receipt", "read_receipt"]

ANOTHER_GROUP: Final = "another group is asked"
"""The verdict where an owner drew a group that is not asked now."""

VERDICTS: Final = {201: "accepted", 200: "sent before"}
"""What an aggregator says of a report that it has, by the status of its answer."""

_LONGEST: Final = 200


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What came of taking part.

    Parameters
    ----------
    verdict : {"accepted", "sent before", "another group is asked"}
        What the aggregator said; or that it was not asked.
    study : str
        The hash of the study.
    phase : {"reduce", "train", "test"}
        Which question.
    epsilon : float or None
        What this answer cost, whenever it was drawn; None where nothing is promised.
    report : Report, optional
        What was sent.
    answer : str or float, optional
        The model's answer, in the test phase.
    probability : float, optional
        How sure it is.
    """

    verdict: str
    study: str
    phase: str
    epsilon: float | None
    report: Report | None = None
    answer: str | float | None = None
    probability: float | None = None


def read_receipt(form: Mapping[str, Any], report: Report, *, epsilon: float | None) -> Receipt:
    """Read what an aggregator says of a report.

    Parameters
    ----------
    form : mapping
        Its answer.
    report : Report
        What was sent.
    epsilon : float or None
        What it cost.

    Returns
    -------
    Receipt

    Raises
    ------
    MessageError
        If it is about another report.
    """
    verdict, probability = form.get("verdict"), form.get("probability")
    if form.get("id") != report.id or verdict not in VERDICTS.values():
        message = "the aggregator's receipt is not for this report; send it again later."
        raise MessageError(message)
    return Receipt(
        verdict=str(verdict),
        study=report.study,
        phase=report.phase,
        epsilon=epsilon,
        report=report,
        answer=_shown(form.get("answer")),
        probability=probability if isinstance(probability, float) else None,
    )


def _shown(answer: object) -> str | float | None:
    """Return a label or a number; what else an aggregator sends is not put before an owner."""
    if isinstance(answer, str) and answer.isprintable() and len(answer) <= _LONGEST:
        return answer
    return answer if isinstance(answer, int | float) else None
