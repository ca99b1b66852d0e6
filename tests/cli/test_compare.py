from __future__ import annotations

import json
from pathlib import Path

import pytest
from matplotlib.image import imread

from supm.cli import main

pytestmark = pytest.mark.usefixtures("wdbc")
QUICK = ["compare", "wdbc.csv", "--schema", "wdbc.json", "--repeats", "5", "--seed", "1"]
ONE = ["--column", "mean radius", "--mechanisms", "randomized-response,hybrid"]


def test_errors_are_a_table_and_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, *ONE, "--epsilon", "1,4", "--plot", "out.png"]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0] == "wdbc.csv: 569 people, 5 repetitions with fresh reports."
    assert lines[2:4] == [
        "Error of the shares of classes",
        "column       epsilon  randomized-response",
    ]
    assert (
        "Least error of means over all columns: hybrid at epsilon 1; hybrid at epsilon 4."
        in " ".join(said.out.split())
    )
    assert lines[-1] == "The picture is in out.png."
    assert said.err == ""
    assert min(imread("out.png").shape[:2]) > 500


def test_figures_for_machines_fall_with_the_budget(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, *ONE, "--epsilon", "0.5,8", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["repeats"], found["simulation"]) == (569, 5, True)
    for name in ("randomized-response", "hybrid"):
        weak, strong = (each for each in found["results"] if each["mechanism"] == name)
        assert (weak["epsilon"], strong["epsilon"]) == (0.5, 8.0)
        assert weak["error"] > 3 * strong["error"]


def test_without_a_schema_all_columns_are_described_by_the_data(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [f"{20.5 + k},{'ne'[k % 2]}" for k in range(40)]
    Path("small.csv").write_text("\n".join(["age,ward", *rows]))
    assert (
        main(["compare", "small.csv", "--epsilon", "1", "--repeats", "2", "--json", "o.json"]) == 0
    )
    assert "come from small.csv, which must be public or synthetic" in capsys.readouterr().err
    found = json.loads(Path("o.json").read_text())["results"]
    assert {each["column"] for each in found} == {"age", "ward"}
    assert {each["column"] for each in found if each["estimated"] == "mean"} == {"age"}


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--mechanisms", "randomised-response"], "Did you mean 'randomized-response'?"),
        (["--mechanisms", "duchi,,hybrid"], "--mechanisms must be different names"),
        (["--mechanisms", "duchi", "--column", "diagnosis"], "--mechanisms must be such that one"),
        (["--column", "mean radus"], "--column must be names of columns, got 'mean radus'. Did"),
        (["--epsilon", "0"], "--epsilon must be a number in"),
        (["--repeats", "0"], "--repeats must be a whole number"),
        (["--plot", "out.doc"], "--plot must be a file that ends in"),
    ],
)
def test_wrong_usage_is_one_sentence(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*QUICK, *options]) == 2
    said = capsys.readouterr()
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


OWN = """
from supm.mechanisms import GeneralizedRandomizedResponse


class Mine(GeneralizedRandomizedResponse):
    pass


class Nearest:
    def fit(self, cells, *, classes):
        from supm.learning import RadialSVM

        return RadialSVM().fit(cells, classes=classes)
"""


def test_what_is_ones_own_is_found_by_its_module(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine_of_tests.py").write_text(OWN)
    mine = "mine_of_tests:Mine"
    assert main([*QUICK, "--mechanisms", mine, "--column", "diagnosis", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    assert {each["mechanism"] for each in found} == {mine}
    assert main(["audit", mine, "--size", "3", "--epsilon", "2"]) == 0
    assert f"{mine}  size 3, epsilon 2" in capsys.readouterr().out
    data = ["simulate", "wdbc.csv", "--schema", "wdbc.json", "--known", "mean radius"]
    learner = ["--learner", "mine_of_tests:Nearest", "--mode", "faithful", "--epsilon", "8"]
    assert main([*data, *learner, "--folds", "2", "--repeats", "1"]) == 0
    assert main([*data, "--train", mine, "--epsilon", "8", "--folds", "2", "--repeats", "1"]) == 0
    for wrong in (["audit", "mine_of_tests:No"], [*QUICK, "--mechanisms", "no_such:Thing"]):
        assert main(wrong) == 2
        assert "must be module:Name that can be imported" in capsys.readouterr().err
