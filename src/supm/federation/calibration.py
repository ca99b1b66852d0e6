"""How much noise moments and histograms need, and what the noise that is really used promises.

All widths are whole numbers in steps of the grid: sums, counts and histograms in steps of 2^-16,
the scatter in steps of 2^-32. Each party draws with these widths; ``holders`` of them count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from supm._errors import ParameterError
from supm._validation import Integers, Reals
from supm.federation.rows import GRID
from supm.mechanisms.noise import sigma_for, summed_mu
from supm.messages.codec import Message

_WIDTH: Final = Integers("width", 6, 1 << 45)
_HOLDERS: Final = Integers("holders", 1, 1 << 20)
_MU: Final = Reals("mu", 1e-9, 10.0)
RATIO: Final = Reals("ratio", 0.1, 10.0)
"""How wide noise on sums may be, as a multiple of that on products."""
_LARGEST_MU: Final = 10.0
# The variance that random rounding takes, and what covers all else, as in discrete-gaussian.md.
_ROUNDING: Final = 16
_SLACK: Final = 1 + Fraction(1, 10**9)
# A replaced record leaves one cell and enters another: sqrt(2) records, rounded up.
_HISTOGRAM_SENSITIVITY: Final = math.nextafter(math.sqrt(2.0), 2.0) * GRID


@contextmanager
def drawn_for(epsilon: float) -> Iterator[None]:
    """Say of noise that is too wide to be drawn which budget asks for it."""
    try:
        yield
    except ParameterError:
        wanted, hint = (
            "large enough that its noise can be drawn",
            "Ask for more, or for fewer releases.",
        )
        raise ParameterError("epsilon", wanted, epsilon, hint) from None


@dataclass(frozen=True, kw_only=True)
class MomentNoise(Message):
    """Widths of one party's noise on class sums, scatter and class counts.

    Parameters
    ----------
    sums : int
        Width on each number of a class's sum, in steps of 2^-16.
    scatter : int
        Width on each product, before the matrix is made symmetric, in steps of 2^-32.
    counts : int
        Width on each class's count, in steps of 2^-16.

    Notes
    -----
    **Guarantee.** With the variances s1², s2² and s3² of all holders' noise on sums, scatter and
    counts, the three together are mu-GDP for replacing one record, label included, with the larger
    of mu² = 2/s1² + 2/s2² + s2²/(2 s1⁴) (or 4/s1², where s1² < s2²/2) and 2/s1² + 2/s2² + 2/s3²:
    Theorem 1 of docs/proofs/discriminant.md. Both are attained.

    **Utility.** Counts cost nothing where s3 >= 2 s1²/s2, which is what `for_mu` takes.

    **Cost.** C p + p² + C draws at each party for C classes and p numbers in a row.
    """

    noun = "noise of moments"
    sums: int
    scatter: int
    counts: int

    def __post_init__(self) -> None:
        for name in ("sums", "scatter", "counts"):
            object.__setattr__(self, name, _WIDTH.check(getattr(self, name)))

    @classmethod
    def for_mu(cls, *, mu: float, holders: int, ratio: float = 1.0) -> MomentNoise:
        """Return the widths that together keep mu."""
        mu, holders = _MU.check(mu), _HOLDERS.check(holders)
        square = Fraction(RATIO.check(ratio)) ** 2
        cost, free = _unit_costs(square)
        scatter = cost * _SLACK**3 / Fraction(mu) ** 2
        return cls(
            sums=_party_width(square * scatter, GRID, holders),
            scatter=_party_width(scatter, GRID**2, holders),
            counts=_party_width(free * scatter, GRID, holders),
        )

    def mu(self, holders: int) -> float:
        """Return what the noise of so many holders promises, rounded up."""
        sums = _variance(self.sums, GRID, holders)
        scatter = _variance(self.scatter, GRID**2, holders)
        counts = _variance(self.counts, GRID, holders)
        same = 2 / sums + 2 / scatter + scatter / (2 * sums**2)
        if 2 * sums < scatter:
            same = 4 / sums
        other = 2 / sums + 2 / scatter + 2 / counts
        return _checked(_root_above(max(same, other) * _SLACK**2))


def histogram_mu(width: int, holders: int) -> float:
    """Return what noise of a width on the counts of a histogram promises, rounded up."""
    return summed_mu(sensitivity=_HISTOGRAM_SENSITIVITY, sigma=width, holders=holders)


def histogram_width(*, mu: float, holders: int) -> int:
    """Return the least width that keeps mu."""
    return sigma_for(mu=mu, sensitivity=_HISTOGRAM_SENSITIVITY, holders=holders)


def _unit_costs(square: Fraction) -> tuple[Fraction, Fraction]:
    """Return mu² times the scatter's variance, and the least variance of counts that is free.

    Both for a scatter of variance one and sums of the given variance.
    """
    if 2 * square < 1:
        return 4 / square, square / (1 - square)
    return 2 + 2 / square + 1 / (2 * square**2), 4 * square**2


def _party_width(variance: Fraction, steps: int, holders: int) -> int:
    """Return the least width of which so many have the variance, less what rounding takes."""
    needed = (variance * steps**2 + _ROUNDING) / holders
    width = math.isqrt(math.ceil(needed) - 1) + 1
    return max(_WIDTH.low, width)


def _variance(width: int, steps: int, holders: int) -> Fraction:
    return Fraction(_HOLDERS.check(holders) * width**2 - _ROUNDING, steps**2)


def _root_above(square: Fraction) -> float:
    root = math.sqrt(square)
    # The decimal that a float names may be a little below it: docs/proofs/gaussian-composition.md.
    return root * (1.0 + 2.0**-40)


def _checked(mu: float) -> float:
    if mu > _LARGEST_MU:
        raise ParameterError("mu", f"at most {_LARGEST_MU:g}", mu, "Use wider noise.")
    return mu
