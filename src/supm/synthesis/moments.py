"""Covariances of true records from unbiased reports, with their standard errors.

The noise of different columns is independent, so products of unbiased reports of different columns
are unbiased for the products of the truths. Within a class of the target, each record counts by an
unbiased weight for its true class.

Covariances within all classes together are what is left of the whole after the differences between
the classes; they are pulled to zero by what noise explains. Those of each class are pulled to them,
and differ from them only where the difference is clear.

The target, if it is a class, is the root: everything else is learned within its classes. Numbers
and ordered classes are *scaled*: they have a place between 0 and 1 and go into the copula. The
other classes are *nominal*: they go into a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm.synthesis.archive import Archive, ArchiveSchema
from supm.synthesis.columns import ClassColumn, Column
from supm.synthesis.distributions import Marginal, implied_covariance, latent_correlations

Matrix = NDArray[np.float64]
Pairs: TypeAlias = tuple[NDArray[np.int64], ...]
Known: TypeAlias = Mapping[tuple[int, int], tuple[float, float]]

_CHUNK: Final = 1 << 15
_LEAST: Final = 1e-9
_MEANS: Final = 20
_SURE: Final = 3.0


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordMoments:
    """Means and covariances of all numbers that stand for a record."""

    mean: Matrix
    covariance: Matrix
    pairs: Matrix
    products: Matrix
    sums: Matrix
    weights: Matrix

    @property
    def errors(self) -> Matrix:
        """The standard error of each covariance; infinite where no record has both numbers."""
        spread = np.diag(self.covariance)
        # What is beyond floats is as good as never observed.
        with np.errstate(over="ignore"):
            squares = np.outer(spread, spread) / np.maximum(self.pairs, 1.0)
        return np.where(self.pairs > 0, np.sqrt(squares), np.inf)

    def within(self, place: int, share: float, centre: Matrix) -> tuple[Matrix, Matrix]:
        """Return the covariance within one class of the target, and its standard errors."""
        offset = centre - self.mean
        cross = np.outer(self.sums[place], offset)
        weight, square = self.weights[place]
        total = self.products[place] - cross - cross.T + weight * np.outer(offset, offset)
        return total / share, self.errors * np.sqrt(square) / share


def learn_moments(archive: Archive, layout: ColumnRoles) -> RecordMoments:
    """Add up products of unbiased reports, in chunks, so that memory does not grow with records."""
    sums = _Sums(archive, layout)
    for rows in _chunks(archive.rows):
        sums.add(rows)
    return sums.moments()


class _Sums:
    """What is added up over chunks of records."""

    def __init__(self, archive: Archive, layout: ColumnRoles) -> None:
        self._archive, self._layout = archive, layout
        self._whole = archive.schema.asked is None
        self._root = layout.root if self._whole else None
        size = layout.width
        classes = 0 if self._root is None else len(self._root.values)
        self._mean = _means(archive, layout)
        self._total, self._pairs = np.zeros((size, size)), np.zeros((size, size))
        self._products, self._sums = np.zeros((classes, size, size)), np.zeros((classes, size))
        self._weights = np.zeros((classes, 2))

    def add(self, rows: slice) -> None:
        """Add one chunk."""
        numbers = self._layout.unbiased(self._archive, rows) - self._mean
        if self._whole:
            self._pairs += len(numbers)
        else:
            there = ~np.isnan(numbers)
            self._pairs += there.T.astype(float) @ there
            numbers = np.where(there, numbers, 0.0)
        self._total += numbers.T @ numbers
        if self._root is not None:
            self._add_classes(numbers, self._root.unbiased(self._reports(rows)))

    def _reports(self, rows: slice) -> NDArray[np.int64]:
        name = "" if self._root is None else self._root.name
        reports: NDArray[np.int64] = self._archive.reports[name][rows]
        return reports

    def _add_classes(self, numbers: Matrix, shares: Matrix) -> None:
        self._weights[:, 0] += shares.sum(axis=0)
        self._weights[:, 1] += np.square(shares).sum(axis=0)
        self._sums += shares.T @ numbers
        for place in range(shares.shape[1]):
            self._products[place] += (numbers * shares[:, place : place + 1]).T @ numbers

    def moments(self) -> RecordMoments:
        """Return the means of all that was added."""
        count = self._archive.rows
        return RecordMoments(
            mean=self._mean,
            covariance=self._total / np.maximum(self._pairs, 1.0),
            pairs=self._pairs,
            products=self._products / count,
            sums=self._sums / count,
            weights=self._weights / count,
        )


def _chunks(rows: int) -> list[slice]:
    return [slice(start, min(start + _CHUNK, rows)) for start in range(0, rows, _CHUNK)]


def _means(archive: Archive, layout: ColumnRoles) -> Matrix:
    """Return the mean of each number over the records that have it."""
    sums, told = np.zeros(layout.width), np.zeros(layout.width)
    for rows in _chunks(archive.rows):
        numbers = layout.unbiased(archive, rows)
        told += (~np.isnan(numbers)).sum(axis=0)
        sums += np.nansum(numbers, axis=0)
    return np.asarray(sums / np.maximum(told, 1.0))


@dataclass(frozen=True)
class ColumnRoles:
    """The roles of the columns of a schema.

    Examples
    --------
    >>> from supm.mechanisms import ContinuousLaplace, GeneralizedRandomizedResponse
    >>> from supm.synthesis import NumberColumn
    >>> answer = GeneralizedRandomizedResponse.with_keep(size=2, keep=0.75)
    >>> schema = ArchiveSchema(
    ...     columns=(
    ...         NumberColumn("age", ContinuousLaplace(low=0, high=100, scale=50)),
    ...         ClassColumn("sex", ("f", "m"), answer),
    ...         ClassColumn("ill", ("no", "yes"), answer),
    ...     ),
    ...     target="ill",
    ... )
    >>> layout = ColumnRoles(schema)
    >>> layout.root.name, [c.name for c in layout.scaled], [c.name for c in layout.nominal]
    ('ill', ['age'], ['sex'])
    """

    schema: ArchiveSchema

    @cached_property
    def root(self) -> ClassColumn | None:
        """The target, if it is a class."""
        target = self.schema.target
        column = None if target is None else self.schema.column(target)
        return column if isinstance(column, ClassColumn) else None

    @cached_property
    def scaled(self) -> tuple[Column, ...]:
        """Numbers and ordered classes."""
        return tuple(
            each for each in self.schema.columns if each != self.root and each.kind != "unordered"
        )

    @cached_property
    def nominal(self) -> tuple[ClassColumn, ...]:
        """Classes without an order."""
        return tuple(each for each in self.schema.classes if each != self.root and not each.ordered)

    @property
    def width(self) -> int:
        """How many numbers stand for a record: one for a scaled column, one for each class."""
        return len(self.scaled) + sum(len(each.values) for each in self.nominal)

    @property
    def blocks(self) -> tuple[slice, ...]:
        """Where the classes of each nominal column stand among those numbers."""
        sizes = [len(each.values) for each in self.nominal]
        ends = len(self.scaled) + np.cumsum(sizes, dtype=int)
        return tuple(slice(int(e - s), int(e)) for e, s in zip(ends, sizes, strict=True))

    def unbiased(self, archive: Archive, rows: slice) -> NDArray[np.float64]:
        """Return the numbers of some records, each without bias; NaN where nothing was asked."""
        told = np.empty((len(range(*rows.indices(archive.rows))), self.width))
        for place, column in enumerate(self.scaled):
            told[:, place] = column.scaled(archive.reports[column.name][rows])
        for block, column in zip(self.blocks, self.nominal, strict=True):
            told[:, block] = column.unbiased(archive.reports[column.name][rows])
        return told


def class_means(
    marginals: Sequence[Sequence[Marginal]], nominal: Sequence[Matrix], prior: Matrix
) -> Matrix:
    """Return the mean of each number that stands for a record, within each class of the target."""
    scaled = np.array([[each.mean for each in row] for row in marginals]).reshape(prior.size, -1)
    safe = np.maximum(prior, 1e-300)[:, np.newaxis]
    return np.concatenate((scaled, *(table / safe for table in nominal)), axis=1)


def within_classes(moments: RecordMoments, means: Matrix, prior: Matrix) -> Matrix:
    """Return the covariance of all numbers within the classes of the target, taken together."""
    away = means - prior @ means
    return np.asarray(moments.covariance - (away * prior[:, np.newaxis]).T @ away)


def latent_matrices(
    moments: RecordMoments,
    marginals: Sequence[Sequence[Marginal]],
    means: Matrix,
    prior: Matrix,
    *,
    latent: bool,
    known: Known,
) -> list[Matrix]:
    """Return for each class the correlations of the normals behind the scaled columns."""
    size = len(marginals[0])
    if not size:
        return [np.eye(0)] * prior.size
    pairs = np.triu_indices(size, 1)
    products = _products(marginals, pairs, latent=latent)
    together = np.tensordot(prior, products, axes=1)
    covariance, errors = within_classes(moments, means, prior)[pairs], moments.errors[pairs]
    if latent:
        _put_in(known, pairs, together, covariance, errors)
    common = _pulled(pull, covariance, errors, together, np.zeros_like(covariance))
    if not len(moments.products):
        return [_square(common, size, pairs)] * prior.size
    found = []
    for place, share in enumerate(prior):
        own, noise = moments.within(place, max(float(share), _LEAST), means[place])
        entries = _pulled(pull_if_clear, own[pairs], noise[pairs], products[place], common)
        found.append(_square(entries, size, pairs))
    return found


def _products(marginals: Sequence[Sequence[Marginal]], pairs: Pairs, *, latent: bool) -> Matrix:
    """Return products of Hermite coefficients of two columns, for each class, term and pair."""
    if latent:
        series = np.array([[each.coefficients for each in row] for row in marginals])
    else:
        series = np.array([[[np.sqrt(each.variance)] for each in row] for row in marginals])
    first, second = series[:, pairs[0]], series[:, pairs[1]]
    return np.asarray(np.swapaxes(first * second, 1, 2))


def _put_in(
    known: Known, pairs: Pairs, products: Matrix, covariance: Matrix, errors: Matrix
) -> None:
    """Replace covariances by those of correlations that are known better."""
    places = {pair: at for at, pair in enumerate(zip(*(p.tolist() for p in pairs), strict=True))}
    for pair, (rho, error) in known.items():
        at = places[pair]
        covariance[at] = implied_covariance(products[:, at : at + 1], np.array([rho]))[0]
        errors[at] = error * abs(products[0, at])


def _pulled(
    how: Callable[[Matrix, Matrix, Matrix], Matrix],
    covariance: Matrix,
    errors: Matrix,
    products: Matrix,
    goal: Matrix,
) -> Matrix:
    """Pull covariances to what a goal of latent correlations makes, and invert them.

    It is done in units of the first product, in which a weak covariance is a latent correlation: a
    column with spikes says less about its normal than its own spread tells.
    """
    slope = np.maximum(np.abs(products[0]), _LEAST)
    aim = implied_covariance(products, goal) / slope
    return latent_correlations(slope * how(covariance / slope, errors / slope, aim), products)


def _square(entries: Matrix, size: int, pairs: Pairs) -> Matrix:
    matrix = np.eye(size)
    matrix[pairs] = entries
    matrix.T[pairs] = entries
    return matrix


def pull(entries: ArrayLike, errors: ArrayLike, goal: ArrayLike = 0.0) -> Matrix:
    """Move noisy entries to a goal, each by the share of its spread that its noise explains.

    Examples
    --------
    >>> pull([0.3, -0.3], [0.1, 0.1]).round(4)
    array([ 0.2667, -0.2667])
    >>> pull([0.3, -0.3], [0.5, 0.5])
    array([0., 0.])
    """
    noise = np.square(np.asarray(errors, dtype=float))
    aim = np.asarray(goal, dtype=float)
    # An entry that was never observed has infinite noise, and says nothing about the others.
    known = np.isfinite(noise)
    away = np.where(known, np.asarray(entries, dtype=float) - aim, 0.0)
    signal = _spread(np.square(away[known]), noise[known])
    share = np.divide(signal, signal + noise, out=np.ones_like(noise), where=noise > 0)
    return np.asarray(aim + np.where(known, share, 0.0) * away)


def pull_if_clear(entries: ArrayLike, errors: ArrayLike, goal: ArrayLike = 0.0) -> Matrix:
    """Pull entries to a goal, all the way unless together they stand out of their noise.

    Examples
    --------
    >>> pull_if_clear([0.3, -0.3], [0.25, 0.25])
    array([0., 0.])
    >>> pull_if_clear([0.9, -0.9], [0.1, 0.1]).round(2)
    array([ 0.89, -0.89])
    """
    noise, aim = np.asarray(errors, dtype=float), np.asarray(goal, dtype=float)
    known = np.isfinite(noise) & (noise > 0)
    away = (np.asarray(entries, dtype=float) - aim)[known] / noise[known]
    clear = float(away @ away) > away.size + _SURE * np.sqrt(2.0 * away.size)
    return pull(entries, errors, aim) if clear else np.asarray(aim + np.zeros_like(noise))


def _spread(squares: Matrix, noise: Matrix) -> float:
    """Return the variance of the true distances, by weighted moments in a few rounds."""
    if not squares.size:
        return 0.0
    spread = float(np.median(squares))
    for _ in range(_MEANS):
        weights = 1 / np.square(np.maximum(spread + noise, 1e-100))
        weights /= weights.sum()
        spread = max(0.0, float(weights @ (squares - noise)))
    return spread
