from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from supm import simulation
from supm.cli import main
from supm.cli._story import Story, tell
from supm.collection import interview, plan
from supm.datasets import load_wdbc
from supm.learning import RadialSVM
from supm.messages import Study


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_demo_tells_the_whole_story_and_a_seed_repeats_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "--epsilon", "4,2", "--seed", "7", "--json", "demo.json"]) == 0
    shown = capsys.readouterr().out
    heads = [line for line in shown.splitlines() if line[:2] in {f"{k}." for k in range(1, 6)}]
    assert heads == [
        "1. What one owner holds",
        "2. What leaves the device",
        "3. What the aggregator learns",
        "4. What accuracy it buys",
        "5. What is promised",
    ]
    words = " ".join(shown.split())
    assert "Always predicting the commonest class is right for 62.7%" in words
    assert "(5 repetitions)" in words
    assert "factor of at most 54.6 (local differential privacy" in words
    assert "This was a simulation" in words
    check_numbers(words, json.loads(Path("demo.json").read_text()))
    height, width, _ = imread("supm-demo.png").shape
    assert width > 1500
    assert height > 500
    check_figures(json.loads(Path("demo.json").read_text()))


def check_numbers(words: str, found: dict[str, Any]) -> None:
    """The story counts combinations as the report does, and says how many are not shown."""
    told = ", ".join(map(str, found["report"]["symbols"]))
    assert "numbered from 0. The device names one of them: the owner's own, number" in words
    assert f"This time it named {told}: " in words
    shown = len([share for share in found["true"] if share > 0][:8])
    assert f"The commonest {shown} of {len(found['true'])} combinations are:" in words


def check_figures(found: dict[str, Any]) -> None:
    assert found["simulation"] is True
    assert [result["epsilon"] for result in found["accuracy"]["results"]] == [2.0, 4.0]
    data = load_wdbc()
    study = plan(data.schema, epsilon=4.0, owners=data.rows)
    story = tell(study, data, RadialSVM(), simulation(7).child("story"))
    assert found["report"] == json.loads(story.report.to_json())
    assert found["estimated"] == story.estimated.tolist()
    assert found["reports"] == story.people
    check_story(story, study)


def check_story(story: Story, study: Study) -> None:
    data = load_wdbc()
    assert story.report.study == story.study.hash
    assert story.study.previous == study.hash
    assert sum(story.people.values()) == data.rows
    assert story.estimated.sum() == pytest.approx(1.0)
    asked = interview(story.study, "train")
    own = asked.encode(story.study.schema.read([story.record]))
    assert own.tolist() == [[story.held]]
    truth = np.bincount(asked.encode(data.records())[:, 0] // 2, minlength=story.true.size)
    np.testing.assert_allclose(story.true, truth / data.rows)


def test_without_a_seed_nothing_is_called_a_simulation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "--epsilon", "1", "--json", "-", "--output", "a.svg"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["simulation"] is found["statement"]["simulation"] is False
    assert found["accuracy"]["n"] == sum(found["reports"].values()) == 569
    assert Path("a.svg").read_bytes().startswith(b"<?xml")
    assert [path.name for path in Path().iterdir()] == ["a.svg"]
