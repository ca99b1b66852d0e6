"""What the planner chooses where the user does not: attributes, classes, groups, draws."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from supm._errors import ParameterError
from supm.collection._strict_rules import FIRST, MERGED, Layout, attributes_told, lay_out
from supm.collection._wishes import Wishes
from supm.messages import REDUCE_FORMS
from supm.schema import Attribute
from supm.schema.discretization import class_count

__all__ = ["Choice", "choose_kept", "choose_sampled"]

# So many people for each cell, and all attributes are told and learned from as one.
_PEOPLE_PER_CELL: Final = 20


class Choice(NamedTuple):
    """How attributes are chosen, and how many of what are told."""

    reduction: str
    known: tuple[str, ...] | None
    keep: int
    classes: int
    reduce_told: int | None
    train_told: int | None
    groups: tuple[int, ...]
    fits_whole: bool = False


def choose_sampled(wishes: Wishes, known: tuple[str, ...] | None, reduce: str | None) -> Choice:
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
        return Choice(
            "known", names, len(asked), layout.classes, None, layout.train_told, (1,), whole
        )
    merges = wishes.labels == 2 and _can_merge(wishes, asked)
    reduction = wishes.reduction(reduce, None, "regroup" if merges else "rank")
    classes = _classes_to_merge(wishes, asked) if reduction == "regroup" else layout.classes
    sizes = [class_count(each, classes) for each in asked]
    labels = wishes.labels or classes
    usual = len(asked) if reduction == "regroup" else max(4, 2 * layout.train_told)
    keep = wishes.keep or min(len(asked), usual)
    kept = [2] * keep if reduction == "regroup" else sorted(sizes)[-keep:]
    told = attributes_told(wishes.epsilon, labels, kept, keep)
    if reduction == "regroup":
        # Pairs show how attributes go together, which one at a time never does.
        told = max(told, min(2, keep))
    drawn = {
        "oda": len(asked),
        "sample": attributes_told(wishes.epsilon, labels, sizes, len(asked)),
    }
    reduce_told = wishes.drawn(reduction, drawn.get(REDUCE_FORMS.get(reduction, ""), keep))
    groups = FIRST if REDUCE_FORMS.get(reduction) == "sample" else (1,)
    return Choice(reduction, None, keep, classes, reduce_told, told, groups)


def _classes_to_merge(wishes: Wishes, asked: tuple[Attribute, ...]) -> int:
    """Return how many classes the first group tells, so that there is something to merge."""
    if not _can_merge(wishes, asked):
        rule = "another where no attribute has more than two classes"
        raise ParameterError("reduce", rule, "regroup", "There is nothing to merge.")
    return wishes.classes or MERGED


def _can_merge(wishes: Wishes, asked: tuple[Attribute, ...]) -> bool:
    return max(class_count(each, wishes.classes or MERGED) for each in asked) > 2


def choose_kept(wishes: Wishes, known: tuple[str, ...] | None, reduce: str | None) -> Choice:
    """Choose for reports that tell all kept attributes: those of the papers, and joint ones."""
    keep, classes = wishes.size(None if known is None else len(known))
    if known is None and reduce is None and keep == len(wishes.schema.attributes):
        known = wishes.schema.names  # to choose all of them takes no reports
    reduction = wishes.reduction(reduce, known)
    if reduction == "regroup":
        classes = _classes_to_merge(wishes, wishes.schema.attributes)
    form = REDUCE_FORMS.get(reduction)
    sizes = [class_count(each, classes) for each in wishes.schema.attributes]
    told = attributes_told(wishes.epsilon, wishes.labels or classes, sizes, len(sizes))
    drawn = {"oda": len(sizes), "sample": told}
    reduce_told = wishes.drawn(reduction, drawn.get(form or "", keep))
    groups = FIRST if form == "sample" else (1,)
    return Choice(reduction, known, keep, classes, reduce_told, None, groups)


def _laid_out(wishes: Wishes, asked: tuple[Attribute, ...], owners: int | None) -> Layout:
    return lay_out(
        asked,
        epsilon=wishes.epsilon,
        labels=wishes.labels,
        owners=owners,
        classes=wishes.classes,
    )


def _fits_whole(wishes: Wishes, asked: tuple[Attribute, ...]) -> bool:
    """Say whether budget and people carry the table of all attributes and the label."""
    if wishes.labels is None or wishes.owners is None:
        return False
    classes = _laid_out(wishes, asked, None).classes
    cells = wishes.labels * math.prod(class_count(each, classes) for each in asked)
    most = min(math.exp(min(wishes.epsilon, 14.0)), wishes.owners / _PEOPLE_PER_CELL)
    return cells <= most
