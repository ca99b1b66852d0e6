"""What a party tells in each round of a discriminant, with which noise, and how sums are read.

All widths of noise are whole numbers in steps of the grid: on sums, counts and histograms in steps
of 2^-16, on the scatter in steps of 2^-32. Each party draws with these widths; ``holders`` of them
count.

Each vector ends with two numbers without noise: the party's number of rows, which is public where
neighbours are of one size, and a one. So a sum says by itself how many rows and how much noise are
in it, whoever was lost between the rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, ParameterError
from supm._random import RandomSource, check_source
from supm._validation import Integers, Reals, keep_checked
from supm.federation.rows import (
    GRID,
    Rows,
    class_counts,
    class_sums,
    keep_arrays,
    scatter,
    triangle,
    untriangle,
)
from supm.learning.directions import ClassMoments, GaussianRule
from supm.mechanisms.noise import DiscreteGaussian, sigma_for, summed_mu, symmetric_noise
from supm.messages.codec import Message

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

_WIDTH: Final = Integers("width", 6, 1 << 45)
_HOLDERS: Final = Integers("holders", 1, 1 << 20)
_MU: Final = Reals("mu", 1e-9, 10.0)
RATIO: Final = Reals("ratio", 0.1, 10.0)
"""How wide noise on sums may be, as a multiple of that on products."""
# The variance that random rounding takes, and what covers all else, as in discrete-gaussian.md.
_ROUNDING: Final = 16
_SLACK: Final = 1 + Fraction(1, 10**9)
# A replaced record leaves one cell and enters another: sqrt(2) records, rounded up.
_HISTOGRAM_SENSITIVITY: Final = math.nextafter(math.sqrt(2.0), 2.0) * GRID


@dataclass(frozen=True, kw_only=True)
class MomentNoise(Message):
    """Widths of one party's noise on class sums, scatter and class counts.

    Parameters
    ----------
    sums : int
        Width on each number of a class's sum, in steps of 2^-16.
    scatter : int
        Width on each product, before the matrix is made symmetric, in steps of 2^-32.
    counts : int
        Width on each class's count, in steps of 2^-16.

    Notes
    -----
    **Guarantee.** With the variances s1², s2² and s3² of all holders' noise on sums, scatter and
    counts, the three together are mu-GDP for replacing one record, label included, with the larger
    of mu² = 2/s1² + 2/s2² + s2²/(2 s1⁴) (or 4/s1², where s1² < s2²/2) and 2/s1² + 2/s2² + 2/s3²:
    Theorem 1 of docs/proofs/discriminant.md. Both are attained.

    **Utility.** Counts cost nothing where s3 >= 2 s1²/s2, which is what `for_mu` takes.

    **Cost.** C p + p² + C draws at each party for C classes and p numbers in a row.
    """

    noun = "noise of moments"
    sums: int
    scatter: int
    counts: int

    def __post_init__(self) -> None:
        keep_checked(self, sums=_WIDTH, scatter=_WIDTH, counts=_WIDTH)

    @classmethod
    def for_mu(cls, *, mu: float, holders: int, ratio: float = 1.0) -> MomentNoise:
        """Return the widths that together keep mu."""
        mu, holders = _MU.check(mu), _HOLDERS.check(holders)
        square = Fraction(RATIO.check(ratio)) ** 2
        cost, free = _unit_costs(square)
        scatter = cost * _SLACK**3 / Fraction(mu) ** 2
        return cls(
            sums=_party_width(square * scatter, GRID, holders),
            scatter=_party_width(scatter, GRID**2, holders),
            counts=_party_width(free * scatter, GRID, holders),
        )

    def mu(self, holders: int) -> float:
        """Return what the noise of so many holders promises, rounded up."""
        sums = _variance(self.sums, GRID, holders)
        scatter = _variance(self.scatter, GRID**2, holders)
        counts = _variance(self.counts, GRID, holders)
        same = 2 / sums + 2 / scatter + scatter / (2 * sums**2)
        if 2 * sums < scatter:
            same = 4 / sums
        other = 2 / sums + 2 / scatter + 2 / counts
        root = math.sqrt(max(same, other) * _SLACK**2)
        # A float's decimal may be a little below it: docs/proofs/gaussian-composition.md.
        mu = root * (1.0 + 2.0**-40)
        if mu > _MU.high:
            raise ParameterError("mu", f"at most {_MU.high:g}", mu, "Use wider noise.")
        return mu


def histogram_mu(width: int, holders: int) -> float:
    """Return what noise of a width on the counts of a histogram promises, rounded up."""
    return summed_mu(sensitivity=_HISTOGRAM_SENSITIVITY, sigma=width, holders=holders)


def histogram_width(*, mu: float, holders: int) -> int:
    """Return the least width that keeps mu."""
    return sigma_for(mu=mu, sensitivity=_HISTOGRAM_SENSITIVITY, holders=holders)


def _unit_costs(square: Fraction) -> tuple[Fraction, Fraction]:
    """Return mu² for a scatter of variance one, and the least variance at which counts are free."""
    if 2 * square < 1:
        return 4 / square, square / (1 - square)
    return 2 + 2 / square + 1 / (2 * square**2), 4 * square**2


def _party_width(variance: Fraction, steps: int, holders: int) -> int:
    """Return the least width of which so many have the variance, less what rounding takes."""
    needed = (variance * steps**2 + _ROUNDING) / holders
    width = math.isqrt(math.ceil(needed) - 1) + 1
    return max(_WIDTH.low, width)


def _variance(width: int, steps: int, holders: int) -> Fraction:
    return Fraction(_HOLDERS.check(holders) * width**2 - _ROUNDING, steps**2)


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


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyMoments(ClassMoments, Message):
    """Class moments as they are published."""

    noun = "noisy moments"

    def __post_init__(self) -> None:
        keep_arrays(self, sums=(None, None))
        classes, width = self.sums.shape
        keep_arrays(self, counts=(classes,), scatter=(width, width))
        super().__post_init__()


def read_moments(total: Whole, classes: int, width: int, noise: MomentNoise) -> NoisyMoments:
    """Return the moments that a sum of the first round holds."""
    records, told = _public(total)
    ends = [classes * width, total.size - _PUBLIC - classes, total.size - _PUBLIC]
    sums, products, counts, _ = np.split(total, ends)
    noisy = counts / GRID
    return NoisyMoments(
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
        raise MessageError(
            "the question must give directions of length one, and cells in their order."
        )
    return lines.reshape(directions, -1), ScoreCells(low=low, high=high, bins=bins)


def _public(total: Whole) -> tuple[int, float]:
    """Return how many records are in a sum, and the square root of how many parties."""
    return int(total[-2]), math.sqrt(max(int(total[-1]), 1))


_BINS: Final = Integers("bins", 2, 1 << 12)
_NOISE: Final = Reals("noise", 0.0, 1e12)
_TOTAL: Final = Integers("total", 0, 1 << 40)
_SPARE_BITS: Final = np.uint64(11)
_PAIR: Final = 2
# An excess of so many standard deviations decides a cell; a smaller one may be noise.
_CERTAIN: Final = 2.0
# How much of the noise between two thresholds the better one has to overcome.
_DOUBT: Final = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreCells(Message):
    """A public grid of cells over one or two scores; what is beyond an end is in the end cell.

    Parameters
    ----------
    low, high : ndarray of float64, shape (directions,)
        Where the cells of each direction begin and end.
    bins : int
        Cells for each direction.
    """

    noun = "the cells of scores"
    low: Floats
    high: Floats
    bins: int

    def __post_init__(self) -> None:
        keep_arrays(self, low=(None,))
        keep_arrays(self, high=(self.low.size,))
        if not (self.low < self.high).all():
            raise ParameterError("low", "below high: cells begin before they end", "others")
        keep_checked(self, bins=_BINS)

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
class ScoreHistogram(Message):
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

    noun = "a histogram of scores"
    cells: ScoreCells
    counts: Floats
    noise: float
    total: int

    def __post_init__(self) -> None:
        keep_arrays(self, counts=(None, self.cells.count))
        keep_checked(self, noise=_NOISE, total=_TOTAL)

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
