"""What a party tells in each round of a discriminant, and how the sums of that are read.

Each vector ends with two numbers without noise: the party's number of rows, which is public where
neighbours are of one size, and a one. So a sum says by itself how many rows and how much noise are
in it, whoever was lost between the rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError
from supm._random import RandomSource, check_source
from supm.federation.calibration import MomentNoise
from supm.federation.rows import GRID, Rows, class_counts, class_sums, scatter, triangle, untriangle
from supm.learning.discriminant import ClassMoments, GaussianRule
from supm.mechanisms.noise import DiscreteGaussian, symmetric_noise

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

_PUBLIC: Final = 2
# No direction of length one and no end of a cell is beyond this.
_LARGEST: Final = 2.0
# The cells begin and end so many standard deviations from the middle of all scores.
_REACH: Final = 4.0
_NARROWEST: Final = 1e-6


def moments_length(classes: int, width: int) -> int:
    """Return how many numbers a party tells in the first round."""
    return classes * (width + 1) + width * (width + 1) // 2 + _PUBLIC


def histogram_length(classes: int, cells: int) -> int:
    """Return how many numbers a party tells in the second round."""
    return classes * cells + _PUBLIC


def tell_moments(rows: Rows, noise: MomentNoise, source: RandomSource) -> Whole:
    """Return class sums, twice the products, and class counts, with a party's noise."""
    sums = class_sums(rows).ravel()
    sums += DiscreteGaussian(noise.sums).draw(sums.size, source)
    products = 2 * scatter(rows.values)
    products += symmetric_noise(rows.width, noise.scatter, source)
    counts = class_counts(rows)
    counts += DiscreteGaussian(noise.counts).draw(counts.size, source)
    return np.concatenate([sums, triangle(products), counts, [rows.size, 1]])


def tell_histogram(
    rows: Rows, given: tuple[Floats, ScoreCells], width: int, source: RandomSource
) -> Whole:
    """Return how many rows of each class are in each cell, with a party's noise."""
    directions, cells = given
    counts = cells.tally(rows.unit @ directions.T, rows.labels, rows.classes)
    counts += DiscreteGaussian(width).draw(counts.size, source)
    return np.concatenate([counts, [rows.size, 1]])


def read_moments(total: Whole, classes: int, width: int, noise: MomentNoise) -> ClassMoments:
    """Return the moments that a sum of the first round holds."""
    records, told = _public(total)
    ends = [classes * width, total.size - _PUBLIC - classes, total.size - _PUBLIC]
    sums, products, counts, _ = np.split(total, ends)
    noisy = counts / GRID
    return ClassMoments(
        # How many records there are is public, so the counts are made to add up to it.
        counts=noisy + (records - noisy.sum()) / classes,
        sums=sums.reshape(classes, width) / GRID,
        scatter=untriangle(products, width) / (2 * GRID * GRID),
        count_noise=noise.counts * told * math.sqrt(1 - 1 / classes) / GRID,
        sum_noise=noise.sums * told / GRID,
        scatter_noise=noise.scatter * told / (GRID * GRID),
    )


def read_histogram(total: Whole, cells: ScoreCells, classes: int, width: int) -> ScoreHistogram:
    """Return the histogram that a sum of the second round holds."""
    records, told = _public(total)
    counts = total[:-_PUBLIC].reshape(classes, cells.count) / GRID
    return ScoreHistogram(cells=cells, counts=counts, noise=width * told / GRID, total=records)


def scoring(moments: ClassMoments, directions: int, bins: int) -> tuple[Floats, ScoreCells]:
    """Return the directions, and cells over the range that the moments expect scores in."""
    lines = moments.directions(directions)
    low, high = np.clip(moments.rule(lines).reach(_REACH), -1.0, 1.0)
    wide = high - low > _NARROWEST
    low, high = np.where(wide, low, -1.0), np.where(wide, high, 1.0)
    return lines, ScoreCells(low=low, high=high, bins=bins)


def read_given(given: Floats, directions: int, bins: int) -> tuple[Floats, ScoreCells]:
    """Read directions and cells of a stranger; each row has one cell in any case."""
    lines, ends = np.split(given, [given.size - 2 * directions])
    low, high = ends.reshape(2, directions)
    if not (np.abs(given) <= _LARGEST).all() or not (high - low >= _NARROWEST / 2).all():
        message = "the question must give directions of length one, and cells in their order."
        raise MessageError(message)
    return lines.reshape(directions, -1), ScoreCells(low=low, high=high, bins=bins)


def _public(total: Whole) -> tuple[int, float]:
    """Return how many records are in a sum, and the square root of how many parties."""
    return int(total[-2]), math.sqrt(max(int(total[-1]), 1))


_SPARE_BITS: Final = np.uint64(11)
_PAIR: Final = 2
# An excess of so many standard deviations decides a cell; a smaller one may be noise.
_CERTAIN: Final = 2.0
# How much of the noise between two thresholds the better one has to overcome.
_DOUBT: Final = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreCells:
    """A public grid of cells over one or two scores; what is beyond an end is in the end cell.

    Parameters
    ----------
    low, high : ndarray of float64, shape (directions,)
        Where the cells of each direction begin and end.
    bins : int
        Cells for each direction.
    """

    low: Floats
    high: Floats
    bins: int

    @property
    def directions(self) -> int:
        """How many scores there are."""
        return int(self.low.size)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return int(self.bins**self.directions)

    def places(self, scores: Floats) -> NDArray[np.int64]:
        """Return the cell of each score."""
        # Scaled so that no range, however narrow, overflows: every record has exactly one cell.
        shares = np.clip((scores - self.low) / (self.high - self.low), 0.0, 1.0)
        steps = np.minimum((shares * self.bins).astype(np.int64), self.bins - 1)
        place = np.zeros(len(scores), dtype=np.int64)
        for column in steps.T:
            place = place * self.bins + column
        return place

    def tally(self, scores: Floats, labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
        """Return how many records of each class are in each cell, in steps of 2^-16."""
        place = labels * self.count + self.places(scores)
        return np.bincount(place, minlength=classes * self.count).astype(np.int64) * GRID

    def inside(self, places: NDArray[np.int64], source: RandomSource) -> Floats:
        """Return a uniform score in each cell."""
        words = check_source(source).words(places.size * self.directions) >> _SPARE_BITS
        parts = words.reshape(places.size, self.directions) / float(1 << 53)
        steps = np.empty_like(parts)
        for column in range(self.directions - 1, -1, -1):
            places, steps[:, column] = np.divmod(places, self.bins)
        return np.asarray(self.low + (steps + parts) / self.bins * (self.high - self.low))


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreHistogram:
    """Noisy counts of scores by class.

    Parameters
    ----------
    cells : ScoreCells
        The public grid.
    counts : ndarray of float64, shape (classes, cells)
        How many records each class has in each cell; noise may make it negative.
    noise : float
        Standard deviation of the noise in a count.
    total : int
        How many records there are; that is public.
    """

    cells: ScoreCells
    counts: Floats
    noise: float
    total: int

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.counts)

    def threshold(self, usual: float) -> float:
        """Of two classes and one score: above which the second is answered.

        The edge of a cell at which the fewest of the counted records are answered wrongly. An edge
        far from the usual threshold has to be better than it by more than the noise between the
        two: noise grows with the number of cells in which they differ.
        """
        bins, low, high = self.cells.bins, float(self.cells.low[0]), float(self.cells.high[0])
        wrong = np.concatenate(([0.0], np.cumsum(self.counts[1] - self.counts[0])))
        start = bins * min(max((usual - low) / (high - low), 0.0), 1.0)
        away = np.abs(np.arange(bins + 1) - start)
        best = int(np.argmin(wrong + _DOUBT * self.noise * np.sqrt(2 * away)))
        if best in {0, bins}:
            # The end cells hold all that is beyond them, so one class is answered everywhere.
            return math.copysign(math.inf, best - 0.5)
        return low + best * (high - low) / bins

    @cached_property
    def densities(self) -> Floats:
        """The nearest counts that are not negative and add up to the number of records."""
        return _simplex(self.counts.ravel(), float(self.total)).reshape(self.counts.shape)

    def predict(self, scores: Floats, rule: GaussianRule) -> NDArray[np.int64]:
        """Return the class of each score; in cells that noise decides, what the rule says."""
        if self.classes == _PAIR and self.cells.directions == 1:
            return (scores[:, 0] > self.threshold(rule.threshold)).astype(np.int64)
        otherwise = rule.predict(scores)
        places = self.cells.places(scores)
        ordered = np.sort(self.counts, axis=0)
        gaps = ordered[-1] - (ordered[-2] if self.classes > 1 else 0.0)
        clear = gaps > _CERTAIN * self.noise
        return np.where(clear[places], np.argmax(self.counts, axis=0)[places], otherwise)

    def sample(self, count: int, source: RandomSource) -> tuple[NDArray[np.int64], Floats]:
        """Draw classes and scores that are distributed as the densities say."""
        weights = np.rint(self.densities.ravel() * GRID).astype(np.int64)
        ends = np.cumsum(weights)
        # Few records may leave nothing but rounding: then all cells are alike.
        ends = ends if ends[-1] > 0 else np.arange(1, weights.size + 1)
        drawn = check_source(source).below(int(ends[-1]), count).astype(np.int64)
        place = np.searchsorted(ends, drawn, side="right")
        labels, cells = np.divmod(place, self.cells.count)
        return labels, self.cells.inside(cells, source)


def _simplex(counts: Floats, total: float) -> Floats:
    """Return the nearest point that is nowhere negative and has the given sum."""
    ordered = np.sort(counts)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, counts.size + 1)
    kept = int(np.flatnonzero(ordered > excess)[-1]) if total > 0 else 0
    return np.asarray(np.maximum(counts - excess[kept], 0.0))
