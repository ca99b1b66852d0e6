"""From counts to a card: what is published adds up, and finds what was planted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm import ParameterError, simulation
from supm.collection import count, plan
from supm.collection.cards import label_card, moments_of, number_card
from supm.learning import Moments
from supm.mechanisms import Tally
from supm.owner import interview
from supm.owner.sampled import SampledInterview
from supm.schema import Categorical, Continuous, Ordinal, Schema

ATTRIBUTES = (
    Continuous("noise", low=0, high=1),
    Ordinal("steps", values=(0, 1, 2, 3), missing="class"),
    Categorical("ward", values=("a", "b", "c")),
    Categorical("sex", values=("f", "m")),
)


def people(rows: int, target: Any) -> tuple[Schema, dict[str, Any], Any]:
    """Return people whose "steps" and "ward" go with the target, each on its own."""
    source = simulation(41)
    steps = source.below(4, rows).astype(np.int64)
    ward = source.below(3, rows).astype(np.int64)
    lean = steps / 3 + (ward == 1) * 0.7
    luck = source.below(1000, rows).astype(np.float64) / 1000
    table: dict[str, Any] = {
        "noise": source.below(1000, rows).astype(np.float64) / 1000,
        "steps": [
            None if each else int(step) for each, step in zip(luck < 0.05, steps, strict=True)
        ],
        "ward": np.array(["a", "b", "c"])[ward],
        "sex": np.array(["f", "m"])[source.below(2, rows).astype(np.int64)],
    }
    if isinstance(target, Continuous):
        table[target.name] = 20 * lean + 10 * luck
    else:
        table[target.name] = np.array(target.values)[(lean + luck > 1.3).astype(np.int64)]
    schema = Schema(attributes=ATTRIBUTES, target=target)
    return schema, table, schema.read(table)


ILL = Categorical("ill", values=("no", "yes"))
COST = Continuous("cost", low=0, high=50)


def moments_for(target: Any, epsilon: float, rows: int = 20_000) -> tuple[Moments, Any]:
    schema, _, records = people(rows, target)
    asked = interview(plan(schema, epsilon=epsilon, classes=4), "train")
    assert isinstance(asked, SampledInterview)
    counts = count(asked, asked.randomize(asked.encode(records), simulation(6)))
    return moments_of(asked, counts), records


def test_moments_have_the_classes_orders_and_gaps_of_the_question() -> None:
    schema, _, records = people(500, ILL)
    asked = interview(plan(schema, epsilon=4.0, classes=4, told=2), "train")
    assert isinstance(asked, SampledInterview)
    counts = count(asked, asked.randomize(asked.encode(records), simulation(6)))
    moments = moments_of(asked, counts)
    assert moments.sizes == (4, 5, 3, 2)
    # The fifth class of "steps" is that of missing values; two classes are a step, three are not.
    assert moments.ordered == (4, 4, 0, 2)
    assert (moments.reports, moments.sampled, moments.labels) == (500, 2, 2)
    assert moments.gaps.overall == pytest.approx(asked.gap())
    assert moments.gaps.single == pytest.approx([asked.gap(size) for size in asked.sizes])
    for one in range(4):
        for two in range(4):
            if one != two:
                pair = asked.gap(asked.sizes[one], asked.sizes[two])
                assert moments.gaps.pair[one, two] == pytest.approx(pair)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("weights", [None, np.array([0.4, 1.6])], ids=["alike", "weighted"])
def test_what_a_card_of_labels_holds_adds_up(epsilon: float, weights: Any) -> None:
    moments, _ = moments_for(ILL, epsilon)
    card = label_card(moments, weights)
    assert [each.shape for each in card.rule.points] == [(size, 2) for size in moments.sizes]
    assert card.rule.offsets.shape == (2,)
    assert card.shares.sum() == pytest.approx(1.0)
    by_attribute = np.add.reduceat(card.conditional, np.cumsum((0, *moments.sizes[:-1])))
    assert by_attribute == pytest.approx(np.ones((4, 2)))
    assert (card.conditional > 0).all()
    assert card.answers is not None
    assert card.answers.sum() == pytest.approx(1.0)
    assert card.answers.shape == (2, 2)
    assert (card.answers > 0).all()
    assert card.line is None


def test_a_heavier_label_is_answered_more_often() -> None:
    moments, records = moments_for(ILL, 8.0)
    asked = Schema(attributes=ATTRIBUTES, target=ILL).discretize(4)
    classes = records.encode(asked)
    told = [
        label_card(moments, np.array([2 - heavy, heavy]))
        .rule.predict(classes, moments.sizes)
        .mean()
        for heavy in (0.1, 1.0, 1.9)
    ]
    assert told == sorted(told)
    assert told[0] < told[1] < told[2]


def test_at_a_large_budget_the_card_knows_what_was_planted() -> None:
    moments, records = moments_for(ILL, 8.0)
    card = label_card(moments, None)
    truth = np.asarray(records.target)
    classes = records.encode(Schema(attributes=ATTRIBUTES, target=ILL).discretize(4))
    right = (card.rule.predict(classes, moments.sizes) == truth).mean()
    majority = max(truth.mean(), 1 - truth.mean())
    assert right > majority + 0.1
    # Points of "yes" over "no" grow with the steps; "noise" and "sex" hardly matter.
    apart = [each[:, 1] - each[:, 0] for each in card.rule.points]
    assert (np.diff(apart[1][:4]) > 0).all()
    assert apart[2].argmax() == 1
    assert np.ptp(apart[0]) < 0.3 * np.ptp(apart[1])
    assert np.ptp(apart[3]) < 0.3 * np.ptp(apart[2])
    # What it says about noisy classes is what the people are.
    exact = np.array([[(classes[truth == k, 1] == c).mean() for k in (0, 1)] for c in range(5)])
    assert card.conditional[4:9] == pytest.approx(exact, abs=0.03)
    assert card.shares[1] == pytest.approx(truth.mean(), abs=0.02)


def test_a_card_of_a_number_follows_it() -> None:
    moments, records = moments_for(COST, 8.0)
    card = number_card(moments)
    assert card.line is not None
    assert card.answers is None
    classes = records.encode(Schema(attributes=ATTRIBUTES, target=COST).discretize(4))
    predicted = (card.rule.scores(classes)[:, 0] + 1) * 25
    truth = np.asarray(records.target)
    assert np.square(predicted - truth).mean() < 0.4 * truth.var()
    assert (card.line.mean + 1) * 25 == pytest.approx(truth.mean(), abs=0.5)
    assert card.line.variance * 625 == pytest.approx(predicted.var(), rel=0.3)


def test_counts_of_another_question_are_refused() -> None:
    schema, _, _ = people(50, ILL)
    asked = interview(plan(schema, epsilon=4.0, classes=4), "train")
    assert isinstance(asked, SampledInterview)
    other = Tally(counts=np.zeros((3, 3), dtype=np.int64), reports=3, simulation=True)
    for wrong in (other, None, "counts"):
        with pytest.raises(ParameterError, match="those of this question"):
            moments_of(asked, wrong)
