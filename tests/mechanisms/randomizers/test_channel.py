"""What every finite randomizer keeps: its exact channel, its epsilon, and a sampler that obeys it.

Each mechanism is listed here once and inherits all the tests. The statistics share one alarm: all
rows of all mechanisms together fail a sound sampler once in 10^6 runs of this file.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import RandomSource, secure, simulation
from supm.mechanisms import (
    FiniteChannel,
    GeneralizedRandomizedResponse,
    HadamardResponse,
    IndependentReports,
    JointReport,
    LocalHashing,
    Reports,
    SubsetSelection,
    UnaryEncoding,
)
from supm.mechanisms.thresholds import epsilon_of

Maker = Callable[[float], FiniteChannel]

EPSILONS = [1e-6, 0.1, 1.0, 5.0, 1e4]
# A mechanism's channel has at most 18 rows, and there are 5 epsilons and 2 sources.
ROWS = 10_000
DRAWS = 20_000
# Where fewer reports than this are expected, counts are gathered or tested exactly.
ENOUGH = 200.0

MAKERS: dict[str, Maker] = {
    "response 2": lambda e: GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=e),
    "response 3": lambda e: GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=e),
    "response 7": lambda e: GeneralizedRandomizedResponse.for_epsilon(size=7, epsilon=e),
    "symmetric 2": lambda e: UnaryEncoding.symmetric(size=2, epsilon=e),
    "symmetric 4": lambda e: UnaryEncoding.symmetric(size=4, epsilon=e),
    "optimised 2": lambda e: UnaryEncoding.optimised(size=2, epsilon=e),
    "optimised 4": lambda e: UnaryEncoding.optimised(size=4, epsilon=e),
    "subset 2": lambda e: SubsetSelection.for_epsilon(size=2, epsilon=e),
    "subset 6": lambda e: SubsetSelection.for_epsilon(size=6, epsilon=e),
    "subset 5 width 1": lambda e: SubsetSelection.with_width(size=5, width=1, epsilon=e),
    "subset 5 width 2": lambda e: SubsetSelection.with_width(size=5, width=2, epsilon=e),
    "subset 6 width 3": lambda e: SubsetSelection.with_width(size=6, width=3, epsilon=e),
    "subset 5 width 4": lambda e: SubsetSelection.with_width(size=5, width=4, epsilon=e),
    # Wide enough for a table of the alphabet.
    "subset 18 width 17": lambda e: SubsetSelection.with_width(size=18, width=17, epsilon=e),
    "hashing 2": lambda e: LocalHashing.for_epsilon(size=2, epsilon=e),
    "hashing 4": lambda e: LocalHashing.for_epsilon(size=4, epsilon=e),
    "hashing 5 buckets 2": lambda e: LocalHashing.with_buckets(size=5, buckets=2, epsilon=e),
    "hashing 5 buckets 3": lambda e: LocalHashing.with_buckets(size=5, buckets=3, epsilon=e),
    "Hadamard 2": lambda e: HadamardResponse.for_epsilon(size=2, epsilon=e),
    "Hadamard 3": lambda e: HadamardResponse.for_epsilon(size=3, epsilon=e),
    "Hadamard 4": lambda e: HadamardResponse.for_epsilon(size=4, epsilon=e),
    "Hadamard 7": lambda e: HadamardResponse.for_epsilon(size=7, epsilon=e),
    "independent 3": lambda e: IndependentReports.for_epsilon(sizes=(3,), epsilon=e),
    "independent 2x3": lambda e: IndependentReports.for_epsilon(sizes=(2, 3), epsilon=e),
    "independent 2x3x2": lambda e: IndependentReports.for_epsilon(sizes=(2, 3, 2), epsilon=e),
    "joint 2x3": lambda e: JointReport.for_epsilon(sizes=(2, 3), epsilon=e),
    "joint 2x2x2": lambda e: JointReport.for_epsilon(sizes=(2, 2, 2), epsilon=e),
    "joint 2x3 hashing": lambda e: JointReport(
        sizes=(2, 3), randomizer=LocalHashing.with_buckets(size=6, buckets=2, epsilon=e)
    ),
    "joint 2x3 Hadamard": lambda e: JointReport(
        sizes=(2, 3), randomizer=HadamardResponse.for_epsilon(size=6, epsilon=e)
    ),
}
SOURCES: dict[str, Callable[[], RandomSource]] = {"secure": secure, "seed": lambda: simulation(5)}

every_mechanism = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
every_epsilon = pytest.mark.parametrize("epsilon", EPSILONS)


def largest_ratio(channel: list[list[Fraction]]) -> Fraction:
    ratios = [max(column) / min(column) for column in zip(*channel, strict=True)]
    return max(ratios, default=Fraction(1))


def p_value(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Chi-square over the common outcomes, and the exact binomial for all rare ones together."""
    expected = counts.sum() * probabilities
    common = expected >= ENOUGH
    rare, chance = int(counts[~common].sum()), float(probabilities[~common].sum())
    total = int(counts.sum())
    tails = stats.binom.cdf(rare, total, chance), stats.binom.sf(rare - 1, total, chance)
    fit = 1.0
    if np.count_nonzero(common) > 1:
        hoped = expected[common] / expected[common].sum() * counts[common].sum()
        fit = float(stats.chisquare(counts[common], hoped).pvalue)
    return min(1.0, 2 * fit, 4 * float(min(tails)))


@every_mechanism
@every_epsilon
def test_rows_sum_to_exactly_one(make: Maker, epsilon: float) -> None:
    mechanism = make(epsilon)
    channel = mechanism.exact_channel()
    assert [sum(row) for row in channel] == [1] * len(mechanism.inputs())
    assert {len(row) for row in channel} == {mechanism.outcomes}
    assert min(min(row) for row in channel) > 0


@every_mechanism
@every_epsilon
def test_the_largest_ratio_of_a_column_is_the_stated_epsilon(make: Maker, epsilon: float) -> None:
    mechanism = make(epsilon)
    assert epsilon_of(largest_ratio(mechanism.exact_channel())) == mechanism.epsilon <= epsilon
    assert mechanism.guarantee.epsilon == mechanism.epsilon


@every_mechanism
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0])
def test_nearly_all_of_epsilon_is_used(make: Maker, epsilon: float) -> None:
    assert make(epsilon).epsilon == pytest.approx(epsilon, rel=1e-9)


@every_mechanism
@every_epsilon
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_the_sampler_obeys_every_row_of_the_channel(
    make: Maker, epsilon: float, source: Callable[[], RandomSource]
) -> None:
    mechanism = make(epsilon)
    inputs, channel = mechanism.inputs(), mechanism.channel()
    # All inputs take turns, as they do in a crowd.
    reports = mechanism.randomize(np.concatenate([inputs] * DRAWS), source())
    outcomes = mechanism.outcome(reports).reshape(DRAWS, len(inputs))
    for row, told in zip(channel, outcomes.T, strict=True):
        assert p_value(np.bincount(told, minlength=mechanism.outcomes), row) > 1e-9 / ROWS


def test_all_rows_are_counted_in_the_alarm() -> None:
    rows = sum(len(make(epsilon).inputs()) for make in MAKERS.values() for epsilon in EPSILONS)
    assert rows * len(SOURCES) <= ROWS


@every_mechanism
def test_a_simulation_is_marked_and_repeats_itself(make: Maker) -> None:
    mechanism = make(1.0)
    first = mechanism.randomize(mechanism.inputs(), simulation(1))
    second = mechanism.randomize(mechanism.inputs(), simulation(1))
    np.testing.assert_array_equal(first.symbols, second.symbols)
    assert first.simulation
    assert not mechanism.randomize(mechanism.inputs(), secure()).simulation


@every_mechanism
def test_the_channel_in_floats_is_the_exact_one(make: Maker) -> None:
    mechanism = make(1.0)
    np.testing.assert_array_equal(
        mechanism.channel(), np.array(mechanism.exact_channel(), dtype=np.float64)
    )


@every_mechanism
def test_a_report_takes_whole_bytes(make: Maker) -> None:
    mechanism = make(1.0)
    assert 8 * mechanism.report_bytes - 8 < mechanism.report_bits <= 8 * mechanism.report_bytes
    assert 2**mechanism.report_bits >= mechanism.outcomes


@every_mechanism
def test_mechanisms_with_equal_parameters_are_equal(make: Maker) -> None:
    assert make(1.0) == make(1.0)
    assert make(1.0) != make(2.0)
    assert len({make(1.0), make(1.0), make(2.0)}) == 2


TOO_LARGE: list[FiniteChannel] = [
    GeneralizedRandomizedResponse.for_epsilon(size=2**40, epsilon=1.0),
    GeneralizedRandomizedResponse.for_epsilon(size=2**12, epsilon=1.0),
    UnaryEncoding.symmetric(size=20, epsilon=1.0),
    UnaryEncoding.symmetric(size=20_000, epsilon=1.0),
    SubsetSelection.for_epsilon(size=60, epsilon=0.1),
    LocalHashing.for_epsilon(size=2**40, epsilon=1.0),
    LocalHashing.for_epsilon(size=200, epsilon=1.0),
    HadamardResponse.for_epsilon(size=2**40, epsilon=1.0),
    HadamardResponse.for_epsilon(size=2**12, epsilon=1.0),
    IndependentReports.for_epsilon(sizes=(2,) * 100, epsilon=1.0),
    IndependentReports.for_epsilon(sizes=(60, 60), epsilon=1.0),
    JointReport.for_epsilon(sizes=(2,) * 40, epsilon=1.0),
]


@pytest.mark.parametrize("mechanism", TOO_LARGE, ids=lambda each: type(each).__name__)
def test_a_channel_too_large_to_be_written_down_is_refused_at_once(
    mechanism: FiniteChannel,
) -> None:
    with pytest.raises(ParameterError, match=r"in \[1, 2\^22\]"):
        mechanism.channel()
    with pytest.raises(ParameterError, match=r"in \[1, 2\^22\]"):
        mechanism.exact_channel()


UNNUMBERED: list[FiniteChannel] = [
    UnaryEncoding.symmetric(size=63, epsilon=1.0),
    SubsetSelection.with_width(size=70, width=35, epsilon=1.0),
    LocalHashing.for_epsilon(size=2**31, epsilon=1.0),
    JointReport(sizes=(9, 7), randomizer=UnaryEncoding.optimised(size=63, epsilon=1.0)),
]


@pytest.mark.parametrize("mechanism", UNNUMBERED, ids=lambda each: type(each).__name__)
def test_outcomes_that_no_64_bit_number_holds_are_refused_instead_of_wrapped(
    mechanism: FiniteChannel,
) -> None:
    value = [[0, 0]] if isinstance(mechanism, JointReport) else [0]
    reports = mechanism.randomize(value, simulation(1))
    with pytest.raises(ParameterError, match=r"outcomes to be numbered"):
        mechanism.outcome(reports)


def test_the_largest_outcomes_that_can_be_numbered_are_numbered() -> None:
    bits = UnaryEncoding.symmetric(size=62, epsilon=1.0)
    last = Reports(symbols=np.array([[0, 0, 0, 0, 0, 0, 0, 32]]), simulation=True)
    assert bits.outcome(last).tolist() == [2**61]
    wide = SubsetSelection.with_width(size=2000, width=1999, epsilon=1.0)
    assert 0 <= int(wide.outcome(wide.randomize([5], simulation(1)))[0]) < 2000
