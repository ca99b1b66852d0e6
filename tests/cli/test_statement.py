from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from supm import simulation
from supm.cli import main
from supm.collection import make_model, plan, run_in_process
from supm.datasets import load_wdbc
from supm.estimators import CopulaSynthesizer
from supm.mechanisms import ContinuousLaplace
from supm.messages import Model, Statement
from supm.synthesis import Archive, ArchiveSchema, NumberColumn


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def model() -> Model:
    data = load_wdbc()
    study = plan(data.schema, epsilon=2.0, attributes=["mean radius"])
    Path("study.json").write_text(study.to_json())
    return make_model(run_in_process(study, data.records(), simulation(1)))


def test_model_statement_and_study_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    made = model()
    Path("model.json").write_text(made.to_json())
    Path("statement.json").write_text(made.statement.to_json())
    shown = {}
    for noun in ("model", "statement", "study"):
        assert main(["statement", f"{noun}.json"]) == 0
        shown[noun] = " ".join(capsys.readouterr().out.split())
        assert shown[noun].startswith(f"{noun}.json is a {noun}. ")
        assert "factor of at most 7.39 (local differential privacy" in shown[noun]
    assert "This was a simulation" in shown["model"]
    assert shown["model"].endswith(shown["statement"].split("statement. ", 1)[1])
    assert "mean radius" in shown["study"]


def test_a_model_for_the_device_is_told_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    data = load_wdbc()
    study = plan(data.schema, epsilon=2.0, trust="u,u,d", attributes=["mean radius"])
    made = make_model(run_in_process(study, data.records(), simulation(1)))
    Path("model.json").write_text(made.to_json())
    assert main(["statement", "model.json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("Train: a few classes, drawn at random, as one symbol through")
    assert "To an owner whose record is tested: Nothing leaves the device." in lines
    assert any(line.startswith("To an owner who helps to train: If the owner") for line in lines)
    assert lines[-1].startswith("This was a simulation: ")


def test_json_is_a_statement_again(capsys: pytest.CaptureFixture[str]) -> None:
    made = model()
    Path("model.json").write_text(made.to_json())
    assert main(["statement", "model.json", "--json", "-"]) == 0
    assert Statement.from_json(capsys.readouterr().out) == made.statement
    assert main(["statement", "model.json", "--json", "found.json"]) == 0
    assert Statement.from_json(Path("found.json").read_text()) == made.statement


@pytest.mark.parametrize(
    ("content", "code", "complaint"),
    [
        ("{}", 1, "no model, statement, study or release"),
        ("", 1, "not JSON"),
        ("[1]", 1, "must be a JSON object"),
        ('{"statement": 1}', 1, "version of a model must be"),
        ('{"phases": 1, "version": 9}', 1, "version of a statement must be"),
        ('{"questions": 1}', 1, "version of a study must be"),
        (b"\xff\xfe", 2, "It is not UTF-8 text"),
        (None, 2, "No such file or directory"),
    ],
)
def test_what_is_none_of_them_is_refused(
    content: str | bytes | None, code: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        Path("x.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["statement", "x.json"]) == code
    output = capsys.readouterr()
    assert complaint in output.err
    assert len(output.err.splitlines()) == 1
    assert output.out == ""


def test_an_altered_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    form = json.loads(model().to_json())
    Path("x.json").write_text(json.dumps(form | {"signature": 1}))
    assert main(["statement", "x.json"]) == 1
    assert "signature" in capsys.readouterr().err


def test_a_model_whose_statement_was_edited_is_not_believed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    form = json.loads(model().to_json())
    told = form["statement"]
    told["training"]["epsilon"] = 0.01
    Path("model.json").write_text(json.dumps(form))
    assert main(["statement", "model.json"]) == 1
    assert "training must be no stronger" in capsys.readouterr().err
    told["phases"] = [phase | {"guarantee": told["training"]} for phase in told["phases"]]
    Path("model.json").write_text(json.dumps(form))
    assert main(["statement", "model.json"]) == 1
    assert "not what the study's mechanisms spend" in capsys.readouterr().err


def synthesizer(columns: int) -> str:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=2.0)
    schema = ArchiveSchema(columns=tuple(NumberColumn(f"c{n}", law) for n in range(columns)))
    held = {name: np.linspace(0, 1, 200) for name in schema.names}
    archive = Archive.noised(held, schema, simulation(1))
    return CopulaSynthesizer(bins=10).fit(archive).to_json()


def test_a_saved_synthesizer_is_stated_published_and_verified(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("model.json").write_text(synthesizer(2))
    assert main(["statement", "model.json", "--json", "statement.json"]) == 0
    told = capsys.readouterr().out
    assert "model.json is a synthesizer." in told
    assert "epsilon = 4" in told
    assert main(["log", "create", "releases.db", "--name", "log.example"]) == 0
    assert main(["publish", "model.json", "--log", "releases.db"]) == 0
    capsys.readouterr()
    assert main(["verify", "model.json", "--key", "releases.pub", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verified"], found["derived"], found["simulation"]) == (True, True, True)


def test_a_synthesizer_that_promises_more_than_its_schema_is_not_published(
    capsys: pytest.CaptureFixture[str],
) -> None:
    form = json.loads(synthesizer(2))
    form["statement"] = json.loads(synthesizer(1))["statement"]
    Path("model.json").write_text(json.dumps(form))
    assert main(["log", "create", "releases.db", "--name", "log.example"]) == 0
    capsys.readouterr()
    assert main(["publish", "model.json", "--log", "releases.db"]) == 1
    assert "states something else than its schema promises" in capsys.readouterr().err
