"""Directions in noisy sums and products of records: what tells classes apart, what varies most.

Nothing here draws noise or sees a record: it makes the most of moments whose noise is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from supm._errors import ParameterError
from supm._validation import Integers, Reals

Floats: TypeAlias = NDArray[np.float64]

_NOISE: Final = Reals("noise", 0.0, 1e12)
# A count within so many standard deviations of its noise may be that of an empty class.
_CERTAIN: Final = 4.0
# Of the number of records: what is below is rounding, also where no noise was added.
_ROUNDING: Final = 1e-9
_LIFT: Final = 2.5
_COUNT: Final = Integers("components", 1, 1 << 14)
# Two classes differ along one line only.
_PAIR: Final = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassMoments:
    """Counts, sums and products of records of norm at most one, with the noise that is in them.

    Parameters
    ----------
    counts : ndarray of float64, shape (classes,)
        How many records each class has.
    sums : ndarray of float64, shape (classes, width)
        The sum of the records of each class.
    scatter : ndarray of float64, shape (width, width)
        The sum of each record's products with itself, over all classes.
    count_noise, sum_noise, scatter_noise : float, default 0
        Standard deviations of the noise: of a count, of a number of a sum, and of the diagonal of
        the scatter, off which the variance is half as large.

    Examples
    --------
    >>> rows = np.array([[0.1, 0.5], [-0.1, 0.3], [0.1, -0.3], [-0.1, -0.5]])
    >>> moments = ClassMoments(
    ...     counts=np.array([2.0, 2.0]),
    ...     sums=np.array([rows[:2].sum(axis=0), rows[2:].sum(axis=0)]),
    ...     scatter=rows.T @ rows,
    ... )
    >>> moments.directions(1).round(3).tolist()
    [[0.707, -0.707]]
    """

    counts: Floats
    sums: Floats
    scatter: Floats
    count_noise: float = 0.0
    sum_noise: float = 0.0
    scatter_noise: float = 0.0

    def __post_init__(self) -> None:
        for name in ("count_noise", "sum_noise", "scatter_noise"):
            object.__setattr__(self, name, _NOISE.check(getattr(self, name)))
        classes, width = self.sums.shape
        if self.counts.shape != (classes,) or self.scatter.shape != (width, width):
            raise ParameterError("sums", "a row for each count, as wide as the scatter", self.sums)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.counts)

    @property
    def width(self) -> int:
        """How many numbers a record has."""
        return int(self.sums.shape[1])

    @property
    def least_count(self) -> float:
        """The count that a class must exceed to be told from an empty one."""
        return max(0.5, _CERTAIN * self.count_noise)

    @cached_property
    def present(self) -> NDArray[np.int64]:
        """The classes that have records, as far as the noise lets one see."""
        return np.flatnonzero(self.counts > self.least_count)

    @property
    def decides(self) -> bool:
        """Whether there are two classes to tell apart."""
        return self.present.size >= _PAIR

    @cached_property
    def total(self) -> float:
        """How many records there are, at least one."""
        return max(1.0, float(self.counts.sum()))

    @cached_property
    def means(self) -> Floats:
        """The mean of each class; zero for a class that is not seen."""
        means = np.zeros_like(self.sums)
        means[self.present] = self.sums[self.present] / self.counts[self.present, np.newaxis]
        # No mean of records of norm one is longer than one; only noise is.
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        return np.asarray(means / np.maximum(lengths, 1.0))

    @cached_property
    def _mean_noise(self) -> Floats:
        """The variance of each present mean, in the sense of its class's weight."""
        return np.asarray(self.sum_noise**2 / self.counts[self.present])

    @cached_property
    def within(self) -> Floats:
        """The scatter about the means of the classes, without what noise adds on average."""
        weighted = self.means * np.where(self.counts > self.least_count, self.counts, 0.0)[:, None]
        bias = float(self._mean_noise.sum())
        raw = self.scatter - weighted.T @ self.means + bias * np.eye(self.width)
        return np.asarray((raw + raw.T) / 2)

    @property
    def edge(self) -> float:
        """The largest eigenvalue that noise alone would give the scatter."""
        return max(self.scatter_noise * math.sqrt(2 * self.width), self._rounding)

    @property
    def lift(self) -> float:
        """What an eigenvalue of zero is taken for.

        The edge where rows are short. Where they are long, eigenvalues well inside the noise still
        say something, and less is better; the factor was chosen on rows of 13 to 89 numbers
        (experiments/lda_publishing/README.md).
        """
        fourth = math.sqrt(math.sqrt(self.width))
        return min(self.edge, max(_LIFT * self.scatter_noise * fourth, self._rounding))

    @property
    def _rounding(self) -> float:
        return _ROUNDING * self.total

    @cached_property
    def _spectrum(self) -> tuple[Floats, Floats]:
        """Eigenvalues, lifted where they are within the noise, and their vectors in columns.

        An eigenvalue far above the lift stays what it is, one of zero becomes the lift, and none
        is negative.
        """
        values, vectors = np.linalg.eigh(self.within)
        lifted = (values + np.sqrt(np.square(values) + 4 * self.lift**2)) / 2
        return np.maximum(lifted, self._rounding), vectors

    @cached_property
    def lifted(self) -> Floats:
        """The scatter within classes, positive definite."""
        values, vectors = self._spectrum
        return np.asarray((vectors * values) @ vectors.T)

    def directions(self, count: int) -> Floats:
        """Return the directions along which the classes differ most, for their spread within.

        Parameters
        ----------
        count : int
            How many, at most one fewer than there are classes and at most the width.

        Returns
        -------
        ndarray of float64, shape (count, width)
            Of length one. Of two classes, the second has the larger mean along it. Where noise
            hides all classes but one, the first axes, which say nothing.
        """
        most = min(max(self.classes - 1, 1), self.width)
        Integers("directions", 1, most).check(count)
        found = self._pair() if self.present.size == _PAIR else self._several()
        kept = [line / np.linalg.norm(line) for line in found[:count] if np.linalg.norm(line) > 0]
        return _completed(np.array(kept).reshape(len(kept), self.width), count)

    def _pair(self) -> Floats:
        values, vectors = self._spectrum
        first, second = self.means[self.present]
        return np.asarray(vectors @ (vectors.T @ (second - first) / values))[np.newaxis]

    def _several(self) -> Floats:
        if not self.decides:
            return np.empty((0, self.width))
        values, vectors = self._spectrum
        whitening = vectors / np.sqrt(values)
        counts, means = self.counts[self.present], self.means[self.present]
        apart = (means - counts @ means / counts.sum()) @ whitening
        noise = float((self._mean_noise * (1 - counts / counts.sum())).sum())
        # Noise of the means is round before whitening, and known: it is taken off.
        between = (apart.T * counts) @ apart - noise * np.diag(1 / values)
        _, axes = np.linalg.eigh(between)
        lines = (whitening @ axes[:, ::-1]).T[: self.present.size - 1]
        return _with_signs(lines)

    def rule(self, directions: Floats) -> GaussianRule:
        """Return the rule of normal classes with one common spread, along directions."""
        spread = directions @ self.lifted @ directions.T / self.total
        shares = np.where(self.counts > self.least_count, self.counts, 0.0)
        if not self.present.size:
            shares = (np.arange(self.classes) == int(np.argmax(self.counts))).astype(np.float64)
        centres = self.means @ directions.T
        return GaussianRule(centres=centres, spread=spread, shares=shares / shares.sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianRule:
    """The likelier class of a score, if each class were normal with one common spread.

    Parameters
    ----------
    centres : ndarray of float64, shape (classes, directions)
        The mean score of each class.
    spread : ndarray of float64, shape (directions, directions)
        The covariance within a class.
    shares : ndarray of float64, shape (classes,)
        How common each class is; a class of share zero is never answered.

    Examples
    --------
    >>> rule = GaussianRule(
    ...     centres=np.array([[-1.0], [1.0]]), spread=np.eye(1), shares=np.array([0.5, 0.5])
    ... )
    >>> rule.predict(np.array([[-0.1], [0.2]])).tolist()
    [0, 1]
    """

    centres: Floats
    spread: Floats
    shares: Floats

    def predict(self, scores: Floats) -> NDArray[np.int64]:
        """Return the class of each score."""
        slopes = np.linalg.pinv(self.spread, hermitian=True) @ self.centres.T
        heights = scores @ slopes - 0.5 * (self.centres.T * slopes).sum(axis=0)
        with np.errstate(divide="ignore"):
            likely = heights + np.log(self.shares)
        return np.asarray(np.argmax(likely, axis=1), dtype=np.int64)

    @property
    def threshold(self) -> float:
        """Of two classes and one direction: the score above which the second is answered."""
        first, second = self.centres[:, 0]
        with np.errstate(divide="ignore"):
            odds = float(np.log(self.shares[0]) - np.log(self.shares[1]))
        if second <= first:
            return math.copysign(math.inf, odds)
        return float((first + second) / 2 + self.spread[0, 0] * odds / (second - first))

    def reach(self, spreads: float) -> Floats:
        """Return, for each direction, the range that the scores of all classes are in."""
        middle = self.shares @ self.centres
        between = self.shares @ np.square(self.centres - middle)
        width = spreads * np.sqrt(np.diag(self.spread) + between)
        return np.asarray([middle - width, middle + width])


def _completed(lines: Floats, count: int) -> Floats:
    """Fill up with axes that the lines leave, so that there always are so many."""
    for axis in np.eye(lines.shape[1]):
        if len(lines) == count:
            break
        rest = axis - lines.T @ (np.linalg.pinv(lines.T) @ axis) if len(lines) else axis
        if np.linalg.norm(rest) > 1e-6:
            lines = np.vstack([lines, rest / np.linalg.norm(rest)])
    return lines


def principal_components(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the components with the largest eigenvalues, largest first.

    By eigenvalue and not by its size: a noisy matrix has negative eigenvalues, and a strongly
    negative one belongs to noise.

    Parameters
    ----------
    matrix : ndarray of float64, shape (width, width)
        Symmetric.
    count : int
        How many components, at most the width.

    Returns
    -------
    components : ndarray of float64, shape (count, width)
        Orthonormal rows. The entry of largest size of each is positive.
    eigenvalues : ndarray of float64
        One for each.

    Examples
    --------
    >>> components, eigenvalues = principal_components(np.diag([1.0, -9.0, 4.0]), 2)
    >>> eigenvalues.tolist(), np.abs(components).argmax(axis=1).tolist()
    ([4.0, 1.0], [2, 0])
    """
    width = len(matrix)
    if _COUNT.check(count) > width:
        raise ParameterError("components", f"at most the width of the rows, {width}", count)
    eigenvalues, columns = eigh(matrix, subset_by_index=(width - count, width - 1))
    return _with_signs(columns.T[::-1]), eigenvalues[::-1].copy()


def average_subspace(parts: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Return the subspace nearest to several, for parties that may send subspaces only.

    The projectors are averaged, not the components: signs, order and rotations of components within
    their subspace are arbitrary, and an average of components depends on them.

    Parameters
    ----------
    parts : sequence of ndarray, each of shape (count, width)
        Orthonormal rows of each party.
    weights : sequence of float
        How much each counts; positive.

    Returns
    -------
    ndarray of float64, shape (count, width)
        The top components of sum of w U'U.

    Examples
    --------
    >>> line = np.array([[0.6, 0.8]])
    >>> np.abs(average_subspace([line, -line], [1.0, 2.0])).round(6).tolist()
    [[0.6, 0.8]]
    """
    if not parts or len(parts) != len(weights) or min(weights) <= 0:
        raise ParameterError("weights", "one positive number for each part", len(weights))
    share = np.asarray(weights, dtype=np.float64) / sum(weights)
    whole = sum(
        (weight * part.T @ part for weight, part in zip(share, parts, strict=True)),
        start=np.zeros((parts[0].shape[1],) * 2),
    )
    return principal_components(whole, len(parts[0]))[0]


def _with_signs(components: Floats) -> Floats:
    """Make the largest entry of each positive, so that equal matrices give equal components."""
    largest = np.abs(components).argmax(axis=1)
    signs = np.sign(components[np.arange(len(components)), largest])
    return np.ascontiguousarray(components * signs[:, None])
