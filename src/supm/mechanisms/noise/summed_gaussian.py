"""What the sum of several holders' discrete Gaussian noise promises, also on symmetric matrices.

Each of several holders adds noise of width sigma to its part of a statistic of whole numbers, and
only the sum is seen. The sum of their noise is, up to a factor that is 1 to a hundred digits, one
discrete Gaussian of variance holders * sigma^2, and that is a normal variable which was rounded at
random (docs/proofs/discrete-gaussian.md). Scatter matrices get symmetric noise: exact on whole
numbers, and in two forms on floats.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import Integers, Reals
from supm.mechanisms.noise.discrete_gaussian import LARGEST_SIGMA, DiscreteGaussian
from supm.mechanisms.noise.gaussian import GaussianNoise
from supm.mechanisms.thresholds import least_reading

LARGEST_MU: Final = 10.0
"""Above this the proof does not reach, and a promise is worth nothing."""

LEAST_SIGMA: Final = 6
"""Below this the steps of the grid show through the noise."""

_SENSITIVITY = Reals(
    "sensitivity", 1.0, 2.0**62, "A statistic of whole numbers changes by at least 1, or never."
)
_SIGMA = Integers("sigma", LEAST_SIGMA, LARGEST_SIGMA)
_HOLDERS = Integers("holders", 1, 1 << 20)
_MU = Reals("mu", 1e-15, LARGEST_MU)
# The variance that random rounding takes away from the normal variable.
_ROUNDING: Final = 16
# It covers all that the discrete law differs by, and the rounding of a sensitivity to a float.
_SLACK: Final = 1 + Fraction(1, 10**9)


def summed_mu(*, sensitivity: float, sigma: int, holders: int) -> float:
    """Return the mu of Gaussian differential privacy that the sum of all holders' noise keeps.

    It is (1 + 10^-9) sensitivity / sqrt(holders sigma^2 - 16), rounded up: Theorem 3 of
    docs/proofs/discrete-gaussian.md.

    Parameters
    ----------
    sensitivity : float
        L2 sensitivity of the statistic in units of its grid, at least 1.
    sigma : int
        Width of each holder's noise in the same units, 6 to 2^45.
    holders : int
        How many holders add noise that nobody else knows, 1 to 2^20.

    Returns
    -------
    float
        Mu, at most 10.

    Raises
    ------
    ParameterError
        If mu is above 10.

    Examples
    --------
    >>> summed_mu(sensitivity=100.0, sigma=200, holders=4)
    0.25001250118759066
    """
    exact = _exact_square(_SENSITIVITY.check(sensitivity)) / (
        _HOLDERS.check(holders) * _SIGMA.check(sigma) ** 2 - _ROUNDING
    )
    mu = math.sqrt(exact)
    while Fraction(least_reading(mu)) ** 2 < exact:
        mu = math.nextafter(mu, math.inf)
    if mu > LARGEST_MU:
        needed = sigma_for(mu=LARGEST_MU, sensitivity=sensitivity, holders=holders)
        raise ParameterError("sigma", f"at least {needed}, so that mu is at most 10", sigma)
    return mu


def sigma_for(*, mu: float, sensitivity: float, holders: int) -> int:
    """Return the least width of each holder's noise whose sum keeps mu.

    Parameters
    ----------
    mu : float
        What is to be kept, at most 10.
    sensitivity : float
        L2 sensitivity of the statistic in units of its grid, at least 1.
    holders : int
        How many holders add noise that nobody else knows, 1 to 2^20.

    Returns
    -------
    int
        The least sigma of at least 6 for which `summed_mu` is at most mu.

    Raises
    ------
    ParameterError
        If sigma is above 2^45.

    Examples
    --------
    >>> sigma_for(mu=0.25, sensitivity=100.0, holders=4)
    201
    >>> summed_mu(sensitivity=100.0, sigma=201, holders=4) <= 0.25
    True
    """
    allowed = Fraction(least_reading(_MU.check(mu))) ** 2
    needed = _exact_square(_SENSITIVITY.check(sensitivity)) / allowed + _ROUNDING
    sigma = max(LEAST_SIGMA, _root_above(needed / _HOLDERS.check(holders)))
    if sigma > LARGEST_SIGMA:
        least = math.sqrt(_exact_square(sensitivity) / holders) / LARGEST_SIGMA
        hint = "A coarser grid makes sensitivity and sigma smaller."
        raise ParameterError("mu", f"at least {least:.3g} at this sensitivity", mu, hint)
    return sigma


def _exact_square(sensitivity: float) -> Fraction:
    return (Fraction(sensitivity) * _SLACK) ** 2


def _root_above(square: Fraction) -> int:
    """Return the least whole number whose square is not below the given one."""
    return math.isqrt(math.ceil(square) - 1) + 1


_DIMENSION = Integers("dimension", 1, 1 << 14)


def symmetric_noise(dimension: int, sigma: int, source: RandomSource) -> NDArray[np.int64]:
    """Return Z + Z^T for a square Z of independent discrete Gaussians.

    Added to twice a scatter matrix B of whole numbers it gives (B + Z) + (B + Z)^T, a function of
    B + Z. So its promise is that of sigma on the L2 (Frobenius) sensitivity of B, which counts both
    of the triangles.

    Parameters
    ----------
    dimension : int
        Rows of the matrix, 1 to 2^14.
    sigma : int
        Width of an element of Z in units of B.
    source : RandomSource
        Where randomness comes from.

    Returns
    -------
    ndarray of int64
        Symmetric. In units of B, after halving, the diagonal has variance sigma^2 and the rest
        sigma^2 / 2.

    Examples
    --------
    >>> from supm._random import simulation
    >>> noise = symmetric_noise(3, 10, simulation(1))
    >>> bool((noise == noise.T).all()), bool((np.diag(noise) % 2 == 0).all())
    (True, True)
    """
    drawn = DiscreteGaussian(sigma).draw(_DIMENSION.check(dimension) ** 2, source)
    square = drawn.reshape(dimension, dimension)
    return square + square.T


def symmetric_gaussian(dimension: int, sigma: float, source: RandomSource) -> NDArray[np.float64]:
    """Return (Z + Z^T) / 2 for a square Z of independent normal numbers, as floats.

    It is a function of a full matrix of noise, so that sigma is due for the Frobenius sensitivity
    and the elements off the diagonal have half the variance of `mirrored_triangle`.

    Parameters
    ----------
    dimension : int
        Rows of the matrix, 1 to 2^14.
    sigma : float
        Standard deviation of the diagonal.
    source : RandomSource
        Where randomness comes from.

    Returns
    -------
    ndarray of float
        Symmetric.

    Examples
    --------
    >>> from supm._random import simulation
    >>> noise = symmetric_gaussian(3, 1.0, simulation(1))
    >>> bool((noise == noise.T).all())
    True
    """
    square = _square(dimension, sigma, source)
    return np.asarray((square + square.T) / 2)


def mirrored_triangle(dimension: int, sigma: float, source: RandomSource) -> NDArray[np.float64]:
    """Return normal numbers on and above the diagonal, copied below it, as floats.

    The papers' noise. An element off the diagonal is sqrt(2) times as wide as it has to be.

    Parameters
    ----------
    dimension : int
        Rows of the matrix, 1 to 2^14.
    sigma : float
        Standard deviation of every element.
    source : RandomSource
        Where randomness comes from.

    Returns
    -------
    ndarray of float
        Symmetric.

    Examples
    --------
    >>> from supm._random import simulation
    >>> noise = mirrored_triangle(3, 1.0, simulation(1))
    >>> bool((noise == noise.T).all())
    True
    """
    square = _square(dimension, sigma, source)
    return np.asarray(np.triu(square) + np.triu(square, 1).T)


def _square(dimension: int, sigma: float, source: RandomSource) -> NDArray[np.float64]:
    drawn = GaussianNoise(sigma).draw(_DIMENSION.check(dimension) ** 2, source)
    return drawn.reshape(dimension, dimension)
