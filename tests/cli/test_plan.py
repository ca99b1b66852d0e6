from __future__ import annotations

import json
from pathlib import Path

import pytest

from supm.cli import main
from supm.messages import Study

pytestmark = pytest.mark.usefixtures("wdbc")
PLAN = ["plan", "--schema", "wdbc.json", "--owners", "1000", "--epsilon", "4"]


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_a_plan_says_who_is_asked_what_and_what_it_costs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(PLAN) == 0
    words = said(capsys)
    assert "Strict mode; reduce untrusted, train untrusted, test untrusted." in words
    assert "Reduce: 2 of 5 training owners, by lot, about 400, each sends 1 attribute" in words
    assert "Train: 3 of 5 training owners, by lot, about 600, each sends" in words
    assert "Test: each owner whose record is to be classified sends" in words
    assert "factor of at most 54.6 (local differential privacy" in words


def test_phases_without_a_promise_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--trust", "u,t,d", "--mode", "faithful"]) == 0
    words = said(capsys)
    assert "To an owner who helps to train: No privacy is promised (in the train phase" in words
    assert "Test: nothing is asked; the model comes to the owner's device." in words
    assert "To an owner whose record is tested: Nothing leaves the device." in words


def test_the_study_is_written_and_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--purpose", "to try", "-o", "study.json", "--json", "plan.json"]) == 0
    assert said(capsys).startswith("Purpose: to try Strict mode")
    study = Study.from_json(Path("study.json").read_text())
    form = json.loads(Path("plan.json").read_text())
    assert form["owners"] == 1000
    assert form["plan"]["study"] == study.hash
    assert form["plan"]["keep"] == study.keep
    assert form["guarantee"]["training"]["type"] == "pure-ldp"
    assert form["guarantee"]["training"]["epsilon"] <= 4.0


def test_options_shape_the_study(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--mode", "faithful", "--reduce", "pw", "--attributes", "3", "--classes", "5"]
    assert main([*PLAN, *options, "--train", "odp", "--test", "pw", "-o", "-"]) == 0
    study = Study.from_json(capsys.readouterr().out)
    assert (study.reduction, study.keep, study.classes) == ("pw", 3, 5)
    assert [question.form for question in study.questions] == ["pw", "odp", "pw"]


def test_known_attributes_are_not_searched_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--known", "mean radius", "--known", "mean area", "-o", "-"]) == 0
    study = Study.from_json(capsys.readouterr().out)
    assert study.attributes == ("mean radius", "mean area")
    assert study.question("reduce") is None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--trust", "u,u"], "trust must be three of u, t, d"),
        (["--trust", "d,u,u"], "trust of the reduce phase must be one of"),
        (["--reduce", "wa"], "reduce must be rand, pw, waldp or rank where the reduce phase"),
        (["--train", "oda"], "where the train phase is untrusted"),
        (["--test", "raw"], "where the test phase is untrusted"),
        (["--attributes", "31"], "--attributes must be a whole number from 1 to the number of"),
        (["--attributes", "0"], "--attributes must be a whole number from 1 to the number of"),
        (["--classes", "1"], "classes must be a whole number in [2"),
        (["--owners", "0"], "owners must be a whole number in [1"),
        (["--epsilon", "0"], "argument --epsilon: must be a number in"),
        (["--schema", "nowhere.json"], "--schema must be a file that can be read"),
        (["--schema", "wdbc.csv"], "the schema is not JSON"),
        (["--json", "-", "--output", "-"], "--json must be another place"),
    ],
)
def test_a_wish_that_cannot_be_met_is_one_sentence_and_code_2(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*PLAN, *options]) == 2
    output = capsys.readouterr()
    assert complaint in output.err.splitlines()[-1]
    assert output.out == ""


def test_a_budget_beyond_the_words_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--epsilon", "1000"]) == 0
    assert "64-bit words cannot hold more than epsilon" in capsys.readouterr().err
