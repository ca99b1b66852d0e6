"""From values to a few classes: the ordered-discrete anonymisation (ODA) of the papers, corrected.

Everything here is public arithmetic: a discretizer is fixed before any record is read, and owner
and aggregator hold the same one. Classes are numbered 0 … size - 1 where the papers number from 1.
The corrections to the printed algorithm are these:

1. the minimum belongs to the first class, and what lies beyond a bound is clipped to it;
2. a target of two values is read by its place in their list and never goes through ODA;
3. the last of L values falls in class L, not in a class 0 that does not exist;
4. an attribute of c values has min(c, L) classes, so no class is without a value;
5. classes of ordered values are runs of neighbours;
6. a class of ordered values has a number; classes of unordered values are one-hot.
"""

from __future__ import annotations

from supm.schema.attributes import Attribute, Continuous, Ordinal
from supm.schema.discretizer import Discretizer
from supm.schema.intervals import EqualWidth
from supm.schema.merging import MergeModulo, MergeNeighbours


def discretize(attribute: Attribute, classes: int) -> Discretizer:
    """Return the discretizer of the papers for an attribute.

    Parameters
    ----------
    attribute : Continuous, Ordinal or Categorical
        The attribute.
    classes : int
        The number of classes L; attributes with fewer values keep one class for each.

    Returns
    -------
    Discretizer
        `EqualWidth`, `MergeNeighbours` or `MergeModulo`, by the kind of the attribute.

    Examples
    --------
    >>> from supm.schema import Categorical, Continuous, discretize
    >>> discretize(Continuous("age", low=0, high=100), 5).size
    5
    >>> discretize(Categorical("ward", values=("north", "east", "south")), 5).size
    3
    """
    if isinstance(attribute, Continuous):
        return EqualWidth(attribute, classes=classes)
    if isinstance(attribute, Ordinal):
        return MergeNeighbours(attribute, classes=classes)
    return MergeModulo(attribute, classes=classes)


def class_count(attribute: Attribute, classes: int) -> int:
    """Return how many classes an attribute has where it is divided into so many."""
    values = classes if isinstance(attribute, Continuous) else len(attribute.values)
    return min(values, classes) + (attribute.missing == "class")
