"""The privacy of an owner's report to a new archive: its exact channel, row by row.

What is expected is written down here a second time, from the definition and in numbers of its own:
a draw of attributes, and for each of them one mechanism with its share of the budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import ParameterError, RecordError, simulation
from supm._random import RandomSource
from supm.audit import (
    audit,
    check_channel,
    check_epsilon,
    check_inputs,
    check_mark,
    check_rows_sum_to_one,
    check_sampler,
    exact_epsilon,
)
from supm.mechanisms import GeneralizedRandomizedResponse as Response
from supm.mechanisms import Laplace, Reports
from supm.schema import Attribute, Categorical, Continuous, Ordinal
from supm.synthesis import Archive, ArchiveSchema
from supm.synthesis.collecting import Collection

AGE = Continuous("age", low=0, high=100)
HEIGHT = Continuous("height", low=-1, high=1)
ILL = Categorical("ill", values=("no", "yes"))
STAGE = Ordinal("stage", values=("I", "II", "III"))

CASES: dict[str, tuple[tuple[Attribute, ...], int, float]] = {
    "a pair of 3, mixed": ((AGE, ILL, STAGE), 2, 1.0),
    "all 3, mixed": ((AGE, ILL, STAGE), 3, 1.0),
    "a pair of 4 classes": ((ILL, STAGE, Categorical("ward", values=("n", "s")), AGE), 2, 4.0),
    "a pair of 2 numbers": ((AGE, HEIGHT), 2, 0.01),
    "3 of 4": ((ILL, HEIGHT, STAGE, Categorical("b", values=("x", "y"))), 3, 6.0),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def small(attributes: tuple[Attribute, ...], asked: int, budget: float) -> Collection:
    return Collection(attributes=attributes, asked=asked, budget=budget, steps=2)


def row_of(part: Any, held: int) -> list[float]:
    """Return the probabilities of one attribute's reports, from the definition of its mechanism."""
    grown = math.exp(part.epsilon)
    if isinstance(part, Response):
        return [
            (grown if held == told else 1) / (grown + part.size - 1) for told in range(part.size)
        ]
    cells = part.steps + part.window
    inside = range(held, held + part.window)
    whole = grown * part.window + part.steps
    return [(grown if told in inside else 1) / whole for told in range(cells)]


@every_case
def test_every_row_of_the_exact_channel_is_that_of_the_definition(case: Any) -> None:
    asked = small(*case)
    sizes = [getattr(each, "size", 3) for each in asked.parts]
    draws = list(combinations(range(len(sizes)), asked.asked))
    records = list(product(*map(range, sizes)))
    channel = asked.exact_channel()
    assert len(channel) == len(records) == len(asked.inputs())
    for row, held in zip(channel, records, strict=True):
        wanted = [
            math.prod(chances) / len(draws)
            for drawn in draws
            for chances in product(*(row_of(asked.parts[each], held[each]) for each in drawn))
        ]
        assert sum(row) == 1
        assert [float(each) for each in row] == pytest.approx(wanted, rel=1e-9)


@every_case
def test_the_whole_output_of_an_owner_keeps_the_budget_of_the_record(case: Any) -> None:
    asked = small(*case)
    exact = exact_epsilon(asked.exact_channel())
    assert exact <= asked.epsilon <= case[2]
    assert exact == pytest.approx(case[2], rel=1e-9)
    assert asked.guarantee.epsilon == asked.epsilon


@every_case
def test_the_smallest_and_the_largest_record_are_as_hard_to_tell_apart(case: Any) -> None:
    channel = small(*case).exact_channel()
    ends = [channel[0], channel[-1]]
    assert exact_epsilon(ends) <= case[2]
    assert exact_epsilon(ends) == pytest.approx(case[2], rel=1e-9)


@every_case
def test_the_sampler_obeys_the_channel_for_every_record(case: Any) -> None:
    asked = small(*case)
    found = [
        check_inputs(asked),
        check_rows_sum_to_one(asked),
        check_channel(asked),
        check_epsilon(asked),
        check_sampler(asked, simulation(1), draws=4096),
        check_mark(asked),
    ]
    assert [str(each) for each in found if not each.passed] == []


@dataclass(frozen=True, kw_only=True)
class Careless(Collection):
    """Gives every part the whole budget, and claims it once."""

    @property
    def parts(self) -> tuple[Any, ...]:
        whole = Collection(
            attributes=self.attributes, asked=2, budget=2 * self.budget, steps=self.steps
        )
        return whole.parts

    @property
    def epsilon(self) -> float:
        return self.budget


@dataclass(frozen=True, kw_only=True)
class Peeking(Collection):
    """Draws the first two attributes where the first one is at its upper bound."""

    def randomize(self, values: Any, source: RandomSource) -> Reports:
        told = super().randomize(values, source)
        high = np.flatnonzero(np.asarray(values)[:, 0] == 100)
        told.symbols[high, :2] = (0, 1)
        told.symbols[high, 2:] %= 2
        return told


@dataclass(frozen=True, kw_only=True)
class Truthful(Collection):
    """Tells a record at the lower bound as it is."""

    def randomize(self, values: Any, source: RandomSource) -> Reports:
        told = super().randomize(values, source)
        low = (np.asarray(values)[:, 0] == 0) & (told.symbols[:, 0] == 0)
        told.symbols[low, 2] = 0
        return told


BROKEN: dict[str, Any] = {"attributes": (AGE, ILL, STAGE), "asked": 2, "budget": 1.0, "steps": 2}


def test_the_audit_catches_parts_that_spend_the_whole_budget() -> None:
    found = check_epsilon(Careless(**BROKEN))
    assert not found.passed
    assert found.statistic == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("broken", [Peeking, Truthful])
def test_the_audit_catches_a_sampler_that_looks_at_the_record(broken: type[Collection]) -> None:
    assert not check_sampler(broken(**BROKEN), simulation(1), draws=4096).passed


@pytest.mark.parametrize("budget", [0.1, 0.7, 1.0, 1 / 3, 2.2, 5.0, 40.0])
@pytest.mark.parametrize("noise", ["laplace", "piecewise"])
@pytest.mark.parametrize("asked", [2, 3, 7])
def test_the_parts_never_add_up_to_more_than_the_budget(
    budget: float, noise: Any, asked: int
) -> None:
    numbers = [Continuous(f"x{place}", low=0, high=1) for place in range(5)]
    attributes: tuple[Attribute, ...] = (*numbers, ILL, STAGE)
    made = Collection(attributes=attributes, asked=asked, budget=budget, noise=noise)
    assert made.epsilon <= budget
    assert made.epsilon == pytest.approx(budget, rel=1e-9)


def test_laplace_reports_keep_the_ratio_at_both_ends_of_the_range() -> None:
    made = Collection(attributes=(AGE, HEIGHT), asked=2, budget=2.0, noise="laplace", steps=4)
    for part in made.parts:
        assert isinstance(part, Laplace)
        told = np.arange(part.alphabet[0], part.alphabet[1] + 1)
        ends = [part.probability(index, told) for index in (0, part.steps)]
        ratio = np.abs(np.log(ends[0] / ends[1])).max()
        assert ratio == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("noise", ["laplace", "piecewise"])
def test_reports_become_an_archive_with_empty_cells_where_nobody_asked(noise: Any) -> None:
    attributes = (AGE, HEIGHT, ILL)
    made = Collection(attributes=attributes, asked=2, budget=80.0, noise=noise, steps=1 << 16)
    held = np.array([[30.0, 0.5, 1.0]] * 3000)
    archive = made.archive(made.randomize(held, simulation(3)), target="ill")
    assert (archive.schema.asked, archive.schema.target, archive.rows) == (2, "ill", 3000)
    table = archive.table()
    asked = np.column_stack([_told(column) for column in table.values()])
    assert (asked.sum(axis=1) == 2).all()
    pairs = [int((asked[:, i] & asked[:, j]).sum()) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert pairs == pytest.approx([1000] * 3, abs=120)
    assert np.nanmean(archive.unbiased("age")) == pytest.approx(30, abs=1)
    assert np.nanmean(archive.unbiased("height")) == pytest.approx(0.5, abs=0.02)
    assert archive.class_counts("ill")[1] == pytest.approx(int(asked[:, 2].sum()), abs=1)
    again = Archive.read(table, ArchiveSchema.from_json(archive.schema.to_json()))
    assert all(
        np.array_equal(again.reports[k], v, equal_nan=v.dtype.kind == "f")
        for k, v in archive.reports.items()
    )


def _told(column: NDArray[Any]) -> list[bool]:
    return [
        cell is not None and not (isinstance(cell, float) and math.isnan(cell)) for cell in column
    ]


@every_case
@pytest.mark.parametrize("noise", ["laplace", "piecewise"])
def test_the_schema_states_the_budget_of_the_record_and_never_more(case: Any, noise: Any) -> None:
    attributes, asked, budget = case
    made = Collection(attributes=attributes, asked=asked, budget=budget, noise=noise)
    assert made.schema().epsilon <= budget
    assert made.schema().epsilon == pytest.approx(budget, rel=1e-9)


@pytest.mark.parametrize("noise", ["laplace", "piecewise"])
@pytest.mark.parametrize("budget", [3e-5, 100.0, 1e4])
def test_the_smallest_and_the_largest_budgets_are_kept_too(noise: Any, budget: float) -> None:
    made = Collection(attributes=(AGE, ILL, STAGE), asked=3, budget=budget, noise=noise)
    assert made.schema().epsilon <= budget
    assert made.epsilon <= budget
    if noise == "piecewise":
        few = small((AGE, ILL, STAGE), 3, budget)
        assert exact_epsilon(few.exact_channel()) <= few.epsilon <= budget


def test_the_whole_audit_calls_the_promise_true_and_nearly_breaks_it() -> None:
    found = audit(small((AGE, ILL), 2, 1.0), simulation(1))
    assert found.verdict == "true"
    assert found.lower_bound is not None
    assert found.exact is not None
    assert 0.95 < found.lower_bound <= found.exact <= 1.0


@pytest.mark.parametrize("noise", ["laplace", "piecewise"])
@pytest.mark.parametrize("share", [0.3, 2.0, 8.0])
def test_the_law_in_the_schema_is_that_of_the_mechanism(noise: Any, share: float) -> None:
    made = Collection(attributes=(AGE, HEIGHT), asked=2, budget=2 * share, noise=noise)
    part, column = made.parts[0], made.schema().numbers[0]
    assert not isinstance(part, Response)
    for value in (0.0, 12.5, 50.0, 100.0):
        assert column.mechanism.noise_variance(value, 0.0) == pytest.approx(
            part.variance(value), rel=0.01
        )


def test_numbers_and_classes_are_encoded_by_the_schema() -> None:
    made = Collection(attributes=(AGE, ILL), asked=2, budget=1.0)
    rows = made.encode({"age": [20, 120], "ill": ["yes", "no"], "other": [1, 2]})
    assert rows.tolist() == [[20.0, 1.0], [100.0, 0.0]]
    with pytest.raises(ParameterError, match="columns must be with 'ill'"):
        made.encode({"age": [20]})


@pytest.mark.parametrize(
    "rows",
    [
        [[20.0]],
        [20.0, 1.0],
        [[101.0, 1.0]],
        [[math.nan, 1.0]],
        [[20.0, 2.0]],
        [[20.0, 0.5]],
        [["20", "1"]],
    ],
)
def test_a_record_that_is_not_described_is_refused_and_not_shown(rows: Any) -> None:
    made = Collection(attributes=(AGE, ILL), asked=2, budget=1.0)
    with pytest.raises(RecordError) as refusal:
        made.randomize(rows, simulation(1))
    assert not any(each in str(refusal.value) for each in ("101", "0.5", "nan", "20"))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"asked": 1}, "asked must be a whole number in"),
        ({"asked": 3}, "asked must be a whole number in"),
        ({"budget": 1.9e-5}, r"budget must be a number in \[2e-05, 10000\]"),
        ({"noise": "gaussian"}, "noise must be laplace or piecewise"),
        ({"attributes": (AGE,)}, "attributes must be at least two"),
        ({"attributes": (AGE, AGE)}, "attributes must be at least two"),
        ({"attributes": (AGE, Ordinal("s", values=(1, 2), missing="class"))}, "s must be"),
    ],
)
def test_what_cannot_be_collected_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        Collection(**{"attributes": (AGE, ILL), "asked": 2, "budget": 1.0, **change})


def test_a_channel_that_cannot_be_listed_is_refused() -> None:
    made = Collection(attributes=(AGE, ILL), asked=2, budget=1.0, noise="laplace")
    with pytest.raises(ParameterError, match="finitely many reports"):
        made.exact_channel()


def test_a_number_of_the_exact_channel_is_a_fraction() -> None:
    channel = small(*CASES["a pair of 3, mixed"]).exact_channel()
    assert all(isinstance(each, Fraction) for row in channel for each in row)


def test_longer_reports_take_more_bits() -> None:
    two, three = (small((AGE, ILL, STAGE), asked, 1.0) for asked in (2, 3))
    assert (two.width, three.width) == (4, 6)
    assert two.report_bits == 2 + 2 + 2
    assert three.report_bits == 0 + 2 + 2 + 1


def outcome_numbers(asked: Collection, told: NDArray[np.int64]) -> list[int]:
    return [int(each) for each in asked.outcome(Reports(symbols=told, simulation=True))]


def test_every_report_has_a_number_of_its_own() -> None:
    asked = small(*CASES["a pair of 3, mixed"])
    outcomes = [asked.parts[place].outcomes for place in range(3)]  # type: ignore[union-attr]  # none is Laplace here
    told = [
        (*drawn, *symbols)
        for drawn in combinations(range(3), 2)
        for symbols in product(*(range(outcomes[place]) for place in drawn))
    ]
    assert outcome_numbers(asked, np.array(told)) == list(range(asked.outcomes))
