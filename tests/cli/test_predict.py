from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from supm import simulation
from supm.cli import main
from supm.collection import make_model, plan, run_in_process
from supm.datasets import load_wdbc
from supm.messages import Model
from supm.owner.http import Remote
from supm.service.actions import serve_model, train_stored
from supm.service.app import make_app
from supm.service.security import hash_token
from supm.service.serving import running
from supm.service.store import Store

pytestmark = pytest.mark.usefixtures("wdbc")


@pytest.fixture(scope="module")
def model() -> Model:
    data = load_wdbc()
    study = plan(data.schema, epsilon=8.0, owners=data.rows)
    return make_model(run_in_process(study, data.records(), simulation(1)))


@pytest.fixture
def address(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve a study that 30 owners trained, and return where it is."""
    monkeypatch.setenv("SUPM_WALLET", str(tmp_path / "wallet.db"))
    store = Store.open(f"sqlite:///{tmp_path}/store.db")
    token = hash_token("token")
    opened = store.create(model.study, token_hash=token, minimums={}, deadlines={})
    few(rows=30)
    with running(make_app(store)) as base:
        url = f"{base}/studies/{opened.name}"
        all_rows = ["--each-row-is-an-owner", "--yes"]
        assert main(["contribute", "few.csv", "--study", url, *all_rows]) == 0
        train_stored(store, opened.name)
        serve_model(store, opened.name)
        yield url
    store.close()


def few(cell: str | None = None, *, rows: int = 5) -> None:
    with Path("wdbc.csv").open() as file:
        held = list(csv.reader(file))[: rows + 1]
    if cell is not None:
        held[2][0] = cell
    with Path("few.csv").open("w", newline="") as file:
        csv.writer(file).writerows(held)


def test_a_model_in_a_file_answers_at_home(
    model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    few()
    Path("model.json").write_text(model.to_json())
    assert main(["predict", "few.csv", "--model", "model.json", "--json", "-"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert told["target"] == "diagnosis"
    assert len(told["answers"]) == 5
    assert {each["answer"] for each in told["answers"]} <= {"malignant", "benign"}
    # A scorecard knows how sure it is, on the page and here.
    assert all(0.5 <= each["probability"] <= 1 for each in told["answers"])
    assert said.err == ""


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--release", "model.json"], 2, "It is the model of a study: use --model."),
        (["--model", "wdbc.json"], 1, "wdbc.json: "),
        (["--model", "release.json"], 2, "It is what a federation published: use --release."),
        (["--model", "forged.json"], 1, "the statement is not what the study's mechanisms spend"),
        ([], 2, "--study, --model or --release must be given. See supm predict --help."),
    ],
)
def test_a_file_of_another_kind_is_said_to_be_one(
    options: list[str], code: int, words: str, model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    few()
    text = model.to_json()
    Path("model.json").write_text(text)
    form = json.loads(text)
    form["statement"]["phases"] = form["statement"]["phases"][:0]
    Path("forged.json").write_text(json.dumps(form))
    Path("release.json").write_text('{"content": {}, "version": 1}')
    assert main(["predict", "few.csv", *options]) == code
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_whose_budget_is_spent_is_said_before_anything_leaves(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    few()
    capsys.readouterr()
    assert main(["predict", "few.csv", "--study", address, "--yes"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "5 rows: each counts as another person, who spends epsilon = 8 on this answer" in said
    assert "no wallet remembers it, so asking again about the same person costs" in said


@pytest.mark.parametrize("typed", ["", "n\n", "\n"])
def test_without_a_yes_nothing_leaves(
    typed: str, address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few()
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    monkeypatch.setattr(Remote, "post_json", None)
    capsys.readouterr()
    assert main(["predict", "few.csv", "--study", address]) == 1
    said = capsys.readouterr()
    assert "who spends epsilon = 8" in said.err
    assert "Send 5 reports? [y/N] Nothing was sent, and nothing was spent." in said.err
    assert said.out == ""


def test_a_yes_sends(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few()
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    capsys.readouterr()
    assert main(["predict", "few.csv", "--study", address, "--json", "-"]) == 0
    assert len(json.loads(capsys.readouterr().out)["answers"]) == 5


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"answers": 3},
        {"answers": [{"answer": "benign", "probability": 0.5}]},
        {"answers": [{}] * 5},
        {"answers": [{"answer": "benign", "probability": "\x1b"}] * 5},
        {"answers": [{"answer": ["benign"], "probability": 1.0}] * 5},
        {"answers": [{"answer": "benign"}] * 5},
    ],
)
def test_answers_that_are_none_are_said_in_a_sentence(
    told: dict[str, Any],
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    few()
    capsys.readouterr()
    monkeypatch.setattr(Remote, "post_json", lambda *_: (200, told))
    assert main(["predict", "few.csv", "--study", address, "--yes"]) == 1
    said = capsys.readouterr().err
    assert "error: the aggregator's answers are not for these reports; check the address." in said


def test_what_an_aggregator_says_does_not_steer_the_terminal(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few()
    capsys.readouterr()
    row = {"answer": "\x1b]0;owned\x07be\x9b2Jnign\u202e\nx", "probability": 0.5}
    monkeypatch.setattr(Remote, "post_json", lambda *_: (200, {"answers": [row] * 5}))
    told = main(["predict", "few.csv", "--study", address, "--yes"])
    told += main(["predict", "few.csv", "--study", address, "--yes", "--json", "-"])
    monkeypatch.setattr(Remote, "post_json", lambda *_: (409, {"error": "no\x1b[2J\u202e."}))
    told += main(["predict", "few.csv", "--study", address, "--yes"])
    monkeypatch.setattr(Remote, "get_json", lambda *_: (200, {"state": "\x1b[2J\r"}))
    told += main(["predict", "few.csv", "--study", address, "--yes"])
    said = capsys.readouterr()
    assert told == 2
    assert "owned" in said.out
    assert all(each.isprintable() or each == "\n" for each in said.out + said.err)


def test_a_record_that_does_not_fit_is_told_what_is_allowed(
    model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    few("QX7731")
    Path("model.json").write_text(model.to_json())
    assert main(["predict", "few.csv", "--model", "model.json"]) == 1
    said = capsys.readouterr().err
    assert "line 3 of few.csv; allowed: a number; what is below" in said
    assert "QX7731" not in said
