"""How large the leaves of a tree on synthetic rows should be."""

from __future__ import annotations

import math
from typing import Final

from supm._errors import SchemaError
from supm._validation import Integers, check_kind
from supm.synthesis.archive import Archive
from supm.synthesis.columns import Column
from supm.synthesis.noise_aware_columns import read_functions

__all__ = ["leaf_size", "worth_of"]

_ROWS = Integers("rows", 2, 1 << 32)
# A leaf stands for at least so many clean records.
_CLEAN_RECORDS: Final = 2.0
# Synthetic rows are made of smooth curves: nothing in them is finer than this share of them.
_FINEST: Final = 0.01
# Leaves of more rows than this leave next to nothing to split, where there is something to see.
_COARSEST: Final = 0.3


def leaf_size(rows: int, archive: Archive) -> int:
    """Return the least number of synthetic rows that a leaf of a tree should hold.

    Synthetic rows can be drawn without end, but they say no more than the noised records that they
    were learned from. A tree with small leaves learns the noise of the model behind the rows. So a
    leaf must stand for some clean records: the more noise, the larger its share of the rows. Where
    all of the archive is worth no more than that, the leaf is the whole of the rows, and the tree a
    constant: the mean of the rows, or the commonest class.

    Parameters
    ----------
    rows : int
        How many synthetic rows the tree is trained on.
    archive : Archive
        What they were learned from; its schema names the target.

    Returns
    -------
    int
        For ``min_samples_leaf`` of a scikit-learn tree.

    Notes
    -----
    The share of the rows is 2 / `worth_of`, between 1 % and 30 %, or all of them where the archive
    is worth 2 clean records or less. These numbers were chosen by trial on Boston, Diabetes, Kung
    and Adult (epsilon 0.01 to 10 for each attribute, public bounds, 20,000 rows of the strict
    synthesizer). Leaves of 3 % to 10 % were best or near it where an archive was worth 7 to 50
    clean records, and of 1 % from 100 on. Between 2 and 7, leaves of 30 % had up to a third less
    error than those of 10 %. Below 2, whatever was split was mostly noise: trees with leaves of
    30 % had up to 1.9 times the error of one leaf, and hardly ever less. A leaf of one row, the
    default of trees, had up to four times the error. Rows of the paper's method, which does not
    pull correlations to nothing, want leaves of 30 % or 50 % where an archive is worth less than
    10.

    Examples
    --------
    >>> import numpy as np
    >>> from supm import simulation
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import ArchiveSchema, NumberColumn
    >>> def noised(epsilon):
    ...     law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    ...     columns = NumberColumn("x", law), NumberColumn("y", law)
    ...     schema = ArchiveSchema(columns=columns, target="y")
    ...     true = np.linspace(0, 1, 500)
    ...     return Archive.noised({"x": true, "y": 1 - true}, schema, simulation(1))
    >>> [leaf_size(10_000, noised(epsilon)) for epsilon in (0.1, 20.0)]
    [10000, 100]
    """
    check_kind("archive", archive, Archive)
    _ROWS.check(rows)
    worth = worth_of(archive)
    if worth <= _CLEAN_RECORDS:
        return rows
    return math.ceil(rows * min(max(_CLEAN_RECORDS / worth, _FINEST), _COARSEST))


def worth_of(archive: Archive) -> float:
    """Return how many clean records would tell the dependence on the target as well as these do.

    Parameters
    ----------
    archive : Archive
        Its schema names the target.

    Returns
    -------
    float
        The covariance of two columns from noised records has the variance of one from clean
        records, divided by the share of signal in both: this is that share, on average over the
        columns, times the number of records.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import ArchiveSchema, NumberColumn
    >>> law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=1.0)
    >>> schema = ArchiveSchema(columns=(NumberColumn("x", law), NumberColumn("y", law)), target="y")
    >>> archive = Archive.noised({"x": [0, 1] * 500, "y": [1, 0] * 500}, schema, simulation(1))
    >>> 1 < worth_of(archive) < 100
    True
    """
    if archive.schema.target is None:
        message = "the schema of the archive must name a target; set it to a column."
        raise SchemaError(message)
    told = {each.name: _signal(each, archive) for each in archive.schema.columns}
    target = told.pop(archive.schema.target)
    others = sum(told.values()) / max(len(told), 1)
    return archive.rows * target * others


def _signal(column: Column, archive: Archive) -> float:
    """Return the share of signal in the reports of a column, for what they tell best."""
    channel = column.channel()
    cells = channel.cells(archive.reports[column.name])
    reading = read_functions(channel, cells, limit=1)
    reports = reading.shares @ channel.matrix
    number = channel.kind == "number"
    best = reading.readings @ reading.line if number else reading.readings[:, 0]
    return float((cells >= 0).mean() / (reports @ best**2))
