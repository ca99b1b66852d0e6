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
    for kind, table in zip(bench.KINDS, found[0], strict=True):
        sides = 3 if kind == "Gaussian" else 2
        names = [name for name in bench.WIDTHS for _ in range(sides)]
        assert [row["width"] for row in table.rows] == names
        for row in table.rows:
            assert row["milliseconds"] > 0
            assert (row["times_our_time"] == 1.0) == (row["who"] == "SUPM")


def test_each_goal_is_on_the_worse_width(found: Any) -> None:
    for table, goal in zip(*found, strict=True):
        ratios = [row["times_our_time"] for row in table.rows if row["who"].startswith("OpenDP")]
        assert goal.measured == min(ratios)
        assert goal.limit == 20.0
        assert goal.at_least


@pytest.mark.parametrize(("kind", "deviation"), [("Gaussian", 5.0), ("Laplace", 5 * 2**0.5)])
def test_both_sides_draw_noise_of_the_width(bench: Any, kind: str, deviation: float) -> None:
    for name, work in bench._works(kind, 5, 4000).items():
        drawn = work()
        spread = (sum(each**2 for each in drawn) / len(drawn)) ** 0.5
        assert 0.9 < spread / deviation < 1.1, name


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
    assert len(written["tables"]) == len(bench.KINDS)
