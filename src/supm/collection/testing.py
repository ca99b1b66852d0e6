"""The test phase: the answer to a report, or to a record that never leaves its device."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._validation import check_kind
from supm.collection._distinct import distinct_rows
from supm.collection._features import class_features, number_features
from supm.collection.cards import Card
from supm.collection.counting import accepted
from supm.collection.noisy_answers import answer_answers, answer_samples
from supm.collection.training import Trained, places
from supm.mechanisms import Reports
from supm.owner.answering import AnswerInterview
from supm.owner.columns import Numbers, Unchanged
from supm.owner.interviews import Interview, interview
from supm.owner.joint import JointInterview
from supm.owner.sampled import SampledInterview
from supm.owner.separate import SeparateInterview
from supm.schema import Continuous, Records

__all__ = ["answer_on_device", "answer_reports", "asked_in_test"]

_FINE: Final = (1 << 20) + 1
_UNSEEN: Final = 1e-3
_ENTRIES: Final = 1 << 20


def answer_reports(trained: Trained, reports: Reports) -> NDArray[Any]:
    """Return what each report is answered with.

    Parameters
    ----------
    trained : Trained
        The model.
    reports : Reports
        Reports of the test phase.

    Returns
    -------
    ndarray of int64 or of float64
        Label numbers, or numbers in the target's unit. A report that was randomised as a whole is
        answered by what is most probable given the report and what is known about people; others
        are taken at their word, as the papers do.

    Raises
    ------
    ParameterError
        If a report could not have been told.
    """
    check_kind("trained", trained, Trained)
    check_kind("reports", reports, Reports)
    asked = asked_in_test(trained)
    if isinstance(asked, AnswerInterview):
        return answer_answers(trained, asked, reports)
    if isinstance(asked, SampledInterview):
        return answer_samples(trained, asked, reports)
    if isinstance(asked, JointInterview):
        return _most_probable(trained, asked, reports)
    if not isinstance(asked, SeparateInterview):
        raise ParameterError("asked", "an interview of this package", type(asked).__name__)
    rows, place = distinct_rows(accepted(asked, reports))
    if isinstance(trained.predictor, Card):
        sizes = tuple(each.size for each in trained.study.discretizers("test"))
        return trained.predictor.rule.predict(rows, sizes)[place]
    if _form(trained, "test") in ("pw", "raw"):
        features = number_features(rows, asked.columns)
    else:
        features = class_features(rows, trained.study.discretizers("test"))
    answers: NDArray[np.int64] = trained.predictor.predict(features)[place]
    return answers


def asked_in_test(trained: Trained) -> Interview:
    """Return the mechanism of the test phase, with the model where owners follow it."""
    study = trained.study
    follows = _form(trained, "test") == "answer"
    return interview(study.with_rule(trained.rule) if follows else study, "test")


def answer_on_device(trained: Trained, records: Records) -> NDArray[Any]:
    """Return the answer for each record where it is held: nothing leaves.

    Parameters
    ----------
    trained : Trained
        The model, downloaded.
    records : Records
        The records as they are.

    Returns
    -------
    ndarray of int64 or of float64
        Label numbers, or numbers in the target's unit: by the record's classes, or by its numbers
        where the model was trained on numbers.
    """
    study, discretizers = trained.study, trained.study.discretizers("train")
    if isinstance(trained.predictor, Card):
        rule, target = trained.predictor.rule, study.schema.target
        classes = records.encode(discretizers)
        if isinstance(target, Continuous):
            return target.unscaled(rule.scores(classes)[:, 0])
        return rule.predict(classes, tuple(each.size for each in discretizers))
    if _form(trained, "train") in ("pw", "raw"):
        asked = study.asked("train")
        columns = tuple(Numbers(attribute=each, randomizer=Unchanged(_FINE)) for each in asked)
        held = np.stack([column.read(records) for column in columns], axis=1)
        return trained.predictor.predict(number_features(held, columns))
    rows, place = distinct_rows(records.encode(discretizers))
    answers: NDArray[np.int64] = trained.predictor.predict(class_features(rows, discretizers))
    return answers[place]


def _most_probable(trained: Trained, asked: JointInterview, reports: Reports) -> NDArray[np.int64]:
    """Weigh the label of each cell by how probable the cell is, given the set that was told."""
    if isinstance(trained.predictor, Card):
        raise ParameterError("asked", "an interview that fits the model", type(asked).__name__)
    size, width = asked.randomizer.size, asked.randomizer.width
    held = np.full(size, 1.0 / size) if trained.cells is None else trained.cells.sum(axis=1)
    # A cell that no report of the train phase told may still be somebody's.
    held = (1.0 - _UNSEEN) * held + _UNSEEN / size
    # In doubles the rest of a large budget's probability would be 0.
    hit = asked.randomizer.hit
    odds = float(hit * (size - width) / ((1 - hit) * width))
    mass = np.zeros((size, trained.study.labels))
    mass[np.arange(size), trained.predictor.predict(places(trained.study))] = held
    symbols = accepted(asked, reports)
    probable = np.empty(len(symbols), dtype=np.int64)
    step = max(1, _ENTRIES // mass[:width].size)
    for start in range(0, len(symbols), step):
        rows = slice(start, start + step)
        told = mass[symbols[rows]].sum(axis=1)
        probable[rows] = (mass.sum(axis=0) + (odds - 1.0) * told).argmax(axis=1)
    return probable


def _form(trained: Trained, phase: str) -> str | None:
    question = trained.study.question(phase)
    return None if question is None else question.form
