"""Correlated noise that cancels in the sum, as one paper uses it, and what it gives away."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource, normals
from supm._validation import Integers, Reals, keep_checked

_PARTIES = Integers(
    "parties", 2, 1 << 20, "A single party has nobody whose noise could cancel its own."
)
_SIGMA = Reals("sigma", 1e-12, 1e15)


@dataclass(frozen=True)
class ZeroSumNoise:
    """Normal numbers for a publisher and M parties that add up to zero, as floats.

    A trusted generator draws them: row 0 goes to the publisher, row m to party m, who adds it to
    own noise of variance sigma^2 / M. The sum of all messages and of row 0 has noise sigma^2 only,
    but whoever sees the messages one by one learns more than the sum; the three functions of this
    file say how much. Strict protocols mask sums and do not use it.

    Parameters
    ----------
    parties : int
        How many parties besides the publisher, M, 2 to 2^20.
    sigma : float
        Standard deviation of the noise that the sum is to have.

    Notes
    -----
    **Guarantee.** None by itself. With own noise of variance sigma^2 / M at every party, the
    publisher's view of a statistic of sensitivity S is mu-GDP with
    mu = `information_publisher` S / sigma: Theorem 2 of docs/proofs/zero-sum.md.

    **Utility.** Each row has mean 0 and variance (M - 1) / M sigma^2, each pair of rows the
    covariance -(M - 1) / M^2 sigma^2, and the sum of all rows is 0 up to rounding.

    **Cost.** M + 1 words per number.

    References
    ----------
    docs/proofs/zero-sum.md, with the paper's own rule and what is wrong with it.

    Examples
    --------
    >>> from supm._random import simulation
    >>> noise = ZeroSumNoise(parties=3, sigma=2.0)
    >>> drawn = noise.draw(5, simulation(1))
    >>> drawn.shape, bool(np.abs(drawn.sum(axis=0)).max() < 1e-12)
    ((4, 5), True)
    >>> round(noise.variance, 4), round(noise.covariance, 4)
    (2.6667, -0.8889)
    """

    parties: int
    sigma: float

    def __post_init__(self) -> None:
        keep_checked(self, _PARTIES, _SIGMA)

    @property
    def variance(self) -> float:
        """Variance of each number."""
        return self.sigma**2 * (self.parties - 1) / self.parties

    @property
    def covariance(self) -> float:
        """Covariance of any two rows."""
        return -self.variance / self.parties

    def draw(self, count: int, source: RandomSource) -> NDArray[np.float64]:
        """Draw independent columns."""
        rows = self.parties + 1
        width = self.sigma * math.sqrt(1 - self.parties**-2)
        drawn = width * normals(rows * count, source).reshape(rows, count)
        return np.asarray(drawn - drawn.mean(axis=0))


def information_publisher(parties: int) -> float:
    """Return the factor on mu for a publisher who sees each party's message and row 0.

    Parameters
    ----------
    parties : int
        How many parties, M.

    Returns
    -------
    float
        sqrt(1 + M (M - 1) / (M^2 + M - 1)): equation 4 of docs/proofs/zero-sum.md.

    Examples
    --------
    >>> round(information_publisher(3), 3)
    1.243
    """
    return information_coalition(parties, 0)


def information_eavesdropper(parties: int) -> float:
    """Return the factor on mu for somebody who sees each party's message and not row 0.

    Parameters
    ----------
    parties : int
        How many parties, M.

    Returns
    -------
    float
        sqrt(M / (2 M - 1) + M (M - 1) / (M^2 + M - 1)): equation 5 of docs/proofs/zero-sum.md.

    Examples
    --------
    >>> round(information_eavesdropper(3), 3)
    1.07
    """
    m = _PARTIES.check(parties)
    return math.sqrt(m / (2 * m - 1) + m * (m - 1) / (m**2 + m - 1))


def information_coalition(parties: int, colluders: int) -> float:
    """Return the factor on mu for the publisher together with colluding parties.

    Parameters
    ----------
    parties : int
        How many parties, M.
    colluders : int
        How many of them share what they know with the publisher, T, at most M - 1.

    Returns
    -------
    float
        sqrt(M / H + (1 - 1 / H) M^2 / (M^2 + M - 1)) with H = M - T: equation 6 of
        docs/proofs/zero-sum.md.

    Examples
    --------
    >>> round(information_coalition(3, 2) ** 2, 6)
    3.0
    """
    m = _PARTIES.check(parties)
    honest = m - Integers("colluders", 0, m - 1).check(colluders)
    return math.sqrt(m / honest + (1 - 1 / honest) * m**2 / (m**2 + m - 1))
