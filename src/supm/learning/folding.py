"""Folds for cross-validation: disjoint sets of people, drawn at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import Integers

_COUNT = Integers("count", 2, 10_000)
_ROWS = Integers("rows", 2, 1 << 40)


def folds(
    rows: int, count: int, source: RandomSource, *, equal: bool = False
) -> tuple[NDArray[np.int64], ...]:
    """Split people at random into folds.

    Parameters
    ----------
    rows : int
        Number of people.
    count : int
        Number of folds, at most one per person.
    source : RandomSource
        Where the order comes from.
    equal : bool, default False
        Whether all folds have the same size, the people left over being in none of them: that is
        how the printed accuracies of paper 000 come about (549 / 560 on 569 records). By default
        everyone is in a fold, and the sizes differ by at most one.

    Returns
    -------
    tuple of ndarray of int64
        Row numbers of each fold.

    Examples
    --------
    >>> from supm import simulation
    >>> [len(fold) for fold in folds(11, 3, simulation(1))]
    [4, 4, 3]
    >>> [len(fold) for fold in folds(11, 3, simulation(1), equal=True)]
    [3, 3, 3]
    """
    rows, count = _ROWS.check(rows), _COUNT.check(count)
    if count > rows:
        raise ParameterError("count", f"at most the number of people, {rows}", count)
    order = source.permutation(rows)
    if equal:
        order = order[: rows // count * count]
    return tuple(np.array_split(order, count))
