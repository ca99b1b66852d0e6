"""A model of true records, learned from noised ones, from which any number of rows can be drawn.

Numbers and ordered classes are joined by a Gaussian copula, classes without an order by a tree of
two-way tables, and the two by shifts of the copula's normals. If the target is a class, all of this
is learned within each of its classes, which occur as often as the debiased reports say.

Covariances are taken as they are, eigenvalues below a floor are set to it, the covariance of the
columns stands for that of the normals behind them, and a value lies in its bin where its level
lies between the levels of the ends. What was corrected is listed in docs/errata.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from supm._errors import ParameterError
from supm._random import RandomSource, check_source, normals, simulation
from supm._validation import Integers, Reals
from supm.mechanisms import ContinuousLaplace
from supm.synthesis.archive import Archive, ArchiveSchema
from supm.synthesis.columns import ClassColumn, NumberColumn
from supm.synthesis.columns_learning import Margins, learn_margins, marginal_of
from supm.synthesis.copula import Copula, join, learn_shifts, noisy_polychoric, repaired_covariance
from supm.synthesis.distributions import BinnedMarginal, Marginal
from supm.synthesis.moments import (
    ColumnRoles,
    RecordMoments,
    class_means,
    latent_matrices,
    learn_moments,
    within_classes,
)
from supm.synthesis.tables import (
    PAPER,
    ClassTree,
    count_together,
    draw_rows,
    learn_tree,
    reconstruct_table,
)

Matrix = NDArray[np.float64]
MODES: Final = ("strict", "faithful")
"""The best we know, and what paper 004 printed, corrected."""
BINS: Final = Integers("bins", 2, 1000)
"""How many bins of a number may be told apart."""
_ROWS = Integers("rows", 1, 1 << 32)
_REFERENCE: Final = 1 << 13
_CHUNK: Final = 1 << 17
_FLAT: Final = 1e-6
_TAIL = Reals("tail", 1e-12, 0.49)
_BINS: Final = 100


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


def paper_cells(law: ContinuousLaplace, bins: int, tail: float = 0.05) -> Matrix:
    """Return the borders of the paper's bins of reports (Eq. 16 to 20, corrected).

    Examples
    --------
    >>> law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=1.0)
    >>> cells = paper_cells(law, 10)
    >>> len(cells) - 1
    58
    >>> float(law.transition(law.edges(10), cells).sum(axis=1).round(12).min())
    1.0
    """
    width = law.span / bins
    beyond = math.ceil(-math.log(2 * _TAIL.check(tail)) * law.scale / width)
    inner = law.low + width * np.arange(1 - beyond, bins + beyond)
    return np.concatenate(([-np.inf], inner, [np.inf]))


def learn_paper_model(archive: Archive, *, bins: int = _BINS) -> SyntheticModel:
    """Learn the paper's model from noised numbers.

    Parameters
    ----------
    archive : Archive
        All of whose columns are numbers, in every cell.
    bins : int, default 100
        How many bins of a number are told apart.

    Returns
    -------
    SyntheticModel
    """
    BINS.check(bins)
    schema = archive.schema
    if schema.classes or schema.asked is not None:
        hint = 'The paper has numbers only; use mode="strict".'
        raise ParameterError("mode", '"strict" for classes and empty cells', "faithful", hint)
    # Threads cost more than they bring where matrices are small.
    with threadpool_limits(1, user_api="blas"):
        moments = learn_moments(archive, ColumnRoles(schema))
        repaired = repaired_covariance(_covariance(moments, schema.numbers))
    factor = _factor(repaired)
    size = len(factor)
    empty = np.empty((size, 0))
    return SyntheticModel(
        schema=schema,
        prior=np.ones(1),
        tree=ClassTree(()),
        marginals=(tuple(_marginal(archive, each, bins) for each in schema.numbers),),
        copulas=(Copula(factor=factor, shifts=np.empty((0, size)), knots=empty, levels=empty),),
    )


def _covariance(moments: RecordMoments, columns: tuple[NumberColumn, ...]) -> Matrix:
    """Return Eq. 11 and 13 in units of each range: only variances have noise in them."""
    covariance = moments.covariance.copy()
    for place, column in enumerate(columns):
        fixed, growing = column.mechanism.noise_terms
        noise = fixed / column.mechanism.span**2 + growing * (moments.mean[place] - 0.5) ** 2
        left = (covariance[place, place] - noise) / (1 + growing)
        covariance[place, place] = max(left, 0.0)
    return covariance


def _factor(repaired: Matrix) -> Matrix:
    """Return the factor of the correlations, or independence where they are nothing but noise."""
    # The normals are divided by the root of the repaired diagonal: with any other number they
    # would not be standard, and their levels not uniform.
    spread = np.sqrt(np.diag(repaired))
    try:
        factor = np.linalg.cholesky(repaired / np.outer(spread, spread))
    except np.linalg.LinAlgError:
        # Only covariances far beyond what the bounds allow leave the floor no digits.
        return np.eye(len(spread))
    return np.asarray(factor, dtype=np.float64)


def _marginal(archive: Archive, column: NumberColumn, bins: int) -> BinnedMarginal:
    law = column.mechanism
    reports = archive.reports[column.name]
    told = column.cell_reports(reports, bins)
    if isinstance(law, ContinuousLaplace):
        # A Laplace report beyond the bounds says the same wherever it lies, so the paper's many
        # bins there are one: each step of EM is the same, whatever r is.
        edges = law.edges(bins)
        told = column.in_cells(reports, edges, np.concatenate(([-np.inf], edges, [np.inf])))
    shares = reconstruct_table(told.counts(), [told.channel], stop=PAPER)
    return column.marginal(shares, tied=True)
