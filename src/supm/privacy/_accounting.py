"""The border to Google's dp-accounting, which is loaded when it is first needed."""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import TYPE_CHECKING

from supm.privacy.neighbours import Neighbours

if TYPE_CHECKING:
    from dp_accounting import DpEvent, NeighboringRelation

__all__ = ["above", "accountant_relation", "dp_accounting", "worst_pure_event"]


def accountant_relation(neighbours: Neighbours) -> NeighboringRelation:
    """Return the relation that a dp-accounting accountant of translated events must be made with.

    Parameters
    ----------
    neighbours : Neighbours
        The relation that the events were translated for.

    Returns
    -------
    dp_accounting.NeighboringRelation
        Add or remove one for itself, replace one for the two others.

    Examples
    --------
    >>> accountant_relation(Neighbours.ANY_RECORDS).name
    'REPLACE_ONE'
    """
    relations = dp_accounting().NeighboringRelation
    if Neighbours.check(neighbours) is Neighbours.ADD_REMOVE:
        return relations.ADD_OR_REMOVE_ONE
    return relations.REPLACE_ONE


def dp_accounting() -> ModuleType:
    """Return the package, or say how to install it."""
    try:
        return importlib.import_module("dp_accounting")
    except ImportError as error:
        message = "dp_accounting is not installed; run pip install 'supm[accounting]' first."
        raise ImportError(message) from error


def worst_pure_event(epsilon: float, neighbours: Neighbours) -> DpEvent:
    """Return an event that dominates every mechanism with this pure epsilon."""
    if epsilon == 0.0:
        return dp_accounting().NoOpDpEvent()
    if neighbours is Neighbours.ADD_REMOVE:
        return dp_accounting().dp_event.DiscreteLaplaceDpEvent(above(epsilon), 1)
    rare = math.exp(-above(epsilon))
    redraw = 2.0 * rare / (1.0 + rare) * (1.0 - 2.0**-50)
    return dp_accounting().RandomizedResponseDpEvent(redraw, 2)


def above(value: float) -> float:
    """Return a little more, for what was computed to within two units in the last place."""
    return value * (1.0 + 2.0**-50)
