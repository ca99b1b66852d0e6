"""The test phase: the answer to a report, or to a record that never leaves its device."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._validation import check_kind
from supm.collection.cards import Card
from supm.collection.counting import accepted
from supm.collection.features import Floats, Ints, class_features, distinct_rows, number_features
from supm.collection.training import Trained, places
from supm.learning import Line
from supm.mechanisms import GeneralizedRandomizedResponse, Piecewise, Reports
from supm.owner import (
    AnswerInterview,
    Interview,
    JointInterview,
    SampledInterview,
    SeparateInterview,
    interview,
)
from supm.owner.columns import Numbers, Unchanged
from supm.schema import Continuous, Records

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
    return _answered(asked_in_test(trained), trained, reports)


@singledispatch
def _answered(asked: Interview, trained: Trained, reports: Reports) -> NDArray[Any]:
    """Answer reports as their form needs it; a further form registers its own way."""
    del trained, reports
    raise ParameterError("asked", "an interview of this package", type(asked).__name__)


@_answered.register(SeparateInterview)
def _at_their_word(asked: SeparateInterview, trained: Trained, reports: Reports) -> NDArray[Any]:
    rows, place = distinct_rows(accepted(asked, reports))
    if isinstance(trained.predictor, Card):
        sizes = tuple(each.size for each in trained.study.discretizers("test"))
        return trained.predictor.rule.predict(rows, sizes)[place]
    if trained.form("test") in ("pw", "raw"):
        features = number_features(rows, asked.columns)
    else:
        features = class_features(rows, trained.study.discretizers("test"))
    return trained.predictor.predict(features)[place]


def asked_in_test(trained: Trained) -> Interview:
    """Return the mechanism of the test phase, with the model where owners follow it."""
    study = trained.study
    follows = trained.form("test") == "answer"
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
    if trained.form("train") in ("pw", "raw"):
        asked = study.asked("train")
        columns = tuple(Numbers(attribute=each, randomizer=Unchanged(_FINE)) for each in asked)
        held = np.stack([column.read(records) for column in columns], axis=1)
        return trained.predictor.predict(number_features(held, columns))
    rows, place = distinct_rows(records.encode(discretizers))
    answers: Ints = trained.predictor.predict(class_features(rows, discretizers))
    return answers[place]


@_answered.register(JointInterview)
def _most_probable(asked: JointInterview, trained: Trained, reports: Reports) -> NDArray[Any]:
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


@_answered.register(AnswerInterview)
def _behind_answers(asked: AnswerInterview, trained: Trained, reports: Reports) -> NDArray[Any]:
    """Return the most probable label, or the most probable number, behind each told answer."""
    told = accepted(asked, reports)[:, 0]
    if isinstance(asked.randomizer, Piecewise):
        readings = asked.randomizer.decode(Reports(symbols=told, simulation=reports.simulation))
        return _in_unit(trained, _pulled(trained, asked.randomizer, readings))
    chances = _answer_chances(trained, asked.randomizer)
    # Where nothing is known about the answers, each is taken at its word.
    return told if chances is None else chances.argmax(axis=1)[told]


@_answered.register(SampledInterview)
def _behind_samples(asked: SampledInterview, trained: Trained, reports: Reports) -> NDArray[Any]:
    """Return the most probable label, or the expected number, given some noisy classes."""
    chances = _sample_chances(trained, asked, reports)
    if trained.study.numeric:
        levels = np.linspace(-1.0, 1.0, trained.study.labels)
        return _in_unit(trained, chances @ levels)
    return np.asarray(chances.argmax(axis=1))


def report_chances(trained: Trained, asked: Interview, reports: Reports) -> Floats | None:
    """Return how probable each label (column) is behind each report, where that is known.

    Labels count by the weights that the model was trained with.
    """
    if isinstance(asked, SampledInterview):
        return _sample_chances(trained, asked, reports)
    if isinstance(asked, AnswerInterview) and not isinstance(asked.randomizer, Piecewise):
        chances = _answer_chances(trained, asked.randomizer)
        return None if chances is None else chances[accepted(asked, reports)[:, 0]]
    return None


def _answer_chances(trained: Trained, randomizer: GeneralizedRandomizedResponse) -> Floats | None:
    """Return how probable each label (column) is behind each told answer (row), if that is known.

    Labels count by their weights.
    """
    answers = trained.answers
    if answers is None:
        return None
    hit, miss = float(randomizer.hit), float(randomizer.miss)
    # Told by those whose answer it is, and by the others in error.
    behind = (miss * answers.sum(axis=0) + (hit - miss) * answers) * trained.weights
    return np.asarray(behind / behind.sum(axis=1, keepdims=True))


def _sample_chances(trained: Trained, asked: SampledInterview, reports: Reports) -> Floats:
    """Return how probable each label (column) is behind each report; they count by weights."""
    if not isinstance(trained.predictor, Card):
        raise ParameterError("asked", "an interview that fits the model", type(asked).__name__)
    behind = _given_classes(trained.predictor, asked, accepted(asked, reports)) * trained.weights
    return np.asarray(behind / behind.sum(axis=1, keepdims=True))


def _given_classes(card: Card, asked: SampledInterview, told: Ints) -> Floats:
    """Return how probable each label is given the classes that were told, in proportion."""
    drawn = asked.sampled
    places, classes = told[:, :drawn], told[:, drawn : 2 * drawn]
    starts = np.cumsum((0, *asked.sizes))
    likely = card.conditional[starts[places] + classes].prod(axis=1)
    cells = np.array(asked.sizes, dtype=np.int64)[places].prod(axis=1)
    gap = np.array([asked.truth(int(each)) for each in np.unique(cells)])
    true = gap[np.searchsorted(np.unique(cells), cells)][:, np.newaxis]
    return np.asarray(card.shares * (true * likely + (1.0 - true) / cells[:, np.newaxis]))


def _pulled(trained: Trained, randomizer: Piecewise, readings: Floats) -> Floats:
    """Pull readings to the mean as far as their noise exceeds the spread of predictions."""
    line = _line(trained)
    noise = float(randomizer.variance(line.mean))
    kept = line.variance / (line.variance + noise)
    return line.mean + kept * (readings - line.mean)


def _line(trained: Trained) -> Line:
    card = trained.predictor
    if not isinstance(card, Card) or card.line is None:
        raise ParameterError("trained", "a model of a number", "another")
    return card.line


def _in_unit(trained: Trained, scaled: Floats) -> Floats:
    target = trained.study.schema.target
    if not isinstance(target, Continuous):
        raise ParameterError("target", "a number", "a list of classes")
    return target.unscaled(scaled)
