"""Laws of noised columns: exact likelihoods, unbiased readings, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

from supm._errors import ParameterError, RecordError
from supm._random import simulation
from supm.mechanisms import (
    ContinuousGaussian,
    ContinuousLaplace,
    ContinuousPiecewise,
    ContinuousSquareWave,
    GeneralizedRandomizedResponse,
    NoisedNumber,
)
from supm.synthesis import NumberColumn
from supm.synthesis.archive import column_from_form

BOUNDS = {"low": -2.0, "high": 3.0}
LAWS: list[NoisedNumber] = [
    *(ContinuousLaplace.for_epsilon(**BOUNDS, epsilon=epsilon) for epsilon in (0.01, 1.0, 30.0)),
    *(ContinuousGaussian(**BOUNDS, sigma=sigma, delta=1e-6) for sigma in (0.05, 1.0, 300.0)),
    *(ContinuousPiecewise.for_epsilon(**BOUNDS, epsilon=epsilon) for epsilon in (0.1, 1.0, 8.0)),
    *(ContinuousSquareWave.for_epsilon(**BOUNDS, epsilon=epsilon) for epsilon in (0.1, 1.0, 8.0)),
]
every_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.name}-{law.epsilon:g}")


def density(law: NoisedNumber, value: float, report: float) -> float:
    """The density of a report given a value, from the definition of each mechanism."""
    if isinstance(law, ContinuousLaplace):
        return math.exp(-abs(report - value) / law.scale) / (2 * law.scale)
    if isinstance(law, ContinuousGaussian):
        unit = (report - value) / law.sigma
        return math.exp(-(unit**2) / 2) / (law.sigma * math.sqrt(2 * math.pi))
    return window_density(law, value, report)


def window_density(law: Any, value: float, report: float) -> float:
    """Wang et al. (2019) on [-1, 1], and Li et al. (2020) on [0, 1], moved to the bounds."""
    grown = math.exp(law.epsilon)
    if isinstance(law, ContinuousPiecewise):
        root = math.sqrt(grown)
        reach, x = (root + 1) / (root - 1), 2 * (value - law.low) / law.span - 1
        told = 2 * (report - law.low) / law.span - 1
        left = (reach + 1) / 2 * x - (reach - 1) / 2
        high = (grown - root) / (2 * root + 2)
        near = left <= told <= left + reach - 1
        return float((high if near else high / grown) * 2 / law.span * (abs(told) <= reach))
    half = (law.epsilon * grown - grown + 1) / (2 * grown * (grown - 1 - law.epsilon))
    told, x = (report - law.low) / law.span, (value - law.low) / law.span
    level = (grown if abs(told - x) <= half else 1.0) / (2 * half * grown + 1)
    return float(level / law.span * (-half <= told <= 1 + half))


def averaged(law: NoisedNumber, start: float, end: float, report: float) -> float:
    """The mean density over the values of a bin, by quadrature that knows where it breaks."""
    reach = (
        law.width * law.span / 2
        if isinstance(law, ContinuousPiecewise | ContinuousSquareWave)
        else 0.0
    )
    middle = report
    if isinstance(law, ContinuousPiecewise):
        middle = law.low + law.span / 2 + (report - law.low - law.span / 2) * law.slope
    kinks = [place for place in (middle - reach, middle, middle + reach) if start < place < end]
    found = quad(
        lambda value: density(law, value, report),
        start,
        end,
        points=kinks or None,
        epsabs=1e-14,
        epsrel=1e-12,
        limit=200,
    )
    return float(found[0] / (end - start))


@every_law
def test_a_likelihood_is_the_density_averaged_over_the_bin(law: NoisedNumber) -> None:
    edges = law.edges(8)
    cells = law.report_cells(edges)[1:-1]
    reports = np.concatenate((cells[:: max(1, len(cells) // 6)] + 0.0137, [0.4]))
    reports = reports[law.supported(reports)]
    found = law.likelihood(reports, edges)
    for row, report in zip(found, reports, strict=True):
        wanted = [averaged(law, edges[i], edges[i + 1], report) for i in range(8)]
        assert row == pytest.approx(wanted, rel=1e-7, abs=1e-10)


@every_law
def test_the_noise_matrix_is_the_integral_of_the_likelihood(law: NoisedNumber) -> None:
    edges = law.edges(8)
    cells = law.report_cells(edges)
    matrix = law.transition(edges, cells)
    assert matrix.min() >= 0
    assert matrix.sum(axis=1) == pytest.approx(np.ones(8), abs=1e-10)
    for column in range(1, len(cells) - 2, max(1, len(cells) // 5)):
        middle = (cells[column] + cells[column + 1]) / 2

        def likelihood(report: float) -> float:
            return float(law.likelihood([report], edges)[0, 3])

        mass = quad(likelihood, cells[column], middle, epsabs=1e-13, limit=200)[0]
        mass += quad(likelihood, middle, cells[column + 1], epsabs=1e-13, limit=200)[0]
        assert matrix[3, column] == pytest.approx(mass, abs=1e-10)


def test_one_cell_for_all_laplace_reports_beyond_a_bound_loses_nothing() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=0.5)
    beyond = law.likelihood([1.0, 1.7, 30.0], law.edges(10))
    shares = beyond / beyond.sum(axis=1, keepdims=True)
    assert shares[1] == pytest.approx(shares[0])
    assert shares[2] == pytest.approx(shares[0])


@every_law
def test_readings_are_unbiased_and_have_the_stated_variance(law: NoisedNumber) -> None:
    count = 40_000
    for place, value in enumerate((-2.0, 1.3)):
        told = law.unbiased(law.randomize(np.full(count, value), simulation(place)))
        variance = law.noise_variance(value, 0.0)
        assert abs(told.mean() - value) < 4.5 * math.sqrt(variance / count)
        assert told.var() == pytest.approx(variance, rel=0.12)


@every_law
def test_reports_fall_into_cells_as_the_matrix_says(law: NoisedNumber) -> None:
    count, edges = 40_000, law.edges(8)
    values = np.linspace(edges[2], edges[3], count)
    binned = law.bin_reports(law.randomize(values, simulation(9)), edges)
    expected = count * binned.channel[2]
    large = expected > 20
    misfit = np.square(binned.counts[large] - expected[large]) / expected[large]
    assert misfit.sum() < large.sum() + 5 * math.sqrt(2 * large.sum())


@every_law
def test_the_true_variance_undoes_the_noise(law: NoisedNumber) -> None:
    noise = law.noise_variance(1.0, 0.5)
    assert law.true_variance(1.0, 0.5 + noise) == pytest.approx(0.5, rel=1e-6)
    assert law.true_variance(1.0, noise / 2) == 0.0


def read(form: dict[str, Any]) -> NoisedNumber:
    column = column_from_form({"name": "x", "kind": "number", **form}, 0)
    assert isinstance(column, NumberColumn)
    return column.mechanism


@every_law
def test_a_law_goes_through_json_and_keeps_its_epsilon(law: NoisedNumber) -> None:
    form = law.to_form()
    assert read(form) == law
    public = ("mechanism", "low", "high", "delta")
    kept: dict[str, Any] = {name: form[name] for name in public if name in form}
    if law.epsilon <= 50:
        again = read({**kept, "epsilon": law.epsilon})
        assert again.epsilon <= law.epsilon
        assert again.epsilon == pytest.approx(law.epsilon, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3, 1.0, 2.2, 7.7])
def test_an_epsilon_that_was_asked_for_is_never_exceeded(epsilon: float) -> None:
    for kind in (ContinuousLaplace, ContinuousPiecewise, ContinuousSquareWave):
        law = kind.for_epsilon(low=-1.0, high=0.7, epsilon=epsilon)
        assert epsilon * (1 - 1e-9) < law.epsilon <= epsilon
    gaussian = ContinuousGaussian.for_epsilon(low=-1.0, high=0.7, epsilon=epsilon, delta=1e-6)
    assert epsilon * (1 - 1e-6) < gaussian.epsilon <= epsilon
    response = GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=epsilon)
    assert epsilon * (1 - 1e-9) < response.epsilon <= epsilon


def ratio(law: NoisedNumber) -> float:
    """The largest ratio of the densities of one report under two values."""
    reports = law.report_cells(law.edges(50))[1:-1]
    ends = [law.low, law.low + 1e-9 * law.span], [law.high - 1e-9 * law.span, law.high]
    low, high = (law.likelihood(reports, np.array(each)) for each in ends)
    return float(np.abs(np.log(low / high)).max())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_densities_of_two_values_differ_by_epsilon(epsilon: float) -> None:
    for kind in (ContinuousLaplace, ContinuousPiecewise, ContinuousSquareWave):
        law = kind.for_epsilon(low=0.0, high=1.0, epsilon=epsilon)
        assert ratio(law) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("edges", [[0.0], [0.0, 0.0], [0.5, 0.2], [-1.0, 1.0], [0.0, 2.0]])
def test_bins_must_grow_within_the_bounds(edges: list[float]) -> None:
    with pytest.raises(ParameterError, match="edges must be increasing"):
        ContinuousLaplace(low=0, high=1, scale=1).likelihood([0.0], edges)


def test_values_that_are_missing_are_refused_without_being_shown() -> None:
    values: NDArray[np.float64] = np.array([0.123456, np.nan])
    with pytest.raises(RecordError) as caught:
        ContinuousLaplace(low=0, high=1, scale=1).randomize(values, simulation(1))
    assert "0.123456" not in str(caught.value)


HELD = "held by one owner"
HIDDEN = np.ma.masked_array([41.0, 42.0], mask=[False, True])


@every_law
@pytest.mark.parametrize("held", [[HELD], [HELD.encode()], [10**400], [[1.0]], HIDDEN])
def test_what_is_no_number_is_refused_without_being_shown(law: NoisedNumber, held: Any) -> None:
    """A masked value is missing: what lies under the mask is not reported."""
    with pytest.raises(RecordError) as caught:
        law.randomize(held, simulation(1))
    assert HELD not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("sigma", [1e4, 1e6, 1e108])
def test_cells_of_gaussian_reports_are_bounded_however_large_the_noise(sigma: float) -> None:
    law = ContinuousGaussian(**BOUNDS, sigma=sigma, delta=1e-6)
    cells = law.report_cells(law.edges(10))
    assert cells.size <= 4004
    assert (np.diff(cells) > 0).all()
    assert (np.diff(cells[1:-1]) <= max(law.span, sigma / 10)).all()
    assert law.transition(law.edges(10), cells).sum(axis=1) == pytest.approx(1.0)


def test_cells_of_gaussian_reports_are_as_wide_as_those_of_the_bins_where_noise_is_usual() -> None:
    law = ContinuousGaussian(**BOUNDS, sigma=300.0, delta=1e-6)
    assert law.report_cells(law.edges(10)).size == 2 * 300 + 2 + 2


@every_law
def test_values_beyond_the_bounds_are_reported_as_the_bounds_are(law: NoisedNumber) -> None:
    """No report may betray that a value was beyond: same words, same reports."""
    beyond = np.array([-math.inf, -1e9, -2.5, 3.5, 1e9, math.inf])
    bounds = np.array([-2.0] * 3 + [3.0] * 3)
    told = [law.randomize(each, simulation(4)).tolist() for each in (beyond, bounds)]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("kind", "epsilon"),
    [
        (ContinuousSquareWave, 12.0),
        (ContinuousSquareWave, 16.0),
        (ContinuousSquareWave, 16.5),
        (ContinuousPiecewise, 16.0),
    ],
)
def test_narrow_windows_follow_their_law(kind: Any, epsilon: float) -> None:
    count = 200_000
    law = kind.for_epsilon(low=0.0, high=1.0, epsilon=epsilon)
    told = law.unbiased(law.randomize(np.zeros(count), simulation(2)))
    assert law.supported(law.randomize(np.zeros(count), simulation(2))).all()
    variance = law.noise_variance(0.0, 0.0)
    assert abs(told.mean()) < 4.5 * math.sqrt(variance / count)
    assert told.var() == pytest.approx(variance, rel=0.12)


@pytest.mark.parametrize(
    ("kind", "epsilon"), [(ContinuousSquareWave, 17.0), (ContinuousPiecewise, 28.0)]
)
def test_windows_below_a_step_of_the_grid_are_read_but_not_drawn_from(
    kind: Any, epsilon: float
) -> None:
    law = kind.for_epsilon(low=0.0, high=1.0, epsilon=epsilon)
    assert law.transition(law.edges(4), law.report_cells(law.edges(4))).sum(axis=1) == (
        pytest.approx(1.0)
    )
    with pytest.raises(ParameterError, match="epsilon must be so small that the window"):
        law.randomize(np.zeros(3), simulation(1))


@pytest.mark.parametrize(
    ("kind", "most"), [(ContinuousSquareWave, 31.0), (ContinuousPiecewise, 50.0)]
)
def test_a_window_has_a_greatest_epsilon_and_says_so(kind: Any, most: float) -> None:
    assert kind.for_epsilon(low=0, high=1, epsilon=most).epsilon == pytest.approx(most, rel=1e-9)
    for epsilon in (most + 0.1, most + 9):
        with pytest.raises(ParameterError, match=f"epsilon must be a number in .*, {most:g}]"):
            kind.for_epsilon(low=0, high=1, epsilon=epsilon)


@pytest.mark.parametrize(("low", "high"), [(1e15, 1e15 + 1), (-1e15 - 1, -1e15)])
def test_bounds_that_floats_cannot_tell_apart_are_refused(low: float, high: float) -> None:
    with pytest.raises(ParameterError, match=r"high must be above low = .* by at least 1e\+05"):
        ContinuousLaplace(low=low, high=high, scale=1.0)
    assert ContinuousLaplace(low=low, high=low + 1e6, scale=1e6).edges(1000).size == 1001


def test_likelihoods_of_gaussian_reports_ten_sigma_away_keep_their_digits() -> None:
    law = ContinuousGaussian(low=0.0, high=1.0, sigma=0.05, delta=1e-6)
    areas = [math.erfc(sigmas / math.sqrt(2)) / 2 for sigmas in (10, 11, 12)]
    wanted = [(areas[1] - areas[2]) / 0.05, (areas[0] - areas[1]) / 0.05]
    edges = np.array([0.0, 0.05, 0.1])
    assert law.likelihood([0.6], edges)[0] == pytest.approx(wanted, rel=1e-9, abs=0)
    assert law.likelihood([-0.5], edges)[0] == pytest.approx(wanted[::-1], rel=1e-9, abs=0)


def test_a_window_must_tell_something() -> None:
    with pytest.raises(ParameterError, match="below 1 / "):
        ContinuousPiecewise(low=0, high=1, width=0.5, outside=0.7)
