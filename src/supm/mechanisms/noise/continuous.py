"""Continuous laws on floats, made from 64-bit words: uniform, normal, gamma and directions.

They follow their densities as closely as floats allow. That is enough for a simulation and for the
papers' own mechanisms, but floats are not exactly private: see `GaussianNoise`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from supm._random import RandomSource, check_source

_SPARE: Final = 16
# Of the candidates of Marsaglia and Tsang at least 95 % are accepted from shape 1 on.
_CANDIDATES: Final = 1.06


def uniforms(count: int, source: RandomSource) -> NDArray[np.float64]:
    """Return odd multiples of 2^-53 between 0 and 1: never 0, never 1, and symmetric.

    Examples
    --------
    >>> from supm._random import simulation
    >>> drawn = uniforms(1000, simulation(1))
    >>> bool((drawn > 0).all() and (drawn < 1).all())
    True
    """
    words = check_source(source).words(count) >> np.uint64(12)
    drawn: NDArray[np.float64] = words.astype(np.float64)
    drawn += 0.5
    drawn *= 2.0**-52
    return drawn


def normals(count: int, source: RandomSource) -> NDArray[np.float64]:
    """Return standard normal numbers by the inverse of their distribution function.

    Examples
    --------
    >>> from supm._random import simulation
    >>> bool(np.abs(normals(1000, simulation(1))).max() < 8.3)
    True
    """
    return np.asarray(ndtri(uniforms(count, source)))


def gammas(shape: float, count: int, source: RandomSource) -> NDArray[np.float64]:
    """Return numbers of the gamma law with a shape and scale 1.

    From shape 1 on by the rejection of Marsaglia and Tsang (2000), below by their power of a
    uniform number on shape + 1.

    Examples
    --------
    >>> from supm._random import simulation
    >>> round(float(gammas(4.0, 100_000, simulation(1)).mean()), 1)
    4.0
    """
    if shape < 1:
        # A power of a tiny shape may underflow to zero, which is what the law rounds to.
        return gammas(shape + 1, count, source) * uniforms(count, source) ** (1 / shape)
    drawn = np.empty(0)
    while drawn.size < count:
        size = round(_CANDIDATES * (count - drawn.size)) + _SPARE
        drawn = np.concatenate((drawn, _accepted(shape, size, source)))
    return drawn[:count]


def directions(dimension: int, count: int, source: RandomSource) -> NDArray[np.float64]:
    """Return vectors of length 1, all directions alike, one in each row.

    Examples
    --------
    >>> from supm._random import simulation
    >>> np.linalg.norm(directions(3, 2, simulation(1)), axis=1).round(12).tolist()
    [1.0, 1.0]
    """
    drawn = normals(count * dimension, source).reshape(count, dimension)
    lengths = np.linalg.norm(drawn, axis=1, keepdims=True)
    return np.asarray(drawn / lengths)


def _accepted(shape: float, size: int, source: RandomSource) -> NDArray[np.float64]:
    centre = shape - 1 / 3
    steps = normals(size, source)
    cubes = (1 + steps / np.sqrt(9 * centre)) ** 3
    heights = np.log(uniforms(size, source))
    positive = cubes > 0
    logs = np.log(np.where(positive, cubes, 1.0))
    kept = positive & (heights < 0.5 * steps**2 + centre * (1 - cubes + logs))
    return np.asarray(centre * cubes[kept])
