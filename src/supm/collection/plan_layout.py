"""How a study is laid out where the user does not say: attributes, classes, groups and draws.

A report that tells ``s`` attributes of ``L`` classes and one of ``C`` labels is the truth with
probability ``gap = (e^eps - 1) / (e^eps + C L^s - 1)``. What it adds to an estimate about one
attribute grows with gap squared, and it tells ``s`` of them: ``s gap^2`` is what is made large.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from supm._errors import ParameterError
from supm.collection.plan_wishes import PlanChoice, PlanWishes
from supm.messages import REDUCE_FORMS
from supm.owner.draws import gap_of
from supm.schema import Attribute
from supm.schema.discretizer import class_count

_MOST_TOLD: Final = 12
_CELLS: Final = 1 << 20
FIRST: Final = 2, 3
"""Two of five owners help to choose attributes or to merge classes, three to train."""

MERGED: Final = 4
"""So many classes does the first group tell, of which two groups are made."""

# The first group is worth its people where it knows an attribute's association this well. On
# made-up people anything up to 0.12 does as well: experiments/budget/README.md, "One stage or two".
_KNOWN: Final = 0.08


class StrictLayout(NamedTuple):
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
) -> StrictLayout:
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
    StrictLayout
    """
    finest = classes or finest_classes(epsilon, labels or 4)
    sizes = [class_count(each, finest) for each in attributes]
    told = attributes_told(epsilon, labels or finest, sizes, len(sizes))
    one = StrictLayout(finest, None, told, (1,))
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
    return StrictLayout(MERGED, first, max(second, min(2, len(many))), FIRST)


# So many people for each cell, and all attributes are told and learned from as one.
_PEOPLE_PER_CELL: Final = 20


def choose_sampled(
    wishes: PlanWishes, known: tuple[str, ...] | None, reduce: str | None
) -> PlanChoice:
    """Choose for reports that tell a few attributes each."""
    asked = wishes.asked(known)
    layout = _laid_out(wishes, asked, wishes.owners)
    fewer = wishes.keep is not None and wishes.keep < len(asked) and known is None
    whole = _fits_whole(wishes, asked)
    if known is not None or (reduce is None and not fewer and (whole or not layout.reduce_told)):
        names = tuple(each.name for each in asked)
        wishes.reduction(reduce, names)
        wishes.drawn("known", 0)
        layout = _laid_out(wishes, asked, None)
        return PlanChoice(
            "known", names, len(asked), layout.classes, None, layout.train_told, (1,), whole
        )
    merges = wishes.labels == 2 and _can_merge(wishes, asked)
    reduction = wishes.reduction(reduce, None, "regroup" if merges else "rank")
    classes = _classes_to_merge(wishes, asked) if reduction == "regroup" else layout.classes
    sizes = [class_count(each, classes) for each in asked]
    usual = len(asked) if reduction == "regroup" else max(4, 2 * layout.train_told)
    keep = wishes.keep or min(len(asked), usual)
    kept = [2] * keep if reduction == "regroup" else sorted(sizes)[-keep:]
    told = attributes_told(wishes.epsilon, wishes.labels or classes, kept, keep)
    if reduction == "regroup":
        # Pairs show how attributes go together, which one at a time never does.
        told = max(told, min(2, keep))
    reduce_told, groups = _first_asked(wishes, reduction, keep, classes)
    return PlanChoice(reduction, None, keep, classes, reduce_told, told, groups)


def _first_asked(
    wishes: PlanWishes, reduction: str, keep: int, classes: int
) -> tuple[int | None, tuple[int, ...]]:
    """Return how many attributes are told in the reduce phase, and the groups of owners."""
    form = REDUCE_FORMS.get(reduction)
    sizes = [class_count(each, classes) for each in wishes.schema.attributes]
    if form != "sample":
        return wishes.drawn(reduction, len(sizes) if form == "oda" else keep), (1,)
    told = attributes_told(wishes.epsilon, wishes.labels or classes, sizes, len(sizes))
    return wishes.drawn(reduction, told), FIRST


def _classes_to_merge(wishes: PlanWishes, asked: tuple[Attribute, ...]) -> int:
    """Return how many classes the first group tells, so that there is something to merge."""
    if not _can_merge(wishes, asked):
        rule = "another where no attribute has more than two classes"
        raise ParameterError("reduce", rule, "regroup", "There is nothing to merge.")
    return wishes.classes or MERGED


def _can_merge(wishes: PlanWishes, asked: tuple[Attribute, ...]) -> bool:
    return max(class_count(each, wishes.classes or MERGED) for each in asked) > 2


def choose_kept(
    wishes: PlanWishes, known: tuple[str, ...] | None, reduce: str | None
) -> PlanChoice:
    """Choose for reports that tell all kept attributes: those of the papers, and joint ones."""
    keep, classes = wishes.size(None if known is None else len(known))
    if known is None and reduce is None and keep == len(wishes.schema.attributes):
        known = wishes.schema.names  # to choose all of them takes no reports
    reduction = wishes.reduction(reduce, known)
    if reduction == "regroup":
        classes = _classes_to_merge(wishes, wishes.schema.attributes)
    reduce_told, groups = _first_asked(wishes, reduction, keep, classes)
    return PlanChoice(reduction, known, keep, classes, reduce_told, None, groups)


def _laid_out(wishes: PlanWishes, asked: tuple[Attribute, ...], owners: int | None) -> StrictLayout:
    return lay_out(
        asked, epsilon=wishes.epsilon, labels=wishes.labels, owners=owners, classes=wishes.classes
    )


def _fits_whole(wishes: PlanWishes, asked: tuple[Attribute, ...]) -> bool:
    """Say whether budget and people carry the table of all attributes and the label."""
    if wishes.labels is None or wishes.owners is None:
        return False
    classes = _laid_out(wishes, asked, None).classes
    cells = wishes.labels * math.prod(class_count(each, classes) for each in asked)
    most = min(math.exp(min(wishes.epsilon, 14.0)), wishes.owners / _PEOPLE_PER_CELL)
    return cells <= most
