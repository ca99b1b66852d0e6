"""Messages that are damaged, and answers that could not have been told: all are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from supm import MessageError, ParameterError, simulation
from supm.collection import count, plan
from supm.mechanisms import Reports
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


# What was sent, made of an honest report.
UNREADABLE: list[Callable[[Report], Any]] = [
    lambda r: changed(r, version=2),
    lambda r: changed(r, version="1"),
    lambda r: without(r, "version"),
    lambda r: without(r, "id"),
    lambda r: changed(r, name="Ada"),
    lambda r: changed(r, id="not 128 bits"),
    lambda r: changed(r, symbols=[]),
    lambda r: changed(r, symbols="0"),
    lambda r: changed(r, symbols=[-1, 0, 0]),
    lambda r: changed(r, symbols=[0.0, 0, 0]),
    lambda r: changed(r, symbols=[True, 0, 0]),
    lambda r: changed(r, symbols=[1 << 53, 0, 0]),
    lambda r: r.to_json()[:-1],
    lambda r: r.to_json().replace('"group":0', '"group":0,"group":0'),
    lambda r: f"[{r.to_json()}]",
    lambda _: "NaN",
    lambda _: "[" * 100_000,
    lambda r: r.to_json().encode(),
    lambda _: None,
]


@pytest.mark.parametrize("spoil", UNREADABLE)
def test_what_is_no_report_of_this_version_is_refused(spoil: Callable[[Report], Any]) -> None:
    honest = told(STUDY, "train", 1)[0]
    assert Report.from_json(honest.to_json()) == honest
    with pytest.raises(MessageError):
        Report.from_json(spoil(honest))


def accepted(study: Study, symbols: Sequence[int]) -> bool:
    return bool(interview(study, "train").accepts(np.array([symbols], dtype=np.int64))[0])


def test_what_could_not_have_been_told_is_not_counted() -> None:
    asked = interview(STUDY, "train")
    honest = np.array([each.symbols for each in told(STUDY, "train", 5)])
    for wrong in ([3, 0, 0], [0, 0, 2], [(1 << 53) - 1, 0, 0]):
        assert not accepted(STUDY, wrong)
        with pytest.raises(ParameterError):
            count(asked, Reports(symbols=np.vstack((honest, [wrong])), simulation=True))
    assert count(asked, Reports(symbols=honest, simulation=True)).reports == 5


def test_a_joint_report_names_cells_in_order_and_none_twice() -> None:
    width = interview(JOINT, "train").width
    wrong: list[Sequence[int]] = [[18] * width]
    if width > 1:
        wrong += [[0] * width, list(range(width))[::-1]]
    assert not any(accepted(JOINT, symbols) for symbols in wrong)
    assert accepted(JOINT, told(JOINT, "train", 1)[0].symbols)


def test_a_sampled_report_names_places_in_order_and_classes_of_those_places() -> None:
    # Three attributes of 3, 3 and 2 classes; two of them are told, then the label.
    wrong = [[1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 3, 0, 0, 0], [0, 2, 0, 2, 0], [0, 1, 0, 0, 2]]
    assert not any(accepted(SAMPLED, symbols) for symbols in wrong)
    assert accepted(SAMPLED, told(SAMPLED, "train", 1)[0].symbols)


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
