"""What every local randomizer is: a value goes in, a report comes out, at a derived epsilon.

Reports, their tally and the estimate made from it each carry the mark of a simulation, so that
nothing made from a seed can later pass for a private release.

Where inputs and reports are finite, the channel can be written down. It is what makes a promise
checkable: its largest ratio within a column is the epsilon that is kept, and the sampler can be
tested against each of its rows. Entries are fractions, not floats: the audit compares them exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource
from supm._validation import Integers, Reals
from supm.privacy import KeepsEpsilon

if TYPE_CHECKING:
    from supm.privacy import Event

_CONFIDENCE = Reals("confidence", 0.5, 1 - 1e-12)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reports:
    """What a crowd of owners sent: one row each, already randomised.

    Parameters
    ----------
    symbols : ndarray of integers
        One report per row.
    simulation : bool
        True if the randomness came from a seed.
    """

    symbols: NDArray[Any]
    simulation: bool

    def __post_init__(self) -> None:
        if not _is_plain(self.symbols) or self.symbols.ndim == 0:
            kind = type(self.symbols).__name__
            raise ParameterError("reports", "a plain array with one row per owner", kind)
        _check_mark(self.simulation)

    def __len__(self) -> int:
        """Return how many owners reported."""
        return len(self.symbols)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally:
    """Additive counts of reports: all that an aggregator has to keep.

    Parameters
    ----------
    counts : ndarray
        What the reports add up to; its meaning is the randomizer's.
    reports : int
        How many reports were counted.
    simulation : bool
        True if any of them came from a seed.

    Examples
    --------
    >>> monday = Tally(counts=np.array([3, 1]), reports=4, simulation=True)
    >>> tuesday = Tally(counts=np.array([2, 2]), reports=4, simulation=True)
    >>> (monday + tuesday).counts
    array([5, 3])
    """

    counts: NDArray[Any]
    reports: int
    simulation: bool

    def __post_init__(self) -> None:
        if not _is_plain(self.counts) or self.counts.dtype.kind not in "iuf":
            raise ParameterError("counts", "a plain array of numbers", type(self.counts).__name__)
        Integers("reports", 0, 1 << 62).check(self.reports)
        _check_mark(self.simulation)

    def __add__(self, other: Tally) -> Tally:
        """Merge two tallies; the order of merging does not matter."""
        check_tally(other)
        if self.counts.shape != other.counts.shape:
            raise ParameterError(
                "tally", f"of shape {self.counts.shape} to be merged", other.counts.shape
            )
        return Tally(
            counts=self.counts + other.counts,
            reports=self.reports + other.reports,
            simulation=self.simulation or other.simulation,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """An estimate with its standard error.

    Parameters
    ----------
    values : ndarray of float
        The estimates.
    standard_error : ndarray of float
        One standard error each: the noise of the randomizer, for these owners.
    simulation : bool
        True if any report behind it came from a seed.

    Examples
    --------
    >>> half = Estimate(values=np.array([0.5]), standard_error=np.array([0.1]), simulation=True)
    >>> low, high = half.interval()
    >>> print(low.round(3), high.round(3))
    [0.304] [0.696]
    """

    values: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    simulation: bool

    def __post_init__(self) -> None:
        _check_mark(self.simulation)

    def interval(self, confidence: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the two ends of each value's normal confidence interval."""
        from scipy.special import ndtri  # noqa: PLC0415  whoever reports has no SciPy

        reach = ndtri(0.5 + _CONFIDENCE.check(confidence) / 2) * self.standard_error
        return self.values - reach, self.values + reach


def check_reports(reports: object) -> Reports:
    """Return the reports, or raise ParameterError where something else was given."""
    if isinstance(reports, Reports):
        return reports
    raise ParameterError("reports", "Reports, as randomize returns them", type(reports).__name__)


def check_tally(tally: object) -> Tally:
    """Return the tally, or raise ParameterError where something else was given."""
    if isinstance(tally, Tally):
        return tally
    raise ParameterError("tally", "a Tally, as tally(reports) returns it", type(tally).__name__)


def as_array(values: ArrayLike) -> NDArray[Any] | None:
    """Return private values as an array, or None where they cannot be one or are partly missing.

    A masked value is missing, and what lies under the mask must not be reported. The error of a
    failed conversion is dropped, not chained: it may show what it could not convert.
    """
    try:
        array = np.asarray(values)
    except Exception:  # noqa: BLE001  any error of a stranger's __array__ may hold a value
        return None
    return None if np.ma.isMaskedArray(values) else array


def check_symbols(values: ArrayLike, size: int) -> NDArray[np.int64]:
    """Return the values as symbols, or raise RecordError that does not show them."""
    symbols = as_numbers(values)
    if symbols is None or symbols.ndim != 1:
        raise RecordError(
            f"values must be a flat array of whole numbers 0 … {size - 1}; check its type."
        )
    if symbols.size == 0:
        raise RecordError("values must hold at least one symbol, got none; check what was passed.")
    if int(symbols.min()) < 0 or int(symbols.max()) >= size:
        raise RecordError(
            f"values must be symbols 0 … {size - 1}; at least one is outside the alphabet."
        )
    return symbols.astype(np.int64, copy=False)


def as_numbers(values: ArrayLike) -> NDArray[np.integer] | None:
    """Return the values as an array of whole numbers, or None where they are something else."""
    numbers = as_array(values)
    return numbers if numbers is not None and numbers.dtype.kind in "iu" else None


def check_told(reports: Reports, *, width: int, below: int) -> NDArray[Any]:
    """Return the reports as rows if each could have been told, else raise ParameterError.

    Reports come from strangers: one symbol outside the alphabet would be counted as something else.
    """
    told = check_reports(reports).symbols
    shape = told.shape if told.ndim > 1 else (len(told), 1)
    if told.dtype.kind not in "iu" or shape[1:] != (width,) or len(told) == 0:
        raise ParameterError(
            "reports", f"rows of {width} whole numbers", f"{told.dtype} of shape {told.shape}"
        )
    if int(told.min()) < 0 or int(told.max()) >= below:
        raise ParameterError(
            "reports", f"symbols 0 … {below - 1}", "a symbol outside", "Refuse such a report."
        )
    return told.reshape(len(told), width)


def _is_plain(value: object) -> bool:
    """Say whether it is an array without a mask; what strangers sent may be anything."""
    return isinstance(value, np.ndarray) and not np.ma.isMaskedArray(value)


def _check_mark(simulation: object) -> None:
    if not isinstance(simulation, bool):
        raise ParameterError("simulation", "True or False", type(simulation).__name__)


_HINT = "To look at a channel, take a small alphabet: the arithmetic is the same."
ENTRIES = Integers("entries of the channel", 1, 1 << 22, _HINT)
LISTED = Integers("inputs to be listed", 1, 1 << 22, _HINT)
OUTCOMES = Integers("outcomes to be numbered", 1, 1 << 62, _HINT)


class LocalRandomizer(KeepsEpsilon):
    """Base of all local randomizers."""

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """Length of one report."""

    @abstractmethod
    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Turn each owner's value into a report."""

    @property
    def event(self) -> Event:
        """What one report is to an accountant; ``to_dp_accounting`` hands it to Google's."""
        from supm.privacy import PureEvent  # noqa: PLC0415  few ask for it

        return PureEvent(self.epsilon)

    @property
    def report_bytes(self) -> int:
        """Whole bytes that one report needs on a wire."""
        return -(-self.report_bits // 8)


class FiniteChannel(LocalRandomizer):
    """Base of the randomizers whose exact channel is a finite matrix."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """How many different reports there are: the columns of the channel."""

    @abstractmethod
    def inputs(self) -> NDArray[Any]:
        """Return one value per row of the channel, as `randomize` takes them."""

    @abstractmethod
    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the column of the channel that each report stands for."""

    @abstractmethod
    def exact_channel(self) -> list[list[Fraction]]:
        """Return the exact probability of each outcome (column) for each input (row)."""

    def channel(self) -> NDArray[np.float64]:
        """Return the exact channel as floats: one row per input, one column per outcome."""
        ENTRIES.check(len(self.inputs()) * self.outcomes)
        return np.array([[float(entry) for entry in row] for row in self.exact_channel()])
