"""ODP (docs/proofs/ordered-discrete.md): the channel of every raw value, the bounds above all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from supm import RandomSource, secure, simulation
from supm._errors import ParameterError, RecordError
from supm.mechanisms import GeneralizedRandomizedResponse, OrderedDiscretePerturbation
from supm.mechanisms.thresholds import epsilon_of
from supm.schema import Attribute, Categorical, Continuous, CutPoints, Ordinal, discretize

DRAWS = 60_000
AGE = Continuous("age", low=-1.0, high=1.0)
INCOME = Continuous("income", low=0.0, high=1e6, missing="class")


def _listed(count: int) -> list[Ordinal | Categorical]:
    values = tuple(f"v{place}" for place in range(count))
    return [Ordinal("stage", values=values), Categorical("ward", values=values)]


ATTRIBUTES: list[Attribute] = [
    AGE,
    INCOME,
    *(attribute for count in (2, 3, 4, 5, 6, 9) for attribute in _listed(count)),
    Categorical("answer", values=("yes", "no"), missing="class"),
]


def _odp(attribute: Attribute, classes: int = 4, epsilon: float = 1.0) -> Any:
    return OrderedDiscretePerturbation.for_epsilon(
        attribute=attribute, classes=classes, epsilon=epsilon
    )


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda each: f"{each.name}-{type(each)}")
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 1e4])
def test_theorem_1_the_largest_ratio_is_the_stated_epsilon(
    attribute: Attribute, epsilon: float
) -> None:
    odp = _odp(attribute, epsilon=epsilon)
    channel = odp.exact_channel()
    assert all(sum(row) == 1 for row in channel)
    ratio = max(max(column) / min(column) for column in zip(*channel, strict=True))
    assert epsilon_of(ratio) == odp.epsilon <= epsilon


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda each: f"{each.name}-{type(each)}")
@pytest.mark.parametrize("source", [secure(), simulation(3)], ids=["secure", "simulation"])
def test_the_sampler_follows_every_row_of_the_channel(
    attribute: Attribute, source: RandomSource
) -> None:
    odp = _odp(attribute)
    for value, row in zip(odp.inputs(), odp.channel(), strict=True):
        _assert_follows(odp, value, row, source)


@pytest.mark.parametrize(
    ("value", "row"),
    [
        (-1.0, 0),
        (math.nextafter(-1.0, 0), 0),
        (1.0, 3),
        (-1e300, 0),
        (1e300, 3),
        (0.0, 1),
        (-0.5, 0),
    ],
)
def test_the_bounds_and_what_lies_beyond_them_have_a_row_of_the_channel(
    value: float, row: int
) -> None:
    odp = _odp(AGE)
    _assert_follows(odp, value, odp.channel()[row], secure())


def test_the_printed_formula_gives_the_minimum_a_symbol_of_its_own() -> None:
    printed = math.ceil((AGE.low - AGE.low) * 4 / (AGE.high - AGE.low))
    assert printed == 0, "class 0 does not exist in the papers' numbering 1 … L"
    assert discretize(AGE, 4).encode([AGE.low]).tolist() == [0]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 9])
@pytest.mark.parametrize("kind", [0, 1])
def test_every_listed_value_has_a_row_and_every_row_a_value(count: int, kind: int) -> None:
    attribute = _listed(count)[kind]
    odp = _odp(attribute, classes=4)
    assert odp.outcomes == min(count, 4) == len(odp.inputs())
    assert set(odp.discretizer.encode(attribute.values)) == set(range(odp.outcomes))


def test_missing_values_are_a_class_of_their_own_where_the_schema_says_so() -> None:
    odp = _odp(INCOME, classes=3)
    assert odp.outcomes == 4
    _assert_follows(odp, math.nan, odp.channel()[3], secure())


def test_given_cut_points_work_as_well() -> None:
    cuts = CutPoints(INCOME, cuts=(20_000.0, 60_000.0))
    response = GeneralizedRandomizedResponse.for_epsilon(size=cuts.size, epsilon=1.0)
    odp = OrderedDiscretePerturbation(discretizer=cuts, response=response)
    assert len(odp.inputs()) == 4


def test_the_estimate_is_the_share_of_each_class_within_its_error() -> None:
    odp = _odp(AGE, epsilon=2.0)
    ages = np.linspace(-1.0, 1.0, 40_001) ** 3
    truth = np.bincount(odp.discretizer.encode(ages)) / ages.size
    estimate = odp.estimate(odp.tally(odp.randomize(ages, simulation(11))))
    assert np.all(np.abs(estimate.values - truth) < 5 * estimate.standard_error)


def test_a_response_of_another_size_is_refused() -> None:
    response = GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=1.0)
    with pytest.raises(ParameterError, match="of size 4"):
        OrderedDiscretePerturbation(discretizer=discretize(AGE, 4), response=response)


@pytest.mark.parametrize("value", [math.nan, math.inf, "123457", None])
def test_bad_values_are_refused_before_any_word_is_drawn_and_never_shown(value: object) -> None:
    source = simulation(5)
    with pytest.raises(RecordError) as caught:
        _odp(AGE).randomize([0.0, value], source)
    assert "123457" not in str(caught.value)
    assert source.words(1) == simulation(5).words(1)


def _assert_follows(odp: Any, value: object, row: Any, source: RandomSource) -> None:
    kind = np.float64 if isinstance(odp.discretizer.attribute, Continuous) else object
    column = np.full(DRAWS, value, dtype=kind)
    counts = np.bincount(odp.outcome(odp.randomize(column, source)), minlength=odp.outcomes)
    assert counts.size == odp.outcomes
    assert chisquare(counts, row * DRAWS).pvalue > 1e-12
