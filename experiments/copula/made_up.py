"""The three made-up distributions of the paper's section VI-A, 30 attributes each.

Uniform numbers come from a source of the package, and every other law by the inverse of its
distribution function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats
from sklearn.datasets import make_spd_matrix

from supm import RandomSource

__all__ = ["ATTRIBUTES", "MADE_UP", "uniform"]

Floats = NDArray[np.float64]
ATTRIBUTES: Final = 30
# "Randomly generated such that it was a positive real number": the paper says no more.
_FREEDOM: Final = (1.0, 10.0)


def uniform(shape: tuple[int, ...], source: RandomSource) -> Floats:
    """Return numbers strictly between 0 and 1."""
    words = source.words(int(np.prod(shape))) >> np.uint64(11)
    return ((words.astype(np.float64) + 0.5) / 2.0**53).reshape(shape)


def _normal(records: int, source: RandomSource) -> Floats:
    """Return rows of mean zero with a covariance that is drawn anew."""
    covariance = make_spd_matrix(ATTRIBUTES, random_state=int(source.below(1 << 31, 1)[0]))
    draws = special.ndtri(uniform((records, ATTRIBUTES), source))
    return np.asarray(draws @ np.linalg.cholesky(covariance).T)


def _t(records: int, source: RandomSource) -> Floats:
    low, high = _FREEDOM
    freedom = low + (high - low) * float(uniform((1,), source)[0])
    rows = _normal(records, source)
    squares = 2 * special.gammaincinv(freedom / 2, uniform((records, 1), source))
    return np.asarray(rows * np.sqrt(freedom / squares))


def _negative_multinomial(records: int, source: RandomSource) -> Floats:
    """Return counts of 30 outcomes before the stopping outcome was seen ``records`` times.

    Given a gamma number, the counts are independent and Poisson.
    """
    chances = uniform((ATTRIBUTES,), source) / ATTRIBUTES
    rate = special.gammaincinv(records, uniform((records, 1), source)) / (1 - chances.sum())
    return np.asarray(stats.poisson.ppf(uniform((records, ATTRIBUTES), source), rate * chances))


MADE_UP: Final[dict[str, Callable[[int, RandomSource], Floats]]] = {
    "normal": _normal,
    "t": _t,
    "negative multinomial": _negative_multinomial,
}
