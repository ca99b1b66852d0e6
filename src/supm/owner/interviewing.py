"""From a question to the mechanism that it describes: the one place where budgets are split."""

from __future__ import annotations

import math

from supm._errors import MessageError
from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    Piecewise,
    PublicGrid,
    SubsetSelection,
)
from supm.mechanisms.thresholds import exact_share, threshold_for
from supm.messages import Question, Study
from supm.owner.answering import AnswerInterview
from supm.owner.columns import Classes, Column, Labels, Numbers, Signs, Unchanged
from supm.owner.interviews import Interview
from supm.owner.joint import JointInterview
from supm.owner.responses import randomized_response
from supm.owner.sampled import SampledInterview
from supm.owner.separate import SeparateInterview
from supm.schema import Continuous

__all__ = ["answer_randomizer", "interview"]


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
    if question.form == "answer":
        return _answer(study, question)
    if question.form == "joint":
        return _joint(study, question)
    if question.form == "sample":
        return _sampled(study, question)
    return SeparateInterview(
        columns=_columns(study, question),
        label=_label(study, question),
        sampled=question.sampled,
    )


def _joint(study: Study, question: Question) -> JointInterview:
    discretizers = study.discretizers(question.phase)
    labels = study.labels if question.labelled else None
    cells = math.prod(each.size for each in discretizers) * (labels or 1)
    randomizer = SubsetSelection.for_epsilon(size=cells, epsilon=_budget(question))
    return JointInterview(discretizers=discretizers, labels=labels, randomizer=randomizer)


def _sampled(study: Study, question: Question) -> SampledInterview:
    target = study.schema.target
    return SampledInterview(
        discretizers=study.discretizers(question.phase),
        sampled=question.sampled or 1,
        labels=study.labels if question.labelled else None,
        target=target if question.labelled and isinstance(target, Continuous) else None,
        share=exact_share(_budget(question), 1),
    )


def _answer(study: Study, question: Question) -> AnswerInterview:
    if study.rule is None:
        message = (
            "the test phase asks for a model's answer; ask study.with_rule(model.rule), "
            "which holds the model."
        )
        raise MessageError(message)
    return AnswerInterview(
        discretizers=study.discretizers("test"),
        rule=study.rule,
        randomizer=answer_randomizer(study, question),
    )


def answer_randomizer(
    study: Study, question: Question
) -> GeneralizedRandomizedResponse | Piecewise:
    """Return what is between a model's answer and what leaves, whatever the model is."""
    if study.numeric:
        steps = question.steps or 1
        return Piecewise.optimised(low=-1, high=1, epsilon=_budget(question), steps=steps)
    return randomized_response(study.labels, exact_share(_budget(question), 1))


def _columns(study: Study, question: Question) -> tuple[Column, ...]:
    if question.form in ("pw", "raw"):
        asked = study.asked(question.phase)
        number = _piecewise(study, question) if question.form == "pw" else _grid(question)
        return tuple(Numbers(attribute=each, randomizer=number) for each in asked)
    discretizers = study.discretizers(question.phase)
    return tuple(
        Classes(discretizer=each, randomizer=_response(each.size, study, question))
        for each in discretizers
    )


def _label(study: Study, question: Question) -> Column | None:
    if not question.labelled:
        return None
    labels = study.labels
    if question.form == "pw" and labels == 2:
        return Signs(randomizer=_piecewise(study, question))
    return Labels(randomizer=_response(labels, study, question))


def _response(
    size: int, study: Study, question: Question
) -> GeneralizedRandomizedResponse | Unchanged:
    if not question.private:
        return Unchanged(size)
    parts = _told(study, question) + question.labelled
    return randomized_response(size, exact_share(_budget(question), parts))


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
