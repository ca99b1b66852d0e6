"""Counts add up exactly: any split of the owners, any order of merging, any form of report."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supm import ParameterError, simulation
from supm.collection import Counts, RowCounts, count, plan
from supm.collection.counting import _add_up
from supm.mechanisms import Piecewise, PublicGrid, Reports, Tally
from supm.messages import Trust
from supm.owner import Interview, SeparateInterview, interview
from supm.owner.columns import Numbers

REDUCE = [("reduce", form) for form in ("wa", "pw", "waldp", "rank")]
TRAIN = [("train", form) for form in ("odp", "oda", "joint", "sample", "pw", "raw")]
TEST = [("test", form) for form in ("odp", "oda", "joint", "pw", "raw")]
QUESTIONS = [*REDUCE, *TRAIN, *TEST]
TRUSTED = Trust.parse("t,t,t")


def _ask(people: Any, phase: str, form: str) -> tuple[Interview, Reports]:
    names = None if phase == "reduce" else ["strong", "weak", "sex"]
    keep = 2 if phase == "reduce" else None
    wish: dict[str, Any] = {phase: form}
    study = plan(
        people.schema, epsilon=6.0, trust=TRUSTED, attributes=names, keep=keep, classes=3, **wish
    )
    asked = interview(study, phase)
    return asked, asked.randomize(asked.encode(people.records), simulation(5))


def _some(reports: Reports, rows: Any) -> Reports:
    return Reports(symbols=reports.symbols[rows], simulation=reports.simulation)


def _same(left: Counts, right: Counts) -> bool:
    if isinstance(left, RowCounts):
        assert isinstance(right, RowCounts)
        rows = np.array_equal(left.rows, right.rows)
        return rows and np.array_equal(left.counts, right.counts)
    assert isinstance(right, Tally)
    assert left.counts.dtype == right.counts.dtype == np.int64
    return np.array_equal(left.counts, right.counts) and left.reports == right.reports


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize(("phase", "form"), QUESTIONS)
def test_any_split_merged_in_any_order_gives_the_same_counts(
    make_people: Any, phase: str, form: str, labels: int
) -> None:
    asked, reports = _ask(make_people(200, labels=labels), phase, form)
    whole = count(asked, reports)
    assert whole.reports == 200
    for seed in (1, 2):
        part = simulation(seed).below(3, 200)
        parts: list[Any] = [
            count(asked, _some(reports, np.flatnonzero(part == each))) for each in range(3)
        ]
        for a, b, c in itertools.permutations(parts):
            assert _same((a + b) + c, whole)
            assert _same(a + (b + c), whole)


@pytest.mark.parametrize(("phase", "form"), QUESTIONS)
def test_one_report_at_a_time_and_any_type_of_number_count_alike(
    make_people: Any, phase: str, form: str
) -> None:
    asked, reports = _ask(make_people(30), phase, form)
    whole = count(asked, reports)
    singles: Any = [count(asked, _some(reports, [row])) for row in range(30)]
    assert _same(sum(singles[1:], singles[0]), whole)
    for kind in (np.uint32, np.int32, np.uint64):
        cast = Reports(symbols=reports.symbols.astype(kind), simulation=True)
        assert _same(count(asked, cast), whole)


@pytest.mark.parametrize(
    ("phase", "form"), [*REDUCE, *((p, f) for p, f in TRAIN if f not in ("pw", "raw"))]
)
def test_what_is_kept_does_not_grow_with_people(make_people: Any, phase: str, form: str) -> None:
    few, many = (count(*_ask(make_people(rows), phase, form)) for rows in (10, 1000))
    assert isinstance(few, Tally)
    assert isinstance(many, Tally)
    assert few.counts.shape == many.counts.shape
    assert few.counts.nbytes == many.counts.nbytes


def test_whole_answers_are_counted_by_cell_and_label(make_people: Any) -> None:
    asked, reports = _ask(make_people(500, labels=3), "train", "odp")
    tally = count(asked, reports)
    assert isinstance(tally, Tally)
    assert tally.counts.shape == (3 * 3 * 2, 3)
    table = tally.counts.reshape(3, 3, 2, 3)
    expected = Counter(map(tuple, reports.symbols.tolist()))
    assert {cell: int(table[cell]) for cell in np.ndindex(table.shape) if table[cell]} == expected


def test_numbers_are_kept_as_distinct_rows(make_people: Any) -> None:
    asked, reports = _ask(make_people(500), "train", "pw")
    kept = count(asked, reports)
    assert isinstance(kept, RowCounts)
    expected = Counter(map(tuple, reports.symbols.tolist()))
    found = zip(map(tuple, kept.rows.tolist()), kept.counts.tolist(), strict=True)
    assert dict(found) == expected


def test_tables_of_the_reduce_phase_hold_each_attribute_by_itself(make_people: Any) -> None:
    people = make_people(300)
    asked, reports = _ask(people, "reduce", "waldp")
    tally = count(asked, reports)
    assert isinstance(tally, Tally)
    expected: Counter[tuple[int, ...]] = Counter()
    for first, second, one, two, label in reports.symbols.tolist():
        expected[first, one, label] += 1
        expected[second, two, label] += 1
    cells = np.ndindex(tally.counts.shape)
    assert {cell: int(tally.counts[cell]) for cell in cells if tally.counts[cell]} == expected


@pytest.mark.parametrize("labels", [2, 3])
def test_sums_of_the_reduce_phase_are_those_of_whole_numbers(make_people: Any, labels: int) -> None:
    asked, reports = _ask(make_people(300, labels=labels), "reduce", "pw")
    tally = count(asked, reports)
    assert isinstance(tally, Tally)
    expected = np.zeros(tally.counts.shape, dtype=object)
    for first, second, one, two, label in reports.symbols.tolist():
        for place, told in ((first, one), (second, two)):
            if labels == 2:
                row = (1, told, told**2, label, label**2, told * label)
                expected[place] += np.array(row, dtype=object)
            else:
                expected[place, label] += np.array((1, told, told**2), dtype=object)
    assert (tally.counts == expected).all()


def test_sums_beyond_what_a_double_holds_are_exact() -> None:
    amounts = np.array([2**53 - 1, 1, 1, 7, 2**53 - 2])
    found = _add_up(np.array([0, 0, 0, 1, 1]), amounts, 3)
    assert found.tolist() == [2**53 + 1, 2**53 + 5, 0]


def test_a_grid_too_fine_for_exact_sums_is_refused(make_people: Any) -> None:
    people = make_people(5)
    study = plan(people.schema, epsilon=4.0, reduce="pw", keep=2)
    fine = replace(study.questions[0], steps=1 << 20)
    with pytest.raises(ParameterError, match="steps must be at most"):
        replace(study, questions=(fine, *study.questions[1:]))
    asked = interview(study, "reduce")
    assert isinstance(asked, SeparateInterview)
    grid = PublicGrid(low=-1, high=1, steps=1 << 20)
    number = Piecewise.with_window(grid, 1, 1.0)
    columns = tuple(Numbers(attribute=each, randomizer=number) for each in people.schema.attributes)
    fine_asked = replace(asked, columns=columns)
    reports = fine_asked.randomize(fine_asked.encode(people.records), simulation(1))
    with pytest.raises(ParameterError, match="Use fewer steps"):
        count(fine_asked, reports)


@pytest.mark.parametrize(("phase", "form"), QUESTIONS)
@pytest.mark.parametrize("value", [-1, 2**31, 2**62])
def test_a_symbol_outside_the_alphabet_is_refused_with_the_whole_batch(
    make_people: Any, phase: str, form: str, value: int
) -> None:
    asked, reports = _ask(make_people(20), phase, form)
    for place in range(asked.width):
        symbols = reports.symbols.copy()
        symbols[7, place] = value
        with pytest.raises(ParameterError, match="reports must be") as caught:
            count(asked, Reports(symbols=symbols, simulation=True))
        assert str(value) not in str(caught.value)


@pytest.mark.parametrize(("phase", "form"), QUESTIONS)
def test_what_is_no_table_of_whole_numbers_is_refused(
    make_people: Any, phase: str, form: str
) -> None:
    asked, reports = _ask(make_people(20), phase, form)
    told = reports.symbols
    strangers = [told[:, :-1], np.hstack((told, told[:, :1])), told[0], told * 1.0, told[:0]]
    for symbols in [*strangers, np.full(told.shape, 2**64 - 1, dtype=np.uint64)]:
        with pytest.raises(ParameterError, match="reports must be"):
            count(asked, Reports(symbols=symbols, simulation=True))


@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_attributes_out_of_order_or_told_twice_are_refused(make_people: Any, kind: Any) -> None:
    asked, _ = _ask(make_people(5), "reduce", "waldp")
    for places in ([2, 1], [1, 1]):
        told = np.array([[*places, 0, 0, 1]], dtype=kind)
        with pytest.raises(ParameterError, match="symbols of the question's alphabet"):
            count(asked, Reports(symbols=told, simulation=True))
    ordered = np.array([[1, 2, 0, 0, 1]], dtype=kind)
    assert count(asked, Reports(symbols=ordered, simulation=True)).reports == 1


def test_a_stranger_is_refused_before_the_class_of_another_attribute_is_counted(
    make_people: Any,
) -> None:
    asked, reports = _ask(make_people(5), "train", "odp")
    symbols = reports.symbols.copy()
    symbols[0, 2] = 2  # "sex" has two classes, the others three
    with pytest.raises(ParameterError, match="Refuse such a report"):
        count(asked, Reports(symbols=symbols, simulation=True))


def test_rows_of_other_questions_are_not_merged() -> None:
    narrow = RowCounts.of(np.array([[1, 2]]), simulation=True)
    wide = RowCounts.of(np.array([[1, 2, 3]]), simulation=True)
    with pytest.raises(ParameterError, match="rows of 2 symbols to be merged"):
        narrow + wide
    tally = Tally(counts=np.array([1]), reports=1, simulation=True)
    with pytest.raises(ParameterError, match="of kind RowCounts"):
        narrow + tally  # type: ignore[operator]  # a stranger's mistake
    with pytest.raises(ParameterError, match="Tally"):
        tally + narrow  # type: ignore[operator]  # the same mistake the other way


def test_too_many_distinct_answers_are_refused_with_advice() -> None:
    rows = np.arange((1 << 20) + 1)[:, np.newaxis]
    with pytest.raises(ParameterError, match="coarser grid"):
        RowCounts.of(rows, simulation=True)
    assert RowCounts.of(rows[1:], simulation=True).reports == 1 << 20, "and not one fewer"


@pytest.mark.parametrize("form", ["odp", "raw"])
def test_the_mark_of_a_simulation_stays(make_people: Any, form: str) -> None:
    asked, reports = _ask(make_people(10), "train", form)
    seeded: Any = count(asked, reports)
    private: Any = count(asked, Reports(symbols=reports.symbols, simulation=False))
    assert not (private + private).simulation
    assert (private + seeded).simulation
    assert (seeded + private).simulation


def test_only_interviews_of_this_package_are_counted(make_people: Any) -> None:
    asked, reports = _ask(make_people(5), "train", "odp")

    class Other:
        width = asked.width

    with pytest.raises(ParameterError, match="an interview of this package"):
        count(Other(), reports)  # type: ignore[arg-type]
