"""Randomized response over k symbols: tell the truth, or name one of the others at random."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import Reals, keep_checked
from supm.mechanisms.randomizers.frequency import SIZE, SupportRandomizer
from supm.mechanisms.randomizers.randomizer import ENTRIES, Reports
from supm.mechanisms.thresholds import WORDS, TwoLevel, TwoLevelReport, words_inside

if TYPE_CHECKING:
    from supm.privacy import RandomizedResponseEvent

# The probability of the truth where it is a float: epsilon is then at most about 36.
_KEEP: Final = Reals("keep", 0.0, 1 - 2.0**-53)


@dataclass(frozen=True, kw_only=True)
class GeneralizedRandomizedResponse(TwoLevelReport, SupportRandomizer):
    """Report the own symbol with probability ``keep``, else one of the others, all alike.

    Seeing a report changes the odds between any two symbols by a factor of at most e^epsilon. Two
    symbols make it Warner's binary randomized response.

    Parameters
    ----------
    size : int
        Number of symbols, 2 to 2^40.
    keep_words : int
        How many of the 2^64 words tell the truth; more than a fair share of them.

    Notes
    -----
    **Guarantee.** epsilon-LDP with e^epsilon = keep / lie, where keep = keep_words / 2^64 and lie =
    (1 - keep) / (size - 1): Theorem 1 of docs/proofs/randomized-response.md.

    **Utility.** Unbiased; a share that is near zero has variance (size - 2 + e^epsilon) / (n
    (e^epsilon - 1)^2). Best of all randomizers when e^epsilon is large against the size.

    **Cost.** One 64-bit word and O(1) time per report of log2(size) bits; memory does not grow with
    size.

    References
    ----------
    S. L. Warner, Randomized response, JASA 60 (1965). P. Kairouz, S. Oh, P. Viswanath, Extremal
    mechanisms for local differential privacy, JMLR 17 (2016), eq. 8.

    Examples
    --------
    >>> import math
    >>> coin = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=math.log(2))
    >>> coin.channel()
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """

    name: ClassVar[str] = "randomized_response"
    size: int
    keep_words: int

    def __post_init__(self) -> None:
        keep_checked(self, SIZE)
        keep_checked(self, words_inside("keep_words", inside=1, outside=self.size - 1))

    @classmethod
    def for_epsilon(cls, *, size: int, epsilon: float) -> Self:
        """Make the randomizer that keeps the truth as often as epsilon allows."""
        size = SIZE.check(size)
        cells = TwoLevel.for_epsilon(inside=1, outside=size - 1, epsilon=epsilon)
        return cls(size=size, keep_words=cells.threshold)

    @classmethod
    def with_keep(cls, *, size: int, keep: float) -> Self:
        """Make the randomizer that tells the truth with a probability above 1 / size."""
        size, keep = SIZE.check(size), _KEEP.check(keep)
        if not keep * size > 1:
            hint = "At a fair share a report says nothing."
            raise ParameterError("keep", f"above 1 / {size}", keep, hint)
        return cls(size=size, keep_words=int(Fraction(keep) * WORDS))

    @classmethod
    def for_epsilon_in_floats(cls, *, size: int, epsilon: float) -> Self:
        """Make the randomizer that keeps epsilon and whose probability of the truth is a float."""
        exact = cls.for_epsilon(size=size, epsilon=epsilon).hit
        keep = float(exact)
        return cls.with_keep(size=size, keep=math.nextafter(keep, 0.0) if keep > exact else keep)

    def in_floats(self) -> Self:
        """Return the randomizer that a float states, which is no less than what was spent."""
        keep = float(self.hit)
        keep = math.nextafter(keep, 1.0) if keep < self.hit else keep
        return self.with_keep(size=self.size, keep=keep)

    @property
    def event(self) -> RandomizedResponseEvent:
        """What one report is to an accountant, with its exact probability of the truth."""
        from supm.privacy import RandomizedResponseEvent  # noqa: PLC0415  few ask for it

        return RandomizedResponseEvent(size=self.size, keep=self.hit)

    @property
    def miss(self) -> Fraction:
        """Probability of a given other symbol."""
        return self._cells.outside_probability

    @property
    def outcomes(self) -> int:
        """As many as symbols."""
        return self.size

    def exact_channel(self) -> list[list[Fraction]]:
        """Return keep on the diagonal and lie elsewhere."""
        ENTRIES.check(self.size * self.outcomes)
        keep, lie = self.hit, self.miss
        symbols = range(self.size)
        return [[keep if held == told else lie for told in symbols] for held in symbols]

    @property
    def _cells(self) -> TwoLevel:
        return TwoLevel(inside=1, outside=self.size - 1, threshold=self.keep_words)

    def draw(self, symbols: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        """Step from the own symbol to the one that is told: 0 steps is the truth."""
        told = self._cells.draw(len(symbols), source)
        told += symbols.view(np.uint64)
        # Below the size the difference wraps to a huge number. There is no branch for time to tell.
        np.minimum(told, told - np.uint64(self.size), out=told)
        return told.view(np.int64)

    def supports(self, reports: Reports) -> NDArray[np.int64]:
        """Count each symbol: a report supports the symbol that it is."""
        return np.bincount(self.outcome(reports), minlength=self.size)
