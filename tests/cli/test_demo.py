from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from supm import simulation
from supm.cli import main
from supm.collection import plan
from supm.collection.story import Story, parts, tell
from supm.datasets import load_wdbc
from supm.messages import Study
from supm.owner import interview
from supm.privacy import PureLDP
from supm.service.security import cookie_name
from supm.service.serving import live


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_demo_tells_the_whole_story_and_a_seed_repeats_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        main(["demo", "--epsilon", "4,2", "--seed", "7", "--json", "demo.json", "--no-serve"]) == 0
    )
    shown = capsys.readouterr().out
    assert "each keeps their own record.\n\n1. What" in shown
    heads = [line for line in shown.splitlines() if line[:2] in {f"{k}." for k in range(1, 7)}]
    assert heads == [
        "1. What is asked first",
        "2. What one owner holds",
        "3. What leaves the device",
        "4. What the aggregator learns",
        "5. What accuracy it buys",
        "6. What is promised",
    ]
    words = " ".join(shown.split())
    assert "Always predicting the commonest class is right for 62.7%" in words
    assert "(3 repetitions)" in words
    assert (
        "epsilon answered spread on device papers papers' spread majority repetitions folds"
        in words
    )
    assert "factor of at most 54.6 (local differential privacy" in words
    assert "This was a simulation" in words
    check_numbers(words, json.loads(Path("demo.json").read_text()))
    height, width, _ = imread("supm-demo.png").shape
    assert width > 1500
    assert height > 500
    check_figures(json.loads(Path("demo.json").read_text()))


def check_numbers(words: str, found: dict[str, Any]) -> None:
    """The story tells what the report does, and how often it is the truth."""
    *told, label = found["report"]["symbols"]
    names, half = found["attributes"], len(told) // 2
    said = [f"class {told[half + k] + 1} of {names[told[k]]}" for k in range(half)]
    assert f"This time it told {', '.join(said)}, and {('benign', 'malignant')[label]}: " in words
    assert "together are one of 10 combinations. The device tells the owner's own with" in words
    kept = math.exp(4) / (math.exp(4) + 9)
    assert f"with probability {kept:.3f}, and otherwise one of the others" in words
    assert "the model adds up 8 of them. The 6 measures with most points are:" in words
    first = f"By lot, {found['reports']['reduce']} of 512 owners help to choose what the others are"
    assert first in words
    strengths = dict(zip(names, found["strengths"], strict=True))
    assert len(strengths) == 8
    for name, strength in strengths.items():
        assert f"{name} {strength:.2f} " in words


def check_figures(found: dict[str, Any]) -> None:
    assert found["simulation"] is True
    for kind, mode in (("accuracy", "strict"), ("papers", "faithful")):
        shown = [(each["epsilon"], each["mode"]) for each in found[kind]["results"]]
        assert shown == [(2.0, mode), (4.0, mode)]
    ours, theirs = (found[kind]["results"][1] for kind in ("accuracy", "papers"))
    assert ours["accuracy_mean"] > theirs["accuracy_mean"] + 0.05
    data = load_wdbc()
    study = plan(data.schema, epsilon=4.0, owners=data.rows, reduce="rank", keep=8, classes=5)
    with live(study, simulation=True) as opened:
        story = tell(opened, data, simulation(7).child("story"), lambda: None)
    assert found["tested"] == {"reports": 57, "right": story.right}
    assert story.right > story.commonest
    assert found["report"] == json.loads(story.report.to_json())
    assert found["estimated"] == story.estimated.tolist()
    assert found["reports"] == story.people
    check_story(story, study)


def check_story(story: Story, study: Study) -> None:
    data = load_wdbc()
    assert story.report.study == story.study.hash
    assert story.study.beginning == study.hash
    assert story.people["reduce"] > 0
    assert story.people["reduce"] + story.people["train"] == 512
    assert sum(story.people.values()) == data.rows
    check_promise(story, study)
    encoded = interview(story.study, "train").encode(data.records())
    top = story.asked.sizes[0] - 1
    malignant = encoded[:, -1] == 1
    heights = [encoded[rows, 0].mean() / top for rows in (malignant, ~malignant)]
    assert story.true[0] == pytest.approx(heights[0] - heights[1])
    assert np.corrcoef(story.true, story.estimated)[0, 1] > 0.2
    answers = story.model.predict(data.records())
    np.testing.assert_array_equal(answers == 1, story.scores > 0)
    np.testing.assert_array_equal(story.labels, encoded[:, -1])


def check_promise(story: Story, study: Study) -> None:
    """Who chooses and who trains are different people, and each spends the budget once."""
    groups = {each.phase: (each.group, each.epsilon) for each in study.questions}
    assert groups == {"reduce": (0, 4.0), "train": (1, 4.0), "test": (0, 4.0)}
    promised = story.model.statement
    assert [each.phase for each in promised.phases] == ["reduce", "train", "test"]
    assert promised.training == promised.testing == PureLDP(4.0)
    assert len(story.study.attributes or ()) == len(story.strengths) == study.keep
    check_ranks(story)


def check_ranks(story: Story) -> None:
    """What noise leaves nothing of is kept by rank, and the story says so where it happens."""
    by_rank = "they were kept by rank, to make up 8, and those who train decide"
    sure = replace(story, strengths=np.linspace(0.1, 0.8, 8))
    unsure = replace(story, strengths=np.maximum(np.linspace(-0.4, 0.8, 8), 0.0))
    assert by_rank not in " ".join(parts(sure)[0][1].split())
    assert by_rank in " ".join(parts(unsure)[0][1].split())


def test_without_a_seed_nothing_is_called_a_simulation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--epsilon", "1", "--json", "-", "--output", "a.svg"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["simulation"] is found["statement"]["simulation"] is False
    assert found["accuracy"]["n"] == sum(found["reports"].values()) == 569
    assert found["reports"]["reduce"] > 0
    assert found["reports"]["reduce"] + found["reports"]["train"] == 512
    assert Path("a.svg").read_bytes().startswith(b"<?xml")
    assert [path.name for path in Path().iterdir()] == ["a.svg"]


def test_the_dashboard_stays_open_until_an_interrupt() -> None:
    words = [sys.executable, "-m", "supm", "demo", "--epsilon", "4", "--output", "a.png"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as demo:  # noqa: S603  our own
        assert demo.stdout is not None
        lines: list[str] = []
        while not lines or lines[-1] != "Ctrl-C ends it.":
            line = demo.stdout.readline()
            assert line, "the demo ended by itself"
            lines.append(line.strip())
        (page,) = (line.split()[-1] for line in lines if line.startswith("The analyst's dashboard"))
        with urllib.request.urlopen(page) as answer:  # noqa: S310  on this machine
            assert b"token" in answer.read()
        check_dashboard(page, lines)
        demo.send_signal(signal.SIGINT)
    assert demo.returncode == 0


def check_dashboard(page: str, lines: list[str]) -> None:
    """The dashboard that is left open has three phases."""
    (token,) = (line.split()[3] for line in lines if line.startswith("Its token is"))
    name = page.split("/")[-2]
    cookie = {"Cookie": f"{cookie_name(name)}={token}"}
    with urllib.request.urlopen(urllib.request.Request(page, headers=cookie)) as answer:  # noqa: S310  the same
        shown = answer.read().decode()
    assert 'data-phases="reduce train test"' in shown
    assert 'data-count="reduce">0<' not in shown
