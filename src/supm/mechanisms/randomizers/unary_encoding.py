"""Unary encoding: one bit per symbol, each flipped on its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, keep_checked
from supm.mechanisms.randomizers.frequency import SupportRandomizer
from supm.mechanisms.randomizers.randomizer import ENTRIES, OUTCOMES, Reports, check_told
from supm.mechanisms.thresholds import WORDS, epsilon_of, exact_share, threshold_for

_SIZE = Integers("size", 2, 1 << 20, "For a larger alphabet use LocalHashing.")


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(SupportRandomizer):
    """Report a bit for every symbol: the own one is set often, the others seldom.

    Seeing all the bits changes the odds between any two symbols by a factor of at most e^epsilon.
    `symmetric` treats both kinds of bit alike (basic RAPPOR); `optimised` keeps the own bit with
    probability 1/2, which lowers the variance of rare symbols.

    Parameters
    ----------
    size : int
        Number of symbols, 2 to 2^20.
    own_words, other_words : int
        How many of the 2^64 words set the own bit and another bit; own above other.

    Notes
    -----
    **Guarantee.** epsilon-LDP with e^epsilon = own (1 - other) / ((1 - own) other): two symbols
    differ in two bits (docs/proofs/unary-encoding.md, Theorem 1).

    **Utility.** Unbiased; the variance of a rare share is e^(epsilon/2) / (n (e^(epsilon/2) - 1)^2)
    symmetric and 4 e^epsilon / (n (e^epsilon - 1)^2) optimised.

    **Cost.** ``size`` words, time and bits per report.

    References
    ----------
    U. Erlingsson, V. Pihur, A. Korolova, RAPPOR, CCS 2014. T. Wang et al., Locally differentially
    private protocols for frequency estimation, USENIX Security 2017, section 4.2.

    Examples
    --------
    >>> import math
    >>> bits = UnaryEncoding.optimised(size=2, epsilon=math.log(3))
    >>> bits.channel()
    array([[0.375, 0.375, 0.125, 0.125],
           [0.375, 0.125, 0.375, 0.125]])
    """

    size: int
    own_words: int
    other_words: int

    def __post_init__(self) -> None:
        keep_checked(self, _SIZE, Integers("other_words", 1, WORDS - 2))
        keep_checked(self, Integers("own_words", self.other_words + 1, WORDS - 1))

    @classmethod
    def for_epsilon(cls, *, size: int, epsilon: float) -> Self:
        """Make the better of the two: `optimised` has the least variance for rare symbols."""
        made = (each(size=size, epsilon=epsilon) for each in (cls.optimised, cls.symmetric))
        return min(made, key=lambda choice: choice.variance(1 / size))

    @classmethod
    def symmetric(cls, *, size: int, epsilon: float) -> Self:
        """Make the encoding that flips each bit with the same probability."""
        own = threshold_for(exact_share(EPSILON.check(epsilon), 2), inside=1, outside=1)
        return cls(size=_SIZE.check(size), own_words=own, other_words=WORDS - own)

    @classmethod
    def optimised(cls, *, size: int, epsilon: float) -> Self:
        """Make the encoding of least variance for rare symbols."""
        other = WORDS - threshold_for(EPSILON.check(epsilon), inside=1, outside=1)
        return cls(size=_SIZE.check(size), own_words=WORDS // 2, other_words=other)

    @property
    def epsilon(self) -> float:
        """Logarithm of the odds ratio of the two kinds of bit, rounded up."""
        return epsilon_of(self.hit * (1 - self.miss) / ((1 - self.hit) * self.miss))

    @property
    def hit(self) -> Fraction:
        """Probability that the own bit is set."""
        return Fraction(self.own_words, WORDS)

    @property
    def miss(self) -> Fraction:
        """Probability that another bit is set."""
        return Fraction(self.other_words, WORDS)

    @property
    def report_bits(self) -> int:
        """One bit per symbol."""
        return self.size

    @property
    def outcomes(self) -> int:
        """All patterns of bits."""
        return 1 << self.size

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Read the bits as a number, symbol 0 being the lowest."""
        OUTCOMES.check(self.outcomes)
        return self._bits(self._rows(reports)) @ (1 << np.arange(self.size, dtype=np.int64))

    def exact_channel(self) -> list[list[Fraction]]:
        """Multiply the probabilities of the bits of each pattern."""
        ENTRIES.check(self.size * self.outcomes)
        return [
            [self._pattern(held, pattern) for pattern in range(self.outcomes)]
            for held in range(self.size)
        ]

    def _pattern(self, held: int, pattern: int) -> Fraction:
        product = Fraction(1)
        for symbol in range(self.size):
            bit = self.hit if symbol == held else self.miss
            product *= bit if pattern >> symbol & 1 else 1 - bit
        return product

    def draw(self, symbols: NDArray[np.int64], source: RandomSource) -> NDArray[np.uint8]:
        """Randomise one chunk of checked symbols."""
        words = source.words(len(symbols) * self.size).reshape(len(symbols), self.size)
        bits = words < np.uint64(self.other_words)
        owners = np.arange(len(symbols))
        bits[owners, symbols] = words[owners, symbols] < np.uint64(self.own_words)
        return np.packbits(bits, axis=1, bitorder="little")

    def supports(self, reports: Reports) -> NDArray[np.int64]:
        """Count, for each symbol, the reports that support it."""
        rows = self._rows(reports)
        counts = np.zeros(self.size, dtype=np.int64)
        for start in range(0, len(rows), self._chunk):
            bits = self._bits(rows[start : start + self._chunk])
            counts += bits.sum(axis=0, dtype=np.int64)
        return counts

    def _rows(self, reports: Reports) -> NDArray[np.uint8]:
        return check_told(reports, width=self.report_bytes, below=256).astype(np.uint8, copy=False)

    def _bits(self, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        if bits[:, self.size :].any():
            raise ParameterError("reports", f"rows of {self.size} bits", "a bit beyond them")
        return bits[:, : self.size]

    @property
    def _chunk(self) -> int:
        return max(1, (1 << 17) // self.size)
