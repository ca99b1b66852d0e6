"""What tests of publication begin with: keys, statements, entries and logs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from supm.messages import Part, PhaseStatement, ReleaseStatement, Statement
from supm.privacy import GaussianDP, Neighbours, PureLDP
from supm.publication.entry import ChainEntry, ReleaseEntry, RoundEntry
from supm.publication.log import Log
from supm.publication.signing import SigningKey

TIME = "2026-11-18T14:00:00Z"
RUN = "1" * 64


class Maker:
    """Makes what a test asks for; logs are closed when the test ends."""

    time, run = TIME, RUN

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        self.folder = folder
        self._opened = opened

    def key(self, number: int = 1, name: str = "log.example") -> SigningKey:
        return SigningKey(name, bytes([number]) * 32)

    def statement(self, epsilon: float = 2.0) -> Statement:
        promise = PureLDP(epsilon)
        train = PhaseStatement(phase="train", method="ODP, 2 attributes", guarantee=promise)
        return Statement(
            study="0a" * 32,
            phases=(train,),
            training=promise,
            testing=PureLDP(1.0),
            simulation=False,
            software="supm",
        )

    def release_statement(self) -> ReleaseStatement:
        promise = GaussianDP(mu=0.1, neighbours=Neighbours.REPLACE_ONE)
        return ReleaseStatement(
            study="0b" * 32,
            parts=(Part(name="moments", method="noise on sums", guarantee=promise),),
            total=promise,
            trust="Three parties add noise.",
            simulation=False,
            software="supm",
        )

    def content(self, number: int) -> bytes:
        return f"the file {number}\n".encode()

    def release(self, number: int = 0, epsilon: float = 2.0) -> ReleaseEntry:
        content = self.content(number)
        return ReleaseEntry(
            time=TIME,
            name=f"model-{number}.json",
            content=hashlib.sha256(content).hexdigest(),
            size=len(content),
            statement=self.statement(epsilon),
        )

    def joint_release(self, *rounds: tuple[str, ...]) -> ReleaseEntry:
        return ReleaseEntry(
            time=TIME,
            name="release.json",
            content=hashlib.sha256(repr(rounds).encode()).hexdigest(),
            size=9,
            statement=self.release_statement(),
            run=RUN,
            commitments=rounds,
        )

    def round(self, number: int, *commitments: str, asked: tuple[float, ...] = ()) -> RoundEntry:
        return RoundEntry(
            time=TIME, study="0b" * 32, run=RUN, round=number, asked=asked, commitments=commitments
        )

    def contract(self) -> ChainEntry:
        return ChainEntry(
            time=TIME,
            chain=1,
            contract="0x" + "ab" * 20,
            publisher="0x" + "CD" * 20,
            log=self.key().verifier.identity.hex(),
        )

    def log(self, count: int = 0, name: str = "log.db", key: SigningKey | None = None) -> Log:
        """Return a log of so many releases, each of which has its own checkpoint."""
        key = key or self.key()
        log = self._opened.enter_context(Log.create(self.folder / name, key))
        for number in range(count):
            log.append([self.release(number)], key)
        return log


@pytest.fixture
def maker(tmp_path: Path) -> Iterator[Maker]:
    with ExitStack() as opened:
        yield Maker(tmp_path, opened)
