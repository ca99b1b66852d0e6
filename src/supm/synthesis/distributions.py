"""The distribution of one column, and the correlation of the normals behind two of them.

A number is known up to a place on a public grid. Where models are fitted, both bounds are places of
their own: clipping, zeros that stand for "none" and numbers that are yes or no put many records
there. Cells are public: they do not depend on the reports.

A column is X = q(Z) for a standard normal Z and its quantile function q. With the coefficients
a_k = E[q(Z) h_k(Z)] over the normalised Hermite polynomials h_k, two columns whose normals have
correlation rho have the covariance sum over k >= 1 of a_k b_k rho^k (Mehler). It grows with rho,
so it can be inverted. The covariance itself, taken for rho as in paper 004, is too weak.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from supm._random import RandomSource, uniforms
from supm.mechanisms import NoisedNumber

# Within a bin the quantile function is a line; so many steps stand for it in Hermite series.
_STEPS: Final = 8
Kind: TypeAlias = Literal["number", "ordered", "unordered"]
# Finer than the noise of any epsilon up to 10 lets be seen.
_INNER: Final = 48
# A bound is a bin so narrow that no other value falls into it.
_NARROW: Final = 1e-4
TERMS: Final = 80
"""Terms of the series; for jumps they decay as a power of the index, times that of rho."""
_LARGEST: Final = 0.999
_HALVINGS: Final = 40
_STRONGEST: Final = 0.99
_LEAST: Final = 1e-12
_STEP: Final = 0.02
Matrix = NDArray[np.float64]


class Marginal(ABC):
    """A distribution that maps uniform numbers to values, with its Hermite series.

    Moments and coefficients are in units of the public range: 0 is its low end, 1 its high end.
    """

    shares: NDArray[np.float64]

    @abstractmethod
    def values(self, levels: NDArray[np.float64]) -> NDArray[Any]:
        """Return the value below which each share of the distribution lies."""

    def draw(self, levels: NDArray[np.float64], source: RandomSource) -> NDArray[Any]:
        """Return the value at each level, up to what the distribution does not tell."""
        del source
        return self.values(levels)

    @property
    @abstractmethod
    def mean(self) -> float:
        """Mean in units of the public range."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Variance in units of the public range."""

    @cached_property
    def coefficients(self) -> NDArray[np.float64]:
        """Hermite coefficients of the quantile function of a standard normal number."""
        heights, levels = self._jumps()
        return hermite_coefficients(heights, ndtri(np.clip(levels, 0.0, 1.0)))

    @abstractmethod
    def _jumps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return heights and levels of a step function that stands for the quantiles."""


@dataclass(frozen=True, eq=False)
class BinnedMarginal(Marginal):
    """Shares of equal bins between two bounds; values are uniform within a bin.

    Examples
    --------
    >>> halves = BinnedMarginal(0.0, 4.0, np.array([0.5, 0.0, 0.0, 0.5]))
    >>> halves.values(np.array([0.0, 0.25, 0.75, 1.0]))
    array([0. , 0.5, 3.5, 4. ])
    >>> halves.mean
    0.5
    """

    low: float
    high: float
    shares: NDArray[np.float64]
    tied: bool = False

    def values(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value below which each share of the distribution lies."""
        reached, places = self._knots
        return self.low + (self.high - self.low) * np.interp(levels, reached, places)

    def draw(self, levels: NDArray[np.float64], source: RandomSource) -> NDArray[np.float64]:
        """Return a value in the bin at each level, anywhere in it unless the place is tied.

        A drawn place says nothing about other columns. Where a bin holds a spike, a place that goes
        with the level looks like knowledge, and a tree would split there.
        """
        if self.tied:
            return self.values(levels)
        reached = np.cumsum(self.shares)
        bins = np.searchsorted(reached[:-1] / reached[-1], levels, side="right")
        places = (bins + uniforms(levels.size, source)) / self.shares.size
        return np.asarray(self.low + (self.high - self.low) * places)

    @property
    def mean(self) -> float:
        """Mean in units of the public range."""
        return float(self.shares @ self._centres)

    @property
    def variance(self) -> float:
        """Variance in units of the public range."""
        between = self.shares @ np.square(self._centres - self.mean)
        return float(between + 1 / (12 * self.shares.size**2))

    @property
    def _centres(self) -> NDArray[np.float64]:
        return (np.arange(self.shares.size) + 0.5) / self.shares.size

    @cached_property
    def _knots(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return cumulated shares and places, with both ends of each bin that has mass."""
        count = self.shares.size
        after = np.cumsum(self.shares)
        after /= after[-1]
        full = np.flatnonzero(np.diff(after, prepend=0.0) > 0)
        before = np.concatenate(([0.0], after))[full]
        reached = np.column_stack((before, after[full])).ravel()
        places = np.column_stack((full, full + 1)).ravel() / count
        return reached, places

    def _jumps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        count = self.shares.size
        inner = (np.arange(_STEPS) + 0.5) / _STEPS
        before = np.concatenate(([0.0], np.cumsum(self.shares)[:-1]))
        levels = before[:, np.newaxis] + self.shares[:, np.newaxis] * inner
        return np.full(count * _STEPS, 1 / (count * _STEPS)), levels.ravel()


@dataclass(frozen=True, eq=False)
class OrderedMarginal(Marginal):
    """Shares of classes that have an order; a value is a place in their list.

    Examples
    --------
    >>> stages = OrderedMarginal(np.array([0.5, 0.25, 0.25]))
    >>> stages.values(np.array([0.1, 0.6, 0.9]))
    array([0, 1, 2])
    >>> stages.mean
    0.375
    """

    shares: NDArray[np.float64]

    def values(self, levels: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class at each level: the marginal's own quantile, never a rounded number."""
        reached = np.cumsum(self.shares)[:-1]
        return np.searchsorted(reached, levels, side="right")

    @property
    def mean(self) -> float:
        """Mean in units of the public range."""
        return float(self.shares @ self._scores)

    @property
    def variance(self) -> float:
        """Variance in units of the public range."""
        return float(self.shares @ np.square(self._scores - self.mean))

    @property
    def _scores(self) -> NDArray[np.float64]:
        return np.arange(self.shares.size) / (self.shares.size - 1)

    def _jumps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        count = self.shares.size - 1
        return np.full(count, 1 / count), np.cumsum(self.shares)[:-1]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Channel:
    """The places that a true value can have, and the cells in which its report can fall.

    ``places`` of a number are its way from the low bound, 0, to the high bound, 1; those of a class
    are the same by its place in the list. ``matrix`` has the probability of each cell (column) for
    each place (row), and ``borders`` are the inner borders of the cells of a number.
    """

    kind: Kind
    places: NDArray[np.float64]
    matrix: NDArray[np.float64]
    low: float = 0.0
    high: float = 1.0
    borders: NDArray[np.float64]

    @classmethod
    def of_number(cls, noise: NoisedNumber) -> Channel:
        """Return that of a number: equal bins, and a narrow one at either bound."""
        inner = noise.edges(_INNER)
        bounds = noise.low + noise.span * _NARROW, noise.high - noise.span * _NARROW
        edges = np.concatenate((inner[:1], bounds[:1], inner[1:-1], bounds[1:], inner[-1:]))
        cells = noise.report_cells(edges)
        places = ((edges[:-1] + edges[1:]) / 2 - noise.low) / noise.span
        places[[0, -1]] = 0.0, 1.0
        return cls(
            kind="number",
            places=places,
            matrix=noise.transition(edges, cells),
            low=noise.low,
            high=noise.high,
            borders=cells[1:-1],
        )

    @classmethod
    def of_classes(cls, kind: Kind, matrix: NDArray[np.float64]) -> Channel:
        """Return that of classes; the unit matrix is that of classes which were never noised.

        Examples
        --------
        >>> Channel.of_classes("ordered", np.eye(3)).places
        array([0. , 0.5, 1. ])
        """
        places = np.arange(len(matrix)) / max(len(matrix) - 1, 1)
        return cls(kind=kind, places=places, matrix=matrix, borders=np.empty(0))

    def cells(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return the cell of each report, and -1 for one that is not there (NaN, or -1)."""
        told = np.asarray(reports)
        if self.kind != "number":
            return told.astype(np.int64)
        found = np.searchsorted(self.borders, told, side="right")
        return np.where(np.isnan(told), -1, found).astype(np.int64)

    def scaled(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return where clean numbers lie between the bounds, from 0 to 1; beyond is clipped."""
        numbers = np.asarray(values, dtype=np.float64)
        return np.clip((numbers - self.low) / (self.high - self.low), 0.0, 1.0)


def hermite_coefficients(heights: ArrayLike, places: ArrayLike) -> Matrix:
    """Return the coefficients of a step function of a standard normal number.

    Examples
    --------
    >>> median = hermite_coefficients([1.0], [0.0])
    >>> round(float(median[0]), 6) == round(1 / math.sqrt(2 * math.pi), 6)
    True
    """
    jumps, where = np.asarray(heights, dtype=float), np.asarray(places, dtype=float)
    real = np.isfinite(where)
    jumps, where = jumps[real], where[real]
    last = jumps * np.exp(-(where**2) / 2) / math.sqrt(2 * math.pi)
    before = np.zeros_like(last)
    sums = np.empty(TERMS)
    for order in range(TERMS):
        sums[order] = last.sum() / math.sqrt(order + 1)
        after = (where * last - math.sqrt(order) * before) / math.sqrt(order + 1)
        before, last = last, after
    return sums


def implied_covariance(products: Matrix, correlations: Matrix) -> Matrix:
    """Return the covariance that latent correlations make."""
    total = np.zeros_like(correlations)
    for term in products[::-1]:
        total = (total + term) * correlations
    return total


def latent_correlations(covariances: ArrayLike, products: Matrix) -> Matrix:
    """Return the latent correlations that make the given covariances.

    Examples
    --------
    >>> coin = hermite_coefficients([1.0], [0.0])
    >>> found = latent_correlations([1 / 12], np.square(coin)[:, np.newaxis])
    >>> found.round(6)
    array([0.5])
    """
    wanted = np.asarray(covariances, dtype=float)
    low, high = np.full_like(wanted, -_LARGEST), np.full_like(wanted, _LARGEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = implied_covariance(products, middle) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(products.any(axis=0), (low + high) / 2, 0.0)


def noisy_polychoric(
    counts: ArrayLike, channels: Sequence[Matrix], one: Matrix, other: Matrix
) -> tuple[float, float]:
    """Return the correlation of two normals whose classes are most likely to make noisy reports.

    It is the same within all classes of a target, which are the first axis of the counts. The
    likelihood is that of the reports themselves: a table that was reconstructed first would be
    pulled to independence by the early end of its reconstruction. The second number is the standard
    error.

    References
    ----------
    U. Olsson, Maximum likelihood estimation of the polychoric correlation coefficient,
    Psychometrika 44 (1979).

    Examples
    --------
    >>> shares = np.array([[1 / 3, 1 / 6], [1 / 6, 1 / 3]])
    >>> halves, clean = np.full((1, 2), 0.5), [np.eye(1), np.eye(2), np.eye(2)]
    >>> rho, _ = noisy_polychoric(shares[np.newaxis], clean, halves, halves)
    >>> round(rho, 3)
    0.5
    """
    told = np.asarray(counts, dtype=float)
    shares = one.sum(axis=1)
    curves = [_pair_of_series(a, b) for a, b in zip(one, other, strict=True)]

    def loss(rho: float) -> float:
        tables = [normal_table(rho, *pair) for pair in curves]
        mixture = np.maximum(shares[:, np.newaxis, np.newaxis] * np.array(tables), 0.0)
        for channel in channels:
            mixture = np.tensordot(mixture, channel, axes=(0, 0))
        return -float(np.sum(told * np.log(np.maximum(mixture, _LEAST))))

    rho = float(minimize_scalar(loss, bounds=(-_STRONGEST, _STRONGEST), method="bounded").x)
    inner = min(max(rho, _STEP - _STRONGEST), _STRONGEST - _STEP)
    bend = (loss(inner + _STEP) - 2 * loss(inner) + loss(inner - _STEP)) / _STEP**2
    return rho, math.inf if bend <= 0 else 1 / math.sqrt(bend)


def _pair_of_series(one: Matrix, other: Matrix) -> tuple[Matrix, Matrix]:
    return _series(one / max(one.sum(), _LEAST)), _series(other / max(other.sum(), _LEAST))


def normal_table(rho: float, first: Matrix, second: Matrix) -> Matrix:
    """Return the shares of two classes whose normals have a correlation."""
    powers = rho ** np.arange(TERMS + 1)
    return np.asarray((first * powers) @ second.T)


def _series(margin: Matrix) -> Matrix:
    """Return the coefficients of the indicator of each class, the zeroth one first."""
    places = ndtri(np.clip(np.cumsum(margin), 0.0, 1.0)[:-1])
    inside = np.where(np.isfinite(places), places, 0.0)
    last = np.exp(-(inside**2) / 2) / math.sqrt(2 * math.pi) * np.isfinite(places)
    before = np.zeros_like(last)
    above = np.zeros((margin.size + 1, TERMS + 1))
    for order in range(1, TERMS + 1):
        above[1:-1, order] = last / math.sqrt(order)
        after = (inside * last - math.sqrt(order - 1) * before) / math.sqrt(order)
        before, last = last, after
    # An indicator is the step at its lower threshold less the step at its upper one.
    coefficients = above[:-1] - above[1:]
    coefficients[:, 0] = margin
    return np.asarray(coefficients)
