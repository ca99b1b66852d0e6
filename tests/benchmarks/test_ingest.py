"""The benchmark of the aggregator runs at any size; its figures are not judged here."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def ingest() -> Iterator[Any]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("ingest")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def found(ingest: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Measure the embedded database only: PostgreSQL takes seconds to begin."""
    plan = ingest.Plan(batches=4, singles=20, rounds=1, stored=40_000)
    folder = tmp_path_factory.mktemp("ingest")
    measured, stored = ingest.Ingest(plan, kinds=("SQLite",)), ingest.Stored(plan.stored)
    measured.measure(folder, ingest.silent)
    stored.measure(folder, ingest.silent)
    return [*measured.tables(), stored.table()], [*measured.goals(), *stored.goals()]


def test_ours_and_the_plain_server_have_rows_with_the_same_columns(found: Any) -> None:
    rows = found[0][0].rows
    assert [(row["body"], row["each_report_once"]) for row in rows] == [
        ("Arrow", "yes"),
        ("JSON", "yes"),
        ("JSON", "no"),
    ]
    assert rows[2]["times_the_plain_server"] == 1.0
    assert all(row["reports_a_second"] > 0 for row in rows)


def test_single_reports_have_a_rate_and_seconds(found: Any) -> None:
    [row] = found[0][1].rows
    assert row["p50_seconds_at_750_a_second"] <= row["p99_seconds_at_750_a_second"]


def test_a_filled_study_was_reduced_trained_and_looked_at(found: Any) -> None:
    names = [row["what"] for row in found[0][2].rows]
    assert {"reduce, seconds", "train, seconds", "dashboard, seconds"} <= set(names)


def test_what_was_not_measured_is_said(found: Any) -> None:
    verdicts = {goal.name: goal.verdict for goal in found[1]}
    assert verdicts["PostgreSQL, Arrow: reports a second"] == "not measured"
    assert len([each for each in verdicts.values() if each != "not measured"]) == 7


def test_a_server_that_does_not_start_is_an_error(ingest: Any, tmp_path: Path) -> None:
    with (
        pytest.raises(subprocess.CalledProcessError),
        ingest.aggregator("mysql://nowhere", tmp_path),
    ):
        pass


def test_the_command_prints_and_writes_the_figures(
    ingest: Any, found: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.setattr(ingest, "measure", lambda _plan, _step: found)
    assert ingest.main(["--quick", "--json", str(tmp_path / "found.json")]) == 0
    assert "reports a second" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "found.json").read_text())["tables"]) == 3
