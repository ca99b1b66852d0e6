from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from supm._random import simulation
from supm.audit import audit, audit_all, catalogue, entry, kinds
from supm.cli import main
from supm.cli.audit import _lines, _print, _report
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
        *("mechanism", "parameters", "claimed", "exact", "lower", "bound", "verdict")
    ]
    assert row.startswith("randomized-response  size 3, epsilon 2")
    assert row.endswith("true")
    assert blank == ""
    assert summary.startswith("1 promise kept exactly, 0 not disproved by samples, 0 broken, in ")


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
    assert "1 promise kept exactly, 0 not disproved by samples, 1 broken" in shown


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


def test_the_table_fits_a_hundred_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        replace(audit(line.mechanism, simulation(1), sampled=False), lower_bound=0.0812862)
        for line in catalogue()
    ]
    named = zip(rows, catalogue(), strict=True)
    _print([replace(row, mechanism=at.name, parameters=at.parameters) for row, at in named], 65.0)
    shown = capsys.readouterr().out
    assert max(len(line) for line in shown.splitlines()) <= 100


def test_an_epsilon_beyond_what_words_hold_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "duchi", "--epsilon", "1000"]) == 0
    noticed = capsys.readouterr().err
    assert noticed.startswith("supm: note: 64-bit words cannot hold more than epsilon 44")
    assert noticed.endswith("1000 was asked for.\n")


def test_the_help_names_every_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", "--help"])
    shown = " ".join(capsys.readouterr().out.split("mechanisms:")[1].split())
    assert shown == ", ".join(sorted(kinds()))
