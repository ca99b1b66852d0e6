"""A fork leaves a file, and whoever is shown the file can tell what it proves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.publication.conftest import Maker

from supm._json import canonical
from supm.cli import main

KEY = ["--key", "a.pub"]
JUDGE = ["log", "evidence", "e.json"]


@pytest.fixture
def maker(tmp_path: Path) -> Iterator[Maker]:
    with ExitStack() as opened:
        yield Maker(tmp_path, opened)


@pytest.fixture(autouse=True)
def forked(tmp_path: Path, maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make two logs of one key, a of three entries and b of more, that begin with one entry."""
    for name in ("SUPM_LOG", "SUPM_LOG_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("s.json").write_text(canonical(maker.release_statement().to_form()))
    assert main(["log", "create", "a.db", "--name", "log.example"]) == 0
    publish("one.csv", "a.db")
    for end in ("db", "key"):
        shutil.copy(f"a.{end}", f"b.{end}")
    for number in range(2):
        publish(f"a{number}.csv", "a.db")
    for number in range(5):
        publish(f"b{number}.csv", "b.db")
    assert main(["log", "check", "--log", "a.db", *KEY, "--keep", "kept.txt"]) == 0


def publish(file: str, log: str) -> None:
    Path(file).write_text(file)
    assert main(["publish", file, "--statement", "s.json", "--yes", "--log", log]) == 0


def said(capsys: pytest.CaptureFixture[str]) -> str:
    told = capsys.readouterr()
    return " ".join((told.out + told.err).split())


FORKED = [
    ["verify", "a1.csv", *KEY, "--log", "b.db"],
    ["log", "check", "--log", "b.db", *KEY, "--checkpoint", "kept.txt"],
]


@pytest.mark.parametrize("words", FORKED)
def test_a_fork_leaves_evidence_that_its_reader_can_judge(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--evidence", "e.json"]) == 1
    assert "is forked: its signed checkpoints of 3 and 6 entries cannot both" in said(capsys)
    # The logs are gone, and the evidence stands by itself.
    for log in ("a.db", "b.db"):
        Path(log).unlink()
    assert main([*JUDGE, *KEY]) == 0
    told = said(capsys)
    for line in ("A checkpoint of 3 entries is signed by the log's key", "So keys of the log"):
        assert f"ok: {line}" in told
    assert told.endswith("VERIFIED: that e.json shows two histories of the log")
    assert main([*JUDGE, *KEY, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verified"], found["log"], found["sizes"]) == (True, "log.example", [3, 6])
    assert len(found["checked"]) == 4


def test_evidence_after_a_change_of_keys_is_judged_by_the_first_key(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["log", "rotate", "--log", "b.db", "--new", "c.key"]) == 0
    for words in FORKED:
        Path("e.json").unlink(missing_ok=True)
        assert main([*words, "--evidence", "e.json"]) == 1
        assert main([*JUDGE, *KEY]) == 0
        capsys.readouterr()
        assert main([*JUDGE, "--key", "c.pub"]) == 1
        assert "is signed by the key" in said(capsys)


def test_what_proves_nothing_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FORKED[0], "--evidence", "e.json"]) == 1
    good = json.loads(Path("e.json").read_text())
    for more, words in (
        ({"path": []}, "accuses nobody"),
        ({"second": good["first"]}, "accuses nobody"),
        ({"second": good["first"], "path": [], "root": good["root"]}, "accuses nobody"),
        ({"first": good["second"].replace("6", "4", 1)}, "was altered: its signature"),
        ({"version": 3}, "evidence of version 1 has the fields"),
    ):
        Path("e.json").write_text(json.dumps(good | more))
        capsys.readouterr()
        assert main([*JUDGE, *KEY, "--json", "o.json"]) == 1
        told = said(capsys)
        assert words in told
        assert "that e.json shows two histories of the log is NOT verified: " in told
        assert json.loads(Path("o.json").read_text())["outcome"] == "refuted"


def test_wrong_usage_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*JUDGE, *KEY]) == 2
    assert main([*FORKED[0], "--evidence", "e.json"]) == 1
    capsys.readouterr()
    assert main(JUDGE) == 2
    assert "--key must be given" in said(capsys)
    assert main([*JUDGE, *KEY, "--chain", "http://127.0.0.1:1"]) == 2
    assert "tells of no chain; leave --chain out" in said(capsys)
