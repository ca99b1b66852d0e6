"""Corrections 1 to 9 of docs/errata.md: the algorithms of papers 000 and 001.

What a paper prints stands here as a function whose name begins with ``printed``. One assertion is
put to both versions: ours passes it, the printed one fails it. The others are in
tests/numerical/test_corrections_of_supm_text.py (10, 11, 13, 14) and
tests/numerical/test_corrections_of_supm_budget.py (12 and 15 to 18).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from supm.audit import exact_epsilon
from supm.collection import plan
from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    OrderedDiscretePerturbation,
    Piecewise,
    Reports,
)
from supm.owner import SeparateInterview, interview
from supm.owner.columns import Labels
from supm.schema import Categorical, Continuous, Ordinal, Schema, discretize

EPSILON = 1.0
ROUNDING = 1e-9
Row = dict[Hashable, Fraction]


def printed_oda(x: float, low: float, width: float, classes: int) -> tuple[float, list[float]]:
    """Algorithm 4, lines 2 to 7: the class value of a number, and the list of all class values."""
    listed = [low + (2 * i - 1) * width / (2 * classes) for i in range(1, classes + 1)]
    i = math.ceil((x - low) * classes / width)
    return low + (2 * i - 1) * width / (2 * classes), listed


def printed_oda_index(place: int, values: int, classes: int) -> tuple[int, list[int]]:
    """Algorithm 4, lines 9 to 18: the index of the value at a place, and the indices of OD."""
    width = values - 1
    labels = width + 1 if width <= classes else classes
    return place % classes, list(range(1, labels + 1))


def printed_rr(held: Hashable, listed: Sequence[Hashable]) -> Row:
    """Algorithm 2 of 000: the chance of each symbol for who holds one that may not be listed."""
    keep = Fraction(math.exp(EPSILON)) / (len(listed) - 1 + Fraction(math.exp(EPSILON)))
    others = [symbol for symbol in listed if symbol != held]
    return {held: keep, **dict.fromkeys(others, (1 - keep) / len(others))}


def our_odp(attribute: Continuous | Ordinal | Categorical, raw: object, classes: int) -> Row:
    odp = OrderedDiscretePerturbation.for_epsilon(
        attribute=attribute, classes=classes, epsilon=EPSILON
    )
    row = odp.exact_channel()[odp.discretizer.encode([raw])[0]]
    return dict(enumerate(row))


def needed(rows: Sequence[Row]) -> float:
    """The least epsilon that the rows of a channel keep, whatever their symbols are."""
    symbols = dict.fromkeys(symbol for row in rows for symbol in row)
    return exact_epsilon([[row.get(each, Fraction(0)) for each in symbols] for row in rows])


def assert_private(rows: Sequence[Row]) -> None:
    assert all(sum(row.values()) == 1 for row in rows), "not a distribution"
    assert needed(rows) <= EPSILON + ROUNDING, "more than epsilon is spent"


def test_1_the_minimum_of_a_continuous_attribute_is_in_the_first_class() -> None:
    raw = [0.0, 10.0, 55.0, 100.0]
    printed = [printed_rr(*printed_oda(x, 0.0, 100.0, 4)) for x in raw]
    value, listed = printed_oda(0.0, 0.0, 100.0, 4)
    assert value == -12.5
    assert value not in listed
    assert needed(printed[1:]) <= EPSILON + ROUNDING, "above the minimum the paper is right"
    assert needed(printed) == math.inf
    with pytest.raises(AssertionError, match="more than epsilon"):
        assert_private(printed)
    assert_private([our_odp(Continuous("x", low=0, high=100), x, 4) for x in raw])


def test_2_a_negative_label_is_one_of_the_two_labels() -> None:
    value, listed = printed_oda(-1.0, -1.0, 2.0, 2)
    assert (value, listed) == (-1.5, [-0.5, 0.5])
    printed = [printed_rr(*printed_oda(label, -1.0, 2.0, 2)) for label in (-1.0, 1.0)]
    assert needed(printed) == math.inf
    with pytest.raises(AssertionError, match="more than epsilon"):
        assert_private(printed)
    schema = Schema(
        attributes=(Continuous("x", low=0, high=1),), target=Categorical("y", values=(-1, 1))
    )
    asked = interview(plan(schema, epsilon=2 * EPSILON, mode="faithful", attributes="x"), "train")
    assert isinstance(asked, SeparateInterview)
    assert isinstance(asked.label, Labels)
    held = asked.label.read(schema.read({"x": [0, 0], "y": [-1, 1]}))
    assert_private([dict(enumerate(asked.label.randomizer.exact_channel()[k])) for k in held])


def assert_every_index_is_listed(indices: Sequence[int], listed: Sequence[int]) -> None:
    assert set(indices) <= set(listed), "an index outside the list"


def test_3_the_last_of_as_many_values_as_classes_has_an_index() -> None:
    places = range(1, 5)
    indices = [printed_oda_index(place, 4, 4)[0] for place in places]
    listed = printed_oda_index(1, 4, 4)[1]
    assert (indices, listed) == ([1, 2, 3, 0], [1, 2, 3, 4])
    with pytest.raises(AssertionError, match="outside the list"):
        assert_every_index_is_listed(indices, listed)
    # Whoever reads OD[0] as one more symbol gives the last value away.
    assert needed([printed_rr(index, listed) for index in indices]) == math.inf
    for kind in (Ordinal, Categorical):
        ours = discretize(kind("a", values=tuple(places)), 4).encode(list(places)) + 1
        assert_every_index_is_listed(ours.tolist(), listed)


def assert_every_label_is_of_somebody(indices: Sequence[int], listed: Sequence[int]) -> None:
    assert set(indices) >= set(listed), "a label that stands for no value"


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_4_one_value_more_than_classes_leaves_no_label_empty(classes: int) -> None:
    values = classes + 1
    # Index 0 is read as the last one, so that slip 3 is not counted again.
    indices = [printed_oda_index(p, values, classes)[0] or classes for p in range(1, values + 1)]
    listed = printed_oda_index(1, values, classes)[1]
    assert len(listed) == classes + 1
    with pytest.raises(AssertionError, match="no value"):
        assert_every_label_is_of_somebody(indices, listed)
    for kind in (Ordinal, Categorical):
        ours = discretize(kind("a", values=tuple(range(values))), classes)
        assert_every_label_is_of_somebody(
            ours.encode(list(range(values))).tolist(), range(ours.size)
        )
    # Algorithm 5 hands L labels to randomized response; ours has as many as there are.
    few = discretize(Categorical("a", values=("no", "yes")), classes + 1)
    assert few.size == 2


def assert_classes_are_runs(classes: Sequence[int]) -> None:
    assert set(np.diff(classes).tolist()) <= {0, 1}, "neighbours are torn apart"


def test_5_the_two_ends_of_an_ordered_attribute_are_not_in_one_class() -> None:
    pain = Ordinal("pain", values=tuple(range(11)))
    printed = [printed_oda_index(place, 11, 5)[0] for place in range(1, 12)]
    assert printed[0] == printed[10], "no pain and the worst pain"
    with pytest.raises(AssertionError, match="torn apart"):
        assert_classes_are_runs(printed)
    assert_classes_are_runs(discretize(pain, 5).encode(list(pain.values)).tolist())


def printed_class_value(index: int) -> list[float]:
    """Line 16, ``OD[i] <- j_i``: j_i is defined nowhere; the label of DTO is all there is."""
    return [float(index)]


def assert_all_equally_far(points: NDArray[np.float64]) -> None:
    far = {float(np.linalg.norm(a - b)) for k, a in enumerate(points) for b in points[:k]}
    assert len(far) == 1, "an order where there is none"


def test_6_a_class_has_a_number_only_where_its_values_have_an_order() -> None:
    directions = Categorical("way", values=("north", "east", "south", "west"))
    printed = np.array([printed_class_value(index) for index in range(1, 5)])
    with pytest.raises(AssertionError, match="an order"):
        assert_all_equally_far(printed)
    ours = discretize(directions, 4)
    assert ours.representatives is None
    assert_all_equally_far(ours.one_hot(np.arange(4)))
    ordered = discretize(Ordinal("pain", values=tuple(range(11))), 5).representatives
    assert ordered is not None
    assert ordered.tolist() == [-1.0, -0.5, 0.0, 0.5, 1.0]


def paper_window(x: float) -> tuple[float, float, float]:
    """H, l and r of the piecewise mechanism, which both papers print alike and rightly."""
    root = math.exp(EPSILON / 2)
    farthest = (root + 1) / (root - 1)
    left = (farthest + 1) / 2 * x - (farthest - 1) / 2
    return farthest, left, left + farthest - 1


def printed_density(y: NDArray[np.float64], x: float) -> NDArray[np.float64]:
    """The pdf of both papers: its condition is on x, so that y does not matter."""
    _, left, right = paper_window(x)
    root = math.exp(EPSILON / 2)
    high = (math.exp(EPSILON) - root) / (2 * root + 2)
    return np.full(y.shape, high if left <= x <= right else high / math.exp(EPSILON))


def our_piecewise(x: float, bound: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values that reports are read as, and the chance of each for who holds x."""
    mechanism = Piecewise.for_epsilon(low=-bound, high=bound, epsilon=EPSILON, steps=16)
    places = mechanism.decode(Reports(symbols=np.arange(mechanism.outcomes), simulation=True))
    return places, mechanism.channel()[mechanism.inputs().tolist().index(x)]


def assert_is_a_distribution(chances: NDArray[np.float64]) -> None:
    assert chances.sum() == pytest.approx(1, rel=1e-9), "the chances do not add up to one"


@pytest.mark.parametrize("x", [-1.0, -0.25, 0.0, 1.0])
def test_7_the_density_of_the_piecewise_mechanism_depends_on_the_output(x: float) -> None:
    farthest, *_ = paper_window(x)
    cells = 1000
    y = np.linspace(-farthest, farthest, 2 * cells + 1)[1::2]
    printed = printed_density(y, x) * 2 * farthest / cells
    assert printed.sum() == pytest.approx(math.exp(EPSILON / 2)), "x is in [l, r] always"
    with pytest.raises(AssertionError, match="add up"):
        assert_is_a_distribution(printed)
    assert_is_a_distribution(our_piecewise(x, 1.0)[1])


def printed_mean_of_reports(x: float, bound: float) -> float:
    """Algorithm 1 of 001 on [-t, t], exactly: line 9 returns y, which is on the scale [-1, 1]."""
    farthest, left, right = paper_window(x / bound)
    near = math.exp(EPSILON / 2) / (math.exp(EPSILON / 2) + 1)
    outside = (left**2 - right**2) / (2 * (farthest + 1))
    return near * (left + right) / 2 + (1 - near) * outside


def assert_unbiased(mean: float, x: float) -> None:
    assert mean == pytest.approx(x, abs=1e-9), "the mean of the reports is not the value"


@pytest.mark.parametrize("x", [-10.0, 5.0])
def test_8_a_report_is_scaled_back_to_the_range_of_the_attribute(x: float) -> None:
    printed = printed_mean_of_reports(x, 10.0)
    assert printed == pytest.approx(x / 10)
    with pytest.raises(AssertionError, match="not the value"):
        assert_unbiased(printed, x)
    places, chances = our_piecewise(x, 10.0)
    assert_unbiased(float(places @ chances), x)


def printed_rr_of_001(held: int, labels: int) -> Row:
    """Algorithm 2 of 001: who does not keep draws from {0, …, l} except the own symbol."""
    keep = Fraction(math.exp(EPSILON)) / (labels - 1 + Fraction(math.exp(EPSILON)))
    others = [symbol for symbol in range(labels + 1) if symbol != held]
    return {held: keep, **dict.fromkeys(others, (1 - keep) / len(others))}


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_9_randomized_response_draws_from_the_other_symbols_only(labels: int) -> None:
    text = (math.exp(EPSILON) + labels) / (labels - 1 + math.exp(EPSILON))
    assert text > 1, "the two probabilities of the text add up to more than one"
    printed = [printed_rr_of_001(held, labels) for held in range(1, labels + 1)]
    assert needed(printed) == pytest.approx(EPSILON + math.log(labels / (labels - 1)))
    with pytest.raises(AssertionError, match="more than epsilon"):
        assert_private(printed)
    response = GeneralizedRandomizedResponse.for_epsilon(size=labels, epsilon=EPSILON)
    assert_private([dict(enumerate(row)) for row in response.exact_channel()])
