"""Local hashing: a public hash to few buckets, then randomized response over the buckets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, keep_checked
from supm.mechanisms.randomizers.frequency import SIZE, SupportRandomizer
from supm.mechanisms.randomizers.randomizer import ENTRIES, OUTCOMES, Reports, check_told
from supm.mechanisms.thresholds import TwoLevel, TwoLevelReport, exponential, words_inside

# These bases decide primality for every number below 3.3e24 (Sorenson and Webster, 2015).
_WITNESSES: Final = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)


@dataclass(frozen=True, kw_only=True)
class LocalHashing(TwoLevelReport, SupportRandomizer):
    """Report a random hash function and, randomised, the own symbol's bucket under it.

    Seeing the report changes the odds between any two symbols by a factor of at most e^epsilon. The
    function is ``v -> ((a v + b) mod prime) mod buckets``; its two numbers are drawn afresh by each
    owner, independently of the symbol.

    Parameters
    ----------
    size : int
        Number of symbols, 2 to 2^40.
    buckets : int
        Number of buckets, 2 to the smallest prime that is not below size.
    keep_words : int
        How many of the 2^64 words report the true bucket; more than its fair share.

    Notes
    -----
    **Guarantee.** epsilon-LDP with e^epsilon = keep / lie of the randomized response over the
    buckets (docs/proofs/local-hashing.md, Theorem 1).

    **Utility.** Unbiased exactly, not only for ideal hashing: the chance that two symbols share a
    bucket is known for this family and enters the estimator (Theorem 2). With e^epsilon + 1 buckets
    the variance of a rare share is about 4 e^epsilon / (n (e^epsilon - 1)^2).

    **Cost.** Three words and O(1) time and memory per report of 2 log2(size) + log2(buckets) bits;
    counting takes O(n size) time.

    References
    ----------
    T. Wang et al., Locally differentially private protocols for frequency estimation, USENIX
    Security 2017, section 4.4. J. L. Carter, M. N. Wegman, Universal classes of hash functions,
    1979.

    Examples
    --------
    >>> hashing = LocalHashing.for_epsilon(size=1000, epsilon=1.0)
    >>> hashing.buckets, hashing.report_bytes, hashing.epsilon <= 1.0
    (4, 3, True)
    """

    size: int
    buckets: int
    keep_words: int

    def __post_init__(self) -> None:
        keep_checked(self, SIZE)
        keep_checked(self, _buckets(self.size))
        keep_checked(self, words_inside("keep_words", inside=1, outside=self.buckets - 1))

    @classmethod
    def for_epsilon(cls, *, size: int, epsilon: float) -> Self:
        """Make the randomizer with e^epsilon + 1 buckets, rounded to the side of less variance."""
        size, epsilon = SIZE.check(size), EPSILON.check(epsilon)
        prime = prime_from(size)
        near = min(int(exponential(epsilon)) + 1, prime)
        choices = [number for number in (near, near + 1) if 2 <= number <= prime]
        made = [cls.with_buckets(size=size, buckets=each, epsilon=epsilon) for each in choices]
        return min(made, key=lambda choice: choice.variance(1 / size))

    @classmethod
    def with_buckets(cls, *, size: int, buckets: int, epsilon: float) -> Self:
        """Make the randomizer with a given number of buckets."""
        buckets = _buckets(SIZE.check(size)).check(buckets)
        cells = TwoLevel.for_epsilon(inside=1, outside=buckets - 1, epsilon=epsilon)
        return cls(size=size, buckets=buckets, keep_words=cells.threshold)

    @property
    def prime(self) -> int:
        """The modulus of the hash functions."""
        return prime_from(self.size)

    @property
    def miss(self) -> Fraction:
        """Probability that the reported bucket is the one of a given other symbol."""
        shared = self._collision
        return shared * self.hit + (1 - shared) * self._cells.outside_probability

    @property
    def report_bits(self) -> int:
        """Enough bits for the two numbers of the hash function and the bucket."""
        return 2 * (self.prime - 1).bit_length() + (self.buckets - 1).bit_length()

    @property
    def outcomes(self) -> int:
        """All hash functions times all buckets."""
        return (self.prime - 1) * self.prime * self.buckets

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return each report's number: by factor, then shift, then bucket."""
        OUTCOMES.check(self.outcomes)
        factor, shift, bucket = self._told(reports).astype(np.int64).T
        function: NDArray[np.int64] = (factor - 1) * self.prime + shift
        numbers: NDArray[np.int64] = function * self.buckets + bucket
        return numbers

    def exact_channel(self) -> list[list[Fraction]]:
        """Enumerate the hash functions; each is as likely as the others."""
        ENTRIES.check(self.size * self.outcomes)
        keep, lie = self.hit, self._cells.outside_probability
        functions = [(a, b) for a in range(1, self.prime) for b in range(self.prime)]
        row = range(self.buckets)
        return [
            [
                (keep if (a * held + b) % self.prime % self.buckets == told else lie)
                / len(functions)
                for a, b in functions
                for told in row
            ]
            for held in range(self.size)
        ]

    @property
    def _cells(self) -> TwoLevel:
        return TwoLevel(inside=1, outside=self.buckets - 1, threshold=self.keep_words)

    @property
    def _collision(self) -> Fraction:
        """Exact chance that two symbols share a bucket: any two residues are alike."""
        small, larger = divmod(self.prime, self.buckets)
        pairs = larger * (small + 1) * small + (self.buckets - larger) * small * (small - 1)
        return Fraction(pairs, self.prime * (self.prime - 1))

    def draw(self, symbols: NDArray[np.int64], source: RandomSource) -> NDArray[np.uint64]:
        """Randomise one chunk of checked symbols."""
        factor = source.below(self.prime - 1, len(symbols))
        factor += np.uint64(1)
        shift = source.below(self.prime, len(symbols))
        bucket = self._hash(factor, shift, symbols.view(np.uint64))
        bucket += self._cells.draw(len(symbols), source)
        # Below the number of buckets the difference wraps to a huge number.
        np.minimum(bucket, bucket - np.uint64(self.buckets), out=bucket)
        return np.stack((factor, shift, bucket), axis=1)

    def _hash(
        self, factor: NDArray[np.uint64], shift: NDArray[np.uint64], symbols: NDArray[np.uint64]
    ) -> NDArray[np.uint64]:
        residue = _multiply_modulo(factor, symbols, self.prime)
        residue += shift
        np.minimum(residue, residue - np.uint64(self.prime), out=residue)
        return _remainder(residue, self.buckets)

    def supports(self, reports: Reports) -> NDArray[np.int64]:
        """Count, for each symbol, the reports that support it."""
        told = self._told(reports)
        counts = np.zeros(self.size, dtype=np.int64)
        for start in range(0, len(told), self._chunk):
            factor, shift, bucket = np.ascontiguousarray(told[start : start + self._chunk].T)
            for symbol in range(self.size):
                own = self._hash(factor, shift, np.array(symbol, dtype=np.uint64))
                counts[symbol] += np.count_nonzero(own == bucket)
        return counts

    def _told(self, reports: Reports) -> NDArray[np.uint64]:
        told = check_told(reports, width=3, below=self.prime).astype(np.uint64, copy=False)
        if told[:, 0].min() < 1:
            raise ParameterError("reports", "with factors 1 … prime - 1", "a factor outside")
        if told[:, 2].max() >= self.buckets:
            raise ParameterError("reports", "with buckets 0 … buckets - 1", "a bucket outside")
        return told


def _buckets(size: int) -> Integers:
    return Integers("buckets", 2, prime_from(size))


def _multiply_modulo(
    left: NDArray[np.uint64], right: NDArray[np.uint64], modulus: int
) -> NDArray[np.uint64]:
    """Multiply numbers below a modulus of at most 41 bits without leaving 64 bits."""
    if modulus < 1 << 32:
        return _remainder(left * right, modulus)
    high = _remainder(left * (right >> np.uint64(20)), modulus)
    low = _remainder(left * (right & np.uint64((1 << 20) - 1)), modulus)
    return _remainder(_remainder(high << np.uint64(20), modulus) + low, modulus)


def _remainder(numbers: NDArray[np.uint64], modulus: int) -> NDArray[np.uint64]:
    """Return numbers modulo a modulus; NumPy divides whole arrays faster than it takes rests."""
    divisor = np.uint64(modulus)
    quotients = numbers // divisor
    quotients *= divisor
    return numbers - quotients


@lru_cache(maxsize=256)
def prime_from(number: int) -> int:
    """Return the smallest prime that is at least ``number``.

    Examples
    --------
    >>> prime_from(5), prime_from(6), prime_from(2**40)
    (5, 7, 1099511627791)
    """
    while not _is_prime(number):
        number += 1
    return number


def _is_prime(number: int) -> bool:
    for witness in _WITNESSES:
        if number % witness == 0:
            return number == witness
    return number > 1 and not any(_is_composite_by(witness, number) for witness in _WITNESSES)


def _is_composite_by(witness: int, number: int) -> bool:
    """Run one round of the Miller-Rabin test on an odd number."""
    twos = (number - 1 & 1 - number).bit_length() - 1
    power = pow(witness, number - 1 >> twos, number)
    if power in (1, number - 1):
        return False
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return False
    return True
