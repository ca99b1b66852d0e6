"""What crosses a wire: study, report, model and statement; versioned, in canonical JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.messages.model import Model
    from supm.messages.question import FORMS, PHASES, PRIVATE, REDUCE_FORMS, Question, Trust
    from supm.messages.release import Part, Release, ReleaseStatement
    from supm.messages.report import Report
    from supm.messages.rules import CellAnswers, PairPoints, Rule, Scorecard
    from supm.messages.statement import PhaseStatement, Statement
    from supm.messages.study import REDUCTIONS, Study
    from supm.messages.update import Commitments, Update, commitment

__all__ = [
    "FORMS",
    "PHASES",
    "PRIVATE",
    "REDUCE_FORMS",
    "REDUCTIONS",
    "CellAnswers",
    "Commitments",
    "Model",
    "PairPoints",
    "Part",
    "PhaseStatement",
    "Question",
    "Release",
    "ReleaseStatement",
    "Report",
    "Rule",
    "Scorecard",
    "Statement",
    "Study",
    "Trust",
    "Update",
    "commitment",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "model": "Model",
        "question": "FORMS PHASES PRIVATE REDUCE_FORMS Question Trust",
        "release": "Part Release ReleaseStatement",
        "report": "Report",
        "rules": "CellAnswers PairPoints Rule Scorecard",
        "statement": "PhaseStatement Statement",
        "study": "REDUCTIONS Study",
        "update": "Commitments Update commitment",
    },
)
