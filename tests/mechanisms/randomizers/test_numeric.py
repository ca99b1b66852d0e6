"""What every randomizer of one number must keep: the same tests for all of them.

Proofs: docs/proofs/public-grid.md and the page of each mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError, RecordError
from supm._random import secure, simulation
from supm._validation import EPSILON
from supm.mechanisms.randomizers.duchi import Duchi
from supm.mechanisms.randomizers.hybrid import Hybrid
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.numeric import COUNT, STEPS, GridRandomizer, NumericRandomizer
from supm.mechanisms.randomizers.piecewise import Piecewise
from supm.mechanisms.randomizers.randomizer import FiniteChannel, Reports, Tally
from supm.mechanisms.randomizers.square_wave import SquareWave
from supm.mechanisms.thresholds import epsilon_of, exponential
from supm.privacy import PureLDP

LOW, HIGH = -3.0, 5.0
# All statistical tests of this file together fail a sound sampler once in a million runs.
ALARM = 1e-13

MAKERS: dict[str, Callable[..., Any]] = {
    "piecewise": Piecewise.for_epsilon,
    "piecewise-optimised": Piecewise.optimised,
    "duchi": Duchi.for_epsilon,
    "hybrid": Hybrid.for_epsilon,
    "hybrid-optimised": Hybrid.optimised,
    "square-wave": SquareWave.for_epsilon,
    "laplace": Laplace.for_epsilon,
}
FINITE = [name for name in MAKERS if name != "laplace"]
NUMERIC = [name for name in MAKERS if name != "square-wave"]
EPSILONS = [1e-6, 0.3, 1.0, 4.0, 1e4]

finite = pytest.mark.parametrize("name", FINITE)
numeric = pytest.mark.parametrize("name", NUMERIC)
every = pytest.mark.parametrize("name", MAKERS)
each_epsilon = pytest.mark.parametrize("epsilon", EPSILONS)


def make(name: str, epsilon: float, steps: int | None = 6) -> Any:
    chosen = {} if steps is None or name == "duchi" else {"steps": steps}
    return MAKERS[name](low=LOW, high=HIGH, epsilon=epsilon, **chosen)


def p_value(counts: NDArray[np.int64], row: NDArray[np.float64]) -> float:
    """Chi-square of the counts against the row; the rarest cells are pooled to a hundred."""
    expected = row * counts.sum()
    order = np.argsort(expected)
    pooled = max(1, int(np.searchsorted(np.cumsum(expected[order]), 100)) + 1)
    starts = np.r_[0, np.arange(pooled, len(row))]
    observed, wanted = (np.add.reduceat(each[order], starts) for each in (counts, expected))
    return float(stats.chisquare(observed, wanted).pvalue)


@finite
@each_epsilon
def test_rows_sum_to_exactly_one_and_every_report_is_possible(name: str, epsilon: float) -> None:
    mechanism = make(name, epsilon)
    channel = mechanism.exact_channel()
    assert len(channel) == len(mechanism.inputs())
    for row in channel:
        assert len(row) == mechanism.outcomes
        assert sum(row) == 1
        assert min(row) > 0
    np.testing.assert_allclose(mechanism.channel(), np.array(channel, dtype=float), rtol=4e-15)


@finite
@each_epsilon
def test_the_largest_ratio_within_a_column_is_the_stated_epsilon(name: str, epsilon: float) -> None:
    mechanism = make(name, epsilon)
    columns = zip(*mechanism.exact_channel(), strict=True)
    largest: Fraction = max(max(column) / min(column) for column in columns)
    assert epsilon_of(largest) == mechanism.epsilon
    assert largest.numerator <= exponential(epsilon) * largest.denominator
    assert mechanism.epsilon <= epsilon
    assert mechanism.guarantee == PureLDP(mechanism.epsilon)


@every
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.5, 1.0, 2.0, 10.0, 20.0])
def test_the_stated_epsilon_uses_up_what_was_asked_for(name: str, epsilon: float) -> None:
    stated = make(name, epsilon, steps=None).epsilon
    assert epsilon * (1 - 1e-6) < stated <= epsilon


@finite
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_sampler_draws_every_row_of_the_channel(name: str, epsilon: float) -> None:
    mechanism = make(name, epsilon)
    source = secure()
    for value, row in zip(mechanism.inputs(), mechanism.channel(), strict=True):
        reports = mechanism.randomize(np.full(40_000, value), source)
        counts = np.bincount(mechanism.outcome(reports), minlength=mechanism.outcomes)
        assert p_value(counts, row) > ALARM


@finite
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("position", [0.125, 0.9, 3.5, 5.75])
def test_between_points_the_sampler_draws_the_mixture_of_two_rows(
    name: str, epsilon: float, position: float
) -> None:
    mechanism = make(name, epsilon)
    position *= mechanism.steps / 6
    row, share = int(position), position - int(position)
    mixture = (1 - share) * mechanism.channel()[row] + share * mechanism.channel()[row + 1]
    values = np.full(100_000, LOW + (HIGH - LOW) * position / mechanism.steps)
    counts = np.bincount(
        mechanism.randomize(values, secure()).symbols, minlength=mechanism.outcomes
    )
    assert p_value(counts, mixture) > ALARM


@pytest.mark.parametrize("name", [name for name in FINITE if name in NUMERIC])
@each_epsilon
def test_a_decoded_report_is_unbiased_at_every_point(name: str, epsilon: float) -> None:
    mechanism = make(name, epsilon)
    decoded = _decoded(mechanism)
    means = [_exact_mean(row, decoded) for row in mechanism.exact_channel()]
    np.testing.assert_allclose(
        means, mechanism.inputs(), rtol=0, atol=1e-14 * max(8, np.abs(decoded).max())
    )


@pytest.mark.parametrize("name", [name for name in FINITE if name in NUMERIC])
@each_epsilon
@pytest.mark.parametrize("position", [0, 0.25, 1, 2.9, 3, 5.5, 6])
def test_the_stated_variance_is_that_of_the_channel(
    name: str, epsilon: float, position: float
) -> None:
    mechanism = make(name, epsilon)
    position *= mechanism.steps / 6
    row, share = (
        min(int(position), mechanism.steps - 1),
        position - min(int(position), mechanism.steps - 1),
    )
    pair = mechanism.channel()[row : row + 2]
    chances = (1 - share) * pair[0] + share * pair[1]
    value = LOW + (HIGH - LOW) * position / mechanism.steps
    exact = chances @ np.square(_decoded(mechanism) - value)
    assert mechanism.variance(value) == pytest.approx(exact, rel=1e-9, abs=1e-17)
    assert mechanism.variance(value, reports=10) == pytest.approx(exact / 10, rel=1e-9, abs=1e-17)


@numeric
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("value", [LOW, -1.234, 1.0, 4.999, HIGH])
def test_the_mean_and_the_variance_of_a_sample_are_as_stated(
    name: str, epsilon: float, value: float
) -> None:
    mechanism: NumericRandomizer = make(name, epsilon, steps=None)
    count = 100_000
    decoded = mechanism.decode(mechanism.randomize(np.full(count, value), simulation(11)))
    variance = mechanism.variance(value)
    assert abs(decoded.mean() - value) < 5 * math.sqrt(variance / count) + 1e-12
    squares = np.square(decoded - value)
    assert abs(squares.mean() - variance) < 5 * squares.std() / math.sqrt(count) + 1e-12


@numeric
def test_the_estimate_is_the_mean_with_the_error_of_the_spread(name: str) -> None:
    mechanism: NumericRandomizer = make(name, 1.0, steps=None)
    values = np.linspace(LOW, 1.0, 30_000)
    reports = mechanism.randomize(values, simulation(5))
    decoded = mechanism.decode(reports)
    estimate = mechanism.estimate(mechanism.tally(reports))
    assert estimate.values.shape == ()
    assert float(estimate.values) == pytest.approx(decoded.mean(), rel=1e-9)
    assert float(estimate.standard_error) == pytest.approx(stats.sem(decoded), rel=1e-9)
    assert abs(float(estimate.values) - values.mean()) < 5 * float(estimate.standard_error)


@numeric
def test_a_range_far_from_zero_loses_no_digits(name: str) -> None:
    near: NumericRandomizer = MAKERS[name](low=0, high=1, epsilon=2.0)
    far: NumericRandomizer = MAKERS[name](low=2.0**30, high=2.0**30 + 1, epsilon=2.0)
    values = np.linspace(0, 1, 5000) // 2**-10 * 2**-10
    here = near.estimate(near.tally(near.randomize(values, simulation(3))))
    there = far.estimate(far.tally(far.randomize(values + 2.0**30, simulation(3))))
    assert float(there.values) - 2.0**30 == pytest.approx(float(here.values), abs=1e-6)
    assert float(there.standard_error) == pytest.approx(float(here.standard_error), rel=1e-9)


@numeric
def test_tallies_add_up(name: str) -> None:
    mechanism: NumericRandomizer = make(name, 1.0)
    reports = mechanism.randomize(np.linspace(LOW, HIGH, 1000), simulation(1))
    parts = [Reports(symbols=part, simulation=True) for part in np.split(reports.symbols, [300])]
    merged = mechanism.tally(parts[0]) + mechanism.tally(parts[1])
    whole = mechanism.tally(reports)
    np.testing.assert_allclose(merged.counts, whole.counts, rtol=1e-12)
    assert merged.reports == whole.reports == 1000


@numeric
def test_one_report_has_no_spread(name: str) -> None:
    mechanism: NumericRandomizer = make(name, 1.0)
    estimate = mechanism.estimate(mechanism.tally(mechanism.randomize([0.0], simulation(1))))
    assert math.isinf(estimate.standard_error)


@every
@pytest.mark.parametrize("epsilon", [1e-6, 1e4])
def test_it_works_at_the_ends_of_epsilon(name: str, epsilon: float) -> None:
    mechanism = make(name, epsilon, steps=None)
    reports = mechanism.randomize(np.linspace(LOW, HIGH, 2001), secure())
    estimate = mechanism.estimate(mechanism.tally(reports))
    assert 0 < mechanism.epsilon <= epsilon
    assert math.isfinite(estimate.mean if name == "square-wave" else estimate.values)
    if name in NUMERIC:
        assert 0 < mechanism.variance(1.23) < math.inf


@every
@pytest.mark.parametrize("count", [1, 2, (1 << 15) - 1, 1 << 15, (1 << 15) + 1, 100_000])
def test_each_owner_gets_one_report_whatever_the_number_of_owners(name: str, count: int) -> None:
    mechanism: GridRandomizer = make(name, 1.0)
    source = simulation(2)
    reports = mechanism.randomize(np.full(count, 2.0), source)
    assert reports.symbols.shape == (count,)
    assert reports.symbols.dtype == np.int64
    assert reports.simulation
    least, greatest = mechanism.alphabet
    assert least <= reports.symbols.min() <= reports.symbols.max() <= greatest
    assert (greatest - least).bit_length() == mechanism.report_bits
    assert mechanism.report_bytes == math.ceil(mechanism.report_bits / 8)


@every
def test_secure_reports_are_not_a_simulation(name: str) -> None:
    assert not make(name, 1.0).randomize([0.0], secure()).simulation


@every
@pytest.mark.parametrize(
    "values", [[], 1.0, [[1.0]], ["1"], [True], [math.nan], [5.0001], [-math.inf]]
)
def test_bad_values_are_refused_before_anything_is_drawn(name: str, values: Any) -> None:
    source, twin = simulation(1), simulation(1)
    with pytest.raises(RecordError):
        make(name, 1.0).randomize(values, source)
    assert source.words(1) == twin.words(1)


@every
def test_reports_that_nobody_can_have_sent_are_refused(name: str) -> None:
    mechanism: Any = make(name, 1.0)
    least, greatest = mechanism.alphabet
    strangers: list[Any] = [
        [least - 1],
        [greatest + 1],
        [-(2**62)],
        [2**62],
        [[least]],
        [],
        [0.5],
        ["0"],
        [True],
    ]
    for symbols in [*map(np.array, strangers), np.array([2**64 - 1], dtype=np.uint64)]:
        reports = Reports(symbols=symbols, simulation=True)
        with pytest.raises(ParameterError, match="reports must be"):
            mechanism.tally(reports)
        if name in NUMERIC:
            with pytest.raises(ParameterError, match="reports must be"):
                mechanism.decode(reports)


@every
def test_small_unsigned_reports_are_read(name: str) -> None:
    mechanism: Any = make(name, 1.0)
    tally = mechanism.tally(Reports(symbols=np.array([0, 1, 1], dtype=np.uint8), simulation=True))
    assert tally.reports == 3


@every
@pytest.mark.parametrize("bad", EPSILON.violations())
def test_a_bad_epsilon_is_refused(name: str, bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must be"):
        make(name, bad)


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "duchi"])
@pytest.mark.parametrize("bad", STEPS.violations())
def test_bad_steps_are_refused(name: str, bad: Any) -> None:
    with pytest.raises(ParameterError, match="steps must be"):
        make(name, 1.0, steps=bad if bad is not None else 0)


@numeric
@pytest.mark.parametrize("bad", [LOW - 1e-9, HIGH + 1e-9, math.nan, "1", True, None])
def test_the_variance_of_a_value_outside_is_refused(name: str, bad: Any) -> None:
    with pytest.raises(ParameterError, match="value must be"):
        make(name, 1.0).variance(bad)


@numeric
@pytest.mark.parametrize("bad", COUNT.violations())
def test_a_bad_number_of_reports_is_refused(name: str, bad: Any) -> None:
    mechanism: NumericRandomizer = make(name, 1.0)
    with pytest.raises(ParameterError, match="reports must be"):
        mechanism.variance(0.0, reports=bad)
    with pytest.raises(ParameterError, match="reports must be"):
        mechanism.estimate(Tally(counts=np.zeros(2), reports=bad, simulation=True))


@every
def test_a_tally_of_another_shape_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="tally must be"):
        make(name, 1.0).estimate(Tally(counts=np.zeros(3), reports=1, simulation=True))


@finite
def test_only_laplace_has_no_finite_channel(name: str) -> None:
    assert isinstance(make(name, 1.0), FiniteChannel)
    assert not isinstance(make("laplace", 1.0), FiniteChannel)


def _decoded(mechanism: Any) -> NDArray[np.float64]:
    every_report = Reports(symbols=np.arange(mechanism.outcomes), simulation=True)
    decoded: NDArray[np.float64] = mechanism.decode(every_report)
    return decoded


def _exact_mean(row: list[Fraction], decoded: NDArray[np.float64]) -> float:
    return float(
        sum(chance * Fraction(value) for chance, value in zip(row, decoded.tolist(), strict=True))
    )
