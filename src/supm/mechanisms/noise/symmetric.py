"""Symmetric noise for scatter matrices: exact on whole numbers, and two forms on floats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm._validation import Integers
from supm.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from supm.mechanisms.noise.gaussian import GaussianNoise

__all__ = ["mirrored_triangle", "symmetric_gaussian", "symmetric_noise"]

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
