"""EM and EMS on channels whose answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import simulation
from supm.mechanisms.randomizers import reconstruction
from supm.mechanisms.randomizers.reconstruction import reconstruct
from supm.mechanisms.randomizers.square_wave import SquareWave


def humps(points: int) -> NDArray[np.float64]:
    """A smooth distribution with two humps."""
    place = np.linspace(0, 1, points)
    shape = stats.norm.pdf(place, 0.3, 0.1) + 0.5 * stats.norm.pdf(place, 0.75, 0.08)
    return np.asarray(shape / shape.sum())


def wave(epsilon: float = 2.0, steps: int = 32) -> SquareWave:
    return SquareWave.for_epsilon(low=0, high=1, epsilon=epsilon, steps=steps)


def likelihood(counts: NDArray[Any], channel: NDArray[Any], shares: NDArray[Any]) -> float:
    return float(counts @ np.log(shares @ channel))


def test_exact_counts_give_the_distribution_back() -> None:
    truth = np.array([0.5, 0.3, 0.2])
    channel = 0.7 * np.eye(3) + 0.1
    found = reconstruct(1e9 * (truth @ channel), channel, smooth=False)
    assert found.converged
    np.testing.assert_allclose(found.distribution, truth, atol=1e-4)


def test_the_likelihood_never_falls_without_smoothing() -> None:
    channel = wave().channel()
    counts = np.round(50_000 * (humps(33) @ channel))
    steps = [reconstruct(counts, channel, smooth=False, limit=limit) for limit in range(1, 60)]
    gains = np.diff([likelihood(counts, channel, found.distribution) for found in steps])
    assert gains.min() > -1e-6
    assert gains.max() > 1


def test_each_step_is_the_printed_one() -> None:
    channel = wave().channel()
    counts = np.round(50_000 * (humps(33) @ channel))
    shares = np.full(33, 1 / 33)
    posterior = shares[:, None] * channel / (shares @ channel)
    step = posterior @ counts / counts.sum()
    plain = reconstruct(counts, channel, smooth=False, limit=1).distribution
    np.testing.assert_allclose(plain, step, rtol=1e-12)
    inner = (step[:-2] + 2 * step[1:-1] + step[2:]) / 4
    smooth = reconstruct(counts, channel, smooth=True, limit=1).distribution
    np.testing.assert_allclose(smooth[1:-1], inner, rtol=1e-12)
    np.testing.assert_allclose(smooth[0], (3 * step[0] + step[1]) / 4, rtol=1e-12)
    assert smooth.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("smooth", [True, False])
def test_a_sample_gives_nearly_the_distribution_back(*, smooth: bool) -> None:
    mechanism, truth = wave(epsilon=3.0), humps(33)
    values = np.repeat(mechanism.grid.points(), np.round(200_000 * truth).astype(int))
    counts = mechanism.tally(mechanism.randomize(values, simulation(8))).counts
    found = reconstruct(counts, mechanism.channel(), smooth=smooth)
    assert np.abs(np.cumsum(found.distribution - truth)).max() < 0.02


def test_more_reports_make_a_better_distribution() -> None:
    """A stop relative to the likelihood would leave the same error however many reports come."""
    errors = []
    for count in (2_000, 2_000_000):
        mechanism, truth = wave(epsilon=1.0, steps=64), humps(65)
        values = np.repeat(mechanism.grid.points(), np.round(count * truth).astype(int))
        counts = mechanism.tally(mechanism.randomize(values, simulation(3))).counts
        found = reconstruct(counts, mechanism.channel(), smooth=False)
        errors.append(float(np.abs(np.cumsum(found.distribution - truth)).mean()))
    assert errors[1] < errors[0] / 4


def test_smoothing_makes_the_distribution_smooth() -> None:
    mechanism = wave(epsilon=1.0, steps=64)
    values = np.repeat(mechanism.grid.points(), np.round(5_000 * humps(65)).astype(int))
    counts = mechanism.tally(mechanism.randomize(values, simulation(4))).counts
    rough, smooth = (
        np.abs(np.diff(reconstruct(counts, mechanism.channel(), smooth=each).distribution, 2)).sum()
        for each in (False, True)
    )
    assert smooth < rough / 5


def test_empty_columns_change_nothing() -> None:
    channel = wave().channel()
    counts = np.round(300 * (humps(33) @ channel))
    counts[5:20] = 0
    padded = np.hstack((channel, np.zeros((33, 4))))
    ours = reconstruct(counts, channel, smooth=True)
    theirs = reconstruct(np.append(counts, np.zeros(4)), padded, smooth=True)
    np.testing.assert_array_equal(ours.distribution, theirs.distribution)


def test_a_limit_that_is_reached_is_told() -> None:
    found = reconstruct(
        np.array([900, 100]), np.array([[0.8, 0.2], [0.2, 0.8]]), smooth=False, limit=2
    )
    assert (found.iterations, found.converged) == (2, False)


def test_one_input_has_the_whole_share() -> None:
    found = reconstruct(np.array([3, 1]), np.array([[0.5, 0.5]]), smooth=True)
    assert found.distribution.tolist() == [1.0]
    assert found.converged


GOOD = np.array([[0.75, 0.25], [0.25, 0.75]])


@pytest.mark.parametrize(
    "channel",
    [
        np.array([[0.5, 0.4], [0.5, 0.5]]),
        np.array([[1.5, -0.5], [0.5, 0.5]]),
        np.array([[np.nan, 1.0], [0.5, 0.5]]),
        np.array([0.5, 0.5]),
        np.empty((0, 2)),
    ],
)
def test_what_is_no_channel_is_refused(channel: NDArray[np.float64]) -> None:
    with pytest.raises(ParameterError, match="channel must be"):
        reconstruct(np.array([1, 1]), channel, smooth=False)


@pytest.mark.parametrize(
    "counts", [[1, 2, 3], [[1, 1]], [0, 0], [-1, 2], [np.nan, 1.0], [np.inf, 1.0]]
)
def test_what_are_no_counts_is_refused(counts: list[Any]) -> None:
    with pytest.raises(ParameterError, match="counts must be"):
        reconstruct(np.array(counts), GOOD, smooth=False)


def test_a_report_that_no_input_makes_is_refused() -> None:
    channel = np.array([[1.0, 0.0], [1.0, 0.0]])
    with pytest.raises(ParameterError, match="never reports"):
        reconstruct(np.array([1, 1]), channel, smooth=False)


@pytest.mark.parametrize("bad", reconstruction._LIMIT.violations())
def test_a_bad_limit_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="limit must be"):
        reconstruct(np.array([1, 1]), GOOD, smooth=False, limit=bad)
