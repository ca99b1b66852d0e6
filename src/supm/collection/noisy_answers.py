"""What a randomised answer, or a randomised part of a record, says about the person behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm.collection.cards import Card
from supm.collection.counting import accepted
from supm.collection.training import Trained
from supm.learning import Line
from supm.mechanisms import GeneralizedRandomizedResponse, Piecewise, Reports
from supm.owner.answering import AnswerInterview
from supm.owner.interviews import Interview
from supm.owner.sampled import SampledInterview
from supm.schema import Continuous

__all__ = ["answer_answers", "answer_samples", "report_chances"]


def answer_answers(trained: Trained, asked: AnswerInterview, reports: Reports) -> NDArray[Any]:
    """Return the most probable label, or the most probable number, behind each told answer."""
    told = accepted(asked, reports)[:, 0]
    if isinstance(asked.randomizer, Piecewise):
        readings = asked.randomizer.decode(Reports(symbols=told, simulation=reports.simulation))
        return _in_unit(trained, _pulled(trained, asked.randomizer, readings))
    chances = _answer_chances(trained, asked.randomizer)
    # Where nothing is known about the answers, each is taken at its word.
    return told if chances is None else chances.argmax(axis=1)[told]


def answer_samples(trained: Trained, asked: SampledInterview, reports: Reports) -> NDArray[Any]:
    """Return the most probable label, or the expected number, given some noisy classes."""
    chances = _sample_chances(trained, asked, reports)
    if trained.study.numeric:
        levels = np.linspace(-1.0, 1.0, trained.study.labels)
        return _in_unit(trained, chances @ levels)
    probable: NDArray[np.int64] = chances.argmax(axis=1)
    return probable


def report_chances(
    trained: Trained, asked: Interview, reports: Reports
) -> NDArray[np.float64] | None:
    """Return how probable each label (column) is behind each report, where that is known.

    Labels count by the weights that the model was trained with.
    """
    if isinstance(asked, SampledInterview):
        return _sample_chances(trained, asked, reports)
    if isinstance(asked, AnswerInterview) and not isinstance(asked.randomizer, Piecewise):
        chances = _answer_chances(trained, asked.randomizer)
        return None if chances is None else chances[accepted(asked, reports)[:, 0]]
    return None


def _answer_chances(
    trained: Trained, randomizer: GeneralizedRandomizedResponse
) -> NDArray[np.float64] | None:
    """Return how probable each label (column) is behind each told answer (row), if that is known.

    Labels count by their weights.
    """
    answers = trained.answers
    if answers is None:
        return None
    hit, miss = float(randomizer.hit), float(randomizer.miss)
    # Told by those whose answer it is, and by the others in error.
    behind = (miss * answers.sum(axis=0) + (hit - miss) * answers) * trained.weights
    chances: NDArray[np.float64] = behind / behind.sum(axis=1, keepdims=True)
    return chances


def _sample_chances(
    trained: Trained, asked: SampledInterview, reports: Reports
) -> NDArray[np.float64]:
    """Return how probable each label (column) is behind each report; they count by weights."""
    if not isinstance(trained.predictor, Card):
        raise ParameterError("asked", "an interview that fits the model", type(asked).__name__)
    behind = _given_classes(trained.predictor, asked, accepted(asked, reports)) * trained.weights
    chances: NDArray[np.float64] = behind / behind.sum(axis=1, keepdims=True)
    return chances


def _given_classes(
    card: Card, asked: SampledInterview, told: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the probability of each label given the classes that were told."""
    drawn = asked.sampled
    places, classes = told[:, :drawn], told[:, drawn : 2 * drawn]
    starts = np.cumsum((0, *asked.sizes))
    likely = card.conditional[starts[places] + classes].prod(axis=1)
    cells = np.array(asked.sizes, dtype=np.int64)[places].prod(axis=1)
    gap = np.array([asked.truth(int(each)) for each in np.unique(cells)])
    true = gap[np.searchsorted(np.unique(cells), cells)][:, np.newaxis]
    behind = card.shares * (true * likely + (1.0 - true) / cells[:, np.newaxis])
    chances: NDArray[np.float64] = behind / behind.sum(axis=1, keepdims=True)
    return chances


def _pulled(
    trained: Trained, randomizer: Piecewise, readings: NDArray[np.float64]
) -> NDArray[np.float64]:
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


def _in_unit(trained: Trained, scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    target = trained.study.schema.target
    if not isinstance(target, Continuous):
        raise ParameterError("target", "a number", "a list of classes")
    return target.unscaled(scaled)
