"""Pairs of attributes that say together what neither says alone: the second-order correction.

Reports that tell two attributes and the label are a table of three ways. What its margins explain
is fitted; what is left over, beyond what noise would leave, is worth points for the pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from scipy.special import chdtrc

from supm.learning.moments import Floats, Moments

# So rarely does any pair of attributes seem to act together where none does.
_BY_CHANCE: Final = 0.01
# So many reports for each cell of a pair's table, and its noise is about normal.
_PER_CELL: Final = 5
_ROUNDS: Final = 30


@dataclass(frozen=True, kw_only=True, eq=False)
class Interaction:
    """What two attributes say together, beyond what each says alone.

    Parameters
    ----------
    first, second : int
        The places of the attributes, the smaller one first.
    points : ndarray, shape (classes, classes, labels)
        Points of each combination for each label.
    chances : ndarray, shape (classes, classes, labels)
        Estimated probability of each combination given the label.
    """

    first: int
    second: int
    points: Floats
    chances: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    """A pair's table: what its margins explain, what is left over, and how surely."""

    places: tuple[int, int]
    fitted: Floats
    over: Floats
    noise: Floats
    surprise: float
    kept: float


def fit_interactions(moments: Moments) -> tuple[Interaction, ...]:
    """Return the pairs of attributes that act together on the label beyond noise.

    Parameters
    ----------
    moments : Moments
        How often classes and labels were told together; where ``by_label`` is not counted, there
        are none.

    Returns
    -------
    tuple of Interaction
        The surest first; an attribute is in one of them at most, so that nothing counts twice.
    """
    if moments.by_label is None or moments.pairs <= 0:
        return ()
    tables = list(_tables(moments))
    found = [_examine(moments, places, table) for places, table in tables]
    sure = [each for each in found if each.surprise < _BY_CHANCE / len(tables)]
    taken: set[int] = set()
    chosen = []
    for each in sorted(sure, key=lambda one: (one.surprise, -one.kept, one.places)):
        if taken.isdisjoint(each.places):
            taken.update(each.places)
            chosen.append(_scored(each))
    return tuple(chosen)


def _tables(moments: Moments) -> Iterator[tuple[tuple[int, int], Floats]]:
    """Yield the counts of two attributes (axes 0 and 1) and the label, where there are enough."""
    starts = np.cumsum((0, *moments.sizes))
    counts = np.zeros(0) if moments.by_label is None else moments.by_label
    for first, second in combinations(range(len(moments.sizes)), 2):
        rows = slice(starts[first], starts[first + 1])
        columns = slice(starts[second], starts[second + 1])
        table = np.moveaxis(counts[:, rows, columns], 0, 2).astype(np.float64)
        if table.sum() >= _PER_CELL * table.size:
            yield (first, second), table


def _examine(moments: Moments, places: tuple[int, int], table: Floats) -> _Found:
    """Test what the margins of a table leave over against the noise of its reports."""
    told, alike = float(table.sum()), 1.0 / table.size
    gap = float(moments.gaps.pair[places])
    shares = (table / told - (1.0 - gap) * alike) / gap
    fitted = _from_margins(np.maximum(shares, 0.05 * alike))
    # The variance that the fitted shares give each estimate.
    noise = ((1.0 - gap) * alike + gap * fitted) / (told * gap**2)
    contrasts = _contrasts(*table.shape)
    left = contrasts @ ((shares - fitted) / fitted).ravel()
    spread = (contrasts * (noise / np.square(fitted)).ravel()) @ contrasts.T
    solved = np.linalg.solve(spread, left)
    surprising = max(float(left @ solved), 1e-300)
    return _Found(
        places=places,
        fitted=fitted,
        over=noise / fitted * (solved @ contrasts).reshape(table.shape),
        noise=noise,
        surprise=float(chdtrc(len(contrasts), surprising)),
        kept=max(0.0, 1.0 - len(contrasts) / surprising),
    )


def _from_margins(shares: Floats) -> Floats:
    """Return the table whose margins of two ways are these, and in which no three act together."""
    fitted = np.full(shares.shape, shares.mean())
    for _ in range(_ROUNDS):
        for axis in range(3):
            fitted *= shares.sum(axis=axis, keepdims=True) / fitted.sum(axis=axis, keepdims=True)
    return np.asarray(fitted / fitted.sum())


def _contrasts(first: int, second: int, labels: int) -> Floats:
    """Return rows that see nothing but what all three do together."""
    # As many rows as a list of this size can differ in, each of sum 0.
    steps = [np.eye(size)[1:] - 1.0 / size for size in (first, second, labels)]
    return np.kron(np.kron(steps[0], steps[1]), steps[2])


def _scored(found: _Found) -> Interaction:
    """Turn what is left over into points, less where noise is larger than what is fitted."""
    held = np.maximum(found.fitted + found.kept * found.over, 0.0)
    doubt = np.sqrt(found.noise)
    by_label = held.sum(axis=(0, 1), keepdims=True)
    return Interaction(
        first=found.places[0],
        second=found.places[1],
        points=np.log(held + doubt) - np.log(found.fitted + doubt),
        chances=held / by_label,
    )
