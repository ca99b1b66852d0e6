"""Vectors of noise whose density falls with their length, for a pure epsilon on vectors."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource, normals, uniforms
from supm._validation import Integers, Reals, keep_checked
from supm.mechanisms.thresholds import stated

_SPARE: Final = 16
# Of the candidates of Marsaglia and Tsang at least 95 % are accepted from shape 1 on.
_CANDIDATES: Final = 1.06
_DIMENSION = Integers("dimension", 1, 1 << 24)
_RATE = Reals("rate", 1e-12, 1e15)
_SENSITIVITY = Reals("sensitivity", 1e-15, 1e12)


@dataclass(frozen=True)
class GammaNorm:
    """Vectors v with density proportional to exp(-rate ||v||), as floats.

    The noise of objective perturbation: a uniform direction, and a length of the gamma law. As
    `GaussianNoise`, it is private on the real line and not exactly so on floats.

    Parameters
    ----------
    dimension : int
        Numbers in a vector, 1 to 2^24.
    rate : float
        How fast the density falls, 1e-12 to 1e15.

    Notes
    -----
    **Guarantee.** epsilon = rate * sensitivity, pure, on a vector of that L2 sensitivity and on the
    real line: Theorem 1 of docs/proofs/gamma-norm.md.

    **Utility.** The length has mean dimension / rate and variance dimension / rate^2; each number
    has mean 0 and variance (dimension + 1) / rate^2.

    **Cost.** dimension + 2 words per vector, and a few more where a length is rejected.

    References
    ----------
    K. Chaudhuri, C. Monteleoni, A. Sarwate, Differentially private empirical risk minimization,
    JMLR 12 (2011).
    G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables, ACM TOMS 26 (2000).

    Examples
    --------
    >>> from supm._random import normals, uniforms, simulation
    >>> noise = GammaNorm(dimension=20, rate=0.5)
    >>> noise.epsilon(2.0), noise.mean_length, noise.variance
    (1.0, 40.0, 84.0)
    >>> noise.draw(simulation(1)).shape
    (20,)
    """

    dimension: int
    rate: float

    def __post_init__(self) -> None:
        keep_checked(self, _DIMENSION, _RATE)

    def epsilon(self, sensitivity: float) -> float:
        """Return the pure epsilon on a vector of an L2 sensitivity, rounded up."""
        return stated(Fraction(self.rate) * Fraction(_SENSITIVITY.check(sensitivity)))

    @property
    def mean_length(self) -> float:
        """Mean of the length of a vector."""
        return self.dimension / self.rate

    @property
    def length_variance(self) -> float:
        """Variance of the length of a vector."""
        return self.dimension / self.rate**2

    @property
    def variance(self) -> float:
        """Variance of each number of a vector."""
        return (self.dimension + 1) / self.rate**2

    def draw(self, source: RandomSource) -> NDArray[np.float64]:
        """Draw one vector."""
        return np.asarray(self.draws(1, source)[0])

    def draws(self, count: int, source: RandomSource) -> NDArray[np.float64]:
        """Draw independent vectors, one in each row."""
        lengths = gammas(self.dimension, count, source) / self.rate
        return directions(self.dimension, count, source) * lengths[:, np.newaxis]


def gammas(shape: float, count: int, source: RandomSource) -> NDArray[np.float64]:
    """Return numbers of the gamma law with a shape and scale 1.

    From shape 1 on by the rejection of Marsaglia and Tsang (2000), below by their power of a
    uniform number on shape + 1.

    Examples
    --------
    >>> from supm._random import normals, uniforms, simulation
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
    >>> from supm._random import normals, uniforms, simulation
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
