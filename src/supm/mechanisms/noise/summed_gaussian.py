"""What the sum of several holders' discrete Gaussian noise promises, and the width that it takes.

Each of several holders adds noise of width sigma to its part of a statistic of whole numbers, and
only the sum is seen. The sum of their noise is, up to a factor that is 1 to a hundred digits, one
discrete Gaussian of variance holders * sigma^2, and that is a normal variable which was rounded at
random (docs/proofs/discrete-gaussian.md).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from supm._errors import ParameterError
from supm._validation import Integers, Reals
from supm.mechanisms.noise.discrete_gaussian import LARGEST_SIGMA
from supm.mechanisms.thresholds import least_reading

__all__ = ["LARGEST_MU", "LEAST_SIGMA", "sigma_for", "summed_mu"]

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
