"""The public grid on which numbers are reported.

A report that is a float can betray the value in its low-order bits (Mironov 2012). Here a value is
first moved to a point of a public grid, and everything after that is arithmetic on whole numbers.
The move is random and keeps the expectation; being a mixture of grid points, it can only lower
epsilon (docs/proofs/public-grid.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource
from supm._validation import Integers, Reals
from supm.mechanisms.randomizers.reports import as_array

STEPS = Integers("steps", 1, 1 << 20)
# Squares of a range between 1e-100 and 2e100 neither overflow nor vanish.
_LOW = Reals("low", -1e100, 1e100, "A bound is public: take it from the schema, not from the data.")
_HIGH = Reals("high", -1e100, 1e100, _LOW.hint)
_NARROWEST: Final = 1e-100


@dataclass(frozen=True, kw_only=True)
class PublicGrid:
    """Equally spaced public points from ``low`` to ``high``.

    Parameters
    ----------
    low, high : float
        Public bounds of a value, low < high.
    steps : int
        How many steps lead from low to high; there are steps + 1 points.

    Examples
    --------
    >>> PublicGrid(low=-1, high=1, steps=4).points()
    array([-1. , -0.5,  0. ,  0.5,  1. ])
    """

    low: float
    high: float
    steps: int

    def __post_init__(self) -> None:
        low, high = _LOW.check(self.low), _HIGH.check(self.high)
        if not high - low >= _NARROWEST:
            raise ParameterError("high", f"above low = {low:g}", high, _LOW.hint)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "steps", STEPS.check(self.steps))

    @property
    def span(self) -> float:
        """Distance from low to high."""
        return self.high - self.low

    def points(self) -> NDArray[np.float64]:
        """Return the values of the grid points in order."""
        places = self.place(np.arange(self.steps + 1, dtype=np.float64))
        # Where the bounds differ much in size, low + span may round to a little above high.
        return np.minimum(places, self.high)

    def place(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values that lie so many steps above low; positions may be fractions."""
        return self.low + self.span * (positions / self.steps)

    def position(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how many steps each value lies above low: 0 at low, exactly ``steps`` at high."""
        return (values - self.low) / self.span * self.steps

    def check(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the values as floats, or raise RecordError that does not show them."""
        numbers = _flat_numbers(values)
        # NaN fails both comparisons; so the question is what is inside, not what is outside.
        if not (self.low <= numbers.min() and numbers.max() <= self.high):
            message = (
                f"values must be numbers in [{self.low:g}, {self.high:g}], at least one is not; "
                "clip them, or read them with a schema."
            )
            raise RecordError(message)
        return numbers.astype(np.float64, copy=False)

    def locate(self, values: NDArray[np.float64], source: RandomSource) -> NDArray[np.int64]:
        """Move each checked value to one of its two neighbouring points, keeping the expectation.

        Examples
        --------
        >>> from supm._random import simulation
        >>> grid = PublicGrid(low=0, high=1, steps=2)
        >>> grid.locate(np.array([0.0, 0.5, 1.0]), simulation(1))
        array([0, 1, 2])
        """
        # What a denormal number does must not depend on how the caller set NumPy's warnings.
        with np.errstate(all="ignore"):
            position = self.position(values)
        index = position.astype(np.int64)
        position -= index
        # The fraction is below 1 by at least 2^-53, so its threshold is below 2^64.
        upward = (position * 2.0**64).astype(np.uint64)
        index += source.words(len(values)) < upward
        return index


def _flat_numbers(values: ArrayLike) -> NDArray[np.number]:
    numbers = as_array(values)
    if numbers is None or numbers.dtype.kind not in "iuf":
        message = "values must be a flat array of numbers; check its type."
        raise RecordError(message)
    if numbers.ndim != 1 or numbers.size == 0:
        message = "values must be a flat array of at least one number; check its shape."
        raise RecordError(message)
    return numbers
