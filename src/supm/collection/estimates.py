"""What counts of reports say about the people: histograms with confidence bands.

A report counts for a class with one mean if its owner is of the class and with another if not; both
means, and the spread about them, are known exactly from the mechanism. The share of the class is
the straight line between them, and its band is the set of shares that the counts do not contradict
(the score interval, which is Wilson's where a report counts for a class or does not).

Bands are pointwise: each covers the true share of its own class with 95 %, so that about one band
in twenty does not. They allow for the randomisation and for who happened to report, taking those
who did as a random sample of the people that the study is about. Nothing is clipped: where noise
puts an estimate or a bound outside [0, 1], it is shown there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Final

import numpy as np
from scipy.special import ndtri

from supm._validation import check_kind
from supm.collection.cards import moments_of
from supm.collection.counting import Counts, RowCounts
from supm.collection.features import Floats
from supm.mechanisms import GeneralizedRandomizedResponse, SubsetSelection, Tally
from supm.messages import Study
from supm.owner import Interview, JointInterview, SampledInterview, SeparateInterview, interview
from supm.owner.columns import Column
from supm.owner.joint import OwnInterview
from supm.schema import Continuous

CONFIDENCE: Final = 0.95
"""How often a band covers the true share of its class."""

_BAND: Final = (
    "Each band covers the true share of its class with 95 % (pointwise: about one in twenty does "
    "not). It allows for the randomisation and for who happened to report."
)
_NONE: Final = "No report of this phase is stored yet."
_NUMBERS: Final = "Reports of this phase tell numbers and not classes, so there is no histogram."
_ANSWERS: Final = "Reports of this phase are answered and not counted, so there is no histogram."
_DIGITS: Final = 6


def estimates(study: Study, phase: str, counts: Counts | None) -> dict[str, Any]:
    """Return estimated histograms of what a phase asked for, with bands.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import count, plan
    >>> from supm.owner import interview
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=4.0)
    >>> asked = interview(study, "train")
    >>> reports = asked.randomize(asked.encode(wdbc.records()), simulation(1))
    >>> found = estimates(study, "train", count(asked, reports))["histograms"]
    >>> len(found), found[-1]["name"], found[-1]["classes"]
    (31, 'diagnosis', ['benign', 'malignant'])
    """
    check_kind("study", study, Study)
    question = study.question(phase)
    told: dict[str, Any] = {
        "phase": phase,
        "form": None if question is None else question.form,
        "reports": 0 if counts is None else counts.reports,
        "confidence": CONFIDENCE,
        "band": _BAND,
        "note": "",
        "histograms": [],
    }
    if question is None:
        return told | {"note": f"The study asks nothing in the {phase} phase."}
    if counts is None or not counts.reports:
        return told | {"note": _NONE}
    if question.form in ("pw", "raw"):
        return told | {"note": _NUMBERS}
    if not question.labelled:
        return told | {"note": _ANSWERS}
    asked = interview(study, phase)
    evidence = _evidence(asked, counts)
    return told | {"histograms": _histograms(study, phase, evidence)}


def _histograms(study: Study, phase: str, evidence: list[_Evidence]) -> list[dict[str, Any]]:
    *parts, target = evidence
    shown = [
        _histogram(each.attribute.name, "attribute", list(each.labels), part)
        for each, part in zip(study.discretizers(phase), parts, strict=True)
    ]
    last = _histogram(study.schema.target.name, "target", _label_names(study), target)
    return [*shown, last]


def _histogram(name: str, kind: str, classes: list[str], part: _Evidence) -> dict[str, Any]:
    empty: list[None] = [None] * len(classes)
    shown: dict[str, Any] = {"name": name, "kind": kind, "told": part.reports, "classes": classes}
    if not part.reports:
        return shown | {"shares": empty, "low": empty, "high": empty, "outside": []}
    shares = part.shares()
    low, high = part.band(float(ndtri((1 + CONFIDENCE) / 2)))
    outside = (shares < 0) | (shares > 1)
    bounds = {"shares": shares, "low": low, "high": high}
    rounded = {key: np.round(held, _DIGITS).tolist() for key, held in bounds.items()}
    return shown | rounded | {"outside": outside.tolist()}


def _label_names(study: Study) -> list[str]:
    """Return the labels in words; a number's are the levels that it was rounded to at random."""
    target = study.schema.target
    if isinstance(target, Continuous):
        levels = target.unscaled(np.linspace(-1.0, 1.0, study.labels))
        return [f"{level:.4g}" for level in levels]
    return [str(value) for value in target.values]


@singledispatch
def _evidence(asked: Interview, counts: Counts) -> list[_Evidence]:
    """Return what the counts say about each attribute, and about the target last.

    A further form registers its own way; of one that does not, nothing is shown.
    """
    del asked, counts
    return []


@_evidence.register(JointInterview)
def _from_joint(asked: JointInterview, counts: Counts) -> list[_Evidence]:
    if isinstance(asked, OwnInterview) or not isinstance(counts, Tally):
        return []
    return _of_sets(asked.randomizer, asked.sizes, counts)


@_evidence.register(SeparateInterview)
def _from_columns(asked: SeparateInterview, counts: Counts) -> list[_Evidence]:
    counted = _column_counts(asked, counts)
    return [
        _Evidence.of_indicators(told, *_hit_and_miss(column))
        for column, told in zip(asked.all_columns, counted, strict=True)
    ]


def _hit_and_miss(column: Column) -> tuple[float, float]:
    """Return how often a class is told by its own people, and by each of the others."""
    known = column.randomizer
    if isinstance(known, GeneralizedRandomizedResponse):
        return float(known.hit), float(known.miss)
    return 1.0, 0.0


@_evidence.register(SampledInterview)
def _from_pairs(asked: SampledInterview, counts: Counts) -> list[_Evidence]:
    moments = moments_of(asked, counts)
    starts = np.cumsum(moments.sizes)[:-1]
    frequencies = np.split(moments.tables.sum(axis=1), starts)
    found = [
        _even_noise(each, float(slope))
        for each, slope in zip(frequencies, moments.gaps.single, strict=True)
    ]
    labels = np.diag(moments.together)[moments.classes :].astype(np.float64)
    return [*found, _even_noise(labels, moments.gaps.overall)]


def _even_noise(told: Floats, slope: float) -> _Evidence:
    """Return the evidence of reports that are the truth with a probability, else any class."""
    other = (1.0 - slope) / len(told)
    return _Evidence.of_indicators(told, own=slope + other, other=other)


def _column_counts(asked: SeparateInterview, counts: Counts) -> list[Floats]:
    """Return how often each column told each of its symbols."""
    sizes = [column.randomizer.outcomes for column in asked.all_columns]
    if isinstance(counts, RowCounts):
        return [
            np.bincount(symbols, weights=counts.counts, minlength=size).astype(np.float64)
            for symbols, size in zip(counts.rows.T, sizes, strict=True)
        ]
    if asked.sampled is not None:
        tables = counts.counts.astype(np.float64)
        attributes = [table.sum(axis=1)[:size] for table, size in zip(tables, sizes, strict=False)]
        # Each report tells its label once for every attribute that it tells.
        return [*attributes, tables.sum(axis=(0, 1)) / asked.sampled]
    cells = counts.counts.reshape(sizes).astype(np.float64)
    axes = range(len(sizes))
    return [cells.sum(axis=tuple(other for other in axes if other != one)) for one in axes]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Evidence:
    """The mean of what reports count for each class of one attribute."""

    means: Floats
    reports: int
    own: float
    other: float
    own_spread: float
    other_spread: float

    @classmethod
    def of_indicators(cls, told: Floats, own: float, other: float) -> _Evidence:
        """Return the evidence of reports that each tell one class."""
        reports = round(float(told.sum()))
        return cls(
            means=told / max(reports, 1),
            reports=reports,
            own=own,
            other=other,
            own_spread=own * (1.0 - own),
            other_spread=other * (1.0 - other),
        )

    def shares(self) -> Floats:
        """Return the unbiased estimate of each share."""
        return (self.means - self.other) / (self.own - self.other)

    def band(self, deviations: float) -> tuple[Floats, Floats]:
        """Return the smallest and largest share within so many deviations of what was counted.

        The variance is taken at the share that is tried, so the bounds solve a square equation; at
        few reports it may have no solution, and the variance is then that of the nearest share.
        """
        gap, tried = self.own - self.other, deviations**2 / self.reports
        away = self.means - self.other
        mixed = gap**2 + self.own_spread - self.other_spread
        square = gap**2 * (1.0 + tried)
        half = away * gap + tried * mixed / 2.0
        inside = half**2 - square * (away**2 - tried * self.other_spread)
        middle = np.where(inside >= 0, half / square, away / gap)
        reach = np.where(inside >= 0, np.sqrt(np.maximum(inside, 0.0)) / square, self._plain(tried))
        return middle - reach, middle + reach

    def _plain(self, tried: float) -> Floats:
        share = np.clip(self.shares(), 0.0, 1.0)
        gap = self.own - self.other
        people = share * (1.0 - share) * gap**2
        noise = share * self.own_spread + (1.0 - share) * self.other_spread
        return np.sqrt(tried * (people + noise)) / abs(gap)


def _of_sets(randomizer: SubsetSelection, sizes: Sequence[int], tally: Tally) -> list[_Evidence]:
    """Return the evidence of reports that name a set of cells, for each axis of the table."""
    table = tally.counts.reshape(tuple(sizes)).astype(np.float64)
    axes = range(len(sizes))
    found = []
    for axis in axes:
        named = table.sum(axis=tuple(other for other in axes if other != axis))
        cells = math.prod(sizes) // sizes[axis]
        found.append(_named(randomizer, cells, named / tally.reports, tally.reports))
    return found


def _named(randomizer: SubsetSelection, cells: int, means: Floats, reports: int) -> _Evidence:
    """Return how many cells of a class a report names, where the class has so many."""
    own, own_square = _counted(randomizer, cells, holds=True)
    other, other_square = _counted(randomizer, cells, holds=False)
    return _Evidence(
        means=means,
        reports=reports,
        own=own,
        other=other,
        own_spread=own_square - own**2,
        other_spread=other_square - other**2,
    )


def _counted(randomizer: SubsetSelection, cells: int, *, holds: bool) -> tuple[float, float]:
    """Return the mean and mean square of how many of these cells a report names."""
    hit, width = float(randomizer.hit), randomizer.width
    rest, others = randomizer.size - 1, cells - holds
    with_own = _drawn(rest, others, width - 1, more=int(holds))
    without = _drawn(rest, others, width, more=0)
    first, second = (
        hit * one + (1.0 - hit) * two for one, two in zip(with_own, without, strict=True)
    )
    return first, second


def _drawn(population: int, marked: int, drawn: int, *, more: int) -> tuple[float, float]:
    """Return mean and mean square of marked ones among those drawn without replacement."""
    share = marked / population
    left = (population - drawn) / max(population - 1, 1)
    mean, variance = drawn * share, drawn * share * (1.0 - share) * left
    return mean + more, variance + (mean + more) ** 2
