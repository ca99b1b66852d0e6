"""The verbs verify and log against a log at an address, and what they leave behind."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.publication.conftest import Maker

from supm._errors import PublicationError
from supm._json import canonical
from supm.cli import main
from supm.publication import opening
from supm.publication.log import Log
from supm.publication.proof import make_proof
from supm.publication.publishing import enter_file
from supm.publication.signing import Checkpoint, SigningKey

KEY = ["--key", "r.pub"]
CONTRACT = "0x" + "ab" * 20


@pytest.fixture
def maker(tmp_path: Path) -> Iterator[Maker]:
    with ExitStack() as opened:
        yield Maker(tmp_path, opened)


@pytest.fixture(autouse=True)
def table(tmp_path: Path, maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a published table and its log into the folder."""
    for name in ("SUPM_LOG", "SUPM_LOG_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("s.json").write_text(canonical(maker.release_statement().to_form()))
    Path("t.csv").write_text("a,b\n1,2\n")
    assert main(["log", "create", "r.db", "--name", "log.example"]) == 0
    assert main([*PUBLISH, "t.csv"]) == 0


PUBLISH = ["publish", "--statement", "s.json", "--yes", "--log", "r.db"]


@pytest.fixture
def remote() -> Iterator[tuple[str, dict[str, str]]]:
    """Return the address of a server, and what it answers at each path."""
    answers: dict[str, str] = {}

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(urlsplit(self.path).path.removeprefix("/log/"))
            self.send_response(503 if found is None else 200)
            self.end_headers()
            self.wfile.write((found or "").encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", answers
    server.shutdown()
    server.server_close()
    thread.join()


def said(capsys: pytest.CaptureFixture[str]) -> str:
    told = capsys.readouterr()
    return " ".join((told.out + told.err).split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--contract", CONTRACT], "It is compared on a chain: name a node"),
        (["--contract", "nonsense"], "--contract must be the number of a chain and an address"),
        (["--contract", "x", "--chain", "http://x"], "--contract must be the number of a chain"),
    ],
)
def test_a_contract_is_not_ignored(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in (["verify", "t.csv"], ["log", "check", "--log", "r.db"]):
        assert main([*verb, *KEY, *words]) == 2
        assert sentence in said(capsys)


def test_a_promise_that_nobody_can_derive_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["verify", "t.csv", *KEY]) == 0
    told = said(capsys)
    assert "WARNING: the promise is not checked. Published" in told
    assert "ok: the promise" not in told
    assert "ok: Published" not in told


def test_an_older_outcome_is_not_left_behind() -> None:
    words = ["verify", "t.csv", *KEY, "--json", "o.json"]
    assert main(words) == 0
    assert json.loads(Path("o.json").read_text())["verified"] is True
    Path("t.csv.proof").rename("gone")
    assert main(words) == 2
    found = json.loads(Path("o.json").read_text())
    assert (found["verified"], found["outcome"]) == (False, "unknown")


def test_a_proof_from_an_address_is_checked_before_it_is_kept(
    maker: Maker, remote: tuple[str, dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    url, answers = remote
    good, content = Path("t.csv.proof").read_text(), Path("t.csv").read_bytes()
    stranger = maker.log(0, "evil.db", key=maker.key(7))
    statement = maker.release_statement()
    enter_file(stranger, maker.key(7), content, name="t", statement=statement, time=maker.time)
    with Log(Path("r.db"), read_only=True) as log:
        place = log.find(stranger_content := published_hash(stranger))
        assert place == 0
    answers["find"] = "[0]"
    answers[f"proof/{stranger_content}"] = make_proof(stranger, 0).to_json()
    words = ["log", "prove", "t.csv", "--log", url]
    assert main(words) == 2
    assert "--key must be given" in said(capsys)
    assert main([*words, *KEY]) == 1
    assert "is signed by the key" in said(capsys)
    assert Path("t.csv.proof").read_text() == good
    answers[f"proof/{stranger_content}"] = good
    assert main([*words, *KEY]) == 0
    assert Path("t.csv.proof").read_text() == good


def published_hash(log: Log) -> str:
    return str(json.loads(log.entries(0, 1)[0])["content"])


@pytest.mark.parametrize("entry", ["not json", "[" * 100_000, "{}", '{"kind":"x","version":1}'])
def test_what_is_no_entry_is_not_shown(
    entry: str, remote: tuple[str, dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    url, answers = remote
    with Log(Path("r.db"), read_only=True) as log:
        answers |= {"key": str(log.first_key), "checkpoint": log.checkpoint().text, "places": "[]"}
    answers["entries"] = json.dumps([entry])
    for more in ([], ["--json", "-"]):
        capsys.readouterr()
        assert main(["log", "show", "--log", url, *more]) == 1
        assert "supm: error: " in said(capsys)


def test_a_log_that_is_shown_has_signed_for_it(
    maker: Maker, remote: tuple[str, dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    url, answers = remote
    with Log(Path("r.db"), read_only=True) as log:
        answers |= {"key": str(log.first_key), "checkpoint": log.checkpoint().text, "places": "[]"}
        answers["entries"] = json.dumps([maker.release(3).text])
    assert main(["log", "show", "--log", url, "--json", "-"]) == 1
    assert "are not those that it signed for" in said(capsys)
    endless = Checkpoint(name="log.example", size=1 << 61, root=bytes(32)).signed(maker.key(9))
    answers["checkpoint"] = endless.text
    assert main(["log", "show", "--log", url]) == 1
    assert "is signed by the key" in said(capsys)


@pytest.mark.parametrize("act", ["create", "show", "check", "evidence", "rotate", "anchor"])
def test_the_help_of_an_act_shows_its_own_examples(
    act: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["log", act, "--help"]) == 0
    examples = capsys.readouterr().out.partition("examples:\n")[2].split("\n")
    verbs = [line.split()[:3] for line in examples if line.startswith("  supm")]
    assert verbs
    assert all(each == ["supm", "log", act] for each in verbs)


def test_a_rotation_that_loses_a_race_leaves_no_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def first(name: str, path: Path) -> SigningKey:
        with monkeypatch.context() as patched:
            patched.setattr(SigningKey, "made", made)
            assert main(["log", "rotate", "--log", "r.db", "--new", "faster.key"]) == 0
        return made(name, path)

    made = SigningKey.made
    monkeypatch.setattr(SigningKey, "made", first)
    assert main(["log", "rotate", "--log", "r.db", "--new", "slower.key"]) == 1
    assert "is not in charge of this log" in said(capsys)
    assert Path("faster.key").exists()
    assert not list(Path().glob("slower.*"))


def test_a_rotation_that_went_through_keeps_its_key_whatever_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rotate(log: Log, *words: Any) -> int:
        true(log, *words)
        message = "the disk is full."
        raise PublicationError(message)

    true = Log.rotate
    monkeypatch.setattr(Log, "rotate", rotate)
    assert main(["log", "rotate", "--log", "r.db", "--new", "n.key"]) == 1
    assert SigningKey.read(Path("n.key")).verifier.name == "log.example"


def test_an_entry_of_a_wrong_clock_is_not_the_last_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    late = "2038-01-01T00:00:00Z"
    Path("u.csv").write_text("u")
    with monkeypatch.context() as patched:
        patched.setattr(opening, "now_in_utc", lambda: late)
        assert main([*PUBLISH, "u.csv"]) == 0
    Path("v.csv").write_text("v")
    capsys.readouterr()
    assert main([*PUBLISH, "v.csv"]) == 0
    assert f"WARNING: the last entry of the log is dated {late}" in said(capsys)
    assert main([*PUBLISH, "s.json", "--time", "2038-01-02T00:00:00Z"]) == 2
    assert main(["log", "rotate", "--log", "r.db", "--new", "n.key"]) == 0
    revoke = ["--old", "r.pub", "--signing-key", "n.key", "--time", late]
    assert main(["log", "revoke", "--log", "r.db", *revoke]) == 0
    capsys.readouterr()
    assert main(["log", "check", "--log", "r.db", *KEY]) == 0
    assert f"WARNING: the last entry is dated {late}" in said(capsys)
