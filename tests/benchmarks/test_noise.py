"""The benchmark of noise runs at any size; its figures are not judged here."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def bench() -> Iterator[Any]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("noise")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def found(bench: Any) -> Any:
    return bench.measure(500)


def test_all_sides_have_a_row_for_each_width(bench: Any, found: Any) -> None:
    (table,), _ = found
    assert [row["sigma"] for row in table.rows] == [name for name in bench.SIGMAS for _ in range(3)]
    for row in table.rows:
        assert row["milliseconds"] > 0
        assert (row["times_our_time"] == 1.0) == (row["who"] == "SUPM")


def test_the_goal_is_on_the_worse_width(found: Any) -> None:
    (table,), (goal,) = found
    ratios = [row["times_our_time"] for row in table.rows if row["who"].startswith("OpenDP")]
    assert goal.measured == min(ratios)
    assert goal.limit == 20.0
    assert goal.at_least


def test_both_sides_draw_noise_of_the_width(bench: Any) -> None:
    for name, work in bench._works(5, 4000).items():
        drawn = work()
        spread = (sum(each**2 for each in drawn) / len(drawn)) ** 0.5
        assert 4.5 < spread < 5.5, name


def test_the_command_prints_and_writes_the_figures(
    bench: Any, found: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    asked = []

    def measure(count: int, _: Any) -> Any:
        asked.append(count)
        return found

    monkeypatch.setattr(bench, "measure", measure)
    assert bench.main(["--quick", "--json", str(tmp_path / "found.json")]) == 0
    assert asked == [bench.QUICK]
    assert "OpenDP's time over ours" in capsys.readouterr().out
    written = json.loads((tmp_path / "found.json").read_text())
    assert len(written["tables"]) == 1
