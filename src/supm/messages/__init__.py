"""What crosses a wire: study, report, model and statement; versioned, in canonical JSON."""

from __future__ import annotations

from supm.messages.model import Model
from supm.messages.question import FORMS, PRIVATE, REDUCE_FORMS, Question
from supm.messages.report import Report
from supm.messages.rules import CellAnswers, Rule, Scorecard
from supm.messages.statement import PhaseStatement, Statement
from supm.messages.study import REDUCTIONS, Study
from supm.messages.trust import PHASES, Trust

__all__ = [
    "FORMS",
    "PHASES",
    "PRIVATE",
    "REDUCE_FORMS",
    "REDUCTIONS",
    "CellAnswers",
    "Model",
    "PhaseStatement",
    "Question",
    "Report",
    "Rule",
    "Scorecard",
    "Statement",
    "Study",
    "Trust",
]
