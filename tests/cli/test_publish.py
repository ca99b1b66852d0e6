"""The verbs publish, verify and log: what they write, say and refuse."""

from __future__ import annotations

import io
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from supm._errors import PublicationError
from supm.cli import main
from supm.messages import ReleaseStatement
from supm.publication.log import Log
from supm.publication.monitoring import check_log
from supm.publication.publishing import enter_file
from supm.publication.signing import SigningKey

KEY = ["--key", "releases.pub"]
LOG = ["--log", "releases.db"]
TABLE = ["publish", "table.csv", "--statement", "statement.json", "--yes"]
CREATE = ["federate", "create", "--schema", "wdbc.json", "--epsilon", "1", "--delta", "1e-5"]


@pytest.fixture(autouse=True)
def release(wdbc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a release of one party and a new log beside WDBC."""
    for name in ("SUPM_LOG", "SUPM_LOG_KEY"):
        monkeypatch.delenv(name, raising=False)
    words = ["--protocol", "lda", "--parties", "1", "-o", "study.json"]
    assert main([*CREATE, *words]) == 0
    run = ["federate", "run", "study.json", str(wdbc), "--seed", "1", "-o", "release.json"]
    assert main(run) == 0
    assert main(["log", "create", "releases.db", "--name", "log.example"]) == 0
    assert main(["statement", "release.json", "--json", "statement.json"]) == 0
    Path("table.csv").write_text("a,b\n1,2\n")


def said(capsys: pytest.CaptureFixture[str]) -> str:
    told = capsys.readouterr()
    return " ".join((told.out + told.err).split())


def told_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    main([*words, "--json", "-"])
    return json.loads(capsys.readouterr().out)


def test_a_new_log_has_its_keys_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "create", "new.db", "--name", "log.example"]) == 0
    assert stat.S_IMODE(Path("new.key").stat().st_mode) == 0o600
    secret = Path("new.key").read_text().strip().split("+", 4)[4]
    told = said(capsys)
    assert Path("new.pub").read_text().strip() in told
    assert secret not in told
    assert main(["log", "create", "new.db", "--name", "log.example"]) == 2
    assert "a new file in a folder that exists" in said(capsys)


def test_what_is_published_is_verified_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", "release.json", *LOG]) == 0
    assert "release.json is entry 0 of the log log.example." in said(capsys)
    assert main(["verify", "release.json", *KEY]) == 0
    told = said(capsys)
    assert "ok: The file is the one of the entry" in told
    assert "derived anew from the noise that the file names" in told
    assert "WARNING: it was a SIMULATION, so nothing of it is private." in told
    found = told_json(capsys, "verify", "release.json", *KEY)
    assert (found["verified"], len(found["checked"]), found["problem"]) == (True, 5, None)
    assert (found["outcome"], found["entry"], found["derived"]) == ("verified", 0, True)


def test_to_publish_twice_is_to_publish_once(capsys: pytest.CaptureFixture[str]) -> None:
    first = told_json(capsys, "publish", "release.json", *LOG)
    again = told_json(capsys, "publish", "release.json", *LOG, "--proof", "again.proof")
    assert first["index"] == again["index"] == 0
    assert Path("again.proof").read_text() == Path("release.json.proof").read_text()


def test_a_log_can_be_asked_for_the_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", "release.json", *LOG, "--proof", "away.proof"]) == 0
    assert main(["verify", "release.json", *KEY]) == 2
    assert "There is no proof beside the file" in said(capsys)
    assert main(["verify", "release.json", *KEY, *LOG]) == 0
    assert "now of 1 entry, begins with those of the proof" in said(capsys)
    assert main(["log", "prove", "release.json", *LOG]) == 0
    assert Path("release.json.proof").read_text() == Path("away.proof").read_text()
    Path("other.json").write_text("{}")
    assert main(["log", "prove", "other.json", *LOG]) == 1
    assert "the log has no entry for this file" in said(capsys)
    assert main(["verify", "other.json", *KEY, *LOG]) == 1
    assert "the log has no entry for this file" in said(capsys)


def test_a_table_needs_a_statement(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["publish", "table.csv", *LOG]) == 2
    assert "--statement must be given: the file is no release or model" in said(capsys)
    assert main(["publish", "table.csv", "--statement", "release.json", *LOG, "--yes"]) == 2
    assert "release.json is a release" in said(capsys)
    assert main(["publish", "table.csv", "--statement", "table.csv", *LOG, "--yes"]) == 1
    assert "table.csv: " in said(capsys)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    words = ["publish", "table.csv", "--statement", "statement.json", *LOG]
    assert main(words) == 1
    assert "Nothing was published." in said(capsys)
    assert main([*words, "--yes"]) == 0
    assert main(["verify", "table.csv", *KEY]) == 0
    assert "as the publisher states it: it cannot be derived" in said(capsys)
    assert main(["statement", "statement.json"]) == 0


def test_a_statement_that_says_something_else_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["statement", "release.json", "--json", "statement.json"]) == 0
    form = json.loads(Path("statement.json").read_text())
    form["simulation"] = False
    Path("statement.json").write_text(json.dumps(form))
    assert main(["publish", "release.json", "--statement", "statement.json", *LOG]) == 1
    assert "--statement says something else than the file itself" in said(capsys)


def test_a_release_that_promises_too_much_is_not_published(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = Path("release.json").read_text()
    form = json.loads(text)
    form["statement"]["total"]["epsilon"] = 0.01
    Path("release.json").write_text(json.dumps(form))
    assert main(["publish", "release.json", *LOG]) == 1
    assert "not a release or a model that keeps its promise" in said(capsys)
    with Log(Path("releases.db")) as log:
        assert log.size == 0
    assert not Path("release.json.proof").exists()


def test_what_was_altered_is_said_and_told_to_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", "release.json", *LOG]) == 0
    Path("release.json").write_text(Path("release.json").read_text() + "\n")
    assert main(["verify", "release.json", *KEY]) == 1
    assert "release.json is NOT verified: the file is not the one" in said(capsys)
    capsys.readouterr()
    assert main(["verify", "release.json", *KEY, "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verified"] is False
    assert "not the one that was published" in found["problem"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["verify", "release.json"], 2, "--key must be given. See"),
        (["verify", "release.json", "--key", "nothing"], 2, "--key must be the log's public key"),
        (["verify", "release.json", "--key", "a+b+c"], 2, "one line of the form name+hash+key"),
        (["verify", "release.json", "--key", "study.json"], 2, "file that holds it, got 'study"),
        (["verify", "absent.json", *KEY], 2, "FILE must be a file that can be read"),
        (["verify", "release.json", *KEY, "--proof", "study.json"], 1, "is not a field of a proof"),
        (["publish", "release.json"], 2, "--log must be given. See"),
        (["publish", "release.json", "--log", "absent.db"], 1, "there is no log at absent.db"),
        (["publish", "release.json", "--log", "wdbc.csv"], 1, "is damaged or is no log"),
        (["publish", "release.json", "--log", "http://x"], 2, "--log must be a file here"),
        (["publish", "release.json", *LOG, "--time", "2026"], 2, "time must be a time in UTC"),
        (["publish", "release.json", *LOG, "--signing-key", "x"], 2, "--signing-key must be a"),
        (["publish", "release.json", *LOG, "--signing-key", "wdbc.csv"], 1, "wdbc.csv"),
        (["publish", "release.json", *LOG, "--chain", "http://127.0.0.1"], 2, "--account must"),
        (["log", "show"], 2, "--log must be given"),
        (["log", "show", "--log", "http://127.0.0.1:1"], 1, "the log does not answer"),
        (
            ["log", "show", "--log", "htp://x"],
            2,
            "--log must be a file that is there, or an address (http://… or https://…), got 'htp:",
        ),
        (["log", "show", "--log", "no.db"], 2, "got 'no.db'."),
        (["publish", "release.json", *LOG, "--what"], 2, "no such argument: --what."),
        (
            ["log", "deploy", *LOG, "--chain", "http://x", "--account", "no.key"],
            2,
            "Make one with supm log account no.key.",
        ),
        (
            ["publish", "wdbc.csv", *LOG, "--statement", "release.json"],
            2,
            "is a release. Write one with supm statement release.json --json statement.json.",
        ),
        (["publish", "release.json", *LOG, "--time", "2999-01-01T00:00:00Z"], 2, "has passed"),
        (["publish", "release.json", *LOG, "--proof", "releases.key"], 2, "of the same kind"),
        (["publish", "release.json", *LOG, "--bundle", "b.tar"], 2, "a name that ends in .zip"),
        (["log", "check", *LOG, *KEY, "--keep", "releases.key"], 2, "of the same kind"),
        (["log", "check", *LOG, *KEY, "--json", "releases.pub"], 2, "another file than --key"),
        (["publish", "study.json", *LOG], 2, "--statement must be given"),
        (["log", "check", *LOG], 2, "--key must be given. See"),
        (["log", "check", *LOG, *KEY, "--chain", "http://x"], 1, "names no contract on a chain"),
        (["log", "create", "a.db", "--name", "with space"], 2, "name must be a plain name"),
        (["log", "anchor", *LOG], 2, "--chain must be given"),
    ],
)
def test_wrong_usage_is_one_sentence(
    words: list[str], code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(words) == code
    assert sentence in said(capsys)


def test_keys_change_and_are_revoked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", "release.json", *LOG]) == 0
    assert main(["log", "rotate", *LOG, "--new", "second.key"]) == 0
    # What the old key signed stays good, and what the new one signs is followed.
    assert main(["verify", "release.json", *KEY, *LOG]) == 0
    assert main([*TABLE, *LOG]) == 1
    assert "is not in charge of this log" in said(capsys)
    assert main([*TABLE, *LOG, "--signing-key", "second.key"]) == 0
    assert main(["verify", "table.csv", *KEY]) == 0
    assert "by a key that took over from the one you gave" in said(capsys)
    assert main(["log", "revoke", *LOG, "--old", "second.pub", "--signing-key", "second.key"]) == 1
    assert "only an old key" in said(capsys)
    revoke = ["log", "revoke", *LOG, "--old", "releases.pub", "--signing-key", "second.key"]
    assert main(revoke) == 0
    assert main(["verify", "release.json", *KEY]) == 0
    assert main(["verify", "release.json", *KEY, *LOG]) == 1
    assert "which was revoked; get a proof under a newer one" in said(capsys)
    assert main(["log", "prove", "release.json", *LOG]) == 0
    assert main(["verify", "release.json", "--key", "second.pub", *LOG]) == 0


def test_a_log_is_shown_and_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", "release.json", *LOG, "--time", "2026-01-02T03:04:05Z"]) == 0
    capsys.readouterr()
    assert main(["log", "show", *LOG]) == 0
    assert "0 2026-01-02T03:04:05Z release release.json" in said(capsys)
    shown = told_json(capsys, "log", "show", *LOG)
    assert (shown["name"], shown["size"]) == ("log.example", 1)
    assert shown["entries"][0]["name"] == "release.json"
    assert main(["log", "check", *LOG, *KEY, "--keep", "kept.txt"]) == 0
    assert main([*TABLE, *LOG]) == 0
    assert main(["log", "check", *LOG, *KEY, "--checkpoint", "kept.txt"]) == 0
    assert "It begins with the 1 entry of the checkpoint" in said(capsys)


def test_a_fork_leaves_its_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", "release.json", *LOG]) == 0
    assert main(["log", "check", *LOG, *KEY, "--keep", "kept.txt"]) == 0
    Path("releases.db").unlink()
    key = Path("releases.key").read_text()
    for name in ("releases.key", "releases.pub"):
        Path(name).unlink()
    assert main(["log", "create", "releases.db", "--name", "log.example"]) == 0
    # The same key, another story.
    Path("releases.db").unlink()
    Path("releases.key").write_text(key)
    signing = SigningKey.read(Path("releases.key"))
    Log.create(Path("releases.db"), signing).close()
    Path("releases.pub").write_text(str(signing.verifier))
    assert main([*TABLE, *LOG]) == 0
    words = ["log", "check", *LOG, *KEY, "--checkpoint", "kept.txt", "--evidence", "fork.json"]
    assert main(words) == 1
    told = said(capsys)
    assert "is forked" in told
    assert told.endswith("The evidence is in fork.json: supm log evidence fork.json judges it.")
    evidence = json.loads(Path("fork.json").read_text())
    assert evidence["first"] == Path("kept.txt").read_text()
    assert evidence["second"].startswith("log.example\n1\n")


def test_what_cannot_be_asked_is_not_called_altered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", "release.json", *LOG]) == 0
    words = ["verify", "release.json", *KEY, "--log", "http://127.0.0.1:1"]
    assert main(words) == 1
    told = said(capsys)
    assert "could not be checked to the end (what was checked before holds)" in told
    assert "NOT verified" not in told
    found = told_json(capsys, *words)
    assert (found["verified"], found["outcome"]) == (False, "unknown")


def test_an_entry_cannot_be_dated_before_another(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", "release.json", *LOG, "--time", "2026-01-02T00:00:00Z"]) == 0
    assert main([*TABLE, *LOG, "--time", "2026-01-01T00:00:00Z"]) == 1
    assert "cannot be dated before the one before it (2026-01-02T00:00:00Z)" in said(capsys)
    assert not Path("table.csv.proof").exists()


def test_a_log_is_read_where_nothing_may_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["publish", "release.json", *LOG]) == 0
    monkeypatch.setattr("supm._sqlite.os.access", lambda *_: False)
    before = {each.name: each.stat().st_mtime_ns for each in tmp_path.iterdir()}
    with Log(Path("releases.db"), read_only=True) as log:
        assert log.size == 1
        with pytest.raises(PublicationError, match="may not be written"):
            log.keep("0" * 64, b"x")
    assert main(["log", "check", *LOG, *KEY]) == 0
    assert {each.name: each.stat().st_mtime_ns for each in tmp_path.iterdir()} == before


def test_a_log_is_read_while_it_grows() -> None:
    assert main(["publish", "release.json", *LOG]) == 0
    with Log(Path("releases.db"), read_only=True) as log:
        assert log.size == 1
        assert main([*TABLE, *LOG]) == 0
        assert log.size == 2
        assert len(list(check_log(log, log.first_key))) == 3


def test_keys_and_logs_are_never_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    kept = {each.name: each.read_bytes() for each in Path().iterdir() if each.is_file()}
    for words in (
        ["log", "rotate", *LOG, "--new", "third.pub"],
        ["log", "rotate", *LOG, "--new", "releases.new"],
        ["log", "create", "x.pub", "--name", "a/b"],
        ["log", "create", "y.key", "--name", "a/b"],
        ["publish", "release.json", *LOG, "--proof", "release.json"],
        ["log", "prove", "release.json", *LOG, "-o", "wdbc.csv"],
    ):
        assert main(words) == 2, words
        assert "must be a new file" in said(capsys)
    assert {each.name: each.read_bytes() for each in Path().iterdir() if each.is_file()} == kept


def test_no_file_that_is_written_is_one_that_is_read_or_another(
    capsys: pytest.CaptureFixture[str],
) -> None:
    publishing = ["publish", "release.json", *LOG]
    assert main([*publishing, "--bundle", "pub.zip"]) == 0
    Path("hard.zip").hardlink_to("pub.zip")
    kept = {each.name: each.read_bytes() for each in Path().iterdir() if each.is_file()}
    table = [*TABLE, *LOG]
    zipped = ["publish", "pub.zip", *table[2:]]
    proof = ["publish", "release.json.proof", *table[2:]]
    for words, told in (
        ([*zipped, "--bundle", "pub.zip"], "--bundle must be another file than FILE"),
        ([*zipped, "--bundle", "hard.zip"], "--bundle must be another file than FILE"),
        ([*zipped, "--json", "./pub.zip"], "--json must be another file than FILE"),
        ([*proof, "--proof", "release.json.proof"], "--proof must be another file than FILE"),
        ([*table, "--json", "statement.json"], "--json must be another file than --statement"),
        ([*table, "--json", "releases.db"], "--json must be another file than --log"),
        ([*table, "--json", "releases.key"], "--json must be another file than --signing-key"),
        (
            [*table, "--json", "a.json", "--signing-key", "a.json"],
            "--json must be another file than --signing-key",
        ),
        ([*table, "--bundle", "new.zip", "--proof", "new.zip"], "than that of --proof"),
        ([*table, "--bundle", "new.zip", "--json", "./new.zip"], "than that of --bundle"),
        ([*table, "--json", "table.csv.proof"], "than that of --proof"),
        ([*table, "--bundle", "new.zip", "--proof", "./new.zip.proof"], "with no proof beside it"),
    ):
        capsys.readouterr()
        assert main(words) == 2, words
        assert told in said(capsys)
    assert {each.name: each.read_bytes() for each in Path().iterdir() if each.is_file()} == kept
    # What is beside a bundle is taken for its proof, so none is written there.
    assert main([*zipped]) == 0
    assert main([*table, "--bundle", "pub.zip"]) == 2
    assert "--bundle must be a file with no proof beside it" in said(capsys)


def test_a_file_too_large_for_a_bundle_is_not_entered(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("table.csv").open("r+b") as file:
        file.truncate(1 << 26)
    assert main([*TABLE, *LOG, "--bundle", "table.zip"]) == 2
    told = said(capsys)
    assert "FILE must be small enough for a bundle, got 67108864." in told
    assert "has at most 67108864 bytes" in told
    assert not [each for each in ("table.zip", "table.csv.proof") if Path(each).exists()]
    with Log(Path("releases.db")) as log:
        assert log.size == 0
        assert log.releases(1) == []
    assert main([*TABLE, *LOG]) == 0


def test_a_file_that_promises_something_else_than_its_entry_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = Path("release.json").read_bytes()
    form = json.loads(Path("statement.json").read_text()) | {"simulation": False}
    statement = ReleaseStatement.from_form(form)
    key = SigningKey.read(Path("releases.key"))
    with Log(Path("releases.db")) as log:
        enter_file(log, key, text, name="r", statement=statement, time="2026-01-01T00:00:00Z")
    assert main(["verify", "release.json", *KEY, *LOG]) == 1
    assert "promises something else than the entry" in said(capsys)


def test_an_address_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    address = "http://user:secretpw@127.0.0.1:1/"
    for words in (["publish", "release.json"], ["log", "show"], ["verify", "release.json", *KEY]):
        assert main([*words, "--log", address]) > 0
        assert "secretpw" not in said(capsys)
