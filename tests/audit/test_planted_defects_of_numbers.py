"""Mechanisms for numbers, broken on purpose one by one; the audit must catch each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from supm._random import RandomSource, simulation
from supm.audit import audit, epsilon_lower_bound
from supm.mechanisms import FiniteChannel, Reports
from supm.mechanisms.noise.discrete_laplace import DiscreteLaplaceNoise
from supm.mechanisms.randomizers.duchi import Duchi
from supm.mechanisms.randomizers.hybrid import Hybrid
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.piecewise import Piecewise
from supm.mechanisms.randomizers.square_wave import SquareWave

Indices = NDArray[np.int64]


class WindowOffByOne(Piecewise):
    """The window starts one cell after the owner's grid point."""

    def draw(self, indices: Indices, source: RandomSource) -> Indices:
        return (super().draw(indices, source) + 1) % self.outcomes


class WindowFollowsNobody(SquareWave):
    """The window stays at the first grid point: private, and useless."""

    def draw(self, indices: Indices, source: RandomSource) -> Indices:
        return super().draw(np.zeros_like(indices), source)


class Truncated(Piecewise):
    """A value is moved down to its grid point instead of to either neighbour at random."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        numbers = self.grid.check(values)
        down = np.floor(self.grid.position(numbers) + 1e-9)
        return super().randomize(self.grid.place(down), source)


class LastBitInTheReport(Laplace):
    """The parity of a report is the last bit of the value."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        reports = super().randomize(values, source)
        last = np.asarray(values, dtype=np.float64).view(np.int64) & 1
        told = np.clip((reports.symbols & ~1) | last, *self.alphabet)
        return Reports(symbols=told, simulation=reports.simulation)


class FloatReport(Laplace):
    """The report is a float: the value itself plus noise, not rounded to the grid."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        numbers = np.asarray(values, dtype=np.float64)
        noise = self._noise.draw(len(numbers), source)
        told = numbers + noise * (self.grid.span / self.steps)
        return Reports(symbols=told, simulation=source.simulation)


class ScaleOfHalfTheRange(Laplace):
    """The noise is made for a range of half the width."""

    def draw(self, indices: Indices, source: RandomSource) -> Indices:
        return replace(self, scale=self.scale / 2)._noise.draw(len(indices), source) + indices


class ClaimOfHalfTheRange(Laplace):
    """The claim is made for a range of half the width."""

    @property
    def epsilon(self) -> float:
        return super().epsilon / 2


class DoubleZeroNoise(DiscreteLaplaceNoise):
    """Zero with a plus and zero with a minus both count."""

    def draw(self, count: int, source: RandomSource) -> Indices:
        noise = self._magnitudes(count, source)
        return np.where(source.words(count) >= np.uint64(1 << 63), -noise, noise)


class DoubleZero(Laplace):
    """The noise has twice the zeros it should have."""

    @property
    def _noise(self) -> DiscreteLaplaceNoise:
        return DoubleZeroNoise(self.scale)


class NoiseNotSubtracted(Duchi):
    """The estimator takes the reported bound for the value."""

    def positions(self, symbols: Indices) -> NDArray[np.float64]:
        return symbols.astype(np.float64)


class RoundingNotInTheVariance(Duchi):
    """The stated variance forgets that the value was rounded to a bound."""

    def spread(self, position: float) -> float:
        return super().spread(float(round(position))) / 1.01


class SmallerEpsilonOfTwo(Hybrid):
    """The claim is the smaller epsilon of the two mechanisms that can be chosen."""

    @property
    def epsilon(self) -> float:
        return min(self.duchi.epsilon, self.piecewise.epsilon)


class CoinSeesTheValue(Hybrid):
    """The largest value never uses the piecewise mechanism, so its cells say: not the largest."""

    def draw(self, indices: Indices, source: RandomSource) -> Indices:
        ends = self._ends.draw((indices > 0).astype(np.int64), source)
        return np.where(indices == self.steps, ends, super().draw(indices, source))


@dataclass(frozen=True)
class Planted:
    """A defect, made, and the check that must name it."""

    mechanism: FiniteChannel | Laplace
    caught_by: str


BOUNDS = {"low": -1.0, "high": 1.0}
STRONG = Duchi.for_epsilon(**BOUNDS, epsilon=2.0)

PLANTED = {
    "window off by one": Planted(
        WindowOffByOne.for_epsilon(**BOUNDS, steps=16, epsilon=1.0), "check_sampler"
    ),
    "window that does not slide": Planted(
        WindowFollowsNobody.for_epsilon(**BOUNDS, steps=16, epsilon=1.0), "check_sampler"
    ),
    "randomised rounding replaced by truncation": Planted(
        Truncated.for_epsilon(**BOUNDS, steps=4, epsilon=4.0), "check_grid"
    ),
    "grid leak: last bit in the report": Planted(
        LastBitInTheReport.for_epsilon(**BOUNDS, steps=16, epsilon=1.0), "check_grid"
    ),
    "grid leak: float report": Planted(
        FloatReport.for_epsilon(**BOUNDS, steps=16, epsilon=1.0), "check_grid"
    ),
    "Laplace scale of half the range": Planted(
        ScaleOfHalfTheRange.for_epsilon(**BOUNDS, steps=16, epsilon=1.0), "check_density"
    ),
    "Laplace claim of half the range": Planted(
        ClaimOfHalfTheRange.for_epsilon(**BOUNDS, steps=16, epsilon=1.0), "check_stated_epsilon"
    ),
    "discrete Laplace with a double zero": Planted(
        DoubleZero.for_epsilon(**BOUNDS, steps=1024, epsilon=1.0), "check_density"
    ),
    "estimator does not subtract the noise": Planted(
        NoiseNotSubtracted.for_epsilon(**BOUNDS, epsilon=1.0), "check_unbiased"
    ),
    "variance understated by one part in a hundred": Planted(
        RoundingNotInTheVariance.for_epsilon(**BOUNDS, epsilon=1.0), "check_variance"
    ),
    "the smaller of two epsilons claimed": Planted(
        replace(
            SmallerEpsilonOfTwo.for_epsilon(**BOUNDS, steps=8, epsilon=1.0),
            keep_words=STRONG.keep_words,
        ),
        "check_epsilon",
    ),
    "the coin sees the value": Planted(
        CoinSeesTheValue.for_epsilon(**BOUNDS, steps=8, epsilon=1.0), "check_attack"
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_audit_catches_the_planted_defect(name: str) -> None:
    planted = PLANTED[name]
    found = audit(planted.mechanism, simulation(2026))
    assert found.verdict == "broken"
    assert planted.caught_by in {each.check for each in found.findings if not each.passed}


def test_noise_added_in_floating_point_is_caught_from_samples_alone() -> None:
    """The textbook Laplace mechanism with epsilon 1: its low-order bits tell the values apart."""
    source = simulation(2026)

    def textbook(value: float, count: int) -> NDArray[np.float64]:
        uniform = (source.below(1 << 53, count) + np.uint64(1)) * 2.0**-53
        sign = np.where(source.below(2, count) == 0, 1.0, -1.0)
        told: NDArray[np.float64] = value + sign * np.log(uniform)
        return told

    bound = epsilon_lower_bound(textbook, 0.0, 1.0)
    assert bound.epsilon > 5.0
    assert "lowest bits" in bound.event
