"""Measure a log of releases: how fast it grows, and how fast a reader proves and rebuilds it.

Usage: python benchmarks/publication.py [--quick] [--json FILE]

A plain table of SQLite gets the same texts in the same batches, in turn: no tree, no signature, no
rule that a file is published once. Both wait for the disk at the end of each batch. The entries of
a batch are made before either clock starts; their texts, which both store, are made within.

Most releases of a log state the same in the same words, which a reader knows again. A second log,
in which every statement differs, shows what appending and checking cost without that.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tables import Goal, Row, Table, as_json, as_text
from timing import Step, silent
from tqdm import tqdm

from supm._sqlite import keep_a_log_ahead
from supm.messages import PhaseStatement, Statement
from supm.privacy import PureLDP
from supm.publication.entry import ReleaseEntry
from supm.publication.log import Log
from supm.publication.monitoring import check_log
from supm.publication.proof import Proof, make_proof, verify_file
from supm.publication.signing import SigningKey
from supm.publication.story import entries_of, rebuilt

__all__ = ["FULL", "QUICK", "Growth", "Plan", "Reading", "main", "measure"]

_BATCH = 1_000
_RATE, _HASHES, _MILLISECONDS, _SECONDS = 20_000.0, 20.0, 5.0, 20.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many entries a log gets, and how many of them are proved."""

    entries: int
    proofs: int


FULL = Plan(entries=10**6, proofs=1_000)
QUICK = Plan(entries=10**4, proofs=100)


class Stopwatch:
    """Seconds of several things that take turns: by the clock, and of the processor alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.processor: dict[str, float] = {}

    @contextmanager
    def on(self, name: str) -> Iterator[None]:
        start, worked = time.perf_counter(), time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        self.processor[name] = self.processor.get(name, 0.0) + time.process_time() - worked


class Growth:
    """A log and a plain table that get the same entries, batch by batch."""

    def __init__(
        self, plan: Plan, key: SigningKey, what: str, make: Callable[[int], ReleaseEntry]
    ) -> None:
        self._plan, self._key, self._what, self._make = plan, key, what, make
        self._watch = Stopwatch()
        self._bytes: dict[str, int] = {}

    def measure(self, folder: Path, step: Step) -> Path:
        """Append all entries, and return where the log is."""
        folder.mkdir()
        ours, plain = folder / "log.db", folder / "plain.db"
        with Log.create(ours, self._key) as log, closing(_table(plain)) as table:
            for start in range(0, self._plan.entries, _BATCH):
                step(f"appending: {start:,} of {self._plan.entries:,}")
                stop = min(start + _BATCH, self._plan.entries)
                self._append(log, table, start, stop)
        self._bytes = {"SUPM": ours.stat().st_size, "plain": plain.stat().st_size}
        return ours

    def _append(self, log: Log, table: sqlite3.Connection, start: int, stop: int) -> None:
        entries = [self._make(number) for number in range(start, stop)]
        with self._watch.on("SUPM"):
            log.append(entries, self._key)
        with self._watch.on("plain"):
            table.execute("BEGIN IMMEDIATE")
            rows = [(start + place, each.text) for place, each in enumerate(entries)]
            table.executemany("INSERT INTO entries VALUES (?, ?)", rows)
            table.execute("COMMIT")

    def table(self) -> Table:
        """Return entries a second and bytes of both."""
        words = {
            "SUPM": "log: tree, signed checkpoints, each file once",
            "plain": "plain table of SQLite",
        }
        seconds, count = self._watch.seconds, self._plan.entries
        rows: list[Row] = [
            {
                "who": words[name],
                "entries": count,
                "entries_a_second": count / seconds[name],
                "times_the_plain_table": seconds[name] / seconds["plain"],
                "processor_microseconds_an_entry": 1e6 * self._watch.processor[name] / count,
                "bytes_an_entry": self._bytes[name] / count,
                "MB": self._bytes[name] / 1e6,
            }
            for name in words
        ]
        title = f"{self._what} appended in batches of {_BATCH:,}, made before, each on the disk"
        return Table(title, rows)

    def goals(self) -> list[Goal]:
        """Return the goal."""
        rate = self._plan.entries / self._watch.seconds["SUPM"]
        return [Goal(name="entries appended a second", measured=rate, limit=_RATE, at_least=True)]


class Reading:
    """What a reader does with a log: prove one file, rebuild the root, check everything."""

    def __init__(self, plan: Plan, key: SigningKey) -> None:
        self._plan, self._key = plan, key
        self._watch = Stopwatch()
        self._longest = 0
        self._bytes = 0

    def measure(self, path: Path, differing: Path, step: Step) -> None:
        """Read a log in each way, and check one in which every statement differs."""
        with Log(path) as log:
            step("proving")
            for index in _sample(self._plan):
                self._prove(log, index)
            step("rebuilding the root")
            self._rebuild(log)
            step("checking the whole log")
            with self._watch.on("check"):
                list(check_log(log, self._key.verifier))
        with Log(differing) as log:
            step("checking the log whose statements differ")
            with self._watch.on("differing"):
                list(check_log(log, self._key.verifier))

    def _prove(self, log: Log, index: int) -> None:
        with self._watch.on("prove"):
            text = make_proof(log, index).to_json()
        with self._watch.on("verify"):
            proof = Proof.from_json(text)
            list(verify_file(_content(index), proof, self._key.verifier))
        self._longest = max(self._longest, len(proof.release.path))
        self._bytes = max(self._bytes, len(text))

    def _rebuild(self, log: Log) -> None:
        size = self._plan.entries
        with self._watch.on("rebuild"):
            found = rebuilt(entries_of(log, size))
        if found[:2] != (size, log.checkpoint().root):
            raise RuntimeError("the rebuilt root is not the one that is signed.")
        with self._watch.on("flat"):
            whole = hashlib.sha256()
            for text in entries_of(log, size):
                whole.update(text.encode())

    def table(self) -> Table:
        """Return what was measured, one line each."""
        seconds, proofs = self._watch.seconds, len(_sample(self._plan))
        figures: dict[str, float] = {
            "to make a proof, ms": 1e3 * seconds["prove"] / proofs,
            "to verify a file with its proof, ms": 1e3 * seconds["verify"] / proofs,
            "hashes in the longest proof": self._longest,
            "bytes of the longest proof": self._bytes,
            "to rebuild the root from raw entries, s": seconds["rebuild"],
            "to read and hash the same texts as one, s": seconds["flat"],
            "to check the whole log, every entry read, s": seconds["check"],
            "to check it if every statement differs, s": seconds["differing"],
        }
        rows: list[Row] = [{"what": what, "figure": each} for what, each in figures.items()]
        return Table(f"A reader of {self._plan.entries:,} entries", rows)

    def goals(self) -> list[Goal]:
        """Return the goals."""
        seconds, proofs = self._watch.seconds, len(_sample(self._plan))
        verify = 1e3 * seconds["verify"] / proofs
        return [
            Goal(name="hashes in the longest proof", measured=self._longest, limit=_HASHES),
            Goal(name="milliseconds to verify a proof", measured=verify, limit=_MILLISECONDS),
            Goal(name="seconds to rebuild the root", measured=seconds["rebuild"], limit=_SECONDS),
        ]


def _table(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    keep_a_log_ahead(connection)
    connection.execute("CREATE TABLE entries (place INTEGER PRIMARY KEY, body TEXT NOT NULL)")
    return connection


def _sample(plan: Plan) -> list[int]:
    last = plan.entries - 1
    return sorted({0, last, *range(0, plan.entries, max(plan.entries // plan.proofs, 1))})


def _content(number: int) -> bytes:
    return b"file %d" % number


def _statement(study: str, epsilon: float) -> Statement:
    promise = PureLDP(epsilon)
    train = PhaseStatement(
        phase="train", method="ODP, 5 attributes of 4 classes", guarantee=promise
    )
    return Statement(
        study=study,
        phases=(train,),
        training=promise,
        testing=PureLDP(1.0),
        simulation=False,
        software="supm",
    )


_STATEMENT = _statement("0" * 64, 2.0)


def _entry(number: int) -> ReleaseEntry:
    content = _content(number)
    return ReleaseEntry(
        time="2026-11-18T14:00:00Z",
        name=f"model-{number}.json",
        content=hashlib.sha256(content).hexdigest(),
        size=len(content),
        statement=_STATEMENT,
    )


def _differing(number: int) -> ReleaseEntry:
    entry = _entry(number)
    return replace(entry, statement=_statement(entry.content, 1.0 + number / 1e6))


def measure(plan: Plan, step: Step = silent) -> tuple[list[Table], list[Goal]]:
    """Measure everything once."""
    with tempfile.TemporaryDirectory(prefix="supm-publication-") as name:
        key = SigningKey.made("log.example", Path(name) / "log.key")
        same = Growth(plan, key, "Releases of one statement", _entry)
        differing = Growth(plan, key, "Releases that each state something else", _differing)
        reading = Reading(plan, key)
        paths = same.measure(Path(name) / "same", step), differing.measure(Path(name) / "d", step)
        reading.measure(*paths, step)
    tables = [same.table(), differing.table(), reading.table()]
    return tables, [*same.goals(), *reading.goals()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables and the goals."""
    parser = argparse.ArgumentParser(
        description="Measure a log of releases: growth, proofs and rebuilding.",
        epilog="example: python benchmarks/publication.py --json publication.json",
    )
    parser.add_argument("--quick", action="store_true", help="fewer entries: a look, not a figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else FULL
    with tqdm(total=2 * (plan.entries // _BATCH) + 4, leave=False, file=sys.stderr) as bar:

        def step(doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.update()

        tables, goals = measure(plan, step)
    print(as_text(tables, goals))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, goals), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
