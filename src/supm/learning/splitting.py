"""Which classes of an attribute belong together: the split that tells labels apart best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supm.learning.moments import Floats

_RARE = 0.05  # a share below this is not told from it: noise would make rare groups look good


class Split(NamedTuple):
    """Two groups of classes.

    Parameters
    ----------
    groups : tuple of int
        The group of each class, 0 or 1.
    strength : float
        How well they tell the labels apart, beyond what noise would show.
    """

    groups: tuple[int, ...]
    strength: float


def best_split(table: Floats, noise: float, ordered: int) -> Split:
    """Return the two groups of classes that go furthest apart with the label.

    Parameters
    ----------
    table : ndarray, shape (classes, labels)
        Estimated shares of class and label; below zero where noise made them so.
    noise : float
        Standard deviation of each of them.
    ordered : int
        How many of the first classes have an order; groups of those are neighbours.

    Returns
    -------
    Split
        Its strength is the estimated squared association, less what noise alone would show.

    Examples
    --------
    >>> table = np.array([[0.25, 0.0], [0.15, 0.05], [0.0, 0.3], [0.15, 0.1]])
    >>> best_split(table, 0.01, ordered=4).groups
    (0, 0, 1, 1)
    >>> best_split(table, 0.01, ordered=0).groups
    (0, 0, 1, 0)
    """
    labels = np.clip(table.sum(axis=0), _RARE, None)
    labels /= labels.sum()
    candidates = _candidates(table, noise, ordered, labels)
    strengths = [_strength(table, noise, labels, high) for high in candidates]
    best = int(np.argmax(strengths))
    groups = tuple(int(high) for high in candidates[best])
    return Split(groups=groups, strength=float(strengths[best]))


def _candidates(
    table: Floats, noise: float, ordered: int, labels: Floats
) -> list[NDArray[np.bool_]]:
    """Return the upper groups that are tried: cuts of an order, told or found."""
    count = len(table)
    if ordered < 2:
        order = np.argsort(_tendency(table, noise, labels), kind="stable")
        rank = np.empty(count, dtype=np.int64)
        rank[order] = np.arange(count)
        return [rank >= cut for cut in range(1, count)]
    places = np.arange(count)
    cuts = [(places >= cut) & (places < ordered) for cut in range(1, ordered)]
    if ordered == count:
        return cuts
    # Missing values have no place in the order: they go with the one side or the other.
    return [*cuts, *(cut | (places >= ordered) for cut in cuts)]


def _tendency(table: Floats, noise: float, labels: Floats) -> Floats:
    """Return where each class lies between the labels, shrunk to the middle by its noise."""
    held = np.maximum(table, 0.0) + 2.0 * noise * labels
    rates = held / np.maximum(held.sum(axis=1, keepdims=True), 1e-300) - labels
    axis = np.linalg.svd(rates, full_matrices=False)[2][0]
    # The sign of an axis is arbitrary; it is fixed so that equal counts make equal groups.
    sign = 1.0 if axis[int(np.abs(axis).argmax())] > 0 else -1.0
    return np.asarray(sign * (rates @ axis))


def _strength(table: Floats, noise: float, labels: Floats, high: NDArray[np.bool_]) -> float:
    upper = table[high]
    count, total = len(upper), float(upper.sum())
    apart = upper.sum(axis=0) - total * labels
    chance = noise**2 * count * ((1.0 - labels) ** 2 + (labels.size - 1) * labels**2)
    share = min(max(total, _RARE), 1.0 - _RARE)
    return float(((apart**2 - chance) / labels).sum() / (share * (1.0 - share)))
