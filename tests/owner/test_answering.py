"""The answer of a published rule: what is read from a record, and the channel it goes through."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import MessageError, ParameterError, simulation
from supm.audit import exact_epsilon
from supm.audit.goodness import goodness_of_fit
from supm.collection import plan
from supm.mechanisms import GeneralizedRandomizedResponse, Piecewise, Reports
from supm.messages import CellAnswers, Scorecard
from supm.owner import interview
from supm.owner.answering import AnswerInterview
from supm.schema import Categorical, Continuous, Records, Schema, discretize

AGE = Continuous("age", low=0, high=90)
WARD = Categorical("ward", values=("north", "east", "south"))
SIZES = (3, 3)
ILL = ("no", "yes", "unsure", "other")
COST = Continuous("cost", low=0, high=10)


def schema_of(labels: int) -> Schema:
    return Schema(attributes=(AGE, WARD), target=Categorical("ill", values=ILL[:labels]))


def records_of(schema: Schema) -> Records:
    """Return one record for each cell, the first and the last included."""
    ages, wards = np.divmod(np.arange(9), 3)
    table = {"age": ages * 30.0 + 10, "ward": np.array(WARD.values)[wards]}
    return schema.read(table, labelled=False)


def card_of(outputs: int, size: float = 1.0) -> Scorecard:
    """Return points without a pattern."""
    drawn = simulation(outputs + 40).below(1000, 7 * outputs).astype(np.float64).reshape(7, outputs)
    points = size * (drawn / 500 - 1)
    return Scorecard(points=(points[:3], points[3:6]), offsets=points[6])


def answer_for(rule: Any, randomizer: Any) -> AnswerInterview:
    discretizers = tuple(discretize(each, 3) for each in (AGE, WARD))
    return AnswerInterview(discretizers=discretizers, rule=rule, randomizer=randomizer)


def by_pencil(card: Scorecard, first: int, second: int) -> list[float]:
    tables = [each.tolist() for each in card.points]
    pairs = zip(tables[0][first], tables[1][second], card.offsets.tolist(), strict=True)
    return [one + two + start for one, two, start in pairs]


@pytest.mark.parametrize("labels", [2, 3, 4])
def test_what_is_read_is_the_answer_of_the_rule(labels: int) -> None:
    response = GeneralizedRandomizedResponse.for_epsilon(size=labels, epsilon=1.0)
    records = records_of(schema_of(labels))
    card = card_of(labels)
    scores = [by_pencil(card, *divmod(cell, 3)) for cell in range(9)]
    expected = [each.index(max(each)) for each in scores]
    assert answer_for(card, response).encode(records)[:, 0].tolist() == expected
    assert len(set(expected)) > 1
    table = CellAnswers(answers=np.arange(9) % labels)
    read = answer_for(table, response).encode(records)
    assert read[:, 0].tolist() == [cell % labels for cell in range(9)]


def test_a_number_is_read_as_the_sum_of_points_within_its_bounds() -> None:
    number = Piecewise.optimised(low=-1, high=1, epsilon=1.0, steps=8)
    schema = Schema(attributes=(AGE, WARD), target=COST)
    for size in (0.2, 3.0):
        card = card_of(1, size)
        sums = [by_pencil(card, *divmod(cell, 3))[0] for cell in range(9)]
        read = answer_for(card, number).encode(records_of(schema))
        assert read.shape == (9, 1)
        assert read[:, 0].tolist() == pytest.approx([min(max(each, -1), 1) for each in sums])
    assert max(map(abs, sums)) > 1, "the larger card goes beyond the bounds"
    with pytest.raises(ParameterError, match="a scorecard where the answer is a number"):
        answer_for(CellAnswers(answers=np.zeros(9, dtype=np.int64)), number).encode(
            records_of(schema)
        )


def frequencies(asked: AnswerInterview, inputs: NDArray[Any]) -> NDArray[np.int64]:
    """Return how often each answer (row) is told as each symbol (column)."""
    draws = 4000
    told = asked.randomize(np.tile(inputs, (draws, 1)), simulation(9))
    assert told.symbols.shape == (draws * len(inputs), 1)
    assert told.simulation
    assert asked.accepts(told.symbols).all()
    rows = np.tile(np.arange(len(inputs)), draws)
    flat = rows * asked.outcomes + told.symbols[:, 0]
    return np.bincount(flat, minlength=len(inputs) * asked.outcomes).reshape(len(inputs), -1)


@pytest.mark.parametrize("labels", [2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_a_label_goes_through_one_response_with_the_whole_budget(
    labels: int, epsilon: float
) -> None:
    study = plan(schema_of(labels), epsilon=epsilon, classes=3).with_rule(card_of(labels))
    asked = interview(study, "test")
    assert isinstance(asked, AnswerInterview)
    assert (asked.width, asked.outcomes) == (1, labels)
    assert asked.inputs()[:, 0].tolist() == list(range(labels))
    grown = math.exp(epsilon)
    same, other = grown / (grown + labels - 1), 1 / (grown + labels - 1)
    expected = np.full((labels, labels), other) + (same - other) * np.eye(labels)
    channel = asked.exact_channel()
    assert {sum(row) for row in channel} == {Fraction(1)}
    np.testing.assert_allclose(np.array(channel, dtype=float), expected, rtol=1e-9)
    assert exact_epsilon(channel) <= asked.epsilon <= epsilon
    assert asked.epsilon == pytest.approx(epsilon, rel=1e-9)
    for seen, row in zip(frequencies(asked, asked.inputs()), expected, strict=True):
        assert goodness_of_fit(seen, row) > 1e-8
    told = asked.randomize(asked.inputs(), simulation(1))
    assert (asked.outcome(told) == told.symbols[:, 0]).all()


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 6.0])
def test_a_number_goes_through_the_piecewise_mechanism_with_the_whole_budget(
    epsilon: float,
) -> None:
    number = Piecewise.optimised(low=-1, high=1, epsilon=epsilon, steps=16)
    asked = answer_for(card_of(1), number)
    channel = asked.exact_channel()
    assert {sum(row) for row in channel} == {Fraction(1)}
    assert exact_epsilon(channel) <= asked.epsilon <= epsilon
    assert asked.epsilon == pytest.approx(epsilon, rel=1e-6)
    expected = np.array(channel, dtype=float)
    for seen, row in zip(frequencies(asked, asked.inputs()), expected, strict=True):
        assert goodness_of_fit(seen, row / row.sum()) > 1e-8
    planned = plan(Schema(attributes=(AGE, WARD), target=COST), epsilon=epsilon, classes=3)
    ours = interview(planned.with_rule(card_of(1)), "test")
    assert isinstance(ours, AnswerInterview)
    assert isinstance(ours.randomizer, Piecewise)
    assert ours.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert ours.epsilon <= epsilon


def test_only_symbols_of_the_randomizer_are_accepted() -> None:
    response = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)
    asked = answer_for(card_of(3), response)
    told = np.array([[-1], [0], [2], [3], [(1 << 53) - 1]])
    assert asked.accepts(told).tolist() == [False, True, True, False, False]
    flat = Reports(symbols=told[1:3], simulation=True)
    assert asked.outcome(flat).tolist() == [0, 2]


def test_without_a_rule_nothing_is_asked() -> None:
    study = plan(schema_of(2), epsilon=1.0, classes=3)
    with pytest.raises(MessageError, match="with_rule"):
        interview(study, "test")
    for rule in (card_of(3), CellAnswers(answers=np.zeros(8, dtype=np.int64))):
        with pytest.raises(ParameterError, match=r"points|answers"):
            study.with_rule(rule)
