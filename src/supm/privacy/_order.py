"""When one promise implies another.

Every promise but none at all has the same shape: a neighbouring relation, a factor part (epsilon,
delta) and a Gaussian part mu, of which at most one part is not zero. The order is defined on
shapes, so that two spellings of one promise (epsilon 1, and epsilon 1 with delta 0) are treated
alike.
"""

from __future__ import annotations

from typing import NamedTuple

from supm.privacy.decimals import decimal, float_at_least
from supm.privacy.neighbours import Neighbours

__all__ = ["Shape", "implies"]


class Shape(NamedTuple):
    """The numbers of a promise; zero where a part is absent."""

    neighbours: Neighbours
    epsilon: float = 0.0
    delta: float = 0.0
    mu: float = 0.0


def implies(first: Shape, second: Shape) -> bool:
    """Return whether whoever keeps the first promise keeps the second."""
    seen = _under(first, second.neighbours)
    if seen is None:
        return False
    if second.mu > 0.0:
        return seen.mu <= second.mu and seen.epsilon == 0.0 and seen.delta == 0.0
    if seen.mu > 0.0:
        from supm.privacy._gaussian_curve import delta_above  # noqa: PLC0415  SciPy is for those who have delta

        return delta_above(second.epsilon, seen.mu) <= second.delta
    return seen.epsilon <= second.epsilon and seen.delta <= second.delta


def _under(shape: Shape, relation: Neighbours) -> Shape | None:
    """Return what a promise says about another relation, or None where no theorem is used."""
    if shape.neighbours is relation:
        return shape
    if relation is not Neighbours.REPLACE_ONE:
        return None
    if shape.neighbours is Neighbours.ANY_RECORDS:
        return shape._replace(neighbours=relation)
    if shape.delta > 0.0 or shape.mu > 0.0:
        return None
    return Shape(relation, epsilon=float_at_least(2 * decimal(shape.epsilon)))
