"""Sampled reports are counted by pairs of what each tells: exactly, in any order, or not at all."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from supm import ParameterError, simulation
from supm.collection import count, plan
from supm.mechanisms import Reports, Tally
from supm.owner import interview
from supm.owner.sampled import SampledInterview
from supm.schema import Categorical, Continuous, Ordinal, Schema

ATTRIBUTES = (
    Continuous("age", low=0, high=90),
    Ordinal("stage", values=("I", "II", "III"), missing="class"),
    Categorical("ward", values=("north", "south")),
    Categorical("diet", values=("a", "b", "c")),
)
ILL = Categorical("ill", values=("no", "yes", "unsure"))
COST = Continuous("cost", low=0, high=9)


def asked_for(sampled: int, target: Any = ILL, **wishes: Any) -> SampledInterview:
    schema = Schema(attributes=ATTRIBUTES, target=target)
    asked = interview(plan(schema, epsilon=2.0, classes=3, told=sampled, **wishes), "train")
    assert isinstance(asked, SampledInterview)
    return asked


def reports_of(asked: SampledInterview, people: int) -> Reports:
    rows = asked.inputs()
    drawn = simulation(7).below(len(rows), people).astype(np.int64)
    return asked.randomize(rows[drawn], simulation(8))


def by_hand(asked: SampledInterview, reports: Reports) -> list[list[list[int]]]:
    """Go through reports one by one, and count each two things that one of them tells."""
    apart = asked.target is None and asked.sampled > 1
    labels = [[each] for each in range(asked.labels or 0)] if apart else [[*range(9)]]
    rows = reports.symbols.tolist()
    return [_table(asked, [row for row in rows if row[-1] in label]) for label in labels]


def _table(asked: SampledInterview, rows: list[list[int]]) -> list[list[int]]:
    names: list[tuple[int | str, int]] = [
        (place, each) for place, size in enumerate(asked.sizes) for each in range(size)
    ]
    names += [("label", each) for each in range(asked.labels or 0)]
    table = {(one, two): 0 for one in names for two in names}
    for row in rows:
        places, classes = row[: asked.sampled], row[asked.sampled : -1]
        told: set[tuple[int | str, int]] = {*zip(places, classes, strict=True), ("label", row[-1])}
        for one in told:
            for two in told:
                table[one, two] += 1
    return [[table[one, two] for two in names] for one in names]


@pytest.mark.parametrize("target", [ILL, COST], ids=["labels", "number"])
@pytest.mark.parametrize("sampled", [1, 2, 3, 4])
def test_counts_are_those_of_going_through_the_reports(sampled: int, target: Any) -> None:
    asked = asked_for(sampled, target)
    reports = reports_of(asked, 400)
    tally = count(asked, reports)
    assert isinstance(tally, Tally)
    assert tally.counts.dtype == np.int64
    assert tally.counts.tolist() == by_hand(asked, reports)
    assert (tally.reports, tally.simulation) == (400, True)
    # What a person tells with itself: each attribute as often as it was drawn, the label always.
    own = np.diag(tally.counts.sum(axis=0))
    assert own[sum(asked.sizes) :].sum() == 400
    assert own[: sum(asked.sizes)].sum() == 400 * sampled


def test_the_order_of_reports_and_of_merging_does_not_matter() -> None:
    asked = asked_for(2)
    reports = reports_of(asked, 300)
    whole = count(asked, reports)
    mixed = reports.symbols[simulation(1).permutation(300)]
    assert isinstance(whole, Tally)
    assert (count(asked, Reports(symbols=mixed, simulation=True)).counts == whole.counts).all()
    cuts = np.split(reports.symbols, [1, 120])
    parts: list[Any] = [count(asked, Reports(symbols=each, simulation=True)) for each in cuts]
    for one, two, three in permutations(parts):
        merged = one + two + three
        assert (merged.counts == whole.counts).all()
        assert merged.reports == 300


def test_what_is_kept_is_as_large_for_many_people_as_for_one() -> None:
    asked = asked_for(2)
    few, many = (count(asked, reports_of(asked, people)) for people in (1, 5000))
    assert few.counts.shape == many.counts.shape == (3, 15, 15)


@pytest.mark.parametrize(
    "stranger",
    [
        [0, 1, 3, 0, 0],  # "age" has three classes
        [1, 2, 0, 2, 0],  # "ward" has two
        [1, 2, 4, 0, 0],  # "stage" has three and one for a missing value
        [0, 4, 0, 0, 0],  # there are four attributes
        [1, 1, 0, 0, 0],
        [2, 1, 0, 0, 0],
        [0, 1, 0, 0, 3],
        [-1, 1, 0, 0, 0],
        [0, 1, -1, 0, 0],
        [0, 1, 0, 0, -1],
        [0, 1, 1 << 62, 0, 0],
    ],
)
def test_one_stranger_is_refused_with_the_whole_batch(stranger: list[int]) -> None:
    asked = asked_for(2)
    symbols = np.vstack((reports_of(asked, 20).symbols, [stranger]))
    assert count(asked, Reports(symbols=symbols[:-1], simulation=True)).reports == 20
    with pytest.raises(ParameterError, match="Refuse such a report") as caught:
        count(asked, Reports(symbols=symbols, simulation=True))
    assert str(1 << 62) not in str(caught.value)


def test_reports_without_a_label_have_nothing_to_be_counted_with() -> None:
    schema = Schema(attributes=ATTRIBUTES, target=ILL)
    asked = interview(plan(schema, epsilon=2.0, test="sample"), "test")
    told = asked.randomize(asked.inputs(), simulation(1))
    with pytest.raises(ParameterError, match="asks for the target too"):
        count(asked, told)
