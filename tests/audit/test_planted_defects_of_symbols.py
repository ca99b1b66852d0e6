"""Mechanisms for symbols, broken on purpose one by one; the audit must catch each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from supm._random import RandomSource, simulation
from supm.audit import audit
from supm.mechanisms import (
    Estimate,
    FiniteChannel,
    GeneralizedRandomizedResponse,
    HadamardResponse,
    IndependentReports,
    JointReport,
    LocalHashing,
    OrderedDiscretePerturbation,
    Reports,
    SubsetSelection,
    Tally,
    UnaryEncoding,
)
from supm.mechanisms.thresholds import WORDS
from supm.schema import Continuous

Symbols = NDArray[np.int64]


class LastBitUnrandomised(UnaryEncoding):
    """OpenDP, 2024 to 2026: one noise bit too few was drawn."""

    def draw(self, symbols: Symbols, source: RandomSource) -> NDArray[np.uint8]:
        bits = np.unpackbits(super().draw(symbols, source), axis=1, bitorder="little")
        bits[:, self.size - 1] = symbols == self.size - 1
        return np.packbits(bits, axis=1, bitorder="little")


class BitsShareOneCoin(UnaryEncoding):
    """All bits of a report are decided by the same word."""

    def draw(self, symbols: Symbols, source: RandomSource) -> NDArray[np.uint8]:
        words = np.repeat(source.words(len(symbols))[:, np.newaxis], self.size, axis=1)
        own = np.arange(self.size) == symbols[:, np.newaxis]
        limit = np.where(own, np.uint64(self.own_words), np.uint64(self.other_words))
        return np.packbits(words < limit, axis=1, bitorder="little")


class OffByOneClass(GeneralizedRandomizedResponse):
    """Classes counted from one where they are counted from zero."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        return super().draw((symbols + 1) % self.size, source)


class NoWrapAround(GeneralizedRandomizedResponse):
    """The step from the own symbol to the told one runs past the end of the alphabet."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        return symbols + self._cells.draw(len(symbols), source).view(np.int64)


class LiesAmongAllSymbols(GeneralizedRandomizedResponse):
    """Wrong denominator: a lie is drawn from all k symbols, the true one included."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        lie = source.below(self.size, len(symbols)).astype(np.int64)
        return np.where(source.words(len(symbols)) < np.uint64(self.keep_words), symbols, lie)


class ChannelWithWrongDenominator(GeneralizedRandomizedResponse):
    """The stated probability of a lie is divided by k, not by k - 1."""

    @property
    def miss(self) -> Fraction:
        return (1 - self.hit) / self.size


class EpsilonHalved(GeneralizedRandomizedResponse):
    """The claim is half of the truth."""

    @property
    def epsilon(self) -> float:
        return super().epsilon / 2


class KeepsTruthTooOften(GeneralizedRandomizedResponse):
    """A bias of one part in 200, as a float that was rounded carelessly would make."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        keep = self.keep_words * 201 // 200
        biased = GeneralizedRandomizedResponse(size=self.size, keep_words=keep)
        return biased.draw(symbols, source)


class KeepsLargestTooOften(GeneralizedRandomizedResponse):
    """The largest symbol gets a second chance to be told truly, one time in fifty."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        again = (symbols == self.size - 1) & (source.below(50, len(symbols)) == 0)
        return np.where(again, symbols, super().draw(symbols, source))


class TruthAtTheLastInput(GeneralizedRandomizedResponse):
    """The largest symbol is never randomised."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        return np.where(symbols == self.size - 1, symbols, super().draw(symbols, source))


class NoiseReusedAcrossRows(GeneralizedRandomizedResponse):
    """One draw serves all rows of a chunk."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        step = self._cells.draw(1, source).view(np.int64)
        return (symbols + step) % self.size


class LastRowOfEachChunkTold(GeneralizedRandomizedResponse):
    """The loop over rows ends one step too early: one row in 32,768 leaves as it was."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        told = super().draw(symbols, source)
        told[-1] = symbols[-1]
        return told


class SingleRowTold(GeneralizedRandomizedResponse):
    """A call with one row is not randomised."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        reports = super().randomize(values, source)
        told = np.asarray(values) if len(reports) == 1 else reports.symbols
        return Reports(symbols=told, simulation=reports.simulation)


class SeedReusedAcrossChunks(GeneralizedRandomizedResponse):
    """Each chunk starts the same stream again."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:  # noqa: ARG002  the defect
        return super().draw(symbols, simulation(7))


class SeedReusedAcrossCalls(GeneralizedRandomizedResponse):
    """Each call starts the same stream again: within a call nothing is wrong."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:  # noqa: ARG002  the defect
        return super().randomize(values, simulation(7))


class HitAndMissSwapped(GeneralizedRandomizedResponse):
    """The estimator takes the chance of a lie for that of the truth."""

    def estimate(self, tally: Tally) -> Estimate:
        rate = tally.counts / tally.reports
        shares = (rate - float(self.hit)) / float(self.miss - self.hit)
        return Estimate(values=shares, standard_error=shares, simulation=tally.simulation)


class VarianceUnderstated(GeneralizedRandomizedResponse):
    """The noise of the coins is stated as half of what it is."""

    def variance(self, frequency: float, reports: int = 1) -> float:
        return super().variance(frequency, reports) / 2


class OwnSymbolFirst(SubsetSelection):
    """The set is reported in the order in which it was made, and the own symbol comes first."""

    def draw(self, symbols: Symbols, source: RandomSource) -> NDArray[np.uint32]:
        told = super().draw(symbols, source)
        return np.take_along_axis(told, np.argsort(told != symbols[:, np.newaxis]), axis=1)

    def _sets(self, reports: Reports) -> NDArray[np.integer[Any]]:
        told = np.sort(reports.symbols, axis=1)
        return super()._sets(Reports(symbols=told, simulation=reports.simulation))


class HashFixed(LocalHashing):
    """All owners use the same hash function."""

    def draw(self, symbols: Symbols, source: RandomSource) -> NDArray[np.uint64]:
        report = super().draw(symbols, source)
        report[:, :2] = (1, 0)
        bucket = self._hash(report[:, 0], report[:, 1], symbols.view(np.uint64))
        report[:, 2] = (bucket + self._cells.draw(len(symbols), source)) % np.uint64(self.buckets)
        return report


class ZeroRowUsed(HadamardResponse):
    """Symbol 0 owns row 0 of the matrix, which is all +1 and cannot be randomised."""

    def draw(self, symbols: Symbols, source: RandomSource) -> Symbols:
        return super().draw(symbols - 1, source)


class BudgetNotSplit(IndependentReports):
    """Each attribute spends the whole budget, and the claim is that of one."""

    @classmethod
    def for_epsilon(cls, *, sizes: Sequence[int], epsilon: float) -> Self:
        whole = GeneralizedRandomizedResponse.for_epsilon
        return cls(tuple(whole(size=size, epsilon=epsilon) for size in sizes))

    @property
    def epsilon(self) -> float:
        return self.responses[0].epsilon


class RadixWraps(JointReport):
    """The weights of the mixed radix are those of the attributes in the wrong order."""

    def numbers(self, values: ArrayLike) -> Symbols:
        records = np.asarray(values)
        weights = np.array([math.prod(self.sizes[:place]) for place in range(len(self.sizes))])
        numbers: Symbols = records @ weights[::-1] % math.prod(self.sizes)
        return numbers


class AsPrinted(OrderedDiscretePerturbation):
    """The papers' ODA: the minimum falls into class 0 of classes that begin at 1."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        bounds = self.discretizer.attribute
        assert isinstance(bounds, Continuous)
        width = (bounds.high - bounds.low) / self.outcomes
        numbers = np.clip(np.asarray(values), bounds.low, bounds.high)
        classes = np.ceil((numbers - bounds.low) / width).astype(np.int64) - 1
        reports = self.response.randomize(np.maximum(classes, 0), source)
        kept_outside = (classes < 0) & (reports.symbols == 0)
        told = np.where(kept_outside, -1, reports.symbols)
        return Reports(symbols=told, simulation=reports.simulation)


class ImpossibleOutcome(FiniteChannel):
    """One input has a report that no other input can have."""

    epsilon = 1.0
    report_bits = 2
    outcomes = 3

    def inputs(self) -> Symbols:
        return np.arange(2)

    def outcome(self, reports: Reports) -> Symbols:
        told: Symbols = reports.symbols
        return told

    def exact_channel(self) -> list[list[Fraction]]:
        half = Fraction(1, 2)
        return [[half, half, Fraction(0)], [half, Fraction(1, 4), Fraction(1, 4)]]

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        held = np.asarray(values)
        four = source.below(4, len(held)).astype(np.int64)
        told = np.where(held == 0, four // 2, np.array([0, 0, 1, 2])[four])
        return Reports(symbols=told, simulation=source.simulation)


@dataclass(frozen=True)
class Planted:
    """A defect, made, and the check that must name it."""

    mechanism: FiniteChannel
    caught_by: str


AGE = Continuous("age", low=0, high=100)

PLANTED = {
    "last bit unrandomised": Planted(
        LastBitUnrandomised.optimised(size=5, epsilon=1.0), "check_sampler"
    ),
    "bits share one coin": Planted(
        BitsShareOneCoin.symmetric(size=4, epsilon=1.0), "check_sampler"
    ),
    "off-by-one class": Planted(OffByOneClass.for_epsilon(size=5, epsilon=1.0), "check_sampler"),
    "no wrap-around": Planted(NoWrapAround.for_epsilon(size=5, epsilon=1.0), "check_sampler"),
    "wrong denominator in the sampler": Planted(
        LiesAmongAllSymbols.for_epsilon(size=5, epsilon=1.0), "check_sampler"
    ),
    "wrong denominator in the channel": Planted(
        ChannelWithWrongDenominator.for_epsilon(size=5, epsilon=1.0), "check_rows_sum_to_one"
    ),
    "epsilon halved": Planted(EpsilonHalved.for_epsilon(size=5, epsilon=1.0), "check_epsilon"),
    "float bias of one part in 200": Planted(
        KeepsTruthTooOften.for_epsilon(size=5, epsilon=1.0), "check_sampler"
    ),
    "truth kept more often for the largest symbol": Planted(
        KeepsLargestTooOften.for_epsilon(size=5, epsilon=1.0), "check_sampler"
    ),
    "truth kept always at the last input": Planted(
        TruthAtTheLastInput.for_epsilon(size=5, epsilon=1.0), "check_attack"
    ),
    "noise reused across rows": Planted(
        NoiseReusedAcrossRows.for_epsilon(size=5, epsilon=1.0), "check_independence"
    ),
    "last row of each chunk unrandomised": Planted(
        LastRowOfEachChunkTold.for_epsilon(size=5, epsilon=1.0), "check_positions"
    ),
    "single row unrandomised": Planted(
        SingleRowTold.for_epsilon(size=5, epsilon=1.0), "check_positions"
    ),
    "seed reused across chunks": Planted(
        SeedReusedAcrossChunks.for_epsilon(size=5, epsilon=1.0), "check_independence"
    ),
    "seed reused across calls": Planted(
        SeedReusedAcrossCalls.for_epsilon(size=5, epsilon=1.0), "check_independence"
    ),
    "hit and miss swapped in the estimator": Planted(
        HitAndMissSwapped.for_epsilon(size=5, epsilon=1.0), "check_unbiased"
    ),
    "variance understated": Planted(
        VarianceUnderstated.for_epsilon(size=5, epsilon=1.0), "check_variance"
    ),
    "subset not sorted, the own symbol first": Planted(
        OwnSymbolFirst.with_width(size=6, width=2, epsilon=1.0), "check_attack"
    ),
    "hash function fixed": Planted(HashFixed.for_epsilon(size=6, epsilon=1.0), "check_sampler"),
    "Hadamard zero row used": Planted(
        ZeroRowUsed.for_epsilon(size=6, epsilon=1.0), "check_sampler"
    ),
    "budget not split": Planted(
        BudgetNotSplit.for_epsilon(sizes=(2, 3), epsilon=1.0), "check_epsilon"
    ),
    "mixed radix wraps": Planted(
        RadixWraps.for_epsilon(sizes=(2, 3), epsilon=3.0), "check_sampler"
    ),
    "symbol outside the alphabet at the minimum": Planted(
        AsPrinted.for_epsilon(attribute=AGE, classes=4, epsilon=1.0), "check_raw_values"
    ),
    "outcome possible for one input only": Planted(ImpossibleOutcome(), "check_epsilon"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_audit_catches_the_planted_defect(name: str) -> None:
    planted = PLANTED[name]
    found = audit(planted.mechanism, simulation(2026))
    assert found.verdict == "broken"
    assert planted.caught_by in {each.check for each in found.findings if not each.passed}


def test_a_claim_that_is_smaller_than_the_truth_is_caught() -> None:
    honest = GeneralizedRandomizedResponse(size=2, keep_words=WORDS * 3 // 4)
    found = audit(honest, simulation(2026), claimed=0.5)
    assert {"check_epsilon", "check_attack"} == {
        each.check for each in found.findings if not each.passed
    }
