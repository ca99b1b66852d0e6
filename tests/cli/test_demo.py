from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from supm._random import simulation
from supm.cli import main
from supm.cli._demonstration import demonstrate
from supm.cli._picture import _panels
from supm.datasets import load_wdbc


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_demo_prints_a_table_and_writes_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("569 owners hold one number each")
    assert shown.count("95% band") == 3
    assert "key came from the operating system" in " ".join(shown.split())
    assert shown.endswith("The picture is in supm-demo.png.\n")
    assert "Too little" not in shown
    height, width, _ = imread("supm-demo.png").shape
    assert width > 1500
    assert height > 500


def test_a_seed_repeats_the_run_and_is_called_a_simulation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = []
    for _ in range(2):
        assert main(["demo", "--seed", "7", "--epsilon", "1"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    words = " ".join(shown[0].split())
    assert "No privacy is promised" in words
    assert "simulation, not private" in words
    assert "alternatives" not in words


def test_without_a_seed_two_runs_differ(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for _ in range(2):
        assert main(["demo"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] != shown[1]


@pytest.mark.parametrize("name", ["picture.svg", "picture.pdf", "PICTURE.PNG"])
def test_the_picture_has_the_format_of_its_name(name: str) -> None:
    assert main(["demo", "--epsilon", "1", "--seed", "1", "--output", name]) == 0
    start = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[name[-3:].lower()]
    assert Path(name).read_bytes().startswith(start)


def test_json_holds_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--epsilon", "0.5,4", "--seed", "7", "--json", "-"]) == 0
    assert list(Path().iterdir()) == []
    found = json.loads(capsys.readouterr().out)
    assert found["owners"] == 569
    assert found["simulation"] is True
    assert [round(result["epsilon"], 9) for result in found["results"]] == [0.5, 4.0]
    assert sum(found["true"]) == pytest.approx(1.0)
    for result in found["results"]:
        assert len(result["estimated"]) == len(found["classes"]) == 6
        assert sum(result["reported"]) == pytest.approx(1.0)
        assert sum(result["estimated"]) == pytest.approx(1.0)


def test_a_picture_is_drawn_beside_json_if_it_is_asked_for() -> None:
    assert main(["demo", "--epsilon", "1", "--json", "-", "--output", "picture.png"]) == 0
    assert Path("picture.png").exists()


def test_json_in_a_file_is_confirmed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--epsilon", "1", "--json", "demo.json"]) == 0
    assert capsys.readouterr().out.endswith("The figures are in demo.json.\n")
    assert json.loads(Path("demo.json").read_text())["owners"] == 569


def test_too_little_and_too_large_a_budget_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--epsilon", "0.01,1000", "--seed", "1"]) == 0
    said = capsys.readouterr()
    assert said.out.count("Too little budget for 569 owners") == 1
    assert said.err.count("64-bit words cannot hold more than epsilon 45.97") == 1


def test_the_picture_speaks_of_a_factor_and_rounds_it_up() -> None:
    figure = _panels(demonstrate([1.0], simulation(1)))
    assert figure.axes[0].get_title() == "epsilon = 1\na factor of at most 2.72"


def test_the_bands_hold_the_truth_as_often_as_they_say() -> None:
    inside = []
    for seed in range(100):
        shown = demonstrate([1.0], simulation(seed))
        (result,) = shown.results
        inside.append((result.low <= shown.true) & (shown.true <= result.high))
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def test_the_true_shares_are_those_of_the_data() -> None:
    shown = demonstrate([1.0], simulation(1))
    radius = load_wdbc().columns["mean radius"]
    edges = [-np.inf, 5, 10, 15, 20, 25, np.inf]
    counted = [
        np.mean((low < radius) & (radius <= high)) for low, high in itertools.pairwise(edges)
    ]
    np.testing.assert_allclose(shown.true, counted)
