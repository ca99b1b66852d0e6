"""Whether noise for sums, matrices and models follows its law and keeps its stated epsilon.

Exact epsilons are computed in another way than the mechanisms compute theirs. Those of Gaussian
noise are stated at delta = 10^-6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from supm._random import RandomSource, simulation
from supm.audit.findings import FAMILY_ERROR, Audit, Finding
from supm.audit.goodness import goodness_of_fit, scored_bound
from supm.mechanisms import DiscreteGaussian, DiscreteLaplaceNoise
from supm.privacy import GaussianDP, Neighbours

Numbers: TypeAlias = NDArray[Any]


# Rounding of the figures that an exact epsilon is computed from.
_ROUNDING: Final = 1e-9


_LOOSE: Final = 1e-2


_SEEDS: Final = (1, 2)


# A tail begins where less than this is left beyond, on its side.
_TAILS: Final = (1e-2, 1e-3, 1e-4, 4e-5)


@dataclass(frozen=True)
class NoiseLaw:
    """One reading of a noise whose distribution function is known.

    Parameters
    ----------
    what : str
        What is read, in words.
    draw : callable
        ``draw(count, source)`` returns independent readings.
    cumulative : callable
        The distribution function, on an array.
    edges : ndarray
        The upper ends of the cells that are counted, rising; beyond the last is one more cell.
    draws : int
        How many readings are drawn.

    Examples
    --------
    >>> from supm.mechanisms import DiscreteGaussian
    >>> noise = DiscreteGaussian(2)
    >>> law = NoiseLaw("one number", noise.draw, noise.cumulative, edges=np.arange(-9, 10))
    >>> check_law(law, simulation(1)).passed
    True
    """

    what: str
    draw: Callable[[int, RandomSource], Numbers]
    cumulative: Callable[[Numbers], NDArray[np.float64]]
    edges: Numbers
    draws: int = 1 << 18

    @property
    def chances(self) -> NDArray[np.float64]:
        """The probability of each cell."""
        return np.diff(self.cumulative(self.edges), prepend=0.0, append=1.0)

    def cells(self, source: RandomSource) -> NDArray[np.int64]:
        """Draw readings and return the cell of each."""
        return np.searchsorted(self.edges, self.draw(self.draws, source))


@dataclass(frozen=True)
class NoiseEntry:
    """A shipped noise at the parameters at which it is audited.

    Parameters
    ----------
    name : str
        The mechanism.
    parameters : str
        Its parameters, in words.
    laws : tuple of NoiseLaw
        The readings that are checked.
    claimed : float
        The epsilon that it states for these parameters.
    exact : callable
        Returns the epsilon that follows from its law, computed in another way.
    """

    name: str
    parameters: str
    laws: tuple[NoiseLaw, ...]
    claimed: float
    exact: Callable[[], float]


def check_law(law: NoiseLaw, source: RandomSource, *, error: float = FAMILY_ERROR) -> Finding:
    """Check readings against their distribution function, tails included.

    Parameters
    ----------
    law : NoiseLaw
        What is read, and its law.
    source : RandomSource
        Where randomness comes from.
    error : float, default 1e-6
        Chance that a true noise fails.

    Returns
    -------
    Finding
        Broken if the counts of cells differ from the law by more than chance.
    """
    chances = law.chances
    counts = np.bincount(law.cells(source), minlength=chances.size)
    p_value = min(1.0, 2 * min(goodness_of_fit(counts, chances), _tails(counts, chances)))
    detail = f"{law.what}: {law.draws} draws, p-value {p_value:.3g}"
    return Finding(check="check_law", passed=p_value > error, detail=detail, statistic=p_value)


def check_law_independence(
    law: NoiseLaw, source: RandomSource, *, error: float = FAMILY_ERROR
) -> Finding:
    """Check that readings, within a call and of two calls, are not correlated at any lag.

    Parameters
    ----------
    law : NoiseLaw
        What is read, and its law.
    source : RandomSource
        Where randomness comes from.
    error : float, default 1e-6
        Chance that a true noise fails.

    Returns
    -------
    Finding
        Broken if the places, or the distances from the middle, correlate.
    """
    chances = law.chances
    calls = [law.cells(source) for _ in range(2)]
    place = np.cumsum(chances) - chances / 2 - 0.5
    distance = np.abs(place) - float(chances @ np.abs(place))
    bounds = [scored_bound(calls, chances, score) for score in (place, distance)]
    detail = f"{law.what}: two calls of {law.draws} draws"
    return Finding.by_chance("check_law_independence", bounds, error=error, detail=detail)


def check_law_source(law: NoiseLaw) -> Finding:
    """Check that a seed fixes all readings, and that another seed gives others.

    Parameters
    ----------
    law : NoiseLaw
        What is read, and its law.

    Returns
    -------
    Finding
        Broken if something is drawn from elsewhere than the source, or if the source is not used.
    """
    first, other = _SEEDS
    told, again, others = (law.draw(law.draws, simulation(seed)) for seed in (first, first, other))
    fixed = np.array_equal(told, again) and not np.array_equal(told, others)
    words = "a seed fixes the draws" if fixed else "draws do not follow their source"
    return Finding(check="check_law_source", passed=fixed, detail=f"{law.what}: {words}")


def audit_noise(entry: NoiseEntry, source: RandomSource, *, error: float = FAMILY_ERROR) -> Audit:
    """Run all checks on one noise.

    Parameters
    ----------
    entry : NoiseEntry
        The noise, its laws and what it claims.
    source : RandomSource
        Where randomness comes from.
    error : float, default 1e-6
        Chance that a true noise is called broken.

    Returns
    -------
    Audit
        All findings, and the verdict.

    Examples
    --------
    >>> from supm.audit.noise_laws import noises
    >>> audit_noise(noises()[0], simulation(1)).verdict != "broken"
    True
    """
    share = error / (2 * len(entry.laws))
    findings = [_check_epsilon(entry)]
    for law in entry.laws:
        findings.append(check_law_source(law))
        findings.append(check_law(law, source, error=share))
        findings.append(check_law_independence(law, source, error=share))
    return Audit(
        mechanism=entry.name,
        parameters=entry.parameters,
        claimed=entry.claimed,
        findings=tuple(findings),
    )


def audit_noises(source: RandomSource, entries: Iterable[NoiseEntry]) -> Iterator[Audit]:
    """Audit several kinds of noise, one after the other.

    Parameters
    ----------
    source : RandomSource
        Where randomness comes from.
    entries : iterable of NoiseEntry
        What to audit, such as all `noises`.

    Yields
    ------
    Audit
        One for each. The chance that a true noise is called broken is 10^-6 over all of them.

    Examples
    --------
    >>> from supm.audit.noise_laws import noises
    >>> next(audit_noises(simulation(1), noises()[:1])).mechanism
    'discrete-gaussian'
    """
    lines = list(entries)
    for line in lines:
        yield audit_noise(line, source, error=FAMILY_ERROR / len(lines))


def _check_epsilon(entry: NoiseEntry) -> Finding:
    exact = entry.exact()
    return Finding(
        check="check_epsilon",
        passed=exact <= entry.claimed * (1 + _ROUNDING),
        detail=f"claimed {entry.claimed:.6g}, exact {exact:.6g}",
        statistic=exact,
        loose=exact < entry.claimed * (1 - _LOOSE),
    )


def _tails(counts: NDArray[np.int64], chances: NDArray[np.float64]) -> float:
    """Return the p-value of how many draws are far out: cell by cell a cut tail hardly shows."""
    outside = np.minimum(np.cumsum(chances), np.cumsum(chances[::-1])[::-1])
    far = [outside < share for share in _TAILS]
    found = [
        stats.binomtest(int(counts[cells].sum()), int(counts.sum()), float(chances[cells].sum()))
        for cells in far
        if chances[cells].sum() > 0
    ]
    return min((len(found) * float(each.pvalue) for each in found), default=1.0)


DELTA: Final = 1e-6


def claimed(mu: float) -> float:
    """Return the epsilon that the exact curve of a mu gives."""
    return GaussianDP(mu=mu, neighbours=Neighbours.REPLACE_ONE).to_approximate(DELTA).epsilon


def least_epsilon(delta: Callable[..., float], *law: Any) -> float:  # noqa: ANN401  what the curve takes
    """Return the least epsilon whose ``delta(*law, epsilon)`` is at most 10^-6, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if delta(*law, middle) <= DELTA else (middle, high)
    return high


def shifted(noise: DiscreteGaussian, shift: int, epsilon: float) -> float:
    """Return the exact delta of two discrete Gaussians, one moved up by the shift."""
    # The first is more than e^epsilon times as likely below this, and nowhere else.
    limit = Fraction(shift, 2) - Fraction(epsilon) * noise.sigma**2 / shift
    last = math.ceil(limit) - 1
    first, second = noise.cumulative([last, last - shift])
    return float(first - math.exp(epsilon) * second)


def listed(law: NDArray[np.float64], shift: int, epsilon: float) -> float:
    """Return the exact delta of a listed law and the same moved up by the shift."""
    return beyond(np.pad(law, (0, shift)), np.pad(law, (shift, 0)), epsilon)


def beyond(first: NDArray[np.float64], second: NDArray[np.float64], epsilon: float) -> float:
    """Return the exact delta of two laws, each listed cell by cell."""
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def normal(mu: float, epsilon: float) -> float:
    """Return the delta of two normal laws of width 1, mu apart."""
    high, low = stats.norm.cdf([mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu])
    return float(high - math.exp(epsilon) * low)


def largest_ratio(noise: DiscreteLaplaceNoise, shift: int) -> float:
    """Return the largest logarithm of the ratio between a law and the same moved up."""
    numbers = np.arange(-60, 61)
    ratios = noise.probability(numbers) / noise.probability(numbers - shift)
    return float(np.log(ratios).max())
