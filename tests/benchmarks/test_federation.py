"""The benchmark of federations measures every case; what it found is not judged here."""

from __future__ import annotations

import importlib
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
        yield importlib.import_module("federation")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.data
def test_every_case_of_a_table_has_a_row_and_a_goal(bench: Any) -> None:
    seen: list[str] = []
    # CIFAR-10 takes half a minute however few records there are.
    cases = [case for case in bench.CASES if case.data == "MNIST"]
    (table,), goals = bench.benchmark(bench.Plan(records=60, repeats=1), seen.append, cases)
    assert len(table.rows) == len(goals) == len(seen) == len(cases)
    assert all(goal.measured > 0 for goal in goals)
    assert {row["what"] for row in table.rows} == {case.name for case in bench.CASES}
