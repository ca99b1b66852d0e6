"""Messages that do not belong: each is refused by its reason and counted; no honest one is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from supm import MessageError, simulation
from supm.collection import Counts, Reception, plan
from supm.messages import Report, Study
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
RECORD = {"age": 61.5, "stage": "II", "ward": "south", "ill": "yes"}
STUDY = plan(SCHEMA, epsilon=3.0, mode="faithful", attributes=("age", "stage"), classes=3)
JOINT = plan(SCHEMA, epsilon=3.0, attributes=("age", "stage"), classes=3, train="joint")
SAMPLED = plan(SCHEMA, epsilon=3.0, classes=3, told=2)
REDUCING = plan(SCHEMA, epsilon=3.0, mode="faithful", reduce="waldp", keep=2)
STUDIES = [STUDY, JOINT, SAMPLED, REDUCING]


def told(study: Study, phase: str, people: int) -> list[Report]:
    return [Owner(source=simulation(seed)).answer(study, phase, RECORD) for seed in range(people)]


def changed(report: Report, **fields: object) -> str:
    return json.dumps(json.loads(report.to_json()) | fields)


def without(report: Report, field: str) -> str:
    form = json.loads(report.to_json())
    return json.dumps({name: value for name, value in form.items() if name != field})


VERSION = "not a report of this version"
# What was sent, made of an honest report, and how the refusal is counted.
REFUSED: list[tuple[Callable[[Report], Any], str]] = [
    (lambda r: changed(r, study="0" * 64), "of another study"),
    (lambda r: changed(r, version=2), VERSION),
    (lambda r: changed(r, version="1"), VERSION),
    (lambda r: without(r, "version"), VERSION),
    (lambda r: without(r, "id"), VERSION),
    (lambda r: changed(r, name="Ada"), VERSION),
    (lambda r: changed(r, id="not 128 bits"), VERSION),
    (lambda r: changed(r, symbols=[]), VERSION),
    (lambda r: changed(r, symbols="0"), VERSION),
    (lambda r: changed(r, symbols=[-1, 0, 0]), VERSION),
    (lambda r: changed(r, symbols=[0.0, 0, 0]), VERSION),
    (lambda r: changed(r, symbols=[True, 0, 0]), VERSION),
    (lambda r: changed(r, symbols=[1 << 53, 0, 0]), VERSION),
    (lambda r: r.to_json()[:-1], VERSION),
    (lambda r: r.to_json().replace('"group":0', '"group":0,"group":0'), VERSION),
    (lambda r: f"[{r.to_json()}]", VERSION),
    (lambda _: "NaN", VERSION),
    (lambda _: "[" * 100_000, VERSION),
    (lambda r: r.to_json().encode(), VERSION),
    (lambda _: None, VERSION),
    (lambda r: changed(r, phase="test"), "of another phase or group"),
    (lambda r: changed(r, group=7), "of another phase or group"),
    (lambda r: changed(r, symbols=[3, 0, 0]), "outside the alphabet"),
    (lambda r: changed(r, symbols=[0, 0, 2]), "outside the alphabet"),
    (lambda r: changed(r, symbols=[0, 0]), "outside the alphabet"),
    (lambda r: changed(r, symbols=[0, 0, 0, 0]), "outside the alphabet"),
    (lambda r: changed(r, symbols=[(1 << 53) - 1, 0, 0]), "outside the alphabet"),
]


def same(left: Counts | None, right: Counts | None) -> bool:
    if left is None or right is None:
        return left is right
    return left.reports == right.reports and np.array_equal(left.counts, right.counts)


def test_a_refused_report_is_counted_by_its_reason_and_leaves_no_trace() -> None:
    honest = told(STUDY, "train", len(REFUSED))
    quiet, pestered = Reception(STUDY, "train"), Reception(STUDY, "train")
    for report, (spoil, reason) in zip(honest, REFUSED, strict=True):
        assert quiet.receive(report) == "accepted"
        assert pestered.receive(spoil(report)) == reason
        assert pestered.receive(report.to_json()) == "accepted", "a refusal uses up no id"
    assert pestered.reports == len(honest)
    assert pestered.verdicts.total() == 2 * len(honest), "every message has a verdict"
    assert same(pestered.counts, quiet.counts)


def test_a_report_that_is_sent_twice_counts_once() -> None:
    reports = told(STUDY, "train", 5)
    door = Reception(STUDY, "train")
    assert [door.receive(report) for report in reports] == ["accepted"] * 5
    assert [door.receive(report.to_json()) for report in reports] == ["sent before"] * 5
    # The id is what counts: another answer under the same id is not a new report.
    assert door.receive(changed(reports[0], symbols=[0, 0, 0])) == "sent before"
    assert door.verdicts == {"accepted": 5, "sent before": 6}
    assert door.counts is not None
    assert door.counts.reports == 5


def test_a_report_is_not_taken_in_another_phase_or_by_another_study() -> None:
    reduce_report = told(REDUCING, "reduce", 1)[0]
    assert Reception(REDUCING, "reduce").receive(reduce_report) == "accepted"
    reduced = REDUCING.reduced(("age", "ward"))
    assert Reception(reduced, "train").receive(reduce_report) == "of another study"
    assert Reception(JOINT, "train").receive(told(STUDY, "train", 1)[0]) == "of another study"


def test_a_joint_report_names_cells_in_order_and_none_twice() -> None:
    report, door = told(JOINT, "train", 1)[0], Reception(JOINT, "train")
    width = interview(JOINT, "train").width
    wrong: list[Sequence[int]] = [[18] * width, [0] * (width + 1)]
    if width > 1:
        wrong += [[0] * width, list(range(width))[::-1]]
    for symbols in wrong:
        assert door.receive(changed(report, symbols=symbols)) == "outside the alphabet"
    assert door.receive(report) == "accepted"


def test_a_sampled_report_names_places_in_order_and_classes_of_those_places() -> None:
    report, door = told(SAMPLED, "train", 1)[0], Reception(SAMPLED, "train")
    # Three attributes of 3, 3 and 2 classes; two of them are told, then the label.
    wrong = [[1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 3, 0, 0, 0], [0, 2, 0, 2, 0], [0, 1, 0, 0, 2]]
    for symbols in (*wrong, [0, 1, 0, 0]):
        assert door.receive(changed(report, symbols=symbols)) == "outside the alphabet"
    assert door.receive(report) == "accepted"


# A value of every kind of JSON, put in every place of a study.
WRONG_VALUES: list[object] = [None, True, -1, 1.5, "x", [], {}, [[]], [None], 10**30, 1e308]


def places(form: Any) -> list[tuple[Any, ...]]:
    if not isinstance(form, dict | list):
        return [()]
    pairs = form.items() if isinstance(form, dict) else enumerate(form)
    return [(), *((key, *rest) for key, value in pairs for rest in places(value))]


def put(form: Any, path: tuple[Any, ...], value: object) -> Any:
    if not path:
        return value
    form = deepcopy(form)
    form[path[0]] = put(form[path[0]], path[1:], value)
    return form


@pytest.mark.parametrize("study", STUDIES, ids=["odp", "joint", "sample", "waldp"])
def test_a_damaged_study_is_read_as_a_study_or_refused_as_a_message(study: Study) -> None:
    form = json.loads(study.to_json())
    for path in places(form):
        for value in WRONG_VALUES:
            try:
                found = Study.from_json(json.dumps(put(form, path, value)))
            except MessageError:
                continue
            assert Study.from_json(found.to_json()) == found, path
