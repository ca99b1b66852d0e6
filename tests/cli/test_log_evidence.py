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
from supm.publication.evidence import ForkEvidence
from supm.publication.signing import Checkpoint, SignedCheckpoint, SigningKey

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
    for line in ("A checkpoint of 3 entries is signed by the log's key", "So the key that was"):
        assert f"ok: {line}" in told
    assert "WARNING: this holds for the key as it was given." in told
    assert told.endswith("VERIFIED: that e.json shows two histories under the key that was given")
    assert main([*JUDGE, *KEY, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verified"], found["log"], found["sizes"]) == (True, "log.example", [3, 6])
    assert len(found["checked"]) == 5


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


def test_what_a_stolen_key_signed_accuses_nobody_without_a_warning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The thief leaves out that the key was revoked: the file is good, and the log tells."""
    thief = SigningKey.read(Path("a.key"))
    kept = SignedCheckpoint.parse(Path("kept.txt").read_text())
    assert main(["log", "rotate", "--log", "a.db", "--new", "c.key"]) == 0
    revoke = ["log", "revoke", "--log", "a.db", "--old", "a.pub", "--signing-key", "c.key"]
    assert main(revoke) == 0
    forged = Checkpoint(name="log.example", size=3, root=bytes(32)).signed(thief)
    claim = ForkEvidence(first=kept, second=forged, path=(), root=bytes(32))
    Path("e.json").write_text(json.dumps(claim.to_form()))
    capsys.readouterr()
    assert main([*JUDGE, *KEY]) == 0
    told = said(capsys)
    assert "cannot show that none of them was revoked as stolen: supm log check names" in told
    assert told.endswith("VERIFIED: that e.json shows two histories under the key that was given")
    assert main(["log", "check", "--log", "a.db", *KEY]) == 0
    assert f"The log revoked, as stolen: {thief.verifier.hash.hex()}." in said(capsys)


def test_what_proves_nothing_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FORKED[0], "--evidence", "e.json"]) == 1
    good = json.loads(Path("e.json").read_text())
    for more, words in (
        ({"path": []}, "accuses nobody"),
        ({"second": good["first"]}, "accuses nobody"),
        ({"second": good["first"], "path": [], "root": good["root"]}, "accuses nobody"),
        ({"first": good["second"].replace("6", "4", 1)}, "was altered: its signature"),
        ({"version": 3}, "a file of evidence must be 1"),
    ):
        Path("e.json").write_text(json.dumps(good | more))
        capsys.readouterr()
        assert main([*JUDGE, *KEY, "--json", "o.json"]) == 1
        told = said(capsys)
        assert words in told
        assert "two histories under the key that was given is NOT verified: " in told
        assert json.loads(Path("o.json").read_text())["outcome"] == "refuted"


def test_a_checkpoint_that_is_kept_is_compared_before_it_is_replaced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What --keep would replace may be the only evidence of a fork."""
    kept = Path("kept.txt").read_text()
    words = ["log", "check", "--log", "b.db", *KEY, "--keep", "kept.txt"]
    capsys.readouterr()
    assert main(words) == 1
    told = said(capsys)
    assert "is forked: its signed checkpoints of 3 and 6 entries cannot both" in told
    assert told.endswith("Once more with --evidence FILE, and the evidence is in a file.")
    assert Path("kept.txt").read_text() == kept
    assert main([*words, "--evidence", "e.json"]) == 1
    assert "The evidence is in e.json: supm log evidence e.json judges it." in said(capsys)
    assert Path("kept.txt").read_text() == kept
    assert main([*JUDGE, *KEY]) == 0


def test_a_checkpoint_that_is_kept_follows_its_log(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["log", "check", "--log", "a.db", *KEY, "--keep", "kept.txt"]
    publish("a9.csv", "a.db")
    for before in (3, 4):
        capsys.readouterr()
        assert main(words) == 0
        told = said(capsys)
        assert f"ok: It begins with the {before} entries of the checkpoint that you kept." in told
        assert "ok: The newest checkpoint is kept in kept.txt." in told
        assert Path("kept.txt").read_text().startswith("log.example\n4\n")
    assert main([*words, "--checkpoint", "kept.txt"]) == 0


def test_a_checkpoint_of_another_log_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Path("kept.txt").read_text()
    for name in ("other.example", "log.example"):
        other = f"{name}.db"
        assert main(["log", "create", other, "--name", name]) == 0
        publish("one.csv", other)
        words = ["--log", other, "--key", f"{name}.pub", "--keep", "kept.txt"]
        capsys.readouterr()
        assert main(["log", "check", *words]) == (2 if name == "other.example" else 1)
        told = said(capsys)
        assert ("It is of the log log.example." in told) == (name == "other.example")
        assert Path("kept.txt").read_text() == kept
    assert main(["log", "check", "--log", "b.db", *KEY, "--keep", "new.txt"]) == 0
    both = ["--checkpoint", "new.txt", "--keep", "kept.txt"]
    assert main(["log", "check", "--log", "b.db", *KEY, *both]) == 2
    assert "leave --checkpoint out to compare the log with it" in said(capsys)
    assert Path("kept.txt").read_text() == kept


def test_a_file_that_is_no_evidence_is_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.json").write_text("{}")
    for wrong in ("kept.txt", "empty.json", "one.csv.proof"):
        capsys.readouterr()
        assert main(["log", "evidence", wrong, *KEY]) == 2
        told = said(capsys)
        assert f"FILE must be what --evidence wrote, got '{wrong}'. This is no file of" in told
        assert "NOT verified" not in told


def test_wrong_usage_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*JUDGE, *KEY]) == 2
    assert main([*FORKED[0], "--evidence", "e.json"]) == 1
    capsys.readouterr()
    assert main(JUDGE) == 2
    assert "--key must be given" in said(capsys)
    assert main([*JUDGE, *KEY, "--chain", "http://127.0.0.1:1"]) == 2
    assert "tells of no chain; leave --chain out" in said(capsys)


CLASHES = [
    [*JUDGE, *KEY, "--json", "e.json"],
    [*FORKED[0], "--evidence", "x.json", "--json", "x.json"],
    [*FORKED[1], "--keep", "x.json", "--json", "x.json"],
    [*FORKED[1], "--json", "kept.txt"],
    # Evidence is no report, and a report is no evidence: neither replaces the other.
    [*FORKED[1], "--json", "e.json"],
    [*FORKED[1], "--evidence", "report.json"],
]


@pytest.mark.parametrize("words", CLASHES)
def test_no_file_is_written_over_what_is_read_or_was_kept(words: list[str]) -> None:
    assert main([*FORKED[0], "--evidence", "e.json"]) == 1
    assert main([*FORKED[0], "--json", "report.json"]) == 1
    kept = {name: Path(name).read_text() for name in ("e.json", "report.json", "kept.txt")}
    assert main(words) == 2
    assert {name: Path(name).read_text() for name in kept} == kept
