"""The epsilon of a stated distribution over unboundedly many reports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supm.audit.finding import Finding
from supm.mechanisms.randomizers.laplace import Laplace

__all__ = ["check_stated_epsilon", "density_epsilon"]

_RELATIVE, _ABSOLUTE = 1e-9, 1e-12
_VISIBLE = 600.0
_PLACES = 4096


def density_epsilon(mechanism: Laplace) -> float:
    """Return the largest log-ratio of stated probabilities, of the first, middle and last point.

    The reports looked at are the ends of the alphabet and an even choice of the others, closer near
    the grid. The probabilities are floats, so the figure is right to about nine digits, and nothing
    above 700 can be seen.

    Parameters
    ----------
    mechanism : Laplace
        The mechanism to be measured.

    Returns
    -------
    float
        The largest log-ratio that was seen.

    Examples
    --------
    >>> round(density_epsilon(Laplace.for_epsilon(low=0, high=1, epsilon=1.0)), 9)
    1.0
    """
    symbols = _places(mechanism)
    inputs = sorted({0, mechanism.steps // 2, mechanism.steps})
    rows = np.array([mechanism.probability(index, symbols) for index in inputs])
    # Below the smallest normal float digits are lost; raised to it, a ratio can only look smaller.
    logs = np.log(np.maximum(rows, np.finfo(np.float64).tiny))
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def check_stated_epsilon(mechanism: Laplace, *, claimed: float | None = None) -> Finding:
    """Check the claim against the stated probabilities.

    Parameters
    ----------
    mechanism : Laplace
        The mechanism to be checked.
    claimed : float, optional
        The claim; by default what the mechanism itself claims.

    Returns
    -------
    Finding
        Broken if a ratio of stated probabilities is above the claim by more than the rounding of
        floats; loose if the claim is above all ratios by more than that.

    Examples
    --------
    >>> print(check_stated_epsilon(Laplace.for_epsilon(low=0, high=1, epsilon=1.0)))
    check_stated_epsilon: passed, claimed 1, stated probabilities give 1
    """
    claim = mechanism.epsilon if claimed is None else claimed
    found = density_epsilon(mechanism)
    rounding = _RELATIVE * claim + _ABSOLUTE
    return Finding(
        check="check_stated_epsilon",
        passed=found <= claim + rounding,
        detail=f"claimed {claim:.9g}, stated probabilities give {found:.9g}",
        statistic=found,
        loose=found < min(claim, _VISIBLE) - rounding,
    )


def _places(mechanism: Laplace) -> NDArray[np.int64]:
    least, greatest = mechanism.alphabet
    spread = np.linspace(least, greatest, _PLACES).astype(np.int64)
    near = np.linspace(-2, mechanism.steps + 2, _PLACES).astype(np.int64)
    ends = np.array([least, least + 1, greatest - 1, greatest])
    return np.unique(np.concatenate((spread, near, ends)))
