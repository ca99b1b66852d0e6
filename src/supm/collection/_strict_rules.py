"""How strict studies are laid out: by the variance of what reports tell, from public numbers alone.

A report that tells ``s`` attributes of ``L`` classes and one of ``C`` labels is the truth with
probability ``gap = (e^eps - 1) / (e^eps + C L^s - 1)``. What it adds to an estimate about one
attribute grows with gap squared, and it tells ``s`` of them: ``s gap^2`` is what is made large.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from supm.owner.draws import gap_of
from supm.schema import Attribute
from supm.schema.discretization import class_count

__all__ = ["FIRST", "MERGED", "Layout", "attributes_told", "finest_classes", "lay_out"]

_MOST_TOLD: Final = 12
_CELLS: Final = 1 << 20
FIRST: Final = 2, 3
"""Two of five owners help to choose attributes or to merge classes, three to train."""

MERGED: Final = 4
"""So many classes does the first group tell, of which two groups are made."""

# The first group is worth its people where it knows an attribute's association this well. On
# made-up people anything up to 0.12 does as well: experiments/budget/README.md, "One stage or two".
_KNOWN: Final = 0.08


class Layout(NamedTuple):
    """What a strict study asks: in how many classes, and how many attributes at a time."""

    classes: int
    reduce_told: int | None
    train_told: int
    groups: tuple[int, ...]


def attributes_told(epsilon: float, labels: int, sizes: list[int], most: int) -> int:
    """Return how many attributes a report tells best.

    Parameters
    ----------
    epsilon : float
        The budget of the report.
    labels : int
        Number of labels, or 1 where the target is not told.
    sizes : list of int
        The number of classes of each attribute.
    most : int
        At most so many.

    Returns
    -------
    int

    Examples
    --------
    >>> [attributes_told(epsilon, 2, [2] * 30, 30) for epsilon in (1.0, 2.0, 4.0, 8.0)]
    [1, 2, 3, 7]
    """
    usual = math.exp(sum(map(math.log, sizes)) / len(sizes))
    largest = sorted(sizes, reverse=True)
    fitting = [
        told
        for told in range(1, min(most, len(sizes), _MOST_TOLD) + 1)
        if labels * math.prod(largest[:told]) <= _CELLS
    ]
    worth = {told: told * gap_of(epsilon, labels * usual**told) ** 2 for told in fitting or [1]}
    return max(worth, key=lambda told: (worth[told], -told))


def finest_classes(epsilon: float, labels: int) -> int:
    """Return into how many classes attributes are divided where one group does it all.

    Examples
    --------
    >>> [finest_classes(epsilon, 2) for epsilon in (1.0, 2.0, 4.0, 8.0)]
    [2, 2, 4, 4]
    """
    # As many as two attributes of four classes and the label have combinations.
    return 4 if labels * 16 <= math.exp(min(epsilon, 500.0)) else 2


def lay_out(
    attributes: tuple[Attribute, ...],
    *,
    epsilon: float,
    labels: int | None,
    owners: int | None,
    classes: int | None,
) -> Layout:
    """Return how a study of such attributes is laid out.

    Parameters
    ----------
    attributes : tuple of Attribute
        What is public about them.
    epsilon : float
        The budget of each report.
    labels : int or None
        The number of labels; None where the target is a number, which has as many levels as
        attributes have classes.
    owners : int or None
        How many are expected, where that is known.
    classes : int or None
        The number of classes, where the user says so.

    Returns
    -------
    Layout
    """
    finest = classes or finest_classes(epsilon, labels or 4)
    sizes = [class_count(each, finest) for each in attributes]
    told = attributes_told(epsilon, labels or finest, sizes, len(sizes))
    one = Layout(finest, None, told, (1,))
    # Two groups of classes tell two labels apart; more labels, and numbers, need more of them. And
    # they are no better than the four classes that one group has at larger budgets.
    if owners is None or labels != 2 or classes is not None or finest > 2 or len(sizes) < 2:
        return one
    many = [class_count(each, MERGED) for each in attributes]
    if max(many) <= 2:
        return one  # there is nothing to merge
    first = attributes_told(epsilon, labels, many, len(many))
    usual = math.exp(sum(map(math.log, many)) / len(many)) ** first
    reports = owners * FIRST[0] / sum(FIRST) * first / len(many)
    noise = 1.0 / (gap_of(epsilon, labels * usual) * math.sqrt(reports))
    if noise > _KNOWN:
        return one
    second = attributes_told(epsilon, labels, [2] * len(many), len(many))
    return Layout(MERGED, first, max(second, min(2, len(many))), FIRST)
