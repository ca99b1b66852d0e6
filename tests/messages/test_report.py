from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm import MessageError
from supm.messages import PHASES, Report

REPORT = Report(study="0a" * 32, phase="train", group=3, symbols=(31415, 92653), id="1f" * 16)
hexadecimal = st.text("0123456789abcdef", min_size=64, max_size=64)


@given(
    st.builds(
        Report,
        study=hexadecimal,
        phase=st.sampled_from(PHASES),
        group=st.integers(0, 255),
        symbols=st.lists(st.integers(0, 2**53 - 1), min_size=1, max_size=9).map(tuple),
        id=hexadecimal.map(lambda text: text[:32]),
    )
)
def test_a_report_is_read_as_it_was_written(report: Report) -> None:
    assert Report.from_json(report.to_json()) == report
    assert Report.from_json(json.dumps(json.loads(report.to_json()), indent=1)) == report


def test_the_text_of_a_report_is_fixed() -> None:
    assert REPORT.to_json() == (
        '{"group":3,"id":"1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f","phase":"train",'
        f'"study":"{"0a" * 32}","symbols":[31415,92653],"version":1}}'
    )


def test_a_report_has_no_place_for_an_identity() -> None:
    assert set(json.loads(REPORT.to_json())) == {
        "version", "study", "phase", "group", "symbols", "id",
    }  # fmt: skip


def test_a_list_of_symbols_makes_the_same_report() -> None:
    listed = Report(
        study=REPORT.study,
        phase="train",
        group=3,
        symbols=[31415, 92653],  # type: ignore[arg-type]
        id=REPORT.id,
    )
    assert listed == REPORT
    assert hash(listed) == hash(REPORT)


WRONG: dict[str, list[Any]] = {
    "study": ["", "0" * 63, "0" * 65, "G" * 64, "A" * 64, "0" * 64 + "\n", 0, None, [], {}],
    "phase": ["learn", "", None, 1, ["train"], {}],
    "group": [-1, 256, 1.0, True, "0", None, [], 2**80],
    "symbols": [
        (), [], None, 5, "12", {}, (-1,), (2**53,), (1.0,), (True,), (None,),
        ("1",), ([1],), (2**90,), np.array([1, 2]), (np.int64(1),),
    ],
    "id": ["", "0" * 31, "0" * 33, "F" * 32, 0, None, [], "0" * 32 + "\n"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in WRONG.items() for v in vs])
def test_a_wrong_field_is_refused_by_its_name_and_no_symbol_is_shown(name: str, value: Any) -> None:
    fields = {each: getattr(REPORT, each) for each in WRONG} | {name: value}
    with pytest.raises(MessageError, match=f"^{name} of a report must be") as caught:
        Report(**fields)
    assert "31415" not in str(caught.value)


def test_a_report_with_too_many_symbols_is_refused() -> None:
    fields = {each: getattr(REPORT, each) for each in WRONG} | {"symbols": (0,) * ((1 << 20) + 1)}
    with pytest.raises(MessageError, match="symbols of a report must be 1 to 2"):
        Report(**fields)


@pytest.mark.parametrize("version", [0, 2, "1", 1.0, True, None])
def test_another_version_is_refused(version: object) -> None:
    form = json.loads(REPORT.to_json()) | {"version": version}
    with pytest.raises(MessageError, match="version of a report must be 1"):
        Report.from_json(json.dumps(form))


def test_no_refusal_shows_a_symbol() -> None:
    form = json.loads(REPORT.to_json())
    for spoiled in (
        {"surplus": 1},
        {"version": 9},
        {"symbols": [31415, -1]},
        {"symbols": [31415, "x"]},
        {"symbols": {"31415": 1}},
    ):
        with pytest.raises(MessageError) as caught:
            Report.from_json(json.dumps(form | spoiled))
        assert "31415" not in str(caught.value)
    with pytest.raises(MessageError) as caught:
        Report.from_json(REPORT.to_json()[:-15])
    assert "31415" not in str(caught.value)


def test_damage_is_refused_or_read_as_another_report(
    survives_damage: Callable[[str, Callable[[str], Any]], int],
) -> None:
    assert survives_damage(REPORT.to_json(), Report.from_json) > 150
