"""The benchmark of many people runs at any size; its figures are not judged here."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
MARKS = (50, 200, 300, 1000)


@pytest.fixture(scope="module")
def scale() -> Iterator[Any]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("scale")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def crowd(scale: Any) -> Any:
    assert scale.FORMS
    return sys.modules["crowd"]


@pytest.fixture(scope="module")
def found(scale: Any) -> Any:
    return scale.measure(MARKS)


def test_each_form_has_a_row_for_each_number_of_people(scale: Any, found: Any) -> None:
    curve = found[0][0].rows
    assert [row["people"] for row in curve] == [*MARKS] * len(scale.FORMS)
    for row in curve:
        assert all(row[name] > 0 for name in row if name.endswith(("seconds", "second", "MB")))


def test_time_adds_up_along_the_stream_and_memory_never_falls(found: Any) -> None:
    rows = found[0][0].rows[: len(MARKS)]
    for name in ("owners_seconds", "counting_seconds", "process_MB"):
        values = [row[name] for row in rows]
        assert values == sorted(values)


def test_one_batch_is_counted_beside_others(found: Any) -> None:
    rows = found[0][1].rows
    ours = [row for row in rows if row["who"] == "SUPM"]
    assert len(ours) == 3
    assert all(row["times_our_time"] == 1.0 for row in ours)
    assert len(rows) == 9


def test_there_are_three_goals_and_all_are_measured(found: Any) -> None:
    goals = found[1]
    assert [goal.limit for goal in goals] == [2.0, 20.0, 500.0]
    assert all(goal.measured > 0 for goal in goals)
    assert "1,000 reports: time over 200" in goals[0].name


def test_a_stream_holds_one_batch_and_counts_everybody(
    crowd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    original = crowd._draw

    def draw(schema: Any, rows: int, source: Any) -> Any:
        drawn.append(rows)
        return original(schema, rows, source)

    monkeypatch.setattr(crowd, "BATCH", 64)
    monkeypatch.setattr(crowd, "_draw", draw)
    assert [row["people"] for row in crowd.stream("odp", [100, 200])] == [100, 200]
    assert drawn == [64, 36, 64, 36]


@pytest.mark.parametrize("form", ["odp", "joint"])
def test_all_sides_count_the_same(crowd: Any, form: str) -> None:
    study = crowd.study_of(form)
    asked = crowd.interview(study, "train")
    people = crowd._draw(study.schema, 3000, crowd.simulation(1))
    told = asked.randomize(asked.encode(people), crowd.simulation(2))
    sides = [work() for work in crowd._works(asked, told).values()]
    ours = np.ravel(sides[0].counts)
    by_hand = np.zeros_like(ours)
    by_hand[: len(sides[1])] = sides[1]
    assert (ours == by_hand).all()
    assert sorted(sides[2].tolist()) == sorted(ours[ours > 0].tolist())
    assert sides[3][1].tolist() == ours[ours > 0].tolist()


def test_people_are_of_five_attributes_with_a_label_to_learn(crowd: Any) -> None:
    study = crowd.study_of("odp")
    assert (len(study.attributes), study.classes) == (5, 4)
    people = crowd._draw(study.schema, 5000, crowd.simulation(1))
    leaning = sum(people.columns.values()) > 2.5
    assert 0.76 < (people.target == leaning).mean() < 0.84


def test_the_command_prints_and_writes_the_figures(
    scale: Any, found: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    asked = []

    def measure(marks: Any, _: Any) -> Any:
        asked.append(marks)
        return found

    monkeypatch.setattr(scale, "measure", measure)
    assert scale.main(["--quick", "--json", str(tmp_path / "found.json")]) == 0
    assert asked == [scale.QUICK]
    assert "million reports per second" in capsys.readouterr().out
    written = json.loads((tmp_path / "found.json").read_text())
    assert len(written["tables"]) == 2


def test_a_crowd_that_fails_is_an_error(
    scale: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "crowd.py"
    broken.write_text("raise SystemExit(3)")
    monkeypatch.setattr(scale, "_CROWD", broken)
    with pytest.raises(subprocess.CalledProcessError, match="exit status 3"):
        scale._run("odp", [10], scale.silent)
