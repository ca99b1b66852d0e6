from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from supm.cli import main
from supm.messages import Study
from supm.schema import Categorical, Continuous, Schema

pytestmark = pytest.mark.usefixtures("wdbc")
PLAN = ["plan", "--schema", "wdbc.json", "--owners", "1000", "--epsilon", "4"]

TWO = ["--known", "mean area", "--known", "mean radius"]


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_a_plan_says_who_is_asked_what_and_what_it_costs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(PLAN) == 0
    words = said(capsys)
    assert "Strict mode; reduce untrusted, train untrusted, test untrusted." in words
    assert "phase who is asked for combinations truth epsilon train every training owner" in words
    assert "Why: Each report tells as many attributes (2) of 4 classes as teach most" in words
    assert "factor of at most 54.6 (local differential privacy" in words
    assert "Forecast on 1000 made-up people" in words
    assert "(3 repetitions). Real people may be easier or harder to predict." in words


def test_groups_are_said_with_about_how_many_people_they_have(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*PLAN, "--reduce", "regroup"]) == 0
    words = said(capsys)
    assert "reduce 2 of 5 training owners," in words
    assert "lot: about 400" in words
    assert "lot: about 600" in words
    assert "classes are merged by joint reports" in words


def test_without_owners_there_is_a_plan_and_no_forecast(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--schema", "wdbc.json", "--epsilon", "4", "--json", "plan.json"]) == 0
    assert "made-up" not in said(capsys)
    assert json.loads(Path("plan.json").read_text())["made_up_people"] is None


def test_the_forecast_is_the_same_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for _ in range(2):
        assert main([*PLAN, "--json", "-"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert found[0]["made_up_people"]["owners"] == 1000
    assert found[0]["made_up_people"]["repeats"] == 3
    assert found[0]["plan"]["asked"][0]["combinations"] == 32
    assert found[0]["plan"]["why"].startswith("Each report tells")


def test_phases_without_a_promise_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--trust", "u,t,d", "--mode", "faithful"]) == 0
    words = said(capsys)
    assert "To an owner who helps to train: No privacy is promised (in the train phase" in words
    assert "nothing: the model is" in words
    assert "no promise" in words
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
    options = ["--mode", "faithful", "--reduce", "pw", "--keep", "3", "--classes", "5"]
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
        (["--trust", "u,u"], "--trust must be three letters"),
        (["--trust", "d,u,u"], "--trust must be three letters"),
        (["--reduce", "wa"], "--reduce must be rand, pw, waldp, rank or regroup where the"),
        (["--train", "oda"], "where the train phase is untrusted"),
        (["--test", "raw"], "where the test phase is untrusted"),
        (["--keep", "31"], "--keep must be a whole number in [1, 30], got 31."),
        (["--keep", "0"], "--keep must be a whole number in [1"),
        (["--classes", "1"], "--classes must be a whole number in [2"),
        (["--classes", "3000"], "--classes must be at most 2^12 with the labels"),
        (
            ["--attributes-per-report", "31"],
            "--attributes-per-report must be a whole number in [1, 30], got 31",
        ),
        (
            ["--attributes-per-report", "2", "--train", "odp"],
            "--attributes-per-report must be left out where all kept attributes",
        ),
        (["--sampled", "2"], "--sampled must be left out where nobody is asked in the reduce"),
        (["--train", "answer"], "--train must be one of odp, joint"),
        (["--test", "joint"], "--test must be answer, sample, odp or oda where reports told"),
        (["--known", "mean radus"], "got 'mean radus'. Did you mean 'mean radius'?"),
        (["--known", "mean area", "--known", "mean area"], "--known must be different names of"),
        (["--known", "mean area", "--keep", "2"], "--keep must be left out, or 1 as"),
        (["--known", "mean area", "--reduce", "pw"], "--reduce must be left out where"),
        (["--owners", "0"], "--owners must be a whole number in [1"),
        (["--owners", "many"], "--owners must be a whole number, got 'many'"),
        (["--epsilon", "0"], "--epsilon must be a number in"),
        (["--purpose", "x" * 3000], "--purpose must be"),
        (["--trust", "u,u,t", "--test", "device"], "For the device, say so in the trust"),
        (["--schema", "nowhere.json"], "--schema must be a file that can be read"),
        (["--json", "-", "--output", "-"], "--json must be another place"),
    ],
)
def test_a_wish_that_cannot_be_met_is_one_sentence_and_code_2(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*PLAN, *options]) == 2
    output = capsys.readouterr()
    assert complaint in output.err
    assert output.err.startswith("supm: error: --")
    assert output.err.count("\n") == 1
    assert output.out == ""


@pytest.mark.parametrize("options", [["--keep", "25"], [*TWO, "--classes", "3000"]])
def test_a_joint_report_has_a_limit(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--train", "joint", *options]) == 2
    complaint = "cells of a joint answer in the train phase must be at most 2^20, got "
    assert capsys.readouterr().err.startswith(f"supm: error: {complaint}")


def test_a_file_that_is_no_schema_is_named_and_a_number_needs_strict_mode(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*PLAN, "--schema", "wdbc.csv"]) == 1
    assert "wdbc.csv: the schema is not JSON" in capsys.readouterr().err
    number = Continuous("y", low=0, high=1)
    Path("number.json").write_text(
        Schema(attributes=(number,), target=replace(number, name="z")).to_json()
    )
    assert main([*PLAN, "--schema", "number.json"]) == 0
    words = said(capsys)
    assert "the model's answer for z" in words
    assert "No forecast: there is none for a target that is a number." in words
    assert main([*PLAN, "--schema", "number.json", "--mode", "faithful"]) == 2
    assert "--mode must be strict where the target is a number" in capsys.readouterr().err


def test_what_is_told_can_be_pinned(capsys: pytest.CaptureFixture[str]) -> None:
    wishes = [
        "--reduce",
        "rank",
        "--keep",
        "8",
        "--sampled",
        "3",
        "--attributes-per-report",
        "4",
        "--classes",
        "3",
    ]
    assert main([*PLAN, *wishes, "--train", "sample", "--test", "sample", "-o", "-"]) == 0
    study = Study.from_json(capsys.readouterr().out)
    assert (study.reduction, study.keep, study.classes) == ("rank", 8, 3)
    asked = [(question.form, question.sampled) for question in study.questions]
    assert asked[:2] == [("sample", 3), ("sample", 4)]
    assert asked[2][0] == "sample"


def test_to_test_on_the_device_is_a_trust(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--test", "device", "-o", "-"]) == 0
    assert Study.from_json(capsys.readouterr().out).trust.letters == "u,u,d"


def test_a_stricter_form_than_the_trust_asks_for_is_allowed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*PLAN, "--trust", "t,t,t", "--train", "odp", "-o", "-"]) == 0
    study = Study.from_json(capsys.readouterr().out)
    assert [question.form for question in study.questions] == ["oda", "odp", "oda"]


def test_a_class_for_missing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    form = json.loads(Path("wdbc.json").read_text())
    form["attributes"][0]["missing"] = "class"
    Path("holes.json").write_text(json.dumps(form))
    assert main([*PLAN, "--schema", "holes.json"]) == 0
    assert "in up to 4 classes (and one for missing)." in said(capsys)


def test_a_promise_in_words_has_six_digits_and_is_rounded_up(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*PLAN, "--mode", "faithful", "--epsilon", "2"]) == 0
    assert "(local differential privacy, epsilon = 1.33334)" in said(capsys)


def test_a_budget_beyond_the_words_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--epsilon", "1000"]) == 0
    assert "64-bit words cannot hold more than epsilon" in capsys.readouterr().err


def test_what_has_no_forecast_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--owners", "39"]) == 0
    assert "No forecast: there is none for fewer than 40 people." in said(capsys)
    assert main([*PLAN, "--classes", "40"]) == 0
    assert "No forecast: all attributes together have up to 1,200 classes" in said(capsys)


def small(*wards: str) -> None:
    """Write a schema of a number and an unordered attribute."""
    attributes = (Continuous("age", low=0, high=99), Categorical("ward", values=wards))
    schema = Schema(attributes=attributes, target=Categorical("ill", values=("n", "y")))
    Path("small.json").write_text(schema.to_json())


def test_people_are_made_up_up_to_a_number_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    small("north", "south")
    assert main([*PLAN, "--schema", "small.json", "--owners", "200000", "--train", "sample"]) == 0
    assert "Forecast on 20000 made-up people (at most 20,000 are made up), whose" in said(capsys)


def test_unordered_values_that_share_classes_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    small("north", "east", "south")
    options = ["--schema", "small.json", "--owners", "39", "--train", "sample"]
    assert main([*PLAN, *options, "--classes", "2"]) == 0
    assert "share classes by their place in the list: ward (3 values)." in said(capsys)
    assert main([*PLAN, *options, "--classes", "3"]) == 0
    assert "place in the list" not in said(capsys)
