"""Theorems of docs/proofs/sampled.md, from exact channels and exact expected counts."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

from supm import simulation
from supm.audit import exact_epsilon
from supm.collection import count, plan
from supm.collection.cards import moments_of
from supm.collection.counting import together_shape
from supm.collection.plan_layout import attributes_told
from supm.learning import Moments
from supm.mechanisms import GeneralizedRandomizedResponse, Reports, Tally
from supm.owner import SampledInterview, interview
from supm.owner.draws import gap_of
from supm.schema import Attribute, Categorical, Continuous, Schema

# So many that whole counts are the expected ones to twelve digits.
REPORTS = 10**13

CASES = [
    pytest.param((2, 3, 2), 2, 2, 1.5, id="two of three attributes"),
    pytest.param((2, 3, 4), 3, 2, 3.0, id="three labels"),
    pytest.param((2, 3, 2), 3, 1, 1.0, id="one attribute"),
    pytest.param((3, 2, 2), 2, 3, 2.0, id="all attributes"),
]


def ask(
    sizes: tuple[int, ...], labels: int, sampled: int, epsilon: float, target: Attribute | None
) -> SampledInterview:
    def words(many: int) -> tuple[str, ...]:
        return tuple(str(place) for place in range(many))

    attributes = [Categorical(f"a{place}", values=words(n)) for place, n in enumerate(sizes)]
    target = target or Categorical("label", values=words(labels))
    schema = Schema(attributes=tuple(attributes), target=target)
    study = plan(schema, epsilon=epsilon, classes=max(sizes), told=sampled, train="sample")
    asked = interview(study, "train")
    assert isinstance(asked, SampledInterview)
    assert (asked.sizes, asked.labels) == (sizes, labels)
    return asked


class People(NamedTuple):
    """Shares of all records, with what they have in common."""

    shares: NDArray[np.float64]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]


def uneven_people(asked: SampledInterview) -> People:
    rows = asked.inputs()
    place = np.arange(len(rows))
    shares = 1.0 + (3 * place * place + 7 * place) % 11 + 20.0 * (rows[:, 0] == rows[:, -1])
    shares /= shares.sum()
    held = indicators(asked, rows)
    means = shares @ held
    return People(shares, means, held.T @ (held * shares[:, None]) - np.outer(means, means))


def indicators(asked: SampledInterview, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    starts = np.cumsum((0, *asked.sizes))
    held = np.zeros((len(rows), int(starts[-1]) + (asked.labels or 0)))
    for column, start in enumerate(starts):
        held[np.arange(len(rows)), start + rows[:, column]] = 1.0
    return held


def outcomes(asked: SampledInterview) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All reports in the order of the channel's columns: the draw, then classes and label."""
    found = []
    for drawn in combinations(range(len(asked.sizes)), asked.sampled):
        alphabets = [range(asked.sizes[place]) for place in drawn]
        cells = product(*alphabets, range(asked.labels or 1))
        found += [(drawn, cell) for cell in cells]
    return found


def expected_counts(asked: SampledInterview, people: People) -> Tally:
    channel = np.array([[float(each) for each in row] for row in asked.exact_channel()])
    told = people.shares @ channel
    starts = np.cumsum((0, *asked.sizes))
    width = people.means.size
    together = np.zeros((width, width))
    for chance, (drawn, cell) in zip(told, outcomes(asked), strict=True):
        one = np.zeros(width)
        one[[*(starts[list(drawn)] + cell[:-1]), starts[-1] + cell[-1]]] = 1.0
        together += chance * np.outer(one, one)
    # Apart for each label where there is room; what is proved here is about their sum.
    counts = np.zeros(together_shape(asked), dtype=np.int64)
    counts[0] = np.rint(together * REPORTS)
    return Tally(counts=counts, reports=REPORTS, simulation=True)


@pytest.mark.parametrize(("sizes", "labels", "sampled", "epsilon"), CASES)
def test_1_the_channel_keeps_the_epsilon_that_is_stated_and_no_less(
    sizes: tuple[int, ...], labels: int, sampled: int, epsilon: float
) -> None:
    asked = ask(sizes, labels, sampled, epsilon, None)
    exact = exact_epsilon(asked.exact_channel())
    assert exact == asked.epsilon <= epsilon
    assert exact > epsilon * (1 - 1e-9)


def test_1_a_target_that_is_rounded_at_random_costs_nothing_more() -> None:
    asked = ask((2, 3), 3, 1, 2.0, Continuous("number", low=0, high=10))
    channel = asked.exact_channel()
    assert all(sum(row) == 1 for row in channel)
    assert exact_epsilon(channel) == asked.epsilon <= 2.0


@pytest.mark.parametrize(("sizes", "labels", "sampled", "epsilon"), CASES)
def test_2_a_report_is_the_truth_with_the_probability_of_the_gap_or_anything(
    sizes: tuple[int, ...], labels: int, sampled: int, epsilon: float
) -> None:
    asked = ask(sizes, labels, sampled, epsilon, None)
    draws = math.comb(len(sizes), sampled)
    for held, row in zip(asked.inputs().tolist(), asked.exact_channel(), strict=True):
        for chance, (drawn, cell) in zip(row, outcomes(asked), strict=True):
            cells = labels * math.prod(sizes[place] for place in drawn)
            response = asked._response(cells)
            gap = response.hit - response.miss
            truth = cell == (*(held[place] for place in drawn), held[-1])
            assert chance * draws == gap * truth + (1 - gap) / cells
            ratio = response.hit / response.miss
            assert gap == (ratio - 1) / (ratio + cells - 1)


@pytest.mark.parametrize(("sizes", "labels", "sampled", "epsilon"), CASES)
def test_3_gaps_are_means_over_the_draws_that_tell_an_attribute(
    sizes: tuple[int, ...], labels: int, sampled: int, epsilon: float
) -> None:
    asked = ask(sizes, labels, sampled, epsilon, None)
    gaps = moments_of(asked, expected_counts(asked, uneven_people(asked))).gaps
    draws = list(combinations(range(len(sizes)), sampled))
    truth = [asked.truth(math.prod(sizes[place] for place in drawn)) for drawn in draws]
    assert gaps.overall == pytest.approx(np.mean(truth))
    for one in range(len(sizes)):
        held = [gap for gap, drawn in zip(truth, draws, strict=True) if one in drawn]
        assert gaps.single[one] == pytest.approx(np.mean(held))
    for pair in combinations(range(len(sizes)), 2 if sampled > 1 else len(sizes) + 1):
        held = [gap for gap, drawn in zip(truth, draws, strict=True) if set(pair) <= set(drawn)]
        assert gaps.pair[pair] == pytest.approx(np.mean(held))


@pytest.mark.parametrize(("sizes", "labels", "sampled", "epsilon"), CASES)
def test_4_expected_counts_give_back_what_is_true_of_the_people(
    sizes: tuple[int, ...], labels: int, sampled: int, epsilon: float
) -> None:
    asked = ask(sizes, labels, sampled, epsilon, None)
    people = uneven_people(asked)
    found = moments_of(asked, expected_counts(asked, people))
    classes = sum(sizes)
    np.testing.assert_allclose(found.centre, people.means[:classes], atol=1e-9)
    np.testing.assert_allclose(found.shares, people.means[classes:], atol=1e-9)
    with_label = people.covariances[:classes, classes:]
    assert np.abs(with_label).max() > 0.02
    np.testing.assert_allclose(found.with_label, with_label, atol=1e-9)
    true = people.covariances[:classes, :classes]
    np.testing.assert_allclose(found.spread, np.where(found.inside, true, 0.0), atol=1e-9)
    if sampled > 1:
        np.testing.assert_allclose(found.across, np.where(found.inside, 0.0, true), atol=1e-9)


@pytest.mark.parametrize(("sizes", "labels", "sampled", "epsilon"), CASES)
def test_4_a_wrong_centre_and_wrong_shares_add_the_product_of_their_errors(
    sizes: tuple[int, ...], labels: int, sampled: int, epsilon: float
) -> None:
    asked = ask(sizes, labels, sampled, epsilon, None)
    people = uneven_people(asked)
    found = moments_of(asked, expected_counts(asked, people))
    classes = sum(sizes)
    # A cached property is looked up in the instance first.
    found.__dict__["centre"] = found.even
    found.__dict__["shares"] = np.full(labels, 1.0 / labels)
    off = people.means[:classes] - found.even
    product_of_errors = np.outer(off, people.means[classes:] - 1.0 / labels)
    true = people.covariances[:classes, classes:] + product_of_errors
    np.testing.assert_allclose(found.with_label, true, atol=1e-9)
    if sampled > 1:
        across = people.covariances[:classes, :classes] + np.outer(off, off)
        np.testing.assert_allclose(found.across, np.where(found.inside, 0, across), atol=1e-9)


def noisy_moments() -> Moments:
    asked = ask((2, 3, 4), 3, 2, 3.0, None)
    rows = asked.inputs()[simulation(1).below(len(asked.inputs()), 500).astype(np.int64)]
    return moments_of(asked, count(asked, asked.randomize(rows, simulation(2))))


def test_4_with_label_is_the_plain_covariance_and_a_product_of_two_corrections() -> None:
    found = noisy_moments()
    even, slope, told = found.even[:, None], found.slope[:, None], found.told[:, None]
    joint = even / 3 + (found.tables / told - even / 3) / slope
    by_label = np.stack([found.tables[found.of == place].sum(axis=0) for place in found.of])
    labels = 1 / 3 + (by_label / told - 1 / 3) / slope
    classes = even + (found.frequencies[:, None] - even) / slope
    corrections = (classes - found.centre[:, None]) * (labels - found.shares)
    assert np.abs(corrections).max() > 1e-4
    np.testing.assert_allclose(found.with_label, joint - classes * labels + corrections, atol=1e-12)


def test_4_covariances_of_an_attribute_and_of_all_labels_add_up_to_nothing() -> None:
    found = noisy_moments()
    np.testing.assert_allclose(found.with_label.sum(axis=1), 0.0, atol=1e-12)
    sums = np.stack([found.across[found.of == place].sum(axis=0) for place in range(3)])
    np.testing.assert_allclose(sums, 0.0, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("labels", [2, 10])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0, 6.0, 8.0])
def test_5_as_many_attributes_are_told_as_the_one_maximum_calls_for(
    classes: int, labels: int, epsilon: float
) -> None:
    def rises(told: float) -> float:
        gap = gap_of(epsilon, labels * float(classes) ** told)
        return 1 / told - 2 * (1 - gap) * math.log(classes)

    best = brentq(rises, 1e-3, 50)
    told = attributes_told(epsilon, labels, [classes] * 30, 30)
    assert told in {max(1, math.floor(best)), math.ceil(best)}


def test_7_counts_of_disjoint_crowds_add_up_to_those_of_all() -> None:
    asked = ask((2, 3, 2), 2, 2, 1.5, None)
    rows = np.tile(asked.inputs(), (5, 1))
    symbols = asked.randomize(rows, simulation(3)).symbols
    parts = [Reports(symbols=each, simulation=True) for each in (symbols[:17], symbols[17:])]
    first, second = (count(asked, each) for each in parts)
    everybody = count(asked, Reports(symbols=symbols, simulation=True))
    assert isinstance(first, Tally)
    assert isinstance(second, Tally)
    assert isinstance(everybody, Tally)
    np.testing.assert_array_equal((second + first).counts, everybody.counts)
    assert everybody.counts.shape == (2, 9, 9)
    assert everybody.reports == len(rows)


def test_7_one_report_is_counted_once_for_each_two_things_that_it_tells() -> None:
    asked = ask((2, 3, 2), 2, 2, 1.5, None)
    told = Reports(symbols=np.array([[0, 1, 1, 2, 0]]), simulation=True)
    found = count(asked, told)
    assert isinstance(found, Tally)
    one = np.zeros(9, dtype=np.int64)
    one[[1, 2 + 2, 7]] = 1
    np.testing.assert_array_equal(found.counts, [np.outer(one, one), np.zeros((9, 9))])


def test_the_exact_response_has_the_exact_gap() -> None:
    response = GeneralizedRandomizedResponse.for_epsilon(size=8, epsilon=2.0)
    gap = response.hit - response.miss
    assert isinstance(gap, Fraction)
    assert float(gap) == pytest.approx(gap_of(2.0, 8))
