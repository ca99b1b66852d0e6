from __future__ import annotations

import csv
import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from supm.cli import main
from supm.datasets import load_wdbc
from supm.engines.program import run_source
from supm.federation import FederatedStudy

CREATE = ["federate", "create", "--schema", "wdbc.json", "--epsilon", "1", "--delta", "1e-5"]
TABLES = ["north.csv", "south.csv"]
SVM = ["--protocol", "svm", "--parties", "2"]
POLICY = {"version": 1, "epsilon": 1, "delta": 1e-5, "total": {"epsilon": 4, "delta": 1e-4}}
FLOWER = "pip install 'supm[federated]' to run the tests of Flower"


@pytest.fixture(autouse=True)
def tables(wdbc: Path) -> Path:
    """Put two halves of WDBC beside the whole, and a study of them."""
    data = load_wdbc()
    for start, name in enumerate(TABLES):
        with Path(name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(data.columns)
            columns = [column[start::2] for column in data.columns.values()]
            writer.writerows(zip(*columns, strict=True))
    assert main([*CREATE, "--protocol", "lda", "--parties", "2", "-o", "study.json"]) == 0
    return wdbc


def test_a_study_is_made_and_says_what_it_costs(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main([*CREATE, "--protocol", "lda", "--parties", "2", "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["hash"] == stored().hash
    assert 0.99 < told["epsilon"] <= 1
    assert (told["delta"], told["parties"], told["colluders"], told["dropouts"]) == (1e-5, 2, 1, 0)
    first = stored().protocol.ask(()).length
    assert (told["numbers"][0], len(told["numbers"])) == (first, 2)


CERTIFICATE = "-----BEGIN CERTIFICATE-----\n"


def stored() -> FederatedStudy:
    return FederatedStudy.from_json(Path("study.json").read_text())


@pytest.mark.parametrize(
    ("protocol", "more", "rounds"),
    [
        ("pca", ["--components", "3"], 1),
        ("pca", ["--components", "3", "--share", "subspace"], 1),
        ("lda", ["--no-histogram", "--directions", "1"], 1),
        ("svm", ["--components", "3"], None),
        ("logistic", ["--components", "3"], None),
    ],
)
def test_every_protocol_can_be_asked_for_and_run(
    protocol: str, more: list[str], rounds: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["--protocol", protocol, "--parties", "2", *more, "-o", "other.json", "--json", "-"]
    capsys.readouterr()
    assert main([*CREATE, *wanted]) == 0
    told = json.loads(capsys.readouterr().out)
    assert rounds is None or len(told["numbers"]) == rounds
    assert main(["federate", "run", "other.json", *TABLES, "--seed", "1", "-o", "out.json"]) == 0
    assert json.loads(Path("out.json").read_text())["statement"]["study"] == told["hash"]


def test_a_run_here_publishes_a_release_with_its_statement(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wanted = ["--seed", "1", "--schema", "wdbc.json", "-o", "release.json", "--json", "state.json"]
    assert main(["federate", "run", "study.json", *TABLES, *wanted]) == 0
    assert "Published: discriminant of federation." in capsys.readouterr().out
    statement = json.loads(Path("state.json").read_text())
    assert statement["simulation"] is True
    assert json.loads(Path("release.json").read_text())["statement"] == statement
    assert main(["statement", "release.json"]) == 0


def test_without_a_seed_a_run_is_no_simulation(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["federate", "run", "study.json", *TABLES, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["simulation"] is False


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (
            ["run", "study.json", "north.csv"],
            2,
            "DATA must be 2 tables, one for each party, got 1.",
        ),
        (["run", "absent.json", *TABLES], 2, "STUDY must be a file that can be read"),
        (["run", "wdbc.json", *TABLES], 1, "wdbc.json: "),
        (["run", "study.json", *TABLES, "--schema", "small.json"], 2, "the schema of the study"),
        (
            ["server", "study.json", "--folder", "run"],
            2,
            "--party-key must be given for each of 2 parties, got 0.",
        ),
        (["key", "-o", "no/folder/key"], 2, "-o must be a file in a folder that exists"),
        (["key", "-o", "north.csv"], 2, "-o must be a file that does not exist yet, got"),
        (["run", "study.json", *TABLES, "-o", "old.json"], 2, "-o must be a file that was not"),
        (["create", "--protocol", "pca"], 2, "must be given"),
        ([*CREATE[1:], "--protocol", "pca", "--parties", "2"], 2, "--components must be given"),
        ([*CREATE[1:], *SVM, "--share", "subspace"], 2, "--share must be left out for svm"),
        ([*CREATE[1:], *SVM, "--no-histogram"], 2, "--no-histogram must be left out for svm"),
        ([*CREATE[1:], *SVM, "--directions", "1"], 2, "--directions must be left out for svm"),
        (
            [*CREATE[1:], "--protocol", "lda", "--parties", "2", "--colluders", "2"],
            2,
            "colluders must be fewer",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(
    words: list[str], code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "server" in words or "key" in words:
        needs_flower()
    form = json.loads(Path("wdbc.json").read_text())
    form["attributes"] = form["attributes"][:3]
    Path("small.json").write_text(json.dumps(form))
    Path("old.json").write_text("published")
    Path("old.json.proof").write_text("its proof")
    capsys.readouterr()
    assert main(["federate", *words]) == code
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1
    assert Path("old.json").read_text() == "published"


@pytest.mark.parametrize(
    "words",
    [
        ["lda"],
        ["pca", "--components", "3", "--share", "subspace"],
        ["svm", "--components", "3"],
        ["logistic"],
    ],
    ids=lambda words: str(words[0]),
)
def test_flower_publishes_what_one_process_publishes(words: list[str]) -> None:
    needs_flower()
    assert main([*CREATE, "--protocol", *words, "--parties", "2", "-o", "study.json"]) == 0
    common = ["federate", "run", "study.json", *TABLES, "--seed", "7", "-o"]
    assert main([*common, "here.json"]) == 0
    assert main([*common, "there.json", "--engine", "flower"]) == 0
    assert Path("here.json").read_text() == Path("there.json").read_text()


def test_a_party_refuses_before_it_asks_or_connects(capsys: pytest.CaptureFixture[str]) -> None:
    needs_flower()
    words = party_words("north", "1")
    Path("ca.pem").write_text(CERTIFICATE)
    write_policy("north", epsilon=0.5)
    assert main(words) == 1
    assert "the policy allows epsilon = 0.5 for this study" in capsys.readouterr().err
    write_policy("north", colluders=2)
    assert main(words) == 1
    assert "even if 2 parties work with the server" in capsys.readouterr().err
    Path("north.json").write_text("{}")
    assert main(words) == 1
    assert "north.json: the policy has no" in capsys.readouterr().err


def test_a_party_that_does_not_agree_leaves_no_trace(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_flower()
    words = [each for each in party_words("north", "1") if each != "--yes"]
    write_policy("north")
    Path("ca.pem").write_text(CERTIFICATE)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert main(words) == 1
    told = capsys.readouterr().out
    assert "north.csv has 285 records" in told
    assert "whole numbers, masked" in told
    assert "Nothing was sent, and nothing was spent." in told
    assert Path("north.spent.json").read_text() == ""


def test_a_server_that_is_not_there_is_said_to_be_so(capsys: pytest.CaptureFixture[str]) -> None:
    needs_flower()
    words = party_words("north", "1")
    write_policy("north")
    capsys.readouterr()
    assert main(words) == 2
    said = capsys.readouterr()
    assert (said.out, "--ca must be a file that can be read" in said.err) == ("", True)
    Path("ca.pem").write_text("no certificate")
    assert main(words) == 2
    said = capsys.readouterr()
    assert (said.out, "--ca must be a file with a certificate" in said.err) == ("", True)
    Path("ca.pem").write_text(CERTIFICATE)
    assert main(words) == 2
    assert "--ca must be a file with a certificate" in capsys.readouterr().err


def test_a_server_and_two_parties_in_processes_of_their_own() -> None:
    needs_flower()
    keys = []
    for name in ("north", "south"):
        assert main(["federate", "key", "-o", f"{name}.key"]) == 0
        assert stat.S_IMODE(Path(f"{name}.key").stat().st_mode) == 0o600
        write_policy(name)
        keys += ["--party-key", f"{name}.key.pub"]
    port = free_port()
    place = ["--port", port, "--folder", "run", "--wait", "60", "--patience", "60"]
    serve = ["federate", "server", "study.json", *place, *keys, "-o", "release.json"]
    with started(serve) as server:
        wait_for(Path("run/ca.pem"), server)
        Path("ca.pem").write_text(Path("run/ca.pem").read_text())
        with (
            started(party_words("north", port)) as north,
            started(party_words("south", port)) as south,
        ):
            told = [each.communicate(timeout=90)[0] for each in (north, south, server)]
    assert [each.returncode for each in (north, south, server)] == [0, 0, 0], told
    for name in ("north", "south"):
        assert Path(f"{name}.out.json").read_text() == Path("release.json").read_text()
        [spent] = json.loads(Path(f"{name}.spent.json").read_text())["spent"]
        assert spent["study"] == stored().hash
    marks = {line for text in told for line in text.splitlines() if line.startswith("Fingerprint")}
    assert len(marks) == 1
    # The same study once more is beyond what the policy allows for it.
    Path("north.out.json").unlink()
    assert main(party_words("north", port)) == 1


def test_a_study_is_written_as_a_program_with_a_warning_in_the_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    capsys.readouterr()
    assert main(["federate", "app", "study.json", "-o", "app", "--seed", "7"]) == 0
    assert capsys.readouterr().out.endswith("is in app; submit it with flwr run app.\n")
    told = tomllib.loads(Path("app/pyproject.toml").read_text())["tool"]["flwr"]["app"]["config"]
    assert told["release"] == str(Path("release.json").absolute())
    assert run_source(told).simulation
    assert main(["federate", "app", "--help"]) == 0
    assert "A SuperNode runs what" in capsys.readouterr().out


def needs_flower() -> None:
    if not os.environ.get("SUPM_REQUIRE_ALL"):
        pytest.importorskip("flwr", reason=FLOWER)


def write_policy(name: str, **more: Any) -> None:
    Path(f"{name}.json").write_text(json.dumps(POLICY | more))


def party_words(name: str, port: str) -> list[str]:
    if not Path(f"{name}.key").exists():
        assert main(["federate", "key", "-o", f"{name}.key"]) == 0
    return [
        *("federate", "party", f"{name}.csv", "--study", "study.json", "--yes"),
        *("--server", f"127.0.0.1:{port}", "--ca", "ca.pem", "--key", f"{name}.key"),
        *("--policy", f"{name}.json", "--wait", "60", "-o", f"{name}.out.json"),
    ]


def free_port() -> str:
    from supm.engines.flower import free_port  # noqa: PLC0415  where it is installed

    return str(free_port())


class started:  # noqa: N801  read as a phrase
    """A command in a process, which is ended with all that it started."""

    def __init__(self, words: list[str]) -> None:
        self._words = [sys.executable, "-m", "supm", *words]

    def __enter__(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(  # noqa: S603  the test's own words
            self._words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        return self._process

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not path.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    assert path.exists()


@pytest.fixture(autouse=True)
def _same_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that are started here import the library that is tested."""
    import supm  # noqa: PLC0415  the one under test

    monkeypatch.setenv("PYTHONPATH", str(Path(supm.__file__).parents[1]))
