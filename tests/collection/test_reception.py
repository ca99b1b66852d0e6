from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supm import MessageError, ParameterError, simulation
from supm.collection import Counts, Reception, RowCounts, count, plan
from supm.collection.reception import _BATCH
from supm.mechanisms import Reports
from supm.messages import Report, Study, Trust
from supm.owner import Owner, interview
from supm.schema import Categorical, Continuous, Ordinal, Schema

SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("stage", values=("I", "II", "III")),
        Categorical("ward", values=("north", "south")),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
FAITHFUL: dict[str, Any] = {"epsilon": 3.0, "mode": "faithful"}
KNOWN = ("age", "stage")
STUDIES = {
    "odp": (plan(SCHEMA, attributes=KNOWN, **FAITHFUL), "train"),
    "joint": (plan(SCHEMA, epsilon=1.0, attributes=KNOWN, classes=3, train="joint"), "train"),
    "sample": (plan(SCHEMA, epsilon=1.0, told=2), "train"),
    "pw": (plan(SCHEMA, attributes=KNOWN, train="pw", **FAITHFUL), "train"),
    "waldp": (plan(SCHEMA, reduce="waldp", keep=2, **FAITHFUL), "reduce"),
    "dr.pw": (plan(SCHEMA, reduce="pw", keep=2, **FAITHFUL), "reduce"),
    "rank": (plan(SCHEMA, epsilon=3.0, reduce="rank"), "reduce"),
    "wa": (plan(SCHEMA, trust=Trust(reduce="trusted"), keep=2, **FAITHFUL), "reduce"),
}
every_study = pytest.mark.parametrize(("study", "phase"), STUDIES.values(), ids=STUDIES)
ODP = STUDIES["odp"][0]


def reports_of(study: Study, phase: str, people: int) -> list[Report]:
    """Return what a crowd tells, with ids that are counted up."""
    asked, question = interview(study, phase), study.question(phase)
    assert question is not None
    rows = np.arange(people)
    table = {
        "age": (rows * 37 % 101).astype(float),
        "stage": np.array(["I", "II", "III"])[rows % 3],
        "ward": np.array(["north", "south"])[rows % 2],
        "ill": np.array(["no", "yes"])[rows * 7 % 5 % 2],
    }
    told = asked.randomize(asked.encode(study.schema.read(table)), simulation(23)).symbols
    return [
        Report(
            study=study.hash,
            phase=phase,
            group=question.group,
            symbols=tuple(map(int, symbols)),
            id=f"{number:032x}",
        )
        for number, symbols in enumerate(told)
    ]


def received(study: Study, phase: str, reports: list[Report]) -> Counts:
    door = Reception(study, phase, simulation=True)
    assert {door.receive(report) for report in reports} == {"accepted"}
    assert door.counts is not None
    return door.counts


def same(left: Counts, right: Counts) -> bool:
    one, two = (each.rows if isinstance(each, RowCounts) else each.counts for each in (left, right))
    marks = left.reports == right.reports and left.simulation == right.simulation
    return marks and np.array_equal(one, two) and np.array_equal(left.counts, right.counts)


@every_study
def test_the_counts_are_those_of_the_accepted_symbols(study: Study, phase: str) -> None:
    reports = reports_of(study, phase, 300)
    symbols = np.array([report.symbols for report in reports])
    expected = count(interview(study, phase), Reports(symbols=symbols, simulation=True))
    assert same(received(study, phase, reports), expected)


@every_study
def test_neither_the_order_nor_the_place_of_counting_matters(study: Study, phase: str) -> None:
    reports = reports_of(study, phase, 200)
    at_once = received(study, phase, reports)
    assert same(received(study, phase, reports[::-1]), at_once)
    for cut in (1, 77, 199):
        parts = (received(study, phase, part) for part in (reports[:cut], reports[cut:]))
        left, right = parts
        assert same(left + right, at_once)  # type: ignore[operator]  # both are of the question's one kind


def test_a_count_that_is_looked_at_on_the_way_goes_on() -> None:
    reports = reports_of(ODP, "train", 100)
    door, found = Reception(ODP, "train", simulation=True), []
    for number, report in enumerate(reports, start=1):
        found.append(door.counts)
        door.receive(report)
        assert door.reports == number
    assert found[0] is None, "before the first"
    assert [each.reports for each in found if each is not None] == list(range(1, 100))
    assert door.counts is not None
    assert same(door.counts, received(ODP, "train", reports))


def test_a_batch_is_folded_without_being_asked_for() -> None:
    batch = -(-_BATCH // 3)  # an answer has three symbols
    reports = reports_of(ODP, "train", batch + 3)
    door = Reception(ODP, "train", simulation=True)
    for report in reports:
        door.receive(report)
    assert len(door._waiting) == 3, "memory does not grow with people"
    assert door.counts is not None
    assert door.counts.reports == batch + 3


def test_every_verdict_is_counted_and_only_accepted_reports_are() -> None:
    first, second, *_ = reports_of(ODP, "train", 2)
    messages = [
        (first, "accepted"),
        (first.to_json(), "sent before"),
        (replace(first, symbols=(0, 0, 0)), "sent before"),
        (second.to_json(), "accepted"),
        (replace(first, id="a" * 32, study="0" * 64), "of another study"),
        (replace(first, id="a" * 32, phase="test"), "of another phase or group"),
        (replace(first, id="a" * 32, group=1), "of another phase or group"),
        (replace(first, id="a" * 32, symbols=(0, 0)), "outside the alphabet"),
        (replace(first, id="a" * 32, symbols=(0, 0, 2)), "outside the alphabet"),
        (replace(first, id="a" * 32, symbols=(2**53 - 1, 0, 0)), "outside the alphabet"),
        ("", "not a report of this version"),
        (None, "not a report of this version"),
        (json.loads(first.to_json()), "not a report of this version"),
    ]
    door = Reception(ODP, "train", simulation=True)
    assert [door.receive(message) for message, _ in messages] == [word for _, word in messages]
    assert door.verdicts == Counter(word for _, word in messages)
    assert door.counts is not None
    assert same(door.counts, received(ODP, "train", [first, second]))


def test_a_refusal_uses_up_no_id() -> None:
    door = Reception(ODP, "train")
    report = reports_of(ODP, "train", 1)[0]
    assert door.receive(replace(report, symbols=(9, 9, 9))) == "outside the alphabet"
    assert door.receive(report) == "accepted"


def test_ids_that_were_accepted_elsewhere_are_known() -> None:
    seen: set[str] = set()
    report = reports_of(ODP, "train", 1)[0]
    assert Reception(ODP, "train", seen=seen).receive(report) == "accepted"
    later = Reception(ODP, "train", seen=seen)
    assert later.receive(report) == "sent before"
    assert later.counts is None


@every_study
def test_symbols_at_the_edges_of_the_alphabet(study: Study, phase: str) -> None:
    report = reports_of(study, phase, 1)[0]
    door = Reception(study, phase)
    for place in range(len(report.symbols)):
        beyond = list(report.symbols)
        beyond[place] = 1 << 40
        spoiled = replace(report, symbols=tuple(beyond))
        assert door.receive(spoiled) == "outside the alphabet"
    assert door.receive(report) == "accepted"


def test_a_report_is_taken_by_its_own_phase_of_its_own_study() -> None:
    study = STUDIES["rank"][0]
    report = reports_of(study, "reduce", 1)[0]
    reduced = study.reduced(study.schema.names[: study.keep])
    assert Reception(reduced, "train").receive(report) == "of another study"
    assert Reception(study, "reduce").receive(report) == "accepted"


@pytest.mark.parametrize("phase", ["test", "reduce", "learn"])
def test_nothing_is_counted_where_nothing_is_open(phase: str) -> None:
    with pytest.raises(MessageError, match=f"nothing is counted in the {phase} phase"):
        Reception(ODP, phase)


def test_the_reduce_phase_is_closed_once_the_attributes_are_chosen() -> None:
    study = STUDIES["waldp"][0]
    with pytest.raises(MessageError, match="nothing is counted in the reduce phase"):
        Reception(study.reduced(KNOWN), "reduce")
    with pytest.raises(MessageError, match="needs the chosen attributes"):
        Reception(study, "train")


def test_what_is_no_study_is_refused() -> None:
    with pytest.raises(ParameterError, match="study must be of kind Study"):
        Reception(ODP.to_json(), "train")  # type: ignore[arg-type]


def test_the_mark_of_a_simulation_stays() -> None:
    report = reports_of(ODP, "train", 1)[0]
    for simulated in (True, False):
        door = Reception(ODP, "train", simulation=simulated)
        door.receive(report)
        assert door.counts is not None
        assert door.counts.simulation is simulated


def test_what_owners_send_is_accepted() -> None:
    record = {"age": 61, "stage": "II", "ward": "south", "ill": "yes"}
    for study, phase in STUDIES.values():
        door = Reception(study, phase)
        for seed in range(8):
            owner = Owner(source=simulation(seed), trusted=("reduce",))
            if len(study.groups) == 1 or owner.group(study) == 0:
                assert door.receive(owner.answer(study, phase, record).to_json()) == "accepted"
        assert door.reports == door.verdicts.total() > 0


def test_what_may_not_fit_is_refused_and_what_was_accepted_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Numbers have no table: their distinct answers may run out of room."""
    monkeypatch.setattr("supm.collection.reception.DISTINCT", 5)
    study, phase = STUDIES["pw"]
    door = Reception(study, phase, simulation=True)
    asked = interview(study, phase)
    told = np.arange(asked.width) % 2 + np.arange(9)[:, np.newaxis]
    reports = [
        Report(study=study.hash, phase=phase, group=0, symbols=tuple(row), id=f"{place:032x}")
        for place, row in enumerate(told.tolist())
    ]
    verdicts = [(door.receive(report), door.counts)[0] for report in reports]
    assert verdicts == ["accepted"] * 5 + ["no room left"] * 4
    assert door.counts is not None
    assert door.counts.reports == door.reports == 5


@pytest.mark.parametrize("place", [0, 31, 32, 63])
def test_every_digit_of_the_studys_hash_counts(place: int) -> None:
    report, *_ = reports_of(ODP, "train", 1)
    digit = "0" if report.study[place] != "0" else "1"
    other = replace(report, study=report.study[:place] + digit + report.study[place + 1 :])
    assert Reception(ODP, "train").receive(other) == "of another study"
