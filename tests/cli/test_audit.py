from __future__ import annotations

import json
from pathlib import Path

import pytest

from supm.audit import kinds
from supm.cli import main


def test_one_mechanism_is_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "randomized-response", "--size", "3", "--epsilon", "2"]) == 0
    head, row, blank, summary = capsys.readouterr().out.splitlines()
    assert head.split() == [
        *("mechanism", "parameters", "claimed", "exact", "lower", "bound", "verdict")
    ]
    assert row.startswith("randomized-response  size 3, epsilon 2")
    assert row.endswith("true")
    assert blank == ""
    assert summary.startswith("1 promise kept exactly, 0 not disproved by samples, 0 broken, in ")


def test_json_goes_to_a_file_beside_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "audit.json"
    assert main(["audit", "duchi", "--json", str(path)]) == 0
    found = json.loads(path.read_text())
    assert (found["kept_exactly"], found["not_disproved"], found["broken"]) == (1, 0, 0)
    (row,) = found["audits"]
    assert row["mechanism"] == "duchi"
    assert row["verdict"] == "true"
    assert row["empirical_lower_bound"] <= row["exact_epsilon"] <= row["claimed_epsilon"]
    assert {finding["passed"] for finding in row["findings"]} == {True}
    assert row["skipped"] == []
    assert capsys.readouterr().out.endswith(f"The findings are in {path}.\n")


def test_json_to_the_standard_output_is_nothing_but_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["audit", "laplace", "--json", "-"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["audits"][0]["mechanism"] == "laplace"
    assert said.err == ""


def test_what_could_not_be_computed_is_counted_by_itself_and_is_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "audit.json"
    many = ["audit", "randomized-response", "--size", "100000"]
    assert main([*many, "--json", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "0 promises kept exactly, 1 not disproved by samples, 0 broken" in shown
    assert "its epsilon was not computed" in shown
    found = json.loads(path.read_text())
    assert found["not_disproved"] == 1
    (row,) = found["audits"]
    assert row["verdict"] == "not disproved"
    assert row["exact_epsilon"] is None
    assert "check_epsilon: the channel is too large to write down" in row["skipped"]


def test_an_epsilon_beyond_what_words_hold_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "duchi", "--epsilon", "1000"]) == 0
    noticed = capsys.readouterr().err
    assert noticed.startswith("supm: note: 64-bit words cannot hold more than epsilon 44")
    assert noticed.endswith("1000 was asked for.\n")


def test_the_help_names_every_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", "--help"])
    shown = "".join(capsys.readouterr().out.split())
    assert [name for name in kinds() if name not in shown] == []
