"""What an attacker tried: a log server that lies, files that pretend, and checks that were idle."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from supm._errors import PublicationError
from supm.publication import remote
from supm.publication.log import Log
from supm.publication.merkle import EMPTY_ROOT, check_consistency, root_by_inclusion
from supm.publication.monitoring import check_log
from supm.publication.promise import own_statement
from supm.publication.proof import make_proof, verify_log
from supm.publication.publishing import enter_file
from supm.publication.remote import RemoteLog, UnreachableError
from supm.publication.signing import Checkpoint, SignedCheckpoint, SigningKey

if TYPE_CHECKING:
    from tests.publication.conftest import Maker


class Other:
    """A log that answers as another one does, except for its newest checkpoint."""

    def __init__(self, log: Log, newest: SignedCheckpoint) -> None:
        self._log, self._newest = log, newest

    def checkpoint(self) -> SignedCheckpoint:
        return self._newest

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


@pytest.mark.parametrize("size", [0, 2])
def test_a_log_that_was_cut_does_not_begin_with_a_proof(maker: Maker, size: int) -> None:
    log, key = maker.log(), maker.key()
    for number in range(4):
        log.append([maker.release(number)], key)
    older = log.checkpoint_of(size)
    assert older is not None
    with pytest.raises(PublicationError, match="it was cut"):
        list(verify_log(Other(log, older), make_proof(log, 1), key.verifier))


def test_a_newest_checkpoint_that_nobody_signed_is_refused(maker: Maker) -> None:
    log, key = maker.log(3), maker.key()
    forged = replace(log.checkpoint(), signature=bytes(64))
    lying: Any = Other(log, forged)
    with pytest.raises(PublicationError, match="signature is not of this text"):
        list(verify_log(lying, make_proof(log, 1), key.verifier))
    # Before a single entry is read: such a log may have no end.
    lying.entries = None
    with pytest.raises(PublicationError, match="signature is not of this text"):
        list(check_log(lying, key.verifier))


def test_what_is_kept_is_what_was_checked(maker: Maker) -> None:
    log, key = maker.log(3), maker.key()
    empty = Checkpoint(name=log.name, size=0, root=EMPTY_ROOT).signed(key)
    told = list(check_log(Other(log, empty), key.verifier, now=log.checkpoint()))
    assert "of 3 entries" in told[0]


def test_contracts_are_those_of_the_entries(maker: Maker) -> None:
    log, key = maker.log(), maker.key()
    log.append([maker.contract()], key)
    assert list(check_log(log, key.verifier, contracts=[maker.contract()], anchors=()))
    with pytest.raises(PublicationError, match="names other contracts in its entries"):
        list(check_log(log, key.verifier, contracts=[], anchors=()))


def test_a_checkpoint_that_was_kept_is_evidence_though_its_key_was_revoked(maker: Maker) -> None:
    log, old, new = maker.log(3), maker.key(), maker.key(2)
    kept = log.checkpoint()
    log.rotate(old, new, maker.time)
    log.revoke(old.verifier, new, maker.time)
    assert "begins with the 3 entries" in list(check_log(log, old.verifier, known=kept))[-1]


def test_negative_places_and_sizes_are_refused() -> None:
    leaf = bytes(32)
    with pytest.raises(PublicationError, match="entry -1"):
        root_by_inclusion(leaf, -1, 2, [leaf])
    with pytest.raises(PublicationError, match="cannot begin with one of -1"):
        check_consistency(-1, leaf, 2, leaf, [])


FORGED = {"version": 1, "kind": "x", "study": {}, "content": {}, "statement": {}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(FORGED),
        json.dumps(FORGED).replace('"statement"', '"\\u0073tatement"'),
        "\ufeff" + json.dumps(FORGED),
    ],
)
def test_a_release_is_known_however_it_is_spelt(text: str) -> None:
    with pytest.raises(PublicationError, match="keeps its promise"):
        own_statement(text.encode())


def test_only_releases_and_models_have_a_statement_that_is_derived(maker: Maker) -> None:
    assert own_statement(maker.statement().to_json().encode()) is None
    assert own_statement(b"{}") is None
    assert own_statement(b"a,b\n1,2\n") is None


def test_a_file_is_kept_with_its_entry_or_not_at_all(maker: Maker) -> None:
    log, stranger = maker.log(), maker.key(9)
    with pytest.raises(PublicationError, match="not in charge"):
        enter_file(log, stranger, b"x", name="x", statement=maker.statement(), time=maker.time)
    digest = maker.release(0).content
    assert log.kept(digest) is None
    enter_file(
        log, maker.key(), maker.content(0), name="x", statement=maker.statement(), time=maker.time
    )
    assert log.kept(digest) == maker.content(0)
    assert log.keeps(digest)


def test_a_new_key_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = list[int]()
    monkeypatch.setattr("os.fsync", synced.append)
    SigningKey.made("log.example", tmp_path / "new.key")
    assert len(synced) == 2


class Liar(BaseHTTPRequestHandler):
    """Answers what the test wants, and never ends where that is what it wants."""

    answer: bytes = b""
    drip = False
    where = ""

    def do_GET(self) -> None:
        self.send_response(302 if self.where else 200)
        if self.where:
            self.send_header("Location", self.where)
        self.end_headers()
        self.wfile.write(self.answer)
        while self.drip:
            time.sleep(0.01)
            try:
                self.wfile.write(b" ")
                self.wfile.flush()
            except OSError:
                return

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def liar() -> Iterator[type[Liar]]:
    kind: Any = type("OneLiar", (Liar,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    kind.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield kind
    kind.drip = False
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_answer_without_end_is_given_up(liar: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    liar.drip = True
    with monkeypatch.context() as hurried:
        hurried.setattr(remote, "_SECONDS_FOR_ALL", 0.2)
        with pytest.raises(UnreachableError, match=r"has no end|in time"):
            RemoteLog(liar.address).checkpoint()
    liar.drip = False
    monkeypatch.setattr(remote, "_MOST_SHORT", 1000)
    liar.answer = b"x" * 2000
    with pytest.raises(UnreachableError, match="has no end"):
        RemoteLog(liar.address).checkpoint()


@pytest.mark.parametrize("where", ["http://127.0.0.1:1/x", "http://[::1", "file:///etc/hostname"])
def test_a_log_that_sends_its_readers_elsewhere_is_not_followed(liar: Any, where: str) -> None:
    liar.where = where
    with pytest.raises(UnreachableError, match=r"status 302|can be asked"):
        RemoteLog(liar.address).checkpoint()


@pytest.mark.parametrize(
    "answer", [b"{}", b"[1, 2", b'["x"]', b"[[[" * 100_000, b"\xff\xfe", b"[1.5]"]
)
def test_strange_answers_are_one_sentence(liar: Any, answer: bytes) -> None:
    liar.answer = answer
    log = RemoteLog(liar.address)
    for ask in (log.checkpoint, lambda: log.places("key"), lambda: log.inclusion(0, 1)):
        with pytest.raises(PublicationError):
            ask()


@pytest.mark.parametrize("address", ["http://[::1", "http://", "ftp://x", "https:///log"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(PublicationError, match="begins with http"):
        RemoteLog(address)
