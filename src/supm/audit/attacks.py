"""What an attacker who knows a mechanism looks at, to tell two inputs apart.

For a small alphabet the whole report is looked at. For a large one hardly any report is seen
twice, so the attacker reads from it only which of the two symbols it supports; the formats are
public and are read here without the mechanism's help.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.audit.empirical import LowerBound, epsilon_lower_bound
from supm.audit.events import supports
from supm.audit.findings import FAMILY_ERROR, Finding
from supm.audit.subjects import Auditable, count_inputs, randomizers_of, values_of
from supm.mechanisms import LocalHashing, SubsetSelection, UnaryEncoding

_SMALL = 1 << 12


def attack(
    mechanism: Auditable,
    source: RandomSource,
    *,
    left: int = 0,
    right: int = -1,
    trials: int = 1_000_000,
    error: float = FAMILY_ERROR,
) -> LowerBound:
    """Bound a shipped mechanism's epsilon from below, from its samples alone.

    Parameters
    ----------
    mechanism : FiniteChannel or Laplace
        The mechanism to be attacked.
    source : RandomSource
        Where randomness comes from.
    left, right : int
        Numbers of the two inputs to be told apart; by default the first and the last.
    trials : int, default 10^6
        Reports drawn for each of the two.
    error : float, default 1e-6
        Chance that the bound is not true.

    Returns
    -------
    LowerBound
        What the reports prove.

    Examples
    --------
    >>> from supm._random import simulation
    >>> bits = UnaryEncoding.optimised(size=100, epsilon=1.0)
    >>> 0.8 < attack(bits, simulation(1), trials=50_000).epsilon < 1.0
    True
    """
    values, numbers = _two_inputs(mechanism, left, right)

    def samples(which: int, count: int) -> NDArray[Any]:
        told = mechanism.randomize(np.repeat(values[[which]], count, axis=0), source).symbols
        return _seen(randomizers_of(mechanism)[0], told, numbers)

    return epsilon_lower_bound(samples, 0, 1, trials=trials, confidence=1.0 - error)


def check_attack(
    mechanism: Auditable,
    source: RandomSource,
    *,
    claimed: float | None = None,
    trials: int = 1_000_000,
    error: float = FAMILY_ERROR,
) -> Finding:
    """Check that samples alone do not prove the claim wrong.

    Parameters
    ----------
    mechanism : FiniteChannel or Laplace
        The mechanism to be checked.
    source : RandomSource
        Where randomness comes from.
    claimed : float, optional
        The claim; by default what the mechanism itself claims.
    trials : int, default 10^6
        Reports drawn for the first and for the last input.
    error : float, default 1e-6
        Chance that a true mechanism fails.

    Returns
    -------
    Finding
        Broken if the lower bound is above the claim.

    Examples
    --------
    >>> from supm._random import simulation
    >>> bits = UnaryEncoding.optimised(size=4, epsilon=1.0)
    >>> check_attack(bits, simulation(1), claimed=0.5, trials=50_000).passed
    False
    """
    claim = mechanism.epsilon if claimed is None else claimed
    return against("check_attack", attack(mechanism, source, trials=trials, error=error), claim)


def against(check: str, bound: LowerBound, claim: float) -> Finding:
    """Hold what samples prove against a claim."""
    told = f"{bound.trials} samples prove at least {bound.epsilon:.4g} ({bound.event})"
    return Finding.of_claim(check, claim, bound.epsilon, told)


def _two_inputs(mechanism: Auditable, left: int, right: int) -> tuple[NDArray[Any], list[int]]:
    """Return the two values and their numbers; a list of 2^40 symbols is never made."""
    count = count_inputs(mechanism)
    numbers = [left % count, right % count]
    return values_of(mechanism, np.array(numbers, dtype=np.int64)), numbers


def _seen(part: Any, told: NDArray[Any], symbols: list[int]) -> NDArray[Any]:  # noqa: ANN401  of any kind
    """Return which of the two symbols each report supports, where reports hardly ever repeat."""
    large = isinstance(part, SubsetSelection | UnaryEncoding | LocalHashing)
    if not large or part.outcomes <= _SMALL:
        return told
    first, second = (supports(part, told, np.full(len(told), symbol)) for symbol in symbols)
    return 2 * first.astype(np.int64) + second
