"""A fixed table of 30 dependent numbers, the same in every environment.

This file imports NumPy and SciPy only: it runs in the other package's environment too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

__all__ = ["COLUMNS", "clean_table", "uniform"]

COLUMNS = 30
_SHARED = 0.5


def uniform(start: int, count: int) -> NDArray[np.float64]:
    """Return well-mixed numbers in (0, 1): SplitMix64 of the places from start on."""
    with np.errstate(over="ignore"):
        mixed = (np.arange(start, start + count, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.asarray(((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)


def clean_table(rows: int) -> dict[str, NDArray[np.float64]]:
    """Return columns in [0, 1] whose normals share a half of their variance, each of its shape."""
    common = np.sqrt(_SHARED) * ndtri(uniform(1, rows))
    table = {}
    for place in range(COLUMNS):
        own = np.sqrt(1 - _SHARED) * ndtri(uniform(1 + rows * (place + 1), rows))
        table[f"c{place}"] = ndtr(common + own) ** (1 + place % 4)
    return table
