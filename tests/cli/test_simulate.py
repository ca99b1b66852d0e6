from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.image import imread

from supm.cli import main

pytestmark = pytest.mark.usefixtures("wdbc")
QUICK = ["--folds", "3", "--repeats", "2", "--seed", "1"]
WDBC = ["simulate", "wdbc.csv", "--target", "diagnosis"]
PRIVATE = "QX7731"


def figures(*options: str) -> dict[str, Any]:
    assert main([*WDBC, *QUICK, "--json", "out.json", *options]) == 0
    found: dict[str, Any] = json.loads(Path("out.json").read_text())
    return found


def test_the_json_has_the_keys_that_scripts_rely_on() -> None:
    found = figures("--epsilon", "2,8", "--schema", "wdbc.json")
    assert list(found) == ["n", "target", "majority", "results"]
    assert (found["n"], found["target"]) == (569, "diagnosis")
    assert found["majority"] == pytest.approx(357 / 569)
    assert [result["epsilon"] for result in found["results"]] == [2.0, 8.0]
    for result in found["results"]:
        assert list(result) == [
            "epsilon",
            "mode",
            "trust",
            "accuracy_mean",
            "accuracy_sd",
            "balanced_accuracy_mean",
            "on_device_accuracy_mean",
            "on_device_balanced_accuracy_mean",
            "plan",
            "guarantee",
            "seconds",
        ]
        assert result["mode"] == "strict"
        assert result["trust"] == ["untrusted", "untrusted", "untrusted"]
        assert result["plan"]["evaluation"]["repeats"] == 2
        assert result["plan"]["evaluation"]["folds"] == 3
        chosen = result["plan"]["evaluation"]["chosen"]
        assert sum(chosen.values()) == 2 * 3 * result["plan"]["keep"]
        assert result["guarantee"]["training"]["epsilon"] <= result["epsilon"]
        assert result["guarantee"]["simulation"] is True
        assert 0 < result["on_device_accuracy_mean"] < 1
    raw = found["results"][0]["plan"]["evaluation"]["without_privacy_accuracy_mean"]
    assert 0.95 < raw < 1


def test_more_budget_buys_more_accuracy() -> None:
    small, large = figures("--epsilon", "0.1,12")["results"]
    assert large["accuracy_mean"] > small["accuracy_mean"] + 0.1


def test_people_see_accuracy_beside_majority_repetitions_and_promise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*WDBC, *QUICK, "--epsilon", "1,4", "--plot", "out.png"]) == 0
    output = capsys.readouterr()
    lines = [line.split() for line in output.out.splitlines()]
    words = " ".join(output.out.split())
    assert "epsilon answered spread balanced on device on-device balanced majority" in words
    assert "Always predicting the commonest class is right for 62.7%" in words
    assert "a support vector machine without privacy, on the raw data of 569 people, for 9" in words
    assert "would change by at most the factor above (local differential privacy)" in words
    assert ["epsilon", "classes", "factor"] in lines
    assert ["1", "2", "2.72"] in lines
    assert ["4", "4", "54.6"] in lines
    assert words.count("Strict mode; reduce untrusted") == 1
    assert words.count("every training owner") == 2
    assert words.count("Each report tells as many attributes as teach most") == 1
    assert "The randomness came from a seed: a simulation, not private." in words
    assert "two standard deviations around the mean" in output.err
    assert "come from wdbc.csv, which must be public or synthetic" in output.err
    height, width, _ = imread("out.png").shape
    assert min(height, width) > 500


def test_one_budget_has_its_plan_in_full_and_one_repetition_no_spread(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*WDBC, "--epsilon", "1", "--repeats", "1", "--folds", "2"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "factor of at most 2.72 (local differential privacy, epsilon = 1.0)" in words
    assert "1 train every training owner 1 of 30 attributes, drawn 4 0.30" in words
    assert "All 30 attributes are used, in up to 2 classes." in words
    assert "How often" not in words
    assert "The spread is" not in words
    assert "seed" not in words


def test_classes_and_factors_that_differ_are_columns(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--keep", "30", "--reduce", "waldp", "--mode", "faithful"]
    assert main([*WDBC, *QUICK, *options, "--epsilon", "2,50"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "epsilon classes factor to train factor to test 2 2 7.39" in words
    assert "50 4 e^50.0 e^48.3871" in words


def test_with_a_schema_nothing_is_derived(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "wdbc.csv", "--schema", "wdbc.json", *QUICK, "--epsilon", "1"]) == 0
    assert capsys.readouterr().err == ""


def test_a_seed_repeats_the_figures() -> None:
    once, again = (figures("--epsilon", "3")["results"][0] for _ in range(2))
    assert once.pop("seconds") >= 0
    assert again.pop("seconds") >= 0
    assert once == again


def test_json_on_the_screen_is_json_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WDBC, *QUICK, "--epsilon", "1", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 569


@pytest.mark.parametrize("trust", ["t,u,u", "u,t,d", "t,t,t", "u,u,d"])
@pytest.mark.parametrize("mode", ["strict", "faithful"])
def test_every_trust_is_simulated_and_what_is_not_promised_is_not_claimed(
    trust: str, mode: str
) -> None:
    (result,) = figures("--epsilon", "6", "--trust", trust, "--mode", mode)["results"]
    promised = result["guarantee"]["training"]["type"] == "pure-ldp"
    # A trusted reduce phase that asks nothing costs nothing, as in strict mode here.
    asked_openly = trust.startswith("t") and mode == "faithful"
    assert promised == (trust[2] == "u" and not asked_openly)
    if trust.endswith("d"):
        assert result["guarantee"]["testing"] == {"type": "pure-ldp", "epsilon": 0.0}
        assert result["accuracy_mean"] == result["on_device_accuracy_mean"]


def test_options_reach_the_plan() -> None:
    options = ["--mode", "faithful", "--reduce", "pw", "--train", "pw", "--test", "odp"]
    found = figures("--epsilon", "20", *options, "--keep", "3", "--classes", "4")
    plan = found["results"][0]["plan"]
    assert (plan["keep"], plan["classes"], plan["reduction"]) == (3, 4, "pw")
    assert [question["form"] for question in plan["questions"]] == ["pw", "pw", "odp"]


def table(*rows: str, header: str = "age,ward,ill") -> list[str]:
    Path("small.csv").write_text("\n".join([header, *rows]))
    return ["simulate", "small.csv", "--target", "ill", *QUICK]


GOOD = [f"{20.5 + k},{'ne'[k % 2]},{'ny'[k % 2]}" for k in range(40)]


def test_plans_that_differ_have_their_reasons_told_one_by_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*table(*(GOOD * 10)), "--epsilon", "0.1,8"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "Epsilon 0.1: Each report tells" in words
    assert "Epsilon 8: " in words


def test_chosen_attributes_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--epsilon", "8", "--reduce", "rank", "--keep", "3"]
    assert main([*WDBC, *QUICK, *options]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "How often each attribute was chosen at epsilon 8, in 6 models: " in words


def numbers(*options: str) -> list[str]:
    lines = [f"{k % 40},{'ne'[k % 2]},{k % 40 * 1.5 + k % 2}" for k in range(800)]
    return [*table(*lines), *options]


def test_a_number_is_predicted_with_its_error_beside_the_constant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(numbers("--epsilon", "0.5,8", "--json", "out.json", "--plot", "out.png")) == 0
    output = capsys.readouterr()
    words = " ".join(output.out.split())
    assert "epsilon answered spread explained on device on-device explained constant" in words
    assert "Mean squared errors. Always predicting the mean has" in words
    assert "least squares without privacy, on the raw data of 800 people" in words
    assert "is predicted as a number" in output.err
    found = json.loads(Path("out.json").read_text())
    assert list(found) == ["n", "target", "constant", "results"]
    weak, strong = found["results"]
    assert strong["error_mean"] < 0.5 * found["constant"]
    assert strong["on_device_explained"] > 0.5
    assert strong["explained"] == pytest.approx(1 - strong["error_mean"] / found["constant"])
    assert strong["plan"]["evaluation"]["without_privacy_error_mean"] < 1.0
    assert weak["guarantee"]["training"]["epsilon"] <= 0.5
    assert min(imread("out.png").shape[:2]) > 500


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--mode", "faithful"], "--mode must be strict where the target is a number, as 'ill' is"),
        (["--weights", "balanced"], "--weights must be left out where the target is a number"),
    ],
)
def test_what_a_number_cannot_have_is_one_sentence(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(numbers(*options)) == 2
    output = capsys.readouterr()
    assert complaint in output.err.splitlines()[-1]
    assert output.out == ""


def test_weights_raise_the_balanced_accuracy_of_a_rare_class(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [f"{k % 20},n,{'y' if k % 20 > 16 and k % 3 else 'n'}" for k in range(2000)]
    weak = ["--epsilon", "2", "--test", "device", "--json", "out.json"]
    balanced = {}
    for name, options in {"plain": [], "high": ["--weights", "y=20,n=1"]}.items():
        assert main([*table(*rows), *weak, *options]) == 0
        (result,) = json.loads(Path("out.json").read_text())["results"]
        balanced[name] = result["balanced_accuracy_mean"]
        assert result["plan"]["evaluation"]["weights"] == (None if name == "plain" else [1, 20])
    assert balanced["high"] > balanced["plain"]
    assert "Classes count by the given weights in training." in " ".join(
        capsys.readouterr().out.split()
    )
    assert figures("--epsilon", "2", "--weights", "balanced")["n"] == 569


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        ("malgnant=2", "got 'malgnant'. Did you mean 'malignant'?"),
        ("malignant", "--weights must be balanced, or different classes with a number each"),
        ("benign=1,benign=2", "--weights must be balanced, or different classes with a number"),
        ("benign=0", "--weights must be a number in [1e-06, 1e+06]"),
        ("benign=", "--weights must be a number in [1e-06, 1e+06]"),
    ],
)
def test_wrong_weights_are_one_sentence(
    weights: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WDBC, *QUICK, "--schema", "wdbc.json", "--weights", weights]) == 2
    output = capsys.readouterr()
    assert complaint in output.err
    assert len(output.err.splitlines()) == 1
    assert output.out == ""


@pytest.mark.parametrize(
    ("rows", "code", "complaint"),
    [
        ([f"{20.5 + k},n,{PRIVATE}" for k in range(40)], 1, "all 40 records have one label"),
        ([f"1,n,{'ny'[k % 2]}" for k in range(40)], 1, "2 columns are constant and left out"),
        ([*GOOD, f"{PRIVATE},n"], 1, "line 42: 2 values where the header has 3 columns"),
        ([*GOOD, "1,n,"], 1, "ill: 1 of 41 records have no label; leave them out"),
        (["20.5,n,y", "30.5,e,n"], 1, "the table has 2 records, and 3 folds need at least 4"),
        ([], 1, "a header and no records"),
    ],
)
def test_a_table_that_cannot_be_learned_from_is_one_sentence(
    rows: list[str], code: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(table(*rows)) == code
    output = capsys.readouterr()
    assert complaint in output.err.splitlines()[-1]
    assert PRIVATE not in output.err
    assert output.out == ""


def test_more_folds_than_records_are_a_wrong_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*table(*GOOD[:8]), "--folds", "10"]) == 2
    assert "--folds must be at most the number of records, 8" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["--train", "raw"], ["--folds", "1"], ["--trust", "x,y,z"]])
def test_arguments_are_checked_before_the_file_is_read(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "nowhere.csv", "--target", "ill", *wrong]) == 2
    assert f"supm: error: {wrong[0]} must be" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("column", "complaint"),
    [
        ("mean radius", "mean radius: the column holds text where numbers are expected"),
        ("diagnosis", "diagnosis: 1 of 569 records holds a value that is not among the 2"),
    ],
)
def test_what_contradicts_the_schema_is_refused_without_the_value(
    column: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    header, first, *rest = Path("wdbc.csv").read_text().splitlines()
    cells = first.split(",")
    cells[header.split(",").index(column)] = PRIVATE
    Path("bad.csv").write_text("\n".join([header, ",".join(cells), *rest]))
    assert main(["simulate", "bad.csv", "--schema", "wdbc.json", *QUICK]) == 1
    output = capsys.readouterr()
    assert complaint in output.err
    assert PRIVATE not in output.err


@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        (["--target", "nosuch"], 2, "got 'nosuch'. There are 'mean radius', 'mean texture'"),
        (["--target", "DIAGNOSIS"], 2, "Did you mean 'diagnosis'?"),
        (["--epsilon", "0"], 2, "--epsilon must be a number in"),
        (["--epsilon", "1,1.0"], 2, "--epsilon must be different numbers"),
        (["--keep", "31"], 2, "--keep must be a whole number in [1, 30], got 31."),
        (["--folds", "1"], 2, "--folds must be a whole number"),
        (["--folds", "570"], 2, "--folds must be at most the number of records, 569"),
        (["--repeats", "0"], 2, "--repeats must be a whole number"),
        (["--penalty", "0"], 2, "--penalty must be a number"),
        (["--seed", "-1"], 2, "--seed must be a whole number"),
        (["--plot", "out.doc"], 2, "--plot must be a file that ends in"),
        (["--plot", "no/such/out.png"], 2, "--plot must be a file in a folder that exists"),
        (["--json", "."], 2, "--json must be a file in a folder that exists"),
        (
            ["--schema", "wdbc.json", "--target", "mean area"],
            2,
            "--target must be that of the schema",
        ),
        (["--train", "raw"], 2, "where the train phase is untrusted"),
    ],
)
def test_wrong_usage_is_one_sentence(
    options: list[str], code: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WDBC, *QUICK, *options]) == code
    output = capsys.readouterr()
    assert complaint in output.err.splitlines()[-1]
    assert output.out == ""


def test_without_target_and_schema_there_is_nothing_to_predict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["simulate", "wdbc.csv"]) == 2
    assert "--target must be given where there is no --schema" in capsys.readouterr().err


def test_a_rare_class_that_is_never_answered_gets_a_hint_and_weights_a_picture(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [f"{k % 20},n,{'y' if k % 25 == 3 else 'n'}" for k in range(500)]
    assert main([*table(*rows), "--epsilon", "1"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert words.count("owners are always answered the commonest class") == 1
    assert main([*table(*rows), "--epsilon", "1", "--weights", "balanced", "--plot", "o.png"]) == 0
    assert "Hint" not in capsys.readouterr().out
    assert min(imread("o.png").shape[:2]) > 500
