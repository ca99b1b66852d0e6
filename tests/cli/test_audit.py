from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from supm._random import simulation
from supm.audit import audit_all, catalogue, entry, kinds
from supm.cli import main
from supm.cli.audit import _lines, _report
from supm.mechanisms import GeneralizedRandomizedResponse


class Braggart(GeneralizedRandomizedResponse):
    """It claims half of its epsilon."""

    @property
    def epsilon(self) -> float:
        return super().epsilon / 2


def test_one_mechanism_is_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "randomized-response", "--size", "3", "--epsilon", "2"]) == 0
    head, row, blank, summary = capsys.readouterr().out.splitlines()
    assert head.split() == [
        *("mechanism", "parameters", "claimed", "epsilon", "exact", "epsilon"),
        *("empirical", "lower", "bound", "verdict"),
    ]
    assert row.startswith("randomized-response  size 3, epsilon 2")
    assert row.endswith("true")
    assert blank == ""
    assert summary.startswith("1 of 1 promises kept, in ")


def test_all_stands_for_the_catalogue() -> None:
    assert _lines(Namespace(all=True, epsilon=None, size=None)) == catalogue()


def test_a_broken_promise_is_shown_with_its_evidence_and_code_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    braggart = replace(entry("binary-response"), mechanism=Braggart.for_epsilon(size=2, epsilon=1))
    rows = list(audit_all(simulation(1), [entry("duchi"), braggart]))
    assert _report(rows, 1.0, None) == 1
    shown = capsys.readouterr().out
    assert "broken\n" in shown
    assert "binary-response, epsilon 1: check_epsilon: BROKEN, claimed 0.5, exact 1" in shown
    assert "1 of 2 promises kept" in shown


def test_json_goes_to_a_file_beside_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "audit.json"
    assert main(["audit", "duchi", "--json", str(path)]) == 0
    found = json.loads(path.read_text())
    assert found["kept"] is True
    (row,) = found["audits"]
    assert row["mechanism"] == "duchi"
    assert row["verdict"] == "true"
    assert row["empirical_lower_bound"] <= row["exact_epsilon"] <= row["claimed_epsilon"]
    assert {finding["passed"] for finding in row["findings"]} == {True}
    assert "promises kept" in capsys.readouterr().out


def test_json_to_the_standard_output_is_nothing_but_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["audit", "laplace", "--json", "-"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["audits"][0]["mechanism"] == "laplace"
    assert said.err == ""


def test_the_help_names_every_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", "--help"])
    shown = " ".join(capsys.readouterr().out.split("mechanisms:")[1].split())
    assert shown == ", ".join(sorted(kinds()))
