"""From a question to the mechanism that it describes: the one place where budgets are split."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from supm._errors import MessageError
from supm.collection._columns import (
    Classes,
    Column,
    Labels,
    Numbers,
    Pairs,
    Signs,
    Unchanged,
)
from supm.collection.interview import Interview
from supm.collection.joint import JointInterview
from supm.collection.separate import SeparateInterview
from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    Piecewise,
    PublicGrid,
    SubsetSelection,
)
from supm.mechanisms._words import exact_share, threshold_for
from supm.messages import Question, Study
from supm.schema import Categorical, Ordinal
from supm.schema.discretizer import Discretizer

__all__ = ["interview", "label_count"]


def interview(study: Study, phase: str) -> Interview:
    """Return the mechanism of a phase.

    Parameters
    ----------
    study : Study
        What is asked; after the reduce phase, with the chosen attributes.
    phase : {"reduce", "train", "test"}
        Which question.

    Returns
    -------
    Interview
        Its ``epsilon`` is derived from the thresholds that it draws with, not from what the study
        states.

    Raises
    ------
    MessageError
        If the phase asks nothing, or asks for what an attribute is not.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> study = plan(load_wdbc().schema, epsilon=2.0, attributes=["mean radius"])
    >>> interview(study, "train").epsilon <= 2.0
    True
    """
    question = study.question(phase)
    if question is None:
        message = f"the study asks nothing in the {phase} phase."
        raise MessageError(message)
    if question.form == "joint" and phase != "reduce":
        return _joint(study, question)
    return SeparateInterview(
        columns=_columns(study, question),
        label=_label(study, question),
        sampled=question.sampled,
    )


def label_count(study: Study) -> int:
    """Return the number of labels of the target."""
    target = study.schema.target
    return len(target.values) if isinstance(target, Ordinal | Categorical) else 0


def _joint(study: Study, question: Question) -> JointInterview:
    discretizers = study.discretizers(question.phase)
    labels = label_count(study) if question.labelled else None
    cells = math.prod(each.size for each in discretizers) * (labels or 1)
    randomizer = SubsetSelection.for_epsilon(size=cells, epsilon=_budget(question))
    return JointInterview(discretizers=discretizers, labels=labels, randomizer=randomizer)


def _columns(study: Study, question: Question) -> tuple[Column, ...]:
    if question.form in ("pw", "raw"):
        asked = study.asked(question.phase)
        number = _piecewise(study, question) if question.form == "pw" else _grid(question)
        return tuple(Numbers(attribute=each, randomizer=number) for each in asked)
    discretizers = study.discretizers(question.phase)
    if question.form == "joint":
        return tuple(_pair(each, study, question) for each in discretizers)
    return tuple(
        Classes(discretizer=each, randomizer=_response(each.size, study, question))
        for each in discretizers
    )


def _label(study: Study, question: Question) -> Column | None:
    if not question.labelled or question.form == "joint":
        return None
    labels = label_count(study)
    if question.form == "pw" and labels == 2:
        return Signs(randomizer=_piecewise(study, question))
    return Labels(randomizer=_response(labels, study, question))


def _pair(discretizer: Discretizer, study: Study, question: Question) -> Pairs:
    labels = label_count(study)
    share = exact_share(_budget(question), _told(study, question))
    response = randomized_response(discretizer.size * labels, share)
    return Pairs(discretizer=discretizer, labels=labels, randomizer=response)


def _response(
    size: int, study: Study, question: Question
) -> GeneralizedRandomizedResponse | Unchanged:
    if not question.private:
        return Unchanged(size)
    parts = _told(study, question) + question.labelled
    return randomized_response(size, exact_share(_budget(question), parts))


@lru_cache(maxsize=1024)
def randomized_response(size: int, share: Fraction) -> GeneralizedRandomizedResponse:
    """Return the response that keeps an exact share of a budget; many attributes have the same."""
    words = threshold_for(share, inside=1, outside=size - 1)
    return GeneralizedRandomizedResponse(size=size, keep_words=words)


def _piecewise(study: Study, question: Question) -> Piecewise:
    """Return the mechanism with the paper's window that keeps an exact share of the budget."""
    share = exact_share(_budget(question), _told(study, question) + question.labelled)
    grid = PublicGrid(low=-1, high=1, steps=question.steps or 1)
    window = max(1, round(grid.steps * math.exp(-float(share) / 2)))
    words = threshold_for(share, inside=window, outside=grid.steps)
    return Piecewise(grid=grid, window=window, threshold=words)


def _grid(question: Question) -> Unchanged:
    return Unchanged((question.steps or 1) + 1)


def _told(study: Study, question: Question) -> int:
    return question.sampled or len(study.asked(question.phase))


def _budget(question: Question) -> float:
    if question.epsilon is None:
        message = f"the form {question.form} has no budget to share."
        raise MessageError(message)
    return question.epsilon
