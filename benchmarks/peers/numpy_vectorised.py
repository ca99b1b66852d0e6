"""Plain NumPy: whole arrays at once, with a fast generator that is not secure.

It runs in the process of the benchmark: NumPy is the same one that SUPM uses.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import PCG64, Generator  # noqa: TID251  the non-secure side of the comparison
from numpy.typing import NDArray

__all__ = ["generator", "random_words", "randomized_response"]


def generator() -> Generator:
    """Return NumPy's default generator."""
    return Generator(PCG64())


def randomized_response(
    values: NDArray[np.int64], size: int, epsilon: float, source: Generator
) -> NDArray[np.int64]:
    """Keep each value, or move it to one of the others, as one would write it by hand."""
    keep = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    kept = source.random(len(values)) < keep
    other = source.integers(0, size - 1, len(values))
    other += other >= values
    return np.where(kept, values, other)


def random_words(count: int, source: Generator) -> NDArray[np.uint64]:
    """Return uniform 64-bit words."""
    return source.integers(0, (1 << 64) - 1, count, dtype=np.uint64, endpoint=True)
