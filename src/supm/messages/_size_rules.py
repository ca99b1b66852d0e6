"""What makes a study answerable: no part of it too small, too large or without a meaning."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from supm._errors import ParameterError
from supm._validation import EPSILON
from supm.schema import Attribute, Categorical, Continuous

if TYPE_CHECKING:
    from supm.messages.question import Question
    from supm.messages.study import Study

__all__ = ["check_sizes", "class_count"]

_CELLS: Final = 1 << 20
_CLASSES: Final = 1 << 24
# The aggregator counts how often two classes are told together: a table of 2^24 numbers at most.
_TOLD: Final = 1 << 12
# How often each label gets each answer is worked out for all of them.
_LABELS: Final = 256
# The aggregator adds up squares of symbols, exactly, in 64 bits.
_STEPS: Final = 1 << 15
# A little above the least epsilon of a mechanism, since shares are rounded down.
_LEAST: Final = Fraction(repr(EPSILON.low)) * (1 + Fraction(1, 1 << 40))


def check_sizes(study: Study) -> None:
    """Raise ParameterError where nobody could answer a question, whatever is chosen later."""
    if len(study.schema.attributes) * study.classes > _CLASSES:
        raise ParameterError("classes", "at most 2^24 over all attributes", study.classes)
    for question in study.questions:
        _check_share(study, question)
        if question.form in ("pw", "raw"):
            _check_order(study, question)
        if question.form == "pw" and (question.steps or 0) > _STEPS:
            raise ParameterError("steps", "at most 2^15 where numbers are added up", question.steps)
        if question.form in ("joint", "sample"):
            _check_cells(study, question)


def _candidates(study: Study, question: Question) -> tuple[Attribute, ...]:
    """Return the attributes that are asked, or that may be once they are chosen."""
    chosen = study.attributes is not None and question.phase != "reduce"
    return study.asked(question.phase) if chosen else study.schema.attributes


def _check_share(study: Study, question: Question) -> None:
    if question.epsilon is None:
        return
    whole = question.form in ("joint", "sample", "answer")
    parts = 1 if whole else (question.sampled or study.keep) + question.labelled
    if Fraction(repr(question.epsilon)) < parts * _LEAST:
        rule = f"more than {EPSILON.low:g} for each of the {parts} parts of an answer"
        hint = "Ask for fewer attributes, or allow a larger epsilon."
        name = f"epsilon of the {question.phase} phase"
        raise ParameterError(name, rule, question.epsilon, hint)


def _check_order(study: Study, question: Question) -> None:
    for attribute in _candidates(study, question):
        if isinstance(attribute, Categorical) and len(attribute.values) > 2:
            rule = f"another, since {attribute.name} has no order and so is no number"
            name = f"form of the {question.phase} phase"
            raise ParameterError(name, rule, question.form)


def _check_cells(study: Study, question: Question) -> None:
    sizes = sorted(class_count(each, study.classes) for each in _candidates(study, question))
    if study.reduction == "regroup" and question.phase != "reduce":
        merges = study.merges or ((1,),) * study.keep  # each has two groups, once there are any
        sizes = sorted(max(each) + 1 for each in merges)
    labels = study.labels if question.labelled else 1
    cells = math.prod(sizes[-(question.sampled or study.keep) :]) * labels
    if question.form == "sample" and labels > _LABELS:
        hint = "Put rare ones together, or ask for a joint answer of a few attributes."
        raise ParameterError(
            "labels", f"at most {_LABELS} where attributes are drawn", labels, hint
        )
    if question.form == "sample" and sum(sizes) + labels > _TOLD:
        rule = "at most 2^12 with the labels, over all attributes of which some are drawn"
        hint = "Name fewer attributes, or ask for fewer classes."
        raise ParameterError("classes", rule, sum(sizes) + labels, hint)
    if cells > _CELLS:
        hint = "Keep fewer attributes or fewer classes."
        name = f"cells of a joint answer in the {question.phase} phase"
        raise ParameterError(name, "at most 2^20", cells, hint)


def class_count(attribute: Attribute, classes: int) -> int:
    """Return how many classes an attribute has where it is divided into so many."""
    values = classes if isinstance(attribute, Continuous) else len(attribute.values)
    return min(values, classes) + (attribute.missing == "class")
