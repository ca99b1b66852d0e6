"""A published release of three parties, and what readers and monitors do with it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from supm import secure
from supm._json import canonical
from supm.datasets import load_wdbc
from supm.engines import carry_in_process
from supm.federation import (
    Circle,
    Coordinator,
    Discriminant,
    FederatedStudy,
    Participant,
    RoundRecord,
    SchemaEncoding,
)
from supm.messages import Commitments, Release, ReleaseStatement
from supm.publication.entry import RoundEntry
from supm.publication.log import Log
from supm.publication.merkle import Peaks
from supm.publication.monitoring import check_log
from supm.publication.promise import own_statement
from supm.publication.proof import Proof, make_proof, verify_file
from supm.publication.publishing import enter_file
from supm.publication.signing import Checkpoint, SignedCheckpoint, SigningKey

TIME = "2026-11-18T14:00:00Z"
NAME = "hospitals.example/releases"


@dataclass
class World:
    """A log with a release of three parties, a change of keys, and more entries after it."""

    folder: Path
    old: SigningKey
    key: SigningKey
    log: Log
    content: bytes
    place: int
    receipt: Commitments
    release: Release

    @property
    def statement(self) -> ReleaseStatement:
        return self.release.statement

    @property
    def proof(self) -> Proof:
        return make_proof(self.log, self.place)

    def form(self) -> Any:
        return json.loads(self.proof.to_json())

    def verify(self, content: bytes | None = None, proof: Proof | None = None) -> list[str]:
        """Do what a reader does who has the file, its proof and the log's first key."""
        content = self.content if content is None else content
        proof = self.proof if proof is None else proof
        held = list(verify_file(content, proof, self.old.verifier))
        assert own_statement(content) == proof.entry.statement
        return held

    def verify_form(self, form: dict[str, Any]) -> list[str]:
        return self.verify(proof=Proof.from_json(canonical(form)))

    def check(self, known: SignedCheckpoint | None = None) -> list[str]:
        """Do what a monitor does who reads the whole log."""
        return list(check_log(self.log, self.old.verifier, known=known))

    def alter(self, statement: str, *values: object) -> None:
        """Change the log's file as one can who has the disk."""
        with sqlite3.connect(self.folder / "log.db") as link:
            link.execute(statement, values)
        link.close()

    def resign(self, size: int, key: SigningKey) -> SignedCheckpoint:
        """Sign whatever entries the file holds now, as a publisher can who lies."""
        peaks = Peaks()
        peaks.add(each.encode() for each in self.log.entries(0, size))
        signed = Checkpoint(name=NAME, size=size, root=peaks.root()).signed(key)
        self.alter("DELETE FROM checkpoints WHERE size >= ?", size)
        self.alter("INSERT INTO checkpoints VALUES (?, ?)", size, signed.text)
        return signed


def federation() -> tuple[Release, list[RoundRecord], Commitments]:
    data = load_wdbc()
    encoding = SchemaEncoding(schema=data.schema)
    circle = Circle(parties=3, colluders=1)
    protocol = Discriminant.for_budget(encoding=encoding, epsilon=2.0, delta=1e-5, circle=circle)
    study = FederatedStudy(name="hospitals", purpose="", delta=1e-5, protocol=protocol)
    tables = [{name: column[n::3] for name, column in data.columns.items()} for n in range(3)]
    people = [
        Participant(
            encoding.rows(data.schema.read(table)),
            lambda _: protocol,
            lambda *_: None,
            lambda _: secure(),
        )
        for table in tables
    ]
    states: dict[int, bytes] = {}

    class Kept:
        def __init__(self, number: int) -> None:
            self.number = number

        def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
            states[self.number], reply = people[self.number].answer(state, message)
            return states[self.number], reply

    rounds: list[RoundRecord] = []
    coordinator = Coordinator(protocol, study.to_json(), record=rounds.append)
    carry_in_process(coordinator, [Kept(number) for number in range(3)])
    release = study.release(coordinator.outcome, simulation=False)
    return release, rounds, people[1].commitments(states[1])


@pytest.fixture(scope="session")
def ran() -> tuple[Release, list[RoundRecord], Commitments]:
    """Return what three parties made together: once, for it takes a while."""
    return federation()


@pytest.fixture
def world(tmp_path: Path, ran: tuple[Release, list[RoundRecord], Commitments]) -> World:
    """Return a log in which nothing is altered yet."""
    release, rounds, receipt = ran
    old = SigningKey.made(NAME, tmp_path / "old.key")
    key = SigningKey.made(NAME, tmp_path / "new.key")
    log = Log.create(tmp_path / "log.db", old)
    content = release.to_json().encode()
    for told in rounds:
        log.append([RoundEntry(time=TIME, **vars(told))], old)
    place = enter_file(
        log,
        old,
        content,
        name="release.json",
        statement=release.statement,
        time=TIME,
        run=rounds[0].run,
        commitments=tuple(each.commitments for each in rounds),
    )
    log.rotate(old, key, TIME)
    for number in range(4):
        other = b"%d" % number
        enter_file(log, key, other, name="other", statement=release.statement, time=TIME)
    return World(tmp_path, old, key, log, content, place, receipt, release)
