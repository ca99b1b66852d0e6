r"""The exact privacy curve of Gaussian noise, evaluated without loss and rounded to the safe side.

With :math:`t = \varepsilon/\mu - \mu/2`, the least delta at epsilon is (equations 4 to 6 of
``docs/proofs/gaussian-composition.md``)

.. math::

    \delta(\varepsilon; \mu) = \Phi(-t) - e^{\varepsilon} \Phi(-t - \mu)
        = \varphi(t) \, [R(t) - R(t + \mu)]
        = \varphi(t) \int_0^\infty e^{-tu - u^2/2} (1 - e^{-\mu u}) \, du,

where R is Mills' ratio. The first form overflows for a large epsilon and cancels for a small mu;
the second does not overflow, and the third has nothing to cancel. Everything is done in logarithms,
because delta reaches 1e-300.

Whatever is returned errs to the safe side by a slack far above the rounding errors. The two inverse
functions keep twice that slack, so that their results pass `delta_above` with room to spare.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.special import erfcx, exprel, ndtr

from supm.privacy.promise_numbers import MU, decimal

# Where exp(-tu - u^2/2) has fallen to e^-44 of its start, the rest is far below rounding.
_TAIL: Final = 44.0
_NODES, _WEIGHTS = (0.5 * part for part in np.polynomial.legendre.leggauss(64))
_NODES += 0.5
# Measured against 350 digits, the logarithm of delta is off by less than a tenth of this slack;
# tests/privacy/test_gaussian_curve.py holds it below a quarter.
_ABSOLUTE_SLACK: Final = 2e-13
_RELATIVE_SLACK: Final = 4e-15
# Beyond this, t is taken as this: delta falls with t, so that is safe, and no square overflows.
_LARGEST_T: Final = 1e150


def delta_above(epsilon: float, mu: float) -> float:
    """Return a delta that is not below the true one and exceeds it by one part in 10^11 at most.

    Examples
    --------
    >>> round(delta_above(1.0, 1.0), 6)
    0.126937
    """
    if mu == 0.0:
        return 0.0
    return min(1.0, math.nextafter(math.exp(_log_delta_above(epsilon, mu)), 1.0))


def epsilon_above(delta: float, mu: float) -> float:
    """Return the least epsilon whose delta is at most the given one, rounded up.

    Examples
    --------
    >>> round(epsilon_above(1e-6, 1.0), 6)
    4.886554
    """
    if mu == 0.0:
        return 0.0
    most = _log(delta)
    enough = mu * (0.5 * mu + math.sqrt(-2.0 * most)) * (1.0 + 1e-9)
    return _bisect(lambda epsilon: _log_delta_above(epsilon, mu, slacks=2) <= most, enough, 0.0)


def mu_below(epsilon: float, delta: float) -> float:
    """Return the largest mu whose delta at epsilon is at most the given one, rounded down.

    Examples
    --------
    >>> round(1 / mu_below(1.0, 1e-4), 2)
    3.19
    """
    most = _log(delta)

    def allowed(mu: float) -> bool:
        return mu == 0.0 or _log_delta_above(epsilon, mu, slacks=2) <= most

    too_much = 1.0
    while too_much < MU.high and allowed(too_much):
        too_much = min(2.0 * too_much, MU.high)
    return _bisect(allowed, 0.0, too_much)


def _bisect(holds: Callable[[float], bool], good: float, bad: float) -> float:
    """Return a number for which it holds, as near as floats allow to one for which it does not."""
    if holds(bad):
        return bad
    middle = 0.5 * (good + bad)
    while middle not in {good, bad}:
        good, bad = (middle, bad) if holds(middle) else (good, middle)
        middle = 0.5 * (good + bad)
    return good


def _log(delta: float) -> float:
    # Of the decimal that delta names: among the smallest floats the two differ by a percent.
    named = decimal(delta)
    return math.log(named.numerator) - math.log(named.denominator)


def _log_delta_above(epsilon: float, mu: float, slacks: int = 1) -> float:
    value = _log_delta(epsilon, mu)
    return value + slacks * (_ABSOLUTE_SLACK + _RELATIVE_SLACK * abs(value))


def _log_delta(epsilon: float, mu: float) -> float:
    # Exact: epsilon / mu and mu / 2 may agree in all but their last digits.
    t = float(min(decimal(epsilon) / decimal(mu) - decimal(mu) / 2, decimal(_LARGEST_T)))
    log_density = -0.5 * t * t - 0.5 * math.log(2.0 * math.pi)
    if mu < 1.0:
        return log_density + math.log(mu) + _log_integral(t, mu)
    if t >= 0.0:
        return log_density + math.log(_mills(t) - _mills(t + mu))
    return math.log(ndtr(-t) - math.exp(log_density) * _mills(t + mu))


def _mills(t: float) -> float:
    return math.sqrt(0.5 * math.pi) * float(erfcx(t / math.sqrt(2.0)))


def _log_integral(t: float, mu: float) -> float:
    """Return the logarithm of the integral in the third form, divided by mu."""
    reach = 2.0 * _TAIL / (t + math.sqrt(t * t + 2.0 * _TAIL))
    u = reach * _NODES
    heights = np.exp(-u * (t + 0.5 * u)) * exprel(-mu * u) * _NODES
    return 2.0 * math.log(reach) + math.log(float(heights @ _WEIGHTS))
