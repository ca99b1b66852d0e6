"""Made-up people, and the counts that their reports add up to: on average exactly, or drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import simulation
from supm.collection.cards import moments_of
from supm.collection.counting import count, together_shape
from supm.learning import Moments
from supm.mechanisms import Reports, Tally
from supm.owner.sampled import SampledInterview
from supm.schema import Categorical, Continuous, Discretizer, EqualWidth, MergeModulo

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """A population that is known: the share of each combination of classes and label.

    Parameters
    ----------
    table : ndarray, one axis for each attribute, then one for the label
        The shares; where the target is a number, the last axis has its fine steps.
    asked : SampledInterview
        What they are asked.
    """

    table: Floats
    asked: SampledInterview

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.table.shape[:-1]

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """All combinations of classes and label, in the order of the table."""
        return np.array(list(np.ndindex(*self.table.shape)), dtype=np.int64)

    def indicators(self, labels: int) -> Floats:
        """Return one row for each combination: 1 for each of its classes and for its label."""
        starts = np.cumsum((0, *self.sizes))
        held = np.zeros((len(self.rows), int(starts[-1]) + labels))
        for place, start in enumerate(starts):
            held[np.arange(len(held)), start + self.rows[:, place]] = 1.0
        return held

    def truth(self) -> tuple[Floats, Floats]:
        """Return the true shares of classes and labels, and all their covariances."""
        held = self.indicators(self.table.shape[-1])
        shares = self.table.ravel() @ held
        second = held.T @ (self.table.ravel()[:, np.newaxis] * held)
        return shares, second - np.outer(shares, shares)

    def expected(self, reports: int) -> Moments:
        """Return the moments of counts that are those of so many reports on average."""
        symbols = _outcomes(self.asked)
        told = Reports(symbols=symbols, simulation=True)
        assert self.asked.outcome(told).tolist() == list(range(len(symbols)))
        chances = self.table.ravel() @ np.array(self.asked.exact_channel(), dtype=np.float64)
        together = np.zeros(together_shape(self.asked))
        for row, chance in zip(symbols, chances, strict=True):
            one = count(self.asked, Reports(symbols=row[np.newaxis], simulation=True))
            assert isinstance(one, Tally)
            together += chance * one.counts
        counts = np.rint(together * reports).astype(np.int64)
        return moments_of(self.asked, Tally(counts=counts, reports=reports, simulation=True))

    def drawn(self, reports: int, seed: int) -> Moments:
        """Return the moments of so many people who were drawn and asked."""
        source = simulation(seed)
        grid = (source.below(1 << 30, reports).astype(np.float64) + 0.5) / (1 << 30)
        held = np.searchsorted(self.table.ravel().cumsum(), grid * self.table.sum())
        return moments_of(
            self.asked, count(self.asked, self.asked.randomize(self.rows[held], source))
        )


def _outcomes(asked: SampledInterview) -> NDArray[np.int64]:
    rows = []
    for drawn in combinations(range(len(asked.sizes)), asked.sampled):
        sizes = [asked.sizes[place] for place in drawn]
        told = product(*(range(size) for size in (*sizes, asked.labels or 1)))
        rows += [[*drawn, *each] for each in told]
    return np.array(rows, dtype=np.int64)


def _discretizer(name: str, size: int, *, ordered: bool) -> Discretizer:
    if ordered:
        return EqualWidth(Continuous(name, low=0, high=1), classes=size)
    return MergeModulo(Categorical(name, values=tuple(range(size))), classes=size)


@pytest.fixture(scope="session")
def people_of() -> Callable[..., People]:
    """Return a maker of people: from their table, and from how they are asked."""

    def make(
        table: Floats,
        *,
        sampled: int,
        epsilon: float,
        ordered: bool = True,
        levels: int | None = None,
    ) -> People:
        target = None if levels is None else Continuous("y", low=-1, high=1)
        asked = SampledInterview(
            discretizers=tuple(
                _discretizer(f"x{place}", size, ordered=ordered)
                for place, size in enumerate(table.shape[:-1])
            ),
            sampled=sampled,
            labels=levels or table.shape[-1],
            target=target,
            share=Fraction(repr(epsilon)),
        )
        return People(table=table / table.sum(), asked=asked)

    return make
