"""How far predicted numbers are off, always beside the constant that needs no attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supm._errors import ParameterError

__all__ = ["Errors", "measure"]


@dataclass(frozen=True, kw_only=True)
class Errors:
    """Mean squared error, with the figure without which it means little.

    Parameters
    ----------
    squared : float
        Mean of the squared differences, in the unit of the target squared.
    constant : float
        The same for the mean of these very records, predicted for everybody.
    """

    squared: float
    constant: float

    @property
    def explained(self) -> float:
        """Which part of the constant's error is gone: 1 at best, 0 for the constant."""
        return 1.0 - self.squared / self.constant if self.constant > 0 else 0.0


def measure(truth: ArrayLike, predicted: ArrayLike) -> Errors:
    """Compare predicted numbers with the true ones.

    Parameters
    ----------
    truth, predicted : array-like of float
        As many of one as of the other.

    Returns
    -------
    Errors

    Examples
    --------
    >>> measure([1.0, 2.0, 3.0], [1.0, 2.0, 2.0]).explained
    0.5
    """
    held = np.asarray(truth, dtype=np.float64)
    told = np.asarray(predicted, dtype=np.float64)
    if held.ndim != 1 or held.size == 0 or held.shape != told.shape:
        raise ParameterError("predicted", f"of length {held.size}", told.size)
    return Errors(squared=float(np.square(held - told).mean()), constant=float(held.var()))
