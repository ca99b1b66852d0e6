"""A model of true records, learned from noised ones, from which any number of rows can be drawn.

Numbers and ordered classes are joined by a Gaussian copula, classes without an order by a tree of
two-way tables, and the two by shifts of the copula's normals. If the target is a class, all of this
is learned within each of its classes, which occur as often as the debiased reports say.

The latent normals of the scaled columns are a linear function of the classes plus a remainder that
is normal. So age may depend on marital status, and both on income, without a table of all three.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from supm._random import RandomSource, check_source, normals, simulation
from supm._validation import Integers
from supm.messages.codec import Message
from supm.synthesis.archive import Archive, ArchiveSchema
from supm.synthesis.columns import ClassColumn
from supm.synthesis.columns_learning import Margins, learn_margins, marginal_of
from supm.synthesis.distributions import BinnedMarginal, Marginal, noisy_polychoric
from supm.synthesis.moments import (
    ColumnRoles,
    class_means,
    latent_matrices,
    learn_moments,
    pull_if_clear,
    within_classes,
)
from supm.synthesis.tables import ClassTree, count_together, draw_rows, learn_tree

Matrix = NDArray[np.float64]
MODES: Final = ("strict", "faithful")
"""The best we know, and what paper 004 printed, corrected."""
BINS: Final = Integers("bins", 2, 1000)
"""How many bins of a number may be told apart."""
_ROWS = Integers("rows", 1, 1 << 32)
_REFERENCE: Final = 1 << 13
_CHUNK: Final = 1 << 17
_FLAT: Final = 1e-6
_MOST: Final = 0.9
_KNOTS: Final = 257
_REACH: Final = 6.0
_RIDGE: Final = 1e-2
FLOOR: Final = 1e-3
"""The least eigenvalue of a correlation matrix that is sampled from."""
_ROUNDS: Final = 100
_CLOSE: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class SyntheticModel:
    """What was learned: shares of the target's classes, a tree, and a copula for each class.

    Parameters
    ----------
    schema : ArchiveSchema
        Of the archive it was learned from.
    prior : ndarray of float, shape (classes,)
        Shares of the classes of the target; a single one where there is no such target.
    tree : ClassTree
        Of the nominal columns.
    marginals : tuple, for each class a tuple of Marginal
        Of the scaled columns.
    copulas : tuple of Copula
        One for each class.
    """

    schema: ArchiveSchema
    prior: Matrix
    tree: ClassTree
    marginals: tuple[tuple[Marginal, ...], ...]
    copulas: tuple[Copula, ...]

    @property
    def tied(self) -> bool:
        """Whether places within bins go with the levels, as in paper 004."""
        return any(isinstance(m, BinnedMarginal) and m.tied for row in self.marginals for m in row)

    @property
    def bins(self) -> set[int]:
        """How many bins the numbers have; none where all columns are classes."""
        binned = [m for row in self.marginals for m in row if isinstance(m, BinnedMarginal)]
        return {each.shares.size for each in binned}

    def variances(self) -> dict[str, float]:
        """Return the variance of each number in squared ranges, all classes together."""
        found = {}
        for place, column in enumerate(ColumnRoles(self.schema).scaled):
            rows = [row[place] for row in self.marginals]
            means = np.array([each.mean for each in rows])
            inner = self.prior @ [each.variance for each in rows]
            found[column.name] = float(inner + self.prior @ (means - self.prior @ means) ** 2)
        return found

    def sample(self, rows: int, source: RandomSource) -> dict[str, NDArray[Any]]:
        """Draw synthetic rows; this is post-processing, and costs nobody anything."""
        check_source(source)
        left = _ROWS.check(rows)
        parts = []
        # Threads cost more than they bring where one side of a product is small.
        with threadpool_limits(1, user_api="blas"):
            while left:
                parts.append(self._draw(min(left, _CHUNK), source))
                left -= min(left, _CHUNK)
        return {name: np.concatenate([part[name] for part in parts]) for name in self.schema.names}

    def _draw(self, rows: int, source: RandomSource) -> dict[str, NDArray[Any]]:
        layout = ColumnRoles(self.schema)
        roots = draw_rows(self.prior[np.newaxis], np.zeros(rows, dtype=np.int64), source)
        codes = self.tree.draw(roots, source)
        drawn = {
            each.name: each.named(code) for each, code in zip(layout.nominal, codes, strict=True)
        }
        drawn |= self._draw_scaled(layout, roots, codes, source)
        if layout.root is not None:
            drawn[layout.root.name] = layout.root.named(roots)
        return drawn

    def _draw_scaled(
        self,
        layout: ColumnRoles,
        roots: NDArray[np.int64],
        codes: NDArray[np.int64],
        source: RandomSource,
    ) -> dict[str, NDArray[Any]]:
        size = len(layout.scaled)
        noise = normals(roots.size * size, source).reshape(roots.size, size)
        starts = np.array([block.start - size for block in layout.blocks], dtype=np.int64)
        places = codes + starts[:, np.newaxis]
        found: list[NDArray[Any]] = [np.empty(0)] * size
        for root, copula in enumerate(self.copulas):
            mine = np.flatnonzero(roots == root) if len(self.copulas) > 1 else slice(None)
            levels = copula.uniform(noise[mine], places[:, mine])
            for column, (marginal, level) in enumerate(
                zip(self.marginals[root], levels, strict=True)
            ):
                values = marginal.draw(level, source)
                if not found[column].size:
                    found[column] = np.empty(roots.size, dtype=values.dtype)
                found[column][mine] = values
        return {
            each.name: each.named(values) if isinstance(each, ClassColumn) else values
            for each, values in zip(layout.scaled, found, strict=True)
        }


def learn_model(
    archive: Archive, *, bins: int = 100, smooth: bool = False, latent: bool = True
) -> SyntheticModel:
    """Learn a model of the true records from noised ones.

    Parameters
    ----------
    archive : Archive
        The noised records.
    bins : int, default 100
        How many bins of a number are told apart.
    smooth : bool, default False
        Whether the distributions of numbers are smoothed: good where they have no spikes.
    latent : bool, default True
        Whether covariances are inverted to the normals behind them.

    Returns
    -------
    SyntheticModel
    """
    BINS.check(bins)
    with threadpool_limits(1, user_api="blas"):
        return _learn(archive, bins=bins, smooth=smooth, latent=latent)


def _learn(archive: Archive, *, bins: int, smooth: bool, latent: bool) -> SyntheticModel:
    layout = ColumnRoles(archive.schema)
    margins = learn_margins(archive, layout, bins=bins, smooth=smooth)
    marginals = tuple(
        tuple(
            marginal_of(column, table[place])
            for column, table in zip(layout.scaled, margins.scaled, strict=True)
        )
        for place in range(margins.prior.size)
    )
    tree = learn_tree(margins.cells, margins.root, margins.nominal)
    return SyntheticModel(
        schema=archive.schema,
        prior=margins.prior,
        tree=tree,
        marginals=marginals,
        copulas=_learn_copulas(archive, layout, margins, marginals, tree, latent=latent),
    )


def _learn_copulas(
    archive: Archive,
    layout: ColumnRoles,
    margins: Margins,
    marginals: tuple[tuple[Marginal, ...], ...],
    tree: ClassTree,
    *,
    latent: bool,
) -> tuple[Copula, ...]:
    moments = learn_moments(archive, layout)
    prior = margins.prior
    means = class_means(marginals, margins.nominal, prior)
    matrices = latent_matrices(
        moments, marginals, means, prior, latent=latent, known=_ordered_pairs(margins)
    )
    drawn = [_indicators(layout, tree, place) for place in range(prior.size)]
    slopes = prior @ [[each.coefficients[0] for each in row] for row in marginals]
    size = len(layout.scaled)
    shifts = learn_shifts(
        within_classes(moments, means, prior)[size:, :size] / np.maximum(slopes, _FLAT),
        moments.errors[size:, :size] / np.maximum(slopes, _FLAT),
        _spread(prior, drawn),
        [slice(block.start - size, block.stop - size) for block in layout.blocks],
    )
    return tuple(join(matrix, shifts, each) for matrix, each in zip(matrices, drawn, strict=True))


def _spread(prior: Matrix, drawn: list[Matrix]) -> Matrix:
    """Return the covariance of the indicators within the classes of the target."""
    width = drawn[0].shape[1]
    if not width:
        return np.zeros((0, 0))
    parts = [np.cov(each, rowvar=False) for each in drawn]
    return np.asarray(np.tensordot(prior, np.array(parts), axes=1))


def _ordered_pairs(margins: Margins) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the polychoric correlation of each two ordered classes, with its standard error."""
    root, found = margins.root, {}
    for i, j in combinations(sorted(margins.ordered), 2):
        first, second = margins.ordered[i], margins.ordered[j]
        counts = count_together((root, first, second))
        if counts.any():
            channels = (root.channel, first.channel, second.channel)
            learned = noisy_polychoric(counts, channels, margins.scaled[i], margins.scaled[j])
            # At the end of its range the likelihood has no curvature; moments know better there.
            if math.isfinite(learned[1]):
                found[i, j] = learned
    return found


def _indicators(layout: ColumnRoles, tree: ClassTree, root: int) -> Matrix:
    """Return indicators of many records of one class, drawn from the tree."""
    if not layout.nominal:
        return np.empty((0, 0))
    # A sum over all combinations would be exact and too long; the stream is fixed, so that the
    # same archive always gives the same model.
    classes = np.full(_REFERENCE, root, dtype=np.int64)
    codes = tree.draw(classes, simulation(root))
    sizes = [len(each.values) for each in layout.nominal]
    return np.concatenate([np.eye(n)[code] for n, code in zip(sizes, codes, strict=True)], axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Copula(Message):
    """Latent normals of the scaled columns within one class of the target."""

    factor: Matrix
    shifts: Matrix
    knots: Matrix
    levels: Matrix

    def uniform(self, normals: Matrix, classes: NDArray[np.int64]) -> Matrix:
        """Return uniform numbers that depend on each other as the scaled columns do."""
        latent = self.factor @ normals.T
        if not len(self.shifts):
            return np.asarray(ndtr(latent))
        for each in classes:
            latent += self.shifts[each].T
        pairs = zip(latent, self.knots, self.levels, strict=True)
        return np.array([np.interp(one, places, level) for one, places, level in pairs])


def join(correlation: Matrix, shifts: Matrix, drawn: Matrix) -> Copula:
    """Make the copula of one class of the target."""
    size = len(correlation)
    if not drawn.size or not size:
        factor = np.asarray(np.linalg.cholesky(nearest_correlation(correlation)), dtype=np.float64)
        empty = np.empty((size, 0))
        return Copula(factor=factor, shifts=np.empty((0, size)), knots=empty, levels=empty)
    shifts, moved = _bounded(shifts, drawn)
    explained = np.cov(moved, rowvar=False).reshape(size, size)
    rest = np.sqrt(1 - np.diag(explained))
    left = nearest_correlation((correlation - explained) / np.outer(rest, rest))
    knots = np.linspace(-_REACH, _REACH, _KNOTS) + np.zeros((size, 1))
    levels = [
        ndtr((places[:, np.newaxis] - shift) / spread).mean(axis=1)
        for places, shift, spread in zip(knots, moved.T, rest, strict=True)
    ]
    factor = rest[:, np.newaxis] * np.linalg.cholesky(left)
    return Copula(factor=factor, shifts=shifts, knots=knots, levels=np.array(levels))


def learn_shifts(cross: Matrix, errors: Matrix, spread: Matrix, blocks: Sequence[slice]) -> Matrix:
    """Regress the latent normals on the indicators of nominal classes."""
    pulled = np.zeros_like(cross)
    for block in blocks:
        for column in range(cross.shape[1]):
            pulled[block, column] = pull_if_clear(cross[block, column], errors[block, column])
    return np.asarray(np.linalg.solve(spread + _RIDGE * np.eye(len(spread)), pulled))


def _bounded(shifts: Matrix, drawn: Matrix) -> tuple[Matrix, Matrix]:
    """Let shifts have mean zero and explain a limited part of a normal; return what they add."""
    # Each record has one indicator in each nominal column.
    centred = shifts - (drawn @ shifts).mean(axis=0) / float(drawn[0].sum())
    explained = (drawn @ centred).var(axis=0)
    centred *= np.sqrt(np.minimum(1.0, _MOST / np.maximum(explained, 1e-12)))
    return centred, drawn @ centred


def nearest_correlation(matrix: ArrayLike) -> Matrix:
    """Return the nearest matrix with ones on the diagonal and no eigenvalue below the floor.

    References
    ----------
    N. J. Higham, Computing the nearest correlation matrix, IMA J. Numerical Analysis 22 (2002):
    alternating projections with Dykstra's correction, here onto eigenvalues of at least 0.001.

    Examples
    --------
    >>> impossible = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    >>> fixed = nearest_correlation(impossible)
    >>> fixed.round(3)
    array([[ 1. ,  0.5, -0.5],
           [ 0.5,  1. ,  0.5],
           [-0.5,  0.5,  1. ]])
    """
    unit = np.array(matrix, dtype=float)
    if not unit.size:
        return unit
    unit = (unit + unit.T) / 2
    np.fill_diagonal(unit, 1.0)
    owed = np.zeros_like(unit)
    for _ in range(_ROUNDS):
        if np.linalg.eigvalsh(unit)[0] >= FLOOR - _CLOSE:
            break
        moved = unit - owed
        lifted = repaired_covariance(moved, FLOOR)
        owed = lifted - moved
        unit = lifted.copy()
        np.fill_diagonal(unit, 1.0)
    return _standardised(repaired_covariance(unit, FLOOR))


def repaired_covariance(covariance: ArrayLike, floor: float = 1e-6) -> Matrix:
    """Return the matrix with its eigenvalues below the floor set to it, as in paper 004.

    Examples
    --------
    >>> repaired_covariance([[0.0, 0.1], [0.1, 0.0]]).round(4)
    array([[0.05, 0.05],
           [0.05, 0.05]])
    """
    values, vectors = np.linalg.eigh(np.asarray(covariance, dtype=float))
    return np.asarray((vectors * np.maximum(values, floor)) @ vectors.T)


def _standardised(matrix: Matrix) -> Matrix:
    scale = np.sqrt(np.diag(matrix))
    unit = matrix / np.outer(scale, scale)
    np.fill_diagonal(unit, 1.0)
    return np.asarray(unit)
