from __future__ import annotations

import importlib
import json
import re
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
        yield importlib.import_module("run")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def environments(bench: Any) -> Any:
    return sys.modules[bench.Peer.__module__]


@pytest.fixture(scope="module")
def plan(bench: Any) -> Any:
    return bench.Plan(count=300, peer_count=30, rounds=1, repeats=1)


@pytest.fixture(scope="module")
def found(bench: Any, plan: Any) -> Any:
    return bench.benchmark(plan, [])


def test_one_run_fills_four_tables_with_rows_of_the_same_columns(found: Any) -> None:
    tables, _, complete = found
    assert complete
    assert len(tables) == 4
    for table in tables:
        assert table.rows
        assert all(list(row) == list(table.rows[0]) for row in table.rows)


def test_our_randomizer_and_plain_numpy_are_in_the_main_table(found: Any) -> None:
    rows = found[0][0].rows
    assert [row["how"] for row in rows] == ["vectorised, secure", "vectorised, not secure"]
    assert rows[0]["times_our_time"] == 1.0
    assert all(row["million_values_per_second"] > 0 for row in rows)


def test_every_other_randomizer_has_a_row_with_its_bytes(found: Any) -> None:
    rows = found[0][1].rows
    assert len({row["randomizer"] for row in rows}) == len(rows) == 13
    assert all(row["bytes_per_report"] >= 1 for row in rows)


def test_the_joint_report_is_measured_for_both_types_in_time_and_memory(found: Any) -> None:
    rows = found[0][2].rows
    assert sorted({row["classes_as"] for row in rows}) == ["int64", "uint8"]
    assert len(rows) == 6
    assert all(0 <= row["extra_MB"] < row["process_MB"] for row in rows)


def test_without_packages_there_is_no_figure_to_compare_with_them(found: Any) -> None:
    verdicts = {goal.name: goal.verdict for goal in found[1]}
    assert len(verdicts) == 4
    assert [name for name, verdict in verdicts.items() if verdict == "not measured"] == [
        "randomized response: time of the fastest package over ours"
    ]


def test_the_figures_survive_json_and_text(bench: Any, found: Any) -> None:
    tables, goals, _ = found
    written = json.loads(json.dumps(bench.as_json(tables, goals), allow_nan=False))
    assert [table["title"] for table in written["tables"]] == [table.title for table in tables]
    assert {goal["verdict"] for goal in written["goals"]} <= {"met", "missed", "not measured"}
    text = bench.as_text(tables, goals)
    for table in tables:
        assert table.title in text
    widths = [len(line) for line in text.split("\n\n")[1].splitlines()]
    assert len(set(widths)) == 1


@pytest.mark.parametrize(
    ("measured", "at_least", "verdict"),
    [
        (20.0, True, "met"),
        (19.9, True, "missed"),
        (20.0, False, "met"),
        (20.1, False, "missed"),
        (None, False, "not measured"),
    ],
)
def test_a_verdict_follows_from_the_figure(
    bench: Any, measured: float | None, *, at_least: bool, verdict: str
) -> None:
    goal = bench.Goal(name="speed", measured=measured, limit=20.0, at_least=at_least)
    assert goal.verdict == verdict


def test_a_package_that_cannot_be_installed_is_a_row_that_says_why(
    bench: Any, environments: Any, plan: Any
) -> None:
    class Broken(environments.Peer):  # type: ignore[misc]  # the module is loaded at run time
        def prepare(self) -> None:
            reason = "no matching distribution"
            raise environments.PeerError(reason)

    broken = Broken(name="broken", script="none", how="loop", cases=("randomized response",))
    compared = bench.Throughput(plan, [broken])
    compared.prepare(bench.silent)
    compared.measure(bench.silent)
    assert not compared.complete
    row = compared.tables()[0].rows[-1]
    assert row["note"] == "not measured: no matching distribution"
    assert row["million_values_per_second"] is None
    assert compared.goals()[0].verdict == "not measured"


def test_a_command_that_fails_gives_its_own_reason(environments: Any, tmp_path: Path) -> None:
    peer = environments.Peer(name="absent", script="none", how="loop", cases=())
    with pytest.raises(environments.PeerError, match="FileNotFoundError"):
        peer.measure({})
    with pytest.raises(environments.PeerError, match="No module named"):
        environments.run([sys.executable, "-m", f"absent_{tmp_path.name}"])


def test_each_package_is_pinned_and_compared_on_cases_that_we_have(
    environments: Any, found: Any
) -> None:
    cases = {row["randomizer"] for table in found[0][:2] for row in table.rows}
    for peer in environments.PEERS:
        assert (BENCHMARKS / "peers" / f"{peer.script}.py").is_file()
        assert set(peer.cases) <= cases
        lines = peer.requirements.read_text().splitlines()
        assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
        assert any(line.startswith(f"{peer.name}==") for line in lines)


def test_help_shows_an_example(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        bench.main(["--help"])
    assert stopped.value.code == 0
    assert "example:" in capsys.readouterr().out
