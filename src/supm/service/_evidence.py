"""How often reports counted for each class, and what is known about how they come to do so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supm.mechanisms import GeneralizedRandomizedResponse, SubsetSelection, Tally
from supm.owner.columns import Column

__all__ = ["Evidence", "of_columns", "of_sets"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """The mean of what reports count for each class of one attribute."""

    means: NDArray[np.float64]
    reports: int
    own: float
    other: float
    own_spread: float
    other_spread: float

    @classmethod
    def of_indicators(cls, told: NDArray[np.float64], *, own: float, other: float) -> Evidence:
        """Return the evidence of reports that each tell one class."""
        reports = round(float(told.sum()))
        return cls(
            means=told / max(reports, 1),
            reports=reports,
            own=own,
            other=other,
            own_spread=own * (1.0 - own),
            other_spread=other * (1.0 - other),
        )

    def shares(self) -> NDArray[np.float64]:
        """Return the unbiased estimate of each share."""
        found: NDArray[np.float64] = (self.means - self.other) / (self.own - self.other)
        return found

    def band(self, deviations: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the smallest and largest share within so many deviations of what was counted.

        The variance is taken at the share that is tried, so the bounds solve a square equation; at
        few reports it may have no solution, and the variance is then that of the nearest share.
        """
        gap, tried = self.own - self.other, deviations**2 / self.reports
        away = self.means - self.other
        mixed = gap**2 + self.own_spread - self.other_spread
        square = gap**2 * (1.0 + tried)
        half = away * gap + tried * mixed / 2.0
        inside = half**2 - square * (away**2 - tried * self.other_spread)
        middle = np.where(inside >= 0, half / square, away / gap)
        reach = np.where(inside >= 0, np.sqrt(np.maximum(inside, 0.0)) / square, self._plain(tried))
        return middle - reach, middle + reach

    def _plain(self, tried: float) -> NDArray[np.float64]:
        share = np.clip(self.shares(), 0.0, 1.0)
        gap = self.own - self.other
        people = share * (1.0 - share) * gap**2
        noise = share * self.own_spread + (1.0 - share) * self.other_spread
        reach: NDArray[np.float64] = np.sqrt(tried * (people + noise)) / abs(gap)
        return reach


def of_columns(columns: Sequence[Column], counted: Sequence[NDArray[np.float64]]) -> list[Evidence]:
    """Return the evidence of columns that each leave on their own."""
    return [
        Evidence.of_indicators(told, own=_hit(column), other=_miss(column))
        for column, told in zip(columns, counted, strict=True)
    ]


def _hit(column: Column) -> float:
    known = column.randomizer
    return float(known.hit) if isinstance(known, GeneralizedRandomizedResponse) else 1.0


def _miss(column: Column) -> float:
    known = column.randomizer
    return float(known.miss) if isinstance(known, GeneralizedRandomizedResponse) else 0.0


def of_sets(randomizer: SubsetSelection, sizes: Sequence[int], tally: Tally) -> list[Evidence]:
    """Return the evidence of reports that name a set of cells, for each axis of the table."""
    table = tally.counts.reshape(tuple(sizes)).astype(np.float64)
    axes = range(len(sizes))
    found = []
    for axis in axes:
        named = table.sum(axis=tuple(other for other in axes if other != axis))
        cells = math.prod(sizes) // sizes[axis]
        found.append(_named(randomizer, cells, named / tally.reports, tally.reports))
    return found


def _named(
    randomizer: SubsetSelection, cells: int, means: NDArray[np.float64], reports: int
) -> Evidence:
    """Return how many cells of a class a report names, where the class has so many."""
    own, own_square = _counted(randomizer, cells, holds=True)
    other, other_square = _counted(randomizer, cells, holds=False)
    return Evidence(
        means=means,
        reports=reports,
        own=own,
        other=other,
        own_spread=own_square - own**2,
        other_spread=other_square - other**2,
    )


def _counted(randomizer: SubsetSelection, cells: int, *, holds: bool) -> tuple[float, float]:
    """Return the mean and mean square of how many of these cells a report names."""
    hit, width = float(randomizer.hit), randomizer.width
    rest, others = randomizer.size - 1, cells - holds
    with_own = _drawn(rest, others, width - 1, more=int(holds))
    without = _drawn(rest, others, width, more=0)
    first, second = (
        hit * one + (1.0 - hit) * two for one, two in zip(with_own, without, strict=True)
    )
    return first, second


def _drawn(population: int, marked: int, drawn: int, *, more: int) -> tuple[float, float]:
    """Return mean and mean square of marked ones among those drawn without replacement."""
    share = marked / population
    left = (population - drawn) / max(population - 1, 1)
    mean, variance = drawn * share, drawn * share * (1.0 - share) * left
    return mean + more, variance + (mean + more) ** 2
