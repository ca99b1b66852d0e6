"""What a party tells in each round of a discriminant, and how the sums of that are read.

Each vector ends with two numbers without noise: the party's number of rows, which is public where
neighbours are of one size, and a one. So a sum says by itself how many rows and how much noise are
in it, whoever was lost between the rounds.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError
from supm._random import RandomSource
from supm.federation._discriminant_histogram import ScoreCells, ScoreHistogram
from supm.federation.calibration import MomentNoise
from supm.federation.rows import GRID, Rows
from supm.federation.sums import class_counts, class_sums, scatter, triangle, untriangle
from supm.learning.discriminant import ClassMoments
from supm.mechanisms.noise import DiscreteGaussian, symmetric_noise

__all__ = [
    "histogram_length",
    "moments_length",
    "read_given",
    "read_histogram",
    "read_moments",
    "scoring",
    "tell_histogram",
    "tell_moments",
]

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
    """Read directions and cells that a stranger may have sent; each row has one cell in any case.

    Raises
    ------
    MessageError
        If they are not directions and cells.
    """
    lines, ends = np.split(given, [given.size - 2 * directions])
    low, high = ends.reshape(2, directions)
    if not (np.abs(given) <= _LARGEST).all() or not (high - low >= _NARROWEST / 2).all():
        message = "the question must give directions of length one, and cells in their order."
        raise MessageError(message)
    return lines.reshape(directions, -1), ScoreCells(low=low, high=high, bins=bins)


def _public(total: Whole) -> tuple[int, float]:
    """Return how many records are in a sum, and the square root of how many parties."""
    return int(total[-2]), math.sqrt(max(int(total[-1]), 1))
