"""A real PostgreSQL for the tests that need one, fresh databases, and reports to fill them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import psycopg
import pytest

from supm import simulation
from supm.messages import PhaseStatement, ReleaseStatement, Statement
from supm.messages.release import Part
from supm.owner import interview
from supm.privacy import GaussianDP, Neighbours, PureLDP
from supm.publication.entry import LogEntry, ReleaseEntry, RoundEntry
from supm.publication.log import Log
from supm.publication.signing import SigningKey
from supm.schema import Categorical, Continuous, Ordinal, Schema
from supm.service.store import Opened, Store, Submission

GUARD = 300.0
"""For how many seconds an answer is waited for: a guard against hanging, and no measurement."""

MISSING = "install PostgreSQL (Debian: apt-get install postgresql) to run the tests that need it"


class Cluster:
    """PostgreSQL in a folder of its own, reached by a socket in that folder.

    Where it is not durable, it does not wait for the disk: most tests are about something else.
    """

    def __init__(self, programs: Path, *, durable: bool = False) -> None:
        self._programs, self._fsync = programs, "on" if durable else "off"
        self._folder = Path(tempfile.mkdtemp(prefix="supm-pg-"))
        self._numbers = count()
        self._prefix: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            self._prefix = ["runuser", "-u", "postgres", "--"]
            shutil.chown(self._folder, "postgres")
        data = str(self._folder / "data")
        self._run("initdb", "-D", data, "-A", "trust", "-U", "supm", "-E", "UTF8", "--no-sync")

    def start(self) -> None:
        words = ("listen_addresses=", f"unix_socket_directories={self._folder}")
        options = " ".join(f"-c {each}" for each in (*words, f"fsync={self._fsync}"))
        self._control("start", "-o", options, "-l", str(self._folder / "log"))

    def stop(self) -> None:
        self._control("stop", "-m", "immediate")

    def remove(self) -> None:
        shutil.rmtree(self._folder)

    def fresh(self) -> str:
        """Make an empty schema, which is quicker than a database, and return its address."""
        name = f"fresh{next(self._numbers)}"
        with psycopg.connect(user="supm", host=str(self._folder), dbname="postgres") as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"postgresql://supm@/postgres?host={self._folder}&options=-csearch_path%3D{name}"

    def _control(self, *words: str) -> None:
        self._run("pg_ctl", "-w", "-s", "-D", str(self._folder / "data"), *words)

    def _run(self, program: str, *words: str) -> None:
        command = [*self._prefix, str(self._programs / program), *words]
        # Not captured: the server would keep the pipe open, and the call would never return.
        subprocess.run(  # noqa: S603  the tests' own words
            command, cwd=self._folder, check=True, stdout=subprocess.DEVNULL
        )


def found_programs() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    folders += [Path(on_path).parent] if on_path else []
    return next((each for each in folders if (each / "initdb").exists()), None)


@pytest.fixture(scope="session")
def missing() -> Callable[[str], NoReturn]:
    """Return a function that skips what needs a program, or fails it where all are to be there."""

    def give_up(sentence: str) -> NoReturn:
        (pytest.fail if os.environ.get("SUPM_REQUIRE_ALL") else pytest.skip)(sentence)

    return give_up


@pytest.fixture(scope="session")
def cluster(missing: Callable[[str], NoReturn]) -> Iterator[Cluster]:
    """Run one PostgreSQL for the whole session."""
    yield from run_cluster(missing, durable=False)


@pytest.fixture(scope="session")
def durable_cluster(missing: Callable[[str], NoReturn]) -> Iterator[Cluster]:
    """Run one that waits for the disk, as PostgreSQL does by default."""
    yield from run_cluster(missing, durable=True)


def run_cluster(missing: Callable[[str], NoReturn], *, durable: bool) -> Iterator[Cluster]:
    programs = found_programs()
    if programs is None:
        missing(MISSING)
    made = Cluster(programs, durable=durable)
    made.start()
    yield made
    made.stop()
    made.remove()


@pytest.fixture(scope="session")
def postgres(cluster: Cluster) -> Callable[[], str]:
    """Return a function that makes an empty database and returns its address."""
    return cluster.fresh


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    fresh: Callable[[], str] = request.getfixturevalue("postgres")
    return fresh()


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """Return an empty store of each kind."""
    opened = Store.open(store_url)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def schema() -> Schema:
    """Describe a few patients."""
    return Schema(
        attributes=(
            Continuous("age", low=0, high=100),
            Ordinal("stage", values=("I", "II", "III")),
            Categorical("ward", values=("north", "south")),
        ),
        target=Categorical("ill", values=("no", "yes")),
    )


@pytest.fixture(scope="session")
def told() -> Callable[..., Submission]:
    """Return a function that makes so many reports of the open phase; a seed fixes them."""
    return make_reports


def make_reports(
    opened: Opened, people: int, seed: int, invitation: str | None = None
) -> Submission:
    phase = opened.open_phase or "train"
    asked, source = interview(opened.study, phase), simulation(seed)
    drawn = source.below(600, people).astype(np.int64)
    table = {
        "age": (drawn % 101).astype(float),
        "stage": np.array(["I", "II", "III"])[drawn % 3],
        "ward": np.array(["north", "south"])[drawn % 2],
        "ill": np.array(["no", "yes"])[drawn * 7 % 5 % 2],
    }
    symbols = asked.randomize(asked.encode(opened.study.schema.read(table)), source).symbols
    return Submission(
        name=opened.name,
        phase=phase,
        document=opened.study.hash,
        ids=source.words(2 * people).view(np.uint8).reshape(people, 16),
        symbols=symbols.astype(np.int64),
        invitation=invitation,
    )


class Publisher:
    """Who has a log and its key, and publishes files and rounds."""

    time = "2026-11-18T14:00:00Z"
    run = "5" * 64

    def __init__(self, folder: Path) -> None:
        self.path, self._folder = folder / "log.db", folder
        self.key = SigningKey.made("hospitals.example/releases", folder / "log.key")
        self.log = Log.create(self.path, self.key)

    def add(self, *entries: LogEntry) -> list[int]:
        return self.log.append(entries, self.key)

    def publish(self, name: str, held: bytes, *, keep: bool = True, **more: Any) -> str:
        """Publish a file, and return its SHA-256."""
        content = hashlib.sha256(held).hexdigest()
        given = {"statement": from_parties(), **more}
        self.add(ReleaseEntry(time=self.time, name=name, content=content, size=len(held), **given))
        if keep:
            self.log.keep(content, held)
        return content

    def publish_together(self, name: str, held: bytes) -> str:
        """Publish what three parties made in two rounds, the last of whom was lost in one."""
        told = (("a" * 64, "b" * 64, "c" * 64), ("d" * 64, "e" * 64, ""))
        for number, each in enumerate(told):
            self.add(
                RoundEntry(
                    time=self.time,
                    study="0" * 64,
                    run=self.run,
                    round=number,
                    asked=(),
                    commitments=each,
                )
            )
        return self.publish(name, held, run=self.run, commitments=told)

    def change_keys(self) -> None:
        new = SigningKey.made(self.key.verifier.name, self._folder / "new.key")
        self.log.rotate(self.key, new, self.time)
        self.key = new


def from_parties(*, simulation: bool = False) -> ReleaseStatement:
    promise = GaussianDP(mu=0.25, neighbours=Neighbours.REPLACE_ONE)
    part = Part(name="moments", method="sums with exact noise", guarantee=promise)
    return ReleaseStatement(
        study="0" * 64,
        parts=(part,),
        total=promise,
        trust="Two of three parties must be honest.",
        simulation=simulation,
        software="supm",
    )


def from_owners() -> Statement:
    train = PhaseStatement(phase="train", method="randomised reports", guarantee=PureLDP(2.0))
    return Statement(
        study="1" * 64,
        phases=(train,),
        training=PureLDP(2.0),
        testing=PureLDP(0.0),
        simulation=False,
        software="supm",
    )


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[Publisher]:
    """Return who publishes in an empty log."""
    made = Publisher(tmp_path)
    yield made
    made.log.close()


@pytest.fixture
def statements() -> dict[str, Statement | ReleaseStatement]:
    """Return what releases promise, by what made them."""
    return {
        "parties": from_parties(),
        "simulation": from_parties(simulation=True),
        "owners": from_owners(),
    }
