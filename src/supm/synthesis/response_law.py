"""A class that was noised by randomized response over k values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, Reals
from supm.mechanisms import GeneralizedRandomizedResponse, Reports
from supm.mechanisms.thresholds import WORDS, epsilon_of
from supm.privacy import PureLDP

__all__ = ["ResponseLaw"]

_SIZE = Integers("size", 2, 1 << 16)
_KEEP = Reals("keep", 0.0, 1 - 2.0**-53)


@dataclass(frozen=True, kw_only=True)
class ResponseLaw:
    """The own class with probability ``keep``, else one of the others, all alike.

    Parameters
    ----------
    size : int
        How many classes there are.
    keep : float
        Probability of the truth, above 1 / size and below 1.

    Notes
    -----
    e^epsilon = keep (size - 1) / (1 - keep). Reports are places in the list of values.

    Examples
    --------
    >>> law = ResponseLaw(size=3, keep=0.5)
    >>> round(law.epsilon, 6)
    0.693147
    >>> law.channel()
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    >>> law.unbiased_counts([0, 0, 0, 1, 2, 0])
    array([10., -2., -2.])
    """

    mechanism: ClassVar[str] = "randomized_response"
    parameters: ClassVar[tuple[str, ...]] = ("keep",)
    size: int
    keep: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _SIZE.check(self.size))
        keep = _KEEP.check(self.keep)
        if not keep * self.size > 1:
            hint = "At a fair share a report says nothing."
            raise ParameterError("keep", f"above 1 / {self.size}", keep, hint)
        object.__setattr__(self, "keep", keep)

    @classmethod
    def for_epsilon(cls, *, size: int, epsilon: float) -> Self:
        """Make the law that keeps the truth as often as epsilon allows.

        Parameters
        ----------
        size : int
            How many classes there are.
        epsilon : float
            From 1e-6 to 1e4. Floats limit what is kept to an epsilon of about 36.

        Returns
        -------
        ResponseLaw
        """
        size, epsilon = _SIZE.check(size), EPSILON.check(epsilon)
        keep = min(1 / (1 + (size - 1) * math.exp(-epsilon)), _KEEP.high)
        law = cls(size=size, keep=keep)
        while law.epsilon > epsilon:
            keep = math.nextafter(keep, 0.0)
            law = cls(size=size, keep=keep)
        return law

    @property
    def epsilon(self) -> float:
        """Logarithm of keep / lie, rounded up."""
        kept = Fraction(self.keep)
        return epsilon_of(kept * (self.size - 1) / (1 - kept))

    @property
    def guarantee(self) -> PureLDP:
        """The promise of one report."""
        return PureLDP(self.epsilon)

    @property
    def lie(self) -> float:
        """Probability of a given other class."""
        return (1 - self.keep) / (self.size - 1)

    def channel(self) -> NDArray[np.float64]:
        """Return the probability of each report (column) for each class (row)."""
        told = np.full((self.size, self.size), self.lie)
        np.fill_diagonal(told, self.keep)
        return told

    def unbiased_counts(self, reports: ArrayLike) -> NDArray[np.float64]:
        """Return counts of the true classes without bias; some may be below zero.

        Parameters
        ----------
        reports : array-like of int
            Places in the list of values.

        Returns
        -------
        ndarray of float, shape (size,)
        """
        told = np.asarray(reports, dtype=np.int64)
        counts = np.bincount(told, minlength=self.size)
        return np.asarray((counts - told.size * self.lie) / (self.keep - self.lie))

    def unbiased(self, reports: ArrayLike) -> NDArray[np.float64]:
        """Return one row per report whose mean is the indicator of the true class.

        Parameters
        ----------
        reports : array-like of int
            Places in the list of values.

        Returns
        -------
        ndarray of float, shape (m, size)
        """
        rows = (np.eye(self.size) - self.lie) / (self.keep - self.lie)
        return np.asarray(rows[np.asarray(reports, dtype=np.int64)])

    def randomize(self, codes: ArrayLike, source: RandomSource) -> NDArray[np.int64]:
        """Noise places in the list of values exactly, as an owner's device would have done.

        Parameters
        ----------
        codes : array-like of int
            One place for each owner.
        source : RandomSource
            Where randomness comes from.

        Returns
        -------
        ndarray of int
        """
        words = int(Fraction(self.keep) * WORDS)
        maker = GeneralizedRandomizedResponse(size=self.size, keep_words=words)
        told: Reports = maker.randomize(np.asarray(codes, dtype=np.int64), source)
        return maker.outcome(told)

    def to_form(self) -> dict[str, Any]:
        """Return the law as plain values for JSON; the size is that of the list of values."""
        return {"mechanism": self.mechanism, "keep": self.keep}
