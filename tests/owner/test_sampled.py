"""The privacy of a sampled report: its exact channel, row by row, and a sampler that obeys it.

What is expected is written down here a second time, from the definition and in numbers of its own:
a draw of attributes, and one randomized response over the combinations of what was drawn.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from supm import ParameterError, RecordError, simulation
from supm.audit import exact_epsilon
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import Reports
from supm.mechanisms.thresholds import exact_share
from supm.owner.sampled import FINE, SampledInterview
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Schema, discretize

ALARM = 1e-6
ROWS = 2000
PULSE = Continuous("pulse", low=0, high=200)
STAGE = Ordinal("stage", values=("I", "II", "III"), missing="class")
WARD = Categorical("ward", values=("north", "east", "south"))
SMOKES = Categorical("smokes", values=("no", "yes"))
ILL = Categorical("ill", values=("no", "yes", "unsure"))
COST = Continuous("cost", low=10, high=50)
MIXED = (SMOKES, WARD, STAGE)


def asked_for(
    attributes: tuple[Attribute, ...],
    sampled: int,
    labels: int | None,
    epsilon: float,
    target: Continuous | None = None,
) -> SampledInterview:
    return SampledInterview(
        discretizers=tuple(discretize(each, 3) for each in attributes),
        sampled=sampled,
        labels=labels,
        target=target,
        share=exact_share(epsilon, 1),
    )


CASES: dict[str, tuple[Any, ...]] = {
    "1 of 3, sizes 2 3 4, 2 labels": (MIXED, 1, 2, 1.0),
    "2 of 3, sizes 2 3 4, 2 labels": (MIXED, 2, 2, 2.0),
    "2 of 3, sizes 2 3 4, 3 labels, much": (MIXED, 2, 3, 6.0),
    "3 of 3, sizes 2 3 4, 2 labels, little": (MIXED, 3, 2, 0.01),
    "2 of 3, sizes 2 3 4, no label": (MIXED, 2, None, 1.5),
    "1 of 3, sizes 2 3 4, no label": (MIXED, 1, None, 3.0),
    "2 of 3, sizes alike, 2 labels": ((WARD, PULSE, Ordinal("k", values=(1, 2, 3))), 2, 2, 1.0),
    "1 of 1, 2 labels": ((SMOKES,), 1, 2, 0.7),
    "1 of 2, a number of 2 levels": ((SMOKES, WARD), 1, 2, 1.0, COST),
    "2 of 2, a number of 3 levels": ((SMOKES, SMOKES), 2, 3, 4.0, COST),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@cache
def of_case(case: tuple[Any, ...]) -> SampledInterview:
    return asked_for(*case)


@cache
def channel_of(case: tuple[Any, ...]) -> list[list[Fraction]]:
    return of_case(case).exact_channel()


def levels(asked: SampledInterview, last: int) -> dict[int, float]:
    """Return with which probability each label is the one that goes into the response."""
    if asked.target is None:
        return {last: 1.0}
    exactly = last / FINE
    near = {math.floor(exactly), math.ceil(exactly)}
    return {level: 1 - abs(level - exactly) for level in near}


def expected(asked: SampledInterview, held: list[int]) -> dict[tuple[int, ...], float]:
    """Return the probability of every answer, from the definition."""
    grown = math.exp(float(asked.share))
    draws = list(combinations(range(len(asked.sizes)), asked.sampled))
    found: dict[tuple[int, ...], float] = {}
    for drawn in draws:
        sides = [range(asked.sizes[place]) for place in drawn]
        held_here = [held[place] for place in drawn]
        truths = {(*held_here,): 1.0}
        if asked.labels is not None:
            sides.append(range(asked.labels))
            truths = {(*held_here, k): chance for k, chance in levels(asked, held[-1]).items()}
        cells = math.prod(map(len, sides))
        for told in product(*sides):
            miss = 1 / (grown + cells - 1)
            chance = miss + truths.get(told, 0.0) * (grown - 1) * miss
            found[(*drawn, *told)] = chance / len(draws)
    return found


@every_case
def test_every_row_of_the_exact_channel_is_that_of_the_definition(case: tuple[Any, ...]) -> None:
    asked, channel = of_case(case), channel_of(case)
    rows = asked.inputs().tolist()
    assert len(channel) == len(rows)
    for row, held in zip(channel, rows, strict=True):
        assert sum(row) == 1
        wanted = expected(asked, held)
        symbols = np.array(list(wanted), dtype=np.int64)
        places = asked.outcome(Reports(symbols=symbols, simulation=True))
        assert sorted(places.tolist()) == list(range(asked.outcomes))
        found = [float(row[place]) for place in places]
        assert found == pytest.approx(list(wanted.values()), rel=1e-9)


@every_case
def test_no_answer_tells_two_records_apart_by_more_than_the_budget(case: tuple[Any, ...]) -> None:
    asked, columns = of_case(case), list(zip(*channel_of(case), strict=True))
    stated = float(asked.share)
    ratios = [max(column) / min(column) for column in columns]
    assert exact_epsilon(channel_of(case)) <= asked.epsilon
    # In every draw, and not in the worst of them alone, the whole budget is used.
    assert asked.epsilon <= case[3]
    for ratio in ratios:
        assert math.log(ratio) == pytest.approx(asked.epsilon, rel=1e-9)
    assert asked.epsilon == pytest.approx(stated, rel=1e-9)
    # The smallest and the largest record differ in all that may be drawn.
    for drawn in (max, min):
        ends = [column[0] / column[-1] for column in columns]
        apart = abs(math.log(drawn(ends)))
        assert apart == pytest.approx(asked.epsilon, rel=1e-9)


@every_case
def test_the_sampler_tells_what_the_definition_says_for_every_record(case: tuple[Any, ...]) -> None:
    asked = of_case(case)
    rows, draws = asked.inputs(), 1500 if asked.target is None else 600
    source = simulation(17)
    told = asked.randomize(np.tile(rows, (draws, 1)), source)
    assert told.symbols.shape == (draws * len(rows), asked.width)
    assert told.simulation
    assert asked.accepts(told.symbols).all()
    by_row = told.symbols.reshape(draws, len(rows), asked.width)
    worst = 1.0
    for place, held in enumerate(rows.tolist()):
        wanted = expected(asked, held)
        seen = Counter(map(tuple, by_row[:, place].tolist()))
        assert set(seen) <= set(wanted)
        counts = np.array([seen[each] for each in wanted])
        chances = np.array(list(wanted.values()))
        worst = min(worst, goodness_of_fit(counts, chances / chances.sum()))
    assert worst > ALARM / ROWS


def test_the_alarm_is_shared_over_all_rows() -> None:
    assert sum(len(of_case(case).inputs()) for case in CASES.values()) <= ROWS


@every_case
def test_the_gap_is_how_often_the_truth_is_told_beyond_any_other_answer(
    case: tuple[Any, ...],
) -> None:
    asked = of_case(case)
    draws = list(combinations(range(len(asked.sizes)), asked.sampled))
    held = asked.inputs()[0].tolist()
    answers = expected(asked, held)
    gaps = {}
    for drawn in draws:
        chances = [p * len(draws) for told, p in answers.items() if told[: len(drawn)] == drawn]
        gaps[drawn] = max(chances) - min(chances)
    assert asked.gap() == pytest.approx(sum(gaps.values()) / len(gaps), rel=1e-9)
    for told in range(1, asked.sampled + 1):
        for places in combinations(range(len(asked.sizes)), told):
            over = [gap for drawn, gap in gaps.items() if set(places) <= set(drawn)]
            found = asked.gap(*(asked.sizes[place] for place in places))
            assert found == pytest.approx(sum(over) / len(over), rel=1e-9)


def test_a_number_is_told_right_on_average_and_its_ends_exactly() -> None:
    asked = asked_for((SMOKES,), 1, 4, 1.0, COST)
    schema = Schema(attributes=(SMOKES,), target=COST)
    held = [-1e9, 10.0, 20.0, 30.0, 36.0, 50.0, 1e9]
    records = schema.read({"smokes": ["no"] * len(held), "cost": held})
    fine = asked.encode(records)[:, -1]
    assert fine[:2].tolist() == [0, 0]
    assert fine[-2:].tolist() == [3 * FINE, 3 * FINE]
    for last, value in zip(fine.tolist(), held, strict=True):
        mean = sum(level * chance for level, chance in levels(asked, last).items())
        nearest = min(max((value - 10) / 40, 0), 1) * 3
        assert mean == pytest.approx(nearest, abs=0.5 / FINE + 1e-12)
    rounded = asked._rounded(np.repeat(fine, 20_000), simulation(3)).reshape(len(held), -1)
    assert (np.abs(rounded.mean(axis=1) - fine / FINE) < 6 * 0.5 / math.sqrt(20_000)).all()
    assert set(rounded[0].tolist()) == {0}
    assert set(rounded[-1].tolist()) == {3}


def test_a_record_is_read_by_its_classes_and_its_label_last() -> None:
    schema = Schema(attributes=MIXED, target=ILL)
    table = {
        "smokes": ["no", "yes"],
        "ward": ["south", "north"],
        "stage": [None, "I"],
        "ill": ["no", "unsure"],
    }
    records = schema.read(table)
    assert asked_for(MIXED, 2, 3, 1.0).encode(records).tolist() == [[0, 2, 3, 0], [1, 0, 0, 2]]
    assert asked_for(MIXED, 2, None, 1.0).encode(records).tolist() == [[0, 2, 3], [1, 0, 0]]
    bare = schema.read(table, labelled=False)
    with pytest.raises(ParameterError, match="labelled for this phase"):
        asked_for(MIXED, 2, 3, 1.0).encode(bare)


@pytest.mark.parametrize("labels", [2, None])
def test_exactly_the_possible_answers_are_accepted(labels: int | None) -> None:
    asked = asked_for(MIXED, 2, labels, 1.0)
    assert asked.width == 4 + (labels is not None)
    box = np.array(list(product(range(-1, 6), repeat=asked.width)), dtype=np.int64)
    possible = set(expected(asked, asked.inputs()[0].tolist()))
    assert {tuple(row) for row in box[asked.accepts(box)].tolist()} == possible
    far = np.array([[0, 1, 0, 0, 0][: asked.width]], dtype=np.int64).repeat(asked.width, axis=0)
    np.fill_diagonal(far, (1 << 53) - 1)
    assert not asked.accepts(far).any()


def test_all_attributes_are_drawn_alike_from_many() -> None:
    asked = asked_for((SMOKES,) * 12, 5, 2, 1.0)
    inputs = np.zeros((40_000, 13), dtype=np.int64)
    inputs[::2] = 1
    told = asked.randomize(inputs, simulation(5)).symbols[:, :5]
    for half in (told[::2], told[1::2]):
        times = np.bincount(half.ravel(), minlength=12)
        assert np.abs(times - 20_000 * 5 / 12).max() < 6 * math.sqrt(20_000 * 0.25)


def test_a_channel_too_large_to_list_is_refused_and_still_has_an_epsilon() -> None:
    asked = asked_for((STAGE,) * 40, 6, 2, 2.0)
    assert asked.epsilon <= 2.0
    assert 0 < asked.gap() < 1
    with pytest.raises(ParameterError, match="entries of the channel"):
        asked.exact_channel()
    with pytest.raises(ParameterError, match="Look at a study of fewer attributes"):
        asked.inputs()


def test_the_epsilon_is_that_of_the_draw_that_keeps_least() -> None:
    """In the last digits alphabets differ, and each owner may draw the worse."""
    sides = (Continuous("few", low=0, high=1), Continuous("many", low=0, high=1))
    cuts = (discretize(sides[0], 2), discretize(sides[1], 1000))
    few, many, both = (
        SampledInterview(discretizers=each, sampled=1, labels=2, share=exact_share(1.1e-6, 1))
        for each in (cuts[:1], cuts[1:], cuts)
    )
    assert few.epsilon != many.epsilon
    assert both.epsilon == max(few.epsilon, many.epsilon) <= 1.1e-6
    for asked in (few, many):
        response = asked._response(math.prod(asked.sizes_of((0,))))
        spent = math.log1p((response.hit - response.miss) / response.miss)
        assert spent <= both.epsilon * (1 + 1e-15)


@every_case
def test_numbers_outside_of_the_alphabet_are_refused_and_not_shown(case: tuple[Any, ...]) -> None:
    asked = of_case(case)
    last = asked.inputs()[-1:]
    assert asked.accepts(asked.randomize(last, simulation(1)).symbols).all()
    wrong = [last[:, 1:], last[0], np.hstack((last, last[:, :1]))]
    for place in range(last.shape[1]):
        for value in (-1, int(last[0, place]) + 1, 271_828, -(1 << 62), (1 << 62)):
            row = last.copy()
            row[0, place] = value
            wrong.append(np.vstack((last, row)))
    for inputs in wrong:
        with pytest.raises(RecordError, match="numbers of the question's alphabet") as caught:
            asked.randomize(inputs, simulation(1))
        assert "271828" not in str(caught.value)


def test_without_a_source_nothing_is_told() -> None:
    asked = asked_for(MIXED, 2, 2, 1.0)
    with pytest.raises(ParameterError, match="source must be"):
        asked.randomize(asked.inputs(), 7)  # type: ignore[arg-type]  # a mistake
