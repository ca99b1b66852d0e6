"""Defects that one part of a check catches and all its other parts miss.

A check made of several parts would go on catching blatant defects if one part were lost. Each
defect here is made so that only one part can see it.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from supm._random import RandomSource, simulation
from supm.audit import check_independence, check_positions, check_sampler
from supm.mechanisms import GeneralizedRandomizedResponse, Reports

Symbols = NDArray[np.int64]
DRAWS = 1 << 16


class TruthALittleTooOften(GeneralizedRandomizedResponse):
    """One report in eighty is told truly: too little for one row, enough for all together."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        true = source.below(80, len(symbols)) == 0
        return np.where(true, symbols, super().draw(symbols, source))


class Centred(GeneralizedRandomizedResponse):
    """Three symbols, of which the owner of 0 most often tells 1.

    What that owner tells is likely in the middle and unlikely at both ends.
    """

    def channel(self) -> NDArray[np.float64]:
        return np.roll(super().channel(), 1, axis=1)

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        return (symbols + 1 + self._steps(len(symbols), source)) % 3

    def _steps(self, count: int, source: RandomSource) -> Symbols:
        return self._cells.draw(count, source).view(np.int64)

    @property
    def _chunk(self) -> int:
        return DRAWS


class CoinReused(Centred):
    """Who tells the truth repeats once, after a third of a call; the lies are drawn afresh."""

    def _steps(self, count: int, source: RandomSource) -> Symbols:
        lies = super()._steps(count, source) > 0
        third = count // 3
        lies[third : 2 * third] = lies[:third]
        return np.where(lies, 1 + source.below(2, count).astype(np.int64), 0)


class SideReused(Centred):
    """To which side a lie goes repeats once, after a third of a call; the rest is drawn afresh."""

    def _steps(self, count: int, source: RandomSource) -> Symbols:
        lies = super()._steps(count, source) > 0
        sides = source.below(2, count).astype(np.int64)
        third = count // 3
        sides[third : 2 * third] = sides[:third]
        return np.where(lies, 1 + sides, 0)


class LieFollowsLie(GeneralizedRandomizedResponse):
    """Five symbols. After an outer lie comes an outer one, after an inner lie an inner one.

    Neither the order of the reports nor how likely they are shows it: the lie that follows lies on
    either side as often.
    """

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        steps = self._cells.draw(len(symbols), source).view(np.int64)
        even = len(steps) // 2 * 2
        first, second = steps[0:even:2], steps[1:even:2]
        outer = np.array([1, 4])[source.below(2, len(first))]
        inner = np.array([2, 3])[source.below(2, len(first))]
        alike = np.where((first == 1) | (first == 4), outer, inner)
        second[:] = np.where((first > 0) & (second > 0), alike, second)
        return (symbols + steps) % self.size


class SecondCallFollowsFirst(GeneralizedRandomizedResponse):
    """The same dependence, between reports at the same place of two successive calls."""

    last: Symbols | None

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        steps = self._cells.draw(len(symbols), source).view(np.int64)
        first = self.last
        if first is not None and len(first) == len(steps):
            outer = np.array([1, 4])[source.below(2, len(first))]
            inner = np.array([2, 3])[source.below(2, len(first))]
            alike = np.where((first == 1) | (first == 4), outer, inner)
            steps = np.where((first > 0) & (steps > 0), alike, steps)
        object.__setattr__(self, "last", steps)
        return (symbols + steps) % self.size

    @property
    def _chunk(self) -> int:
        return DRAWS


class SingleRowTold(GeneralizedRandomizedResponse):
    """A call with one row is not randomised."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        reports = super().randomize(values, source)
        told = np.asarray(values) if len(reports) == 1 else reports.symbols
        return Reports(symbols=told, simulation=reports.simulation)


def test_a_bias_that_all_rows_share_is_found_by_all_rows_together() -> None:
    honest = GeneralizedRandomizedResponse.for_epsilon(size=60, epsilon=3.0)
    assert check_sampler(honest, simulation(1), draws=3000).passed
    biased = TruthALittleTooOften.for_epsilon(size=60, epsilon=3.0)
    found = check_sampler(biased, simulation(1), draws=3000)
    assert not found.passed
    assert "(all rows together)" in found.detail


def test_a_coin_that_is_reused_is_found_by_the_levels_of_reports() -> None:
    honest = Centred.for_epsilon(size=3, epsilon=1.0)
    assert check_independence(honest, simulation(1), draws=DRAWS).passed
    reusing = CoinReused.for_epsilon(size=3, epsilon=1.0)
    assert not check_independence(reusing, simulation(1), draws=DRAWS).passed


def test_a_lie_that_is_reused_is_found_by_the_order_of_reports() -> None:
    reusing = SideReused.for_epsilon(size=3, epsilon=1.0)
    assert check_sampler(reusing, simulation(1), draws=DRAWS).passed
    assert not check_independence(reusing, simulation(1), draws=DRAWS).passed


def test_a_dependence_without_correlation_is_found_by_pairs_of_neighbours() -> None:
    dependent = LieFollowsLie.for_epsilon(size=5, epsilon=1.0)
    assert check_sampler(dependent, simulation(1), draws=DRAWS).passed
    assert not check_independence(dependent, simulation(1), draws=DRAWS).passed


def test_a_dependence_without_correlation_is_found_by_pairs_of_two_calls() -> None:
    dependent = SecondCallFollowsFirst.for_epsilon(size=5, epsilon=1.0)
    object.__setattr__(dependent, "last", None)
    assert not check_independence(dependent, simulation(1), draws=DRAWS).passed


@pytest.mark.parametrize("rows", [2, 500])
def test_a_call_of_one_row_that_is_not_randomised_is_found_by_such_calls(rows: int) -> None:
    leaky = SingleRowTold.for_epsilon(size=4, epsilon=1.0)
    found = check_positions(leaky, simulation(1), rows=rows)
    assert not found.passed
    assert "(calls of one row)" in found.detail
