"""What each group of owners is asked, as a table."""

from __future__ import annotations

from typing import Final

from supm.cli._output import table
from supm.messages import Study
from supm.owner import Asking, explain

__all__ = ["TRUTH", "asking_table", "askings_table"]

TRUTH: Final = (
    "Combinations: how many truths an answer may stand for, at most. Truth: how often it is the "
    "owner's own beyond chance, at least."
)
_WIDEST: Final = 25


def asking_table(study: Study, owners: int | None = None) -> str:
    """Return what each group of owners is asked, a row for each.

    Parameters
    ----------
    study : Study
        The study.
    owners : int, optional
        How many training owners are expected.

    Returns
    -------
    str
    """
    head = ("phase", "who", "is asked for", "combinations", "truth", "epsilon")
    rows = [[*cells, _epsilon(row)] for cells, row in _rows(study, owners)]
    return table(head, rows, left=3, widest=_WIDEST)


def askings_table(studies: list[Study], owners: int) -> str:
    """Return what each group of owners is asked under each budget.

    Parameters
    ----------
    studies : list of Study
        One for each budget.
    owners : int
        How many training owners there are.

    Returns
    -------
    str
    """
    head = ("epsilon", "phase", "who", "is asked for", "combinations", "truth")
    rows = []
    for study in studies:
        budget = f"{study.epsilon:g}"
        for cells, _ in _rows(study, owners):
            rows.append([budget, *cells])
            budget = ""
    return table(head, rows, left=4, widest=_WIDEST)


def _rows(study: Study, owners: int | None) -> list[tuple[list[str], Asking]]:
    found = []
    for place, row in enumerate(explain(study).rows):
        phase = study.questions[place].phase if place < len(study.questions) else "test"
        who = f"{row.who}{_about(study, place, owners)}"
        found.append(([phase, who, row.asked, _count(row), _truth(row)], row))
    return found


def _about(study: Study, place: int, owners: int | None) -> str:
    """Say about how many people a group is, where there are several."""
    if owners is None or len(study.groups) == 1 or place >= len(study.questions):
        return ""
    question = study.questions[place]
    if question.phase == "test":
        return ""
    share = study.groups[question.group] / sum(study.groups)
    return f", by lot: about {round(owners * share)}"


def _count(row: Asking) -> str:
    return "-" if row.combinations is None else str(row.combinations)


def _truth(row: Asking) -> str:
    return "-" if row.truth is None else f"{row.truth:.2f}"


def _epsilon(row: Asking) -> str:
    return "no promise" if row.epsilon is None else f"{row.epsilon:g}"
