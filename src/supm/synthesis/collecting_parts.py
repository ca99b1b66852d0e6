"""The parts of an owner's report to a new archive: one mechanism for each attribute."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm.mechanisms import GeneralizedRandomizedResponse, Laplace, Piecewise, Reports
from supm.mechanisms.thresholds import least_reading
from supm.schema import Attribute, Continuous, Ordinal
from supm.synthesis.column_forms import response_for_epsilon
from supm.synthesis.columns import ClassColumn, Column, NumberColumn

__all__ = [
    "NumberNoise",
    "Part",
    "at_most",
    "column_of",
    "finite",
    "grid_inputs",
    "holds",
    "make_part",
    "read_told",
    "tells",
]

NumberNoise: TypeAlias = Literal["laplace", "piecewise"]
# By so much the share lies above what is spent; what is stated lies between.
_SLACK: Final = 2.0**-40
Part: TypeAlias = Laplace | Piecewise | GeneralizedRandomizedResponse


def make_part(attribute: Attribute, share: float, *, noise: NumberNoise, steps: int) -> Part:
    """Return the mechanism of an attribute at its share of the budget.

    A little less than the share, so that what `column_of` states in floats, which is never less
    than what is spent, is not more than the share either.
    """
    if not isinstance(attribute, Continuous):
        return response_for_epsilon(size=len(attribute.values), epsilon=share)
    low, high, less = attribute.low, attribute.high, share - _SLACK * max(share, 1.0)
    if noise == "laplace":
        return Laplace.for_epsilon(low=low, high=high, epsilon=less, steps=steps)
    return Piecewise.optimised(low=low, high=high, epsilon=less, steps=steps)


def at_most(share: Fraction) -> float:
    """Return the largest float that does not read as more than an exact share."""
    number = float(share)
    while Fraction(least_reading(number)) > share:
        number = math.nextafter(number, 0.0)
    return number


def finite(part: Part) -> Piecewise | GeneralizedRandomizedResponse:
    """Return a mechanism whose reports can be listed, or refuse it."""
    if isinstance(part, Laplace):
        hint = "Look at piecewise noise, whose reports can be listed."
        raise ParameterError("noise", "one with finitely many reports", "laplace", hint)
    return part


def grid_inputs(part: Part) -> NDArray[Any]:
    """Return all that can be held: points of the grid, or places of classes."""
    return part.grid.points() if isinstance(part, Laplace) else part.inputs()


def holds(part: Part, column: NDArray[Any]) -> bool:
    """Say whether all that is held is something that the mechanism takes."""
    if isinstance(part, GeneralizedRandomizedResponse):
        inside = (column >= 0) & (column < part.size) & (column == np.floor(column))
    else:
        inside = (part.low <= column) & (column <= part.high)
    return bool(inside.all())


def tells(part: Part, symbols: NDArray[Any]) -> NDArray[np.bool_]:
    """Say of each symbol whether the mechanism can have told it."""
    if isinstance(part, GeneralizedRandomizedResponse):
        return np.asarray((symbols >= 0) & (symbols < part.size))
    least, greatest = part.alphabet
    return np.asarray((symbols >= least) & (symbols <= greatest))


def read_told(part: Part, symbols: NDArray[np.int64], *, simulation: bool) -> NDArray[Any]:
    """Return reports as they stand in an archive."""
    if isinstance(part, GeneralizedRandomizedResponse):
        return symbols
    return part.decode(Reports(symbols=symbols, simulation=simulation))


def column_of(attribute: Attribute, part: Part) -> Column:
    """Describe the noise of a part; no less than is spent is stated."""
    if isinstance(part, GeneralizedRandomizedResponse):
        ordered = isinstance(attribute, Ordinal)
        return ClassColumn(attribute.name, getattr(attribute, "values", ()), part, ordered)
    return NumberColumn(attribute.name, part.continuous())
