"""The model of paper 004, corrected: numbers with Laplace noise or another, and one copula.

Covariances are taken as they are, eigenvalues below a floor are set to it, the covariance of the
columns stands for that of the normals behind them, and a value lies in its bin where its level
lies between the levels of the ends. What was corrected is listed in docs/errata.md.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from supm._errors import ParameterError
from supm._validation import Reals
from supm.mechanisms import ContinuousLaplace
from supm.synthesis.archive import Archive
from supm.synthesis.columns import NumberColumn
from supm.synthesis.distributions import BinnedMarginal
from supm.synthesis.moments import ColumnRoles, RecordMoments, learn_moments
from supm.synthesis.synthetic_model import BINS, Copula, SyntheticModel, repaired_covariance
from supm.synthesis.tables import PAPER, ClassTree, reconstruct_table

Matrix = NDArray[np.float64]
_TAIL = Reals("tail", 1e-12, 0.49)
_BINS: Final = 100


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
