"""Defects that hide in a crowd; most of them are caught by one check and by no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from supm._random import RandomSource, secure, simulation
from supm.audit import audit
from supm.audit.subjects import Auditable
from supm.mechanisms import (
    Estimate,
    GeneralizedRandomizedResponse,
    JointReport,
    Laplace,
    LocalHashing,
    OrderedDiscretePerturbation,
    Piecewise,
    Reports,
    SquareWave,
    Tally,
    UnaryEncoding,
)
from supm.schema import Continuous, Ordinal

Symbols = NDArray[np.int64]


class ChannelOfTheLeak(SquareWave):
    """Point 8 is told every second time; the floats say so and the fractions do not."""

    def channel(self) -> NDArray[np.float64]:
        rows = super().channel()
        rows[8] /= 2
        rows[8, 8] += 0.5
        return rows

    def draw(self, indices: Symbols, source: RandomSource) -> Symbols:
        told = (indices == 8) & (source.below(2, len(indices)) == 0)
        return np.where(told, indices, super().draw(indices, source))


class ReportsUnmarked(GeneralizedRandomizedResponse):
    """A simulation passes for a private release."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        return replace(super().randomize(values, source), simulation=False)


class EstimateUnmarked(Piecewise):
    """The mark is lost on the way from the tally to the estimate."""

    def estimate(self, tally: Tally) -> Estimate:
        return replace(super().estimate(tally), simulation=False)


class SourceIgnored(GeneralizedRandomizedResponse):
    """Randomness comes from elsewhere."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:  # noqa: ARG002  the defect
        return super().draw(symbols, secure())


class SomePointsTold(Piecewise):
    """Four hundred grid points in the middle are not randomised."""

    def draw(self, indices: Symbols, source: RandomSource) -> Symbols:
        told = super().draw(indices, source)
        return np.where((indices >= 100) & (indices < 500), indices, told)


class OnePointTold(Piecewise):
    """One grid point of 1025 is not randomised."""

    def draw(self, indices: Symbols, source: RandomSource) -> Symbols:
        return np.where(indices == 300, indices, super().draw(indices, source))


class NoNoiseAtSeven(Laplace):
    """Grid point 7 is told as it is."""

    def draw(self, indices: Symbols, source: RandomSource) -> Symbols:
        return np.where(indices == 7, indices, super().draw(indices, source))


class OneSymbolTold(GeneralizedRandomizedResponse):
    """One symbol of 65,536 is not randomised."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        return np.where(symbols == 12_345, symbols, super().draw(symbols, source))


class FixedReportForFive(LocalHashing):
    """Symbol 5 is always reported by the same three numbers."""

    def draw(self, symbols: Symbols, source: RandomSource) -> NDArray[np.uint64]:
        told = super().draw(symbols, source)
        told[symbols == 5] = (1, 0, 1)
        return told


class FunctionTellsTheSymbol(LocalHashing):
    """The factor of the hash function is the symbol; the bucket is randomised as it should be."""

    def draw(self, symbols: Symbols, source: RandomSource) -> NDArray[np.uint64]:
        told = super().draw(symbols, source)
        middle = (symbols > 0) & (symbols < self.size - 1)
        told[middle, 0] = symbols[middle]
        held = symbols.view(np.uint64)
        bucket = self._hash(told[:, 0], told[:, 1], held)
        told[:, 2] = (bucket + self._cells.draw(len(symbols), source)) % np.uint64(self.buckets)
        return told


class BitThreeAlwaysSet(UnaryEncoding):
    """The bit of symbol 3 is set for those who hold it, without a coin."""

    def draw(self, symbols: Symbols, source: RandomSource) -> NDArray[np.uint8]:
        told = super().draw(symbols, source)
        told[symbols == 3, 0] |= 1 << 3
        return told


class RecordsTold(JointReport):
    """All records but the first and the last are told as they are."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        reports, numbers = super().randomize(values, source), self.numbers(values)
        inner = (numbers > 0) & (numbers < self.randomizer.size - 1)
        return replace(reports, symbols=np.where(inner, numbers, reports.symbols))


class BytesTold(GeneralizedRandomizedResponse):
    """Values that arrive as bytes are not randomised."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        reports, given = super().randomize(values, source), np.asarray(values)
        return replace(reports, symbols=given) if given.dtype == np.uint8 else reports


class HighBits(OrderedDiscretePerturbation):
    """Classes between the first and the last travel in bits that `outcome` drops."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        reports, held = super().randomize(values, source), self.discretizer.encode(values)
        inner = np.where(held == self.outcomes - 1, 0, held)
        return replace(reports, symbols=reports.symbols + (inner << 32))

    def outcome(self, reports: Reports) -> Symbols:
        return super().outcome(replace(reports, symbols=reports.symbols & 0xFFFF))

    def tally(self, reports: Reports) -> Tally:
        return super().tally(replace(reports, symbols=reports.symbols & 0xFFFF))


class ReusedBetweenNeighbours(GeneralizedRandomizedResponse):
    """Every second owner gets the noise of the one before, unless it is symbol 0."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        step = self._cells.draw(len(symbols), source).view(np.int64)
        second = np.arange(1, len(symbols), 2)
        reused = second[symbols[second] != 0]
        step[reused] = step[reused - 1]
        return (symbols + step) % self.size


class PlacesOfLongCallsTold(GeneralizedRandomizedResponse):
    """The row at each multiple of 2^16 is not randomised."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        reports, given = super().randomize(values, source), np.asarray(values)
        reports.symbols[1 << 16 :: 1 << 16] = given[1 << 16 :: 1 << 16]
        return reports


class LastOfChunkTold(Piecewise):
    """The last row of each chunk is not randomised, whatever epsilon is."""

    def draw(self, indices: Symbols, source: RandomSource) -> Symbols:
        told = super().draw(indices, source)
        told[-1] = indices[-1]
        return told


class LastSymbolTold(GeneralizedRandomizedResponse):
    """The same, for symbols."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        told = super().draw(symbols, source)
        told[-1] = symbols[-1]
        return told


class SingleWordTold(OrderedDiscretePerturbation):
    """A call with one row is not randomised, for words."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        reports = super().randomize(values, source)
        if len(reports) > 1:
            return reports
        return replace(reports, symbols=self.discretizer.encode(values))


class ErrorTooSmall(GeneralizedRandomizedResponse):
    """The standard error is a tenth of what it is."""

    def estimate(self, tally: Tally) -> Estimate:
        found = super().estimate(tally)
        return replace(found, standard_error=found.standard_error / 10)


def _joint(epsilon: float) -> RecordsTold:
    whole = GeneralizedRandomizedResponse.for_epsilon(size=4**8, epsilon=epsilon)
    return RecordsTold(sizes=(4,) * 8, randomizer=whole)


AGE = Continuous("age", low=0, high=100)
WORDS = Ordinal("ordered", values=tuple("abcdefg"))
INTERVAL: dict[str, Any] = {"low": -1, "high": 1}

PLANTED: dict[str, tuple[Auditable, str]] = {
    "channel of the leaking sampler": (
        ChannelOfTheLeak.for_epsilon(**INTERVAL, epsilon=1.0, steps=16),
        "check_channel",
    ),
    "reports not marked": (ReportsUnmarked.for_epsilon(size=5, epsilon=1.0), "check_mark"),
    "estimate not marked": (
        EstimateUnmarked.for_epsilon(**INTERVAL, epsilon=1.0, steps=16),
        "check_mark",
    ),
    "source ignored": (SourceIgnored.for_epsilon(size=5, epsilon=1.0), "check_source"),
    "one grid point told": (OnePointTold.for_epsilon(**INTERVAL, epsilon=1.0), "check_crowd"),
    "one grid point told, large epsilon": (
        OnePointTold.for_epsilon(**INTERVAL, epsilon=8.0),
        "check_crowd",
    ),
    "no noise at one point": (NoNoiseAtSeven.for_epsilon(**INTERVAL, epsilon=1.0), "check_crowd"),
    "one symbol told": (OneSymbolTold.for_epsilon(size=1 << 16, epsilon=1.0), "check_crowd"),
    "one symbol told, large epsilon": (
        OneSymbolTold.for_epsilon(size=1 << 16, epsilon=8.0),
        "check_crowd",
    ),
    "fixed report for a symbol": (
        FixedReportForFive.for_epsilon(size=1000, epsilon=1.0),
        "check_crowd",
    ),
    "own bit always set": (BitThreeAlwaysSet.optimised(size=64, epsilon=1.0), "check_crowd"),
    "bytes told": (BytesTold.for_epsilon(size=5, epsilon=1.0), "check_crowd"),
    "raw value in high bits": (
        HighBits.for_epsilon(attribute=AGE, classes=5, epsilon=1.0),
        "check_outcomes",
    ),
    "noise reused between neighbours": (
        ReusedBetweenNeighbours.for_epsilon(size=5, epsilon=1.0),
        "check_mixed",
    ),
    "row told at multiples of 2^16": (
        PlacesOfLongCallsTold.for_epsilon(size=5, epsilon=1.0),
        "check_long_calls",
    ),
    "last row of chunks told, large epsilon": (
        LastOfChunkTold.for_epsilon(**INTERVAL, epsilon=8.0),
        "check_long_calls",
    ),
    "last symbol of chunks told, epsilon 3": (
        LastSymbolTold.for_epsilon(size=5, epsilon=3.0),
        "check_long_calls",
    ),
    "single word told": (
        SingleWordTold.for_epsilon(attribute=WORDS, classes=5, epsilon=4.0),
        "check_long_calls",
    ),
    "standard error too small": (
        ErrorTooSmall.for_epsilon(size=5, epsilon=1.0),
        "check_standard_error",
    ),
}

SHARED: dict[str, tuple[Auditable, str]] = {
    "four hundred grid points told": (
        SomePointsTold.for_epsilon(**INTERVAL, epsilon=1.0),
        "check_crowd",
    ),
    "hash function tells the symbol": (
        FunctionTellsTheSymbol.for_epsilon(size=1000, epsilon=1.0),
        "check_crowd",
    ),
    "records told": (_joint(12.0), "check_crowd"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_one_check_catches_the_planted_defect(name: str) -> None:
    mechanism, catching = PLANTED[name]
    found = audit(mechanism, simulation(2026))
    assert {each.check for each in found.findings if not each.passed} == {catching}


@pytest.mark.parametrize("name", SHARED)
def test_more_than_one_check_catches_the_planted_defect(name: str) -> None:
    mechanism, catching = SHARED[name]
    found = audit(mechanism, simulation(2026))
    assert catching in {each.check for each in found.findings if not each.passed}
