"""The benchmark of the log runs at any size; its figures are not judged here."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from supm._json import canonical

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def publication() -> Iterator[Any]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("publication")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def found(publication: Any) -> Any:
    return publication.measure(publication.Plan(entries=2_500, proofs=20))


def test_the_log_and_the_plain_table_have_the_same_columns(found: Any) -> None:
    for table in found[0][:2]:
        ours, plain = table.rows
        assert list(ours) == list(plain)
        assert ours["entries"] == plain["entries"] == 2_500
        assert plain["times_the_plain_table"] == 1.0
        assert ours["bytes_an_entry"] > plain["bytes_an_entry"] > 0


def test_statements_differ_in_the_second_log_only(publication: Any) -> None:
    for make, count in ((publication._entry, 1), (publication._differing, 50)):
        entries = [make(number) for number in range(50)]
        assert len({canonical(entry.statement.to_form()) for entry in entries}) == count
        assert len({entry.statement.training.epsilon for entry in entries}) == count


def test_a_reader_proves_rebuilds_and_checks(found: Any) -> None:
    figures = {row["what"]: row["figure"] for row in found[0][2].rows}
    assert all(figure > 0 for figure in figures.values())
    assert figures["hashes in the longest proof"] == 12


def test_the_goals_are_those_of_the_log(found: Any) -> None:
    limits = [(goal.limit, goal.at_least) for goal in found[1]]
    assert limits == [(20_000.0, True), (20.0, False), (5.0, False), (20.0, False)]
    assert all(goal.measured > 0 for goal in found[1])


def test_a_root_that_is_another_one_is_an_error(
    publication: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publication, "rebuilt", lambda texts: (len(list(texts)), b"", {}))
    with pytest.raises(RuntimeError, match="not the one that is signed"):
        publication.measure(publication.Plan(entries=10, proofs=1))


def test_the_command_prints_and_writes_the_figures(
    publication: Any, found: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    asked = []

    def measure(plan: Any, _: Any) -> Any:
        asked.append(plan)
        return found

    monkeypatch.setattr(publication, "measure", measure)
    assert publication.main(["--quick", "--json", str(tmp_path / "found.json")]) == 0
    assert asked == [publication.QUICK]
    assert "entries appended a second" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "found.json").read_text())["tables"]) == 3
