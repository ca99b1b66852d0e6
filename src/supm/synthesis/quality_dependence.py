"""How strongly columns depend on each other, and how well that can be known through the noise.

Every column is read as numbers that are right on average: a number as its unbiased reading, classes
that have an order (or are two) as their place, other classes as one indicator each. What two
columns share is then a mean of products, and its standard error is that of a mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError

__all__ = ["KNOWN", "ColumnValues", "Dependence", "dependence"]

_CHUNK: Final = 1 << 16
# Two rows always lie on a line: over the number of rows, the least doubt of a correlation.
_FEW: Final = 2.0
KNOWN: Final = 2.0
"""How many standard errors away from zero a strength is called known."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ColumnValues:
    """A column as numbers of mean zero and of variance one, but for the noise."""

    name: str
    values: NDArray[np.float64]

    @property
    def freedom(self) -> int:
        """How many of the numbers are free: one, or one less than there are classes."""
        return max(1, int(self.values.shape[1]) - 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Dependence:
    """The dependence of all pairs of columns.

    Parameters
    ----------
    names : tuple of str
        The columns.
    strength : ndarray of float, shape (g, g)
        Correlations; Cramér's V, which has no sign, where classes without an order are involved.
    error : ndarray of float, shape (g, g)
        Their standard errors; infinite where fewer than two rows tell both.
    signed : ndarray of bool, shape (g, g)
        Where the strength is a correlation.
    rows : ndarray of int, shape (g, g)
        How many rows tell both.

    Examples
    --------
    >>> line = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> both = [ColumnValues(name="a", values=line), ColumnValues(name="b", values=-line)]
    >>> found = dependence(both)
    >>> print(found.strength[0, 1])
    -1.0
    """

    names: tuple[str, ...]
    strength: NDArray[np.float64]
    error: NDArray[np.float64]
    signed: NDArray[np.bool_]
    rows: NDArray[np.int64]

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Where the noise leaves no doubt that there is some dependence."""
        return np.asarray(np.abs(self.strength) > KNOWN * self.error)

    def pairs(self) -> list[tuple[int, int]]:
        """Return all pairs, the strongest first."""
        pairs = list(combinations(range(len(self.names)), 2))
        return sorted(pairs, key=lambda pair: -abs(self.strength[pair]))

    def sentence(self, first: int, second: int) -> str:
        """Say what is known of one pair."""
        noun = "correlation" if self.signed[first, second] else "dependence"
        pair = f"the {noun} of {self.names[first]} and {self.names[second]}"
        if not math.isfinite(self.error[first, second]):
            return f"{pair} was not told by enough owners: not known"
        if self.error[first, second] >= 1:
            return f"{pair} can be anything: not known"
        told = f"{self.strength[first, second]:.2f} ± {self.error[first, second]:.2f}"
        return f"{pair} is {told}{'' if self.known[first, second] else ': not known'}"


def dependence(readings: Sequence[ColumnValues]) -> Dependence:
    """Return the dependence of all pairs of columns, with standard errors."""
    if len({len(each.values) for each in readings}) != 1:
        raise ParameterError("readings", "of the same rows", [each.name for each in readings])
    moments = _moments(readings)
    starts = np.cumsum([0, *(each.values.shape[1] for each in readings)])
    count = len(readings)
    strength, error = np.eye(count), np.zeros((count, count))
    signed = np.zeros((count, count), dtype=np.bool_)
    for i, j in combinations(range(count), 2):
        block = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
        signed[i, j] = signed[j, i] = moments.mean[block].size == 1
        freedom = min(readings[i].freedom, readings[j].freedom)
        found = moments.scalar(block) if signed[i, j] else moments.block(block, freedom)
        strength[i, j] = strength[j, i] = found[0]
        error[i, j] = error[j, i] = found[1]
    return Dependence(
        names=tuple(each.name for each in readings),
        strength=strength,
        error=error,
        signed=signed,
        rows=moments.rows[np.ix_(starts[:-1], starts[:-1])].astype(np.int64),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Moments:
    """Means of products of two readings: z w, z^2 w^2 and z^3 w, and how many rows are behind."""

    rows: NDArray[np.float64]
    mean: NDArray[np.float64]
    square: NDArray[np.float64]
    cube: NDArray[np.float64]

    def scalar(self, block: tuple[slice, slice]) -> tuple[float, float]:
        """Return a correlation, and the larger of two standard errors.

        One takes the standard deviations for known; the other lets them vary as well, as they do
        where the same noisy rows tell them.
        """
        i, j = block[0].start, block[1].start
        if self.rows[i, j] < 2:
            return 0.0, math.inf
        found = float(self.mean[i, j])
        fixed = self.square[i, j] - found**2
        own, other = self.mean[i, i], self.mean[j, j]
        spread = self.square[i, i] - own**2 + self.square[j, j] - other**2
        spread += 2 * (self.square[i, j] - own * other)
        shared = self.cube[i, j] + self.cube[j, i] - found * (own + other)
        free = fixed + found**2 / 4 * spread - found * shared
        doubt = math.sqrt(max(fixed, free, 0.0) / self.rows[i, j])
        # No correlation is beyond one, whatever the noise says.
        return min(max(found, -1.0), 1.0), max(doubt, _FEW / float(self.rows[i, j]))

    def block(self, block: tuple[slice, slice], freedom: int) -> tuple[float, float]:
        """Return Cramér's V less what noise adds to it, and a cautious standard error."""
        rows = self.rows[block].min()
        if rows < 2:
            return 0.0, math.inf
        found = self.mean[block]
        noise = np.maximum(self.square[block] - found**2, 0.0) / rows
        squared = max(float((found**2).sum() - noise.sum()), 0.0) / freedom
        doubt = math.sqrt(float((4 * found**2 * noise + 2 * noise**2).sum())) / freedom
        found_root = math.sqrt(squared)
        # What has a standard error is the square; where it is small, so is the root, but less so.
        reach = math.sqrt(doubt)
        error = min(doubt / found_root, reach) if found_root else reach
        return min(found_root, 1.0), max(error, _FEW / float(rows))


def _moments(readings: Sequence[ColumnValues]) -> _Moments:
    width = sum(each.values.shape[1] for each in readings)
    sums = np.zeros((4, width, width))
    for start in range(0, len(readings[0].values), _CHUNK):
        chunk = np.hstack([each.values[start : start + _CHUNK] for each in readings])
        told = np.isfinite(chunk).astype(np.float64)
        held = np.where(told > 0, chunk, 0.0)
        squares = held**2
        sums += [told.T @ told, held.T @ held, squares.T @ squares, (squares * held).T @ held]
    rows, *others = sums
    mean, square, cube = (each / np.maximum(rows, 1.0) for each in others)
    return _Moments(rows=rows, mean=mean, square=square, cube=cube)
