"""Nothing private is written: every byte of the log and of the chain, against a run's secrets.

Twice: on WDBC, whose short numbers stand everywhere by chance and are left out; and on a table that
is drawn with so many digits that none is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from supm import secure
from supm.datasets import load_wdbc
from supm.engines import carry_in_process
from supm.federation import (
    Circle,
    Coordinator,
    Discriminant,
    FederatedStudy,
    Participant,
    Protocol,
    RoundRecord,
    SchemaEncoding,
)
from supm.federation.rows import class_counts, class_sums, scatter, triangle
from supm.publication.chain import Chain, deploy
from supm.publication.deploying import anchor, name_contract
from supm.publication.entry import RoundEntry
from supm.publication.log import Log
from supm.publication.publishing import publish
from supm.publication.signing import SigningKey
from supm.schema import Categorical, Continuous, Schema

if TYPE_CHECKING:
    from tests.publication.chain.conftest import Place

TIME = "2026-11-18T14:00:00Z"
PARTIES = 3
# Shorter whole numbers stand everywhere: sizes, places, times.
TELLING = 1 << 24
# Of two that stand beside each other the longer one, which decides by itself.
TELLING_BESIDE = 1 << 10
DIGITS = 12
RUN_MARK = b'"commitments":'
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
RUN_OF_DIGITS = re.compile(rb"\d{%d,}" % DIGITS)


@dataclass(frozen=True)
class Table:
    """A table with its public description."""

    schema: Schema
    columns: dict[str, NDArray[Any]]

    def parts(self) -> list[Table]:
        """Return the tables of the parties."""
        return [
            Table(self.schema, {name: each[n::PARTIES] for name, each in self.columns.items()})
            for n in range(PARTIES)
        ]

    @property
    def numbers(self) -> dict[str, NDArray[np.float64]]:
        names = {each.name for each in self.schema.attributes if isinstance(each, Continuous)}
        return {name: np.asarray(self.columns[name], dtype=float) for name in names}


def wdbc() -> Table:
    data = load_wdbc()
    return Table(data.schema, {name: np.asarray(each) for name, each in data.columns.items()})


def drawn(records: int = 6000, width: int = 5) -> Table:
    """Return a table in which each value has twelve digits, and no sum of a class is short."""
    source = secure()
    labels = np.array(["low", "high"])[np.arange(records) // PARTIES % 2]
    columns: dict[str, NDArray[Any]] = {}
    for number in range(width):
        # Between 10 and 30, or 80 and 100: no class has its mean in the middle. The last digit is
        # never 0, so all twelve of them stand where the value does.
        steps = source.below(2 * 10**10, records).astype(np.int64) * 10
        steps += source.below(9, records).astype(np.int64) + 1
        steps += np.where(labels == "low", 10**11, 8 * 10**11)
        columns[f"x{number}"] = steps / 10**10
    attributes = tuple(Continuous(name, low=0, high=110) for name in columns)
    schema = Schema(attributes=attributes, target=Categorical("class", values=("low", "high")))
    return Table(schema, {**columns, "class": labels})


class Heard:
    """A protocol whose unmasked numbers are written down, with noise."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self.told: list[NDArray[np.int64]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)

    def tell(self, rows: Any, question: Any, source: Any) -> NDArray[np.int64]:
        vector = self._protocol.tell(rows, question, source)
        self.told.append(vector)
        return vector


class Run:
    """Three parties whose run is written into a log and anchored on a chain."""

    def __init__(self, table: Table, folder: Path, place: Place) -> None:
        self.table, self.encoding = table, SchemaEncoding(schema=table.schema)
        circle = Circle(parties=PARTIES, colluders=1)
        budget = {"epsilon": 1.0, "delta": 1e-5, "circle": circle}
        self.protocol = Discriminant.for_budget(encoding=self.encoding, **budget)  # type: ignore[arg-type]  # of three kinds
        study = FederatedStudy(name="f", purpose="", delta=1e-5, protocol=self.protocol)
        self.heard = [Heard(self.protocol) for _ in range(PARTIES)]
        people = [self._party(*each) for each in zip(table.parts(), self.heard, strict=True)]
        rounds: list[RoundRecord] = []
        server = Coordinator(self.protocol, study.to_json(), record=rounds.append)
        carry_in_process(server, people)
        release = study.release(server.outcome, simulation=False)
        self._publish(folder, place, release, rounds)

    def rows(self, table: Table) -> Any:
        return self.encoding.rows(table.schema.read(table.columns))

    def _party(self, table: Table, heard: Heard) -> Participant:
        rows = self.rows(table)
        return Participant(rows, lambda _: heard, lambda *_: None, lambda _: secure())  # type: ignore[arg-type,return-value]  # it stands in for the protocol

    def _publish(self, folder: Path, place: Place, release: Any, rounds: list[RoundRecord]) -> None:
        key = SigningKey.made("log.example", folder / "log.key")
        account = place.account()
        with Log.create(folder / "log.db", key) as log:
            receipt = deploy(place.where, account, log.first_key.identity)
            name_contract(log, key, receipt, account.address, TIME)
            for told in rounds:
                log.append([RoundEntry(time=TIME, **vars(told))], key)
            publish(
                log,
                key,
                release.to_json().encode(),
                name="release.json",
                statement=release.statement,
                time=TIME,
                run=rounds[0].run,
                commitments=tuple(each.commitments for each in rounds),
            )
            anchor(log, Chain(place.where, receipt.contract), account)
        self.written = b"".join(each.read_bytes() for each in folder.glob("log.db*"))
        self.chained = whole_chain(place)


def whole_chain(place: Place) -> bytes:
    """Return every transaction and every event of all blocks, and what the contract stores."""
    web3, found = place.web3, []
    for height in range(web3.eth.block_number + 1):
        block = web3.eth.get_block(height, full_transactions=True)
        for each in block["transactions"]:
            assert not isinstance(each, bytes)
            receipt = web3.eth.get_transaction_receipt(each["hash"])
            found += [bytes(each["input"]), *(bytes(log["data"]) for log in receipt["logs"])]
            found += [bytes(topic) for log in receipt["logs"] for topic in log["topics"]]
            if receipt["contractAddress"]:
                found.append(bytes(web3.eth.get_code(receipt["contractAddress"])))
    return b"\n".join(found)


@dataclass
class Secrets:
    """What must stand nowhere: raw values, exact statistics, and what was under the masks."""

    values: set[float] = field(default_factory=set)
    statistics: set[float] = field(default_factory=set)
    words: set[int] = field(default_factory=set)
    neighbours: set[tuple[int, int]] = field(default_factory=set)

    @classmethod
    def of(cls, run: Run) -> Secrets:
        found = cls()
        for column in run.table.numbers.values():
            found.values |= set(column.tolist())
        for table in (run.table, *run.table.parts()):
            rows = run.rows(table)
            found.statistics |= set(statistics(table)) | set(means(rows))
            for vector in exact(rows):
                found.words |= {int(each) for each in vector.ravel()}
        for heard in run.heard:
            # The last two are public: how many rows, and a one.
            for vector in (each[:-2].tolist() for each in heard.told):
                found.words |= set(vector)
                found.neighbours |= set(pairwise(vector))
        return found

    def telling(self) -> Secrets:
        """Return those that are too long to stand somewhere by chance."""
        return Secrets(
            {each for each in self.values if is_long(each)},
            {each for each in self.statistics if is_long(each)},
            {each for each in self.words if abs(each) >= TELLING},
            {pair for pair in self.neighbours if max(map(abs, pair)) >= TELLING_BESIDE},
        )


def is_long(value: float) -> bool:
    """Say whether a value has digits enough to be known by them, and bits that are not mere 0."""
    told = f"{value!r}".partition("e")[0].lstrip("-").strip("0").replace(".", "")
    short = int(np.float64(value).view(np.uint64)) % (1 << 32) == 0
    return len(told) >= (8 if short else 5)


def exact(rows: Any) -> Iterator[NDArray[np.int64]]:
    """Yield the sums of a table without noise and mask, once and twice."""
    for vector in (class_sums(rows), triangle(scatter(rows.values)), class_counts(rows)):
        yield vector
        yield 2 * vector


def means(rows: Any) -> Iterator[float]:
    """Yield the mean of each class, and of all products, as they are in the model's units."""
    for label in range(rows.classes):
        yield from rows.unit[rows.labels == label].mean(axis=0).tolist()
    yield from (triangle(scatter(rows.values)) / (len(rows.labels) << 32)).tolist()


def statistics(table: Table) -> Iterator[float]:
    """Yield sums, means, squares and deviations of each column: of each class, and of all."""
    labels = table.columns[table.schema.target.name]
    for column in table.numbers.values():
        for part in (column, *(column[labels == label] for label in np.unique(labels))):
            yield from map(float, (part.sum(), part.mean(), (part**2).sum(), part.std()))


class Content:
    """All that some bytes can be read as: numbers, neighbours, digits, the words of a machine."""

    def __init__(self, content: bytes) -> None:
        numbers = [float(each) for each in NUMBER.findall(content)]
        self._numbers, self._pairs = set(map(rounded, numbers)), set(pairwise(numbers))
        runs = RUN_OF_DIGITS.findall(content)
        self._digits = {
            run[at : at + DIGITS] for run in runs for at in range(len(run) - DIGITS + 1)
        }
        self._bytes = content
        windows = np.ascontiguousarray(sliding_window_view(np.frombuffer(content, np.uint8), 8))
        both = [windows.view(order).ravel().astype(np.uint64) for order in ("<u8", ">u8")]
        self._words = np.unique(np.concatenate(both))

    def leaks(self, secrets: Secrets) -> list[str]:
        """Say which secrets stand here."""
        told = (*secrets.values, *secrets.statistics, *map(float, secrets.words))
        found = [f"the number {each}" for each in told if rounded(each) in self._numbers]
        found += [
            f"the digits of {each}" for each in secrets.values if digits(each) in self._digits
        ]
        found += [f"the words {each}" for each in secrets.neighbours if self._holds(*each)]
        masked = [each % (1 << 64) for each in secrets.words]
        found += self._among(masked, 0, "the word") + self._among(bits(secrets.values), 0, "value")
        # A statistic may be summed in another order, and end in other bits.
        return found + self._among(bits(secrets.statistics), 16, "the statistic")

    def _among(self, words: Iterable[int], spare: int, what: str) -> list[str]:
        wanted = np.array(list(words), dtype=np.uint64) >> np.uint64(spare)
        held = np.isin(wanted, self._words >> np.uint64(spare))
        return [f"{what} {each}" for each in wanted[held]]

    def _holds(self, first: int, second: int) -> bool:
        pair = np.array([first, second], dtype="<i8")
        packed = (pair.tobytes(), pair.byteswap().tobytes())
        return (first, second) in self._pairs or any(each in self._bytes for each in packed)


def rounded(value: float) -> str:
    return f"{value:.9e}"


def digits(value: float) -> bytes:
    return f"{value!r}".replace(".", "").encode()


def bits(values: Iterable[float]) -> list[int]:
    found: list[int] = np.array(list(values), dtype=np.float64).view(np.uint64).tolist()
    return found


def check(run: Run, secrets: Secrets) -> None:
    # The log tells what is public, so it was really read.
    assert RUN_MARK in run.written
    assert len(run.chained) > 1000
    for content in (run.written, run.chained):
        assert Content(content).leaks(secrets) == []


def plantings(secrets: Secrets) -> Iterator[bytes]:
    """Yield one of each kind of secret, in each way in which it could be written down."""
    for word in (max(secrets.words), min(secrets.words)):
        yield b" %d " % word
        yield (word % (1 << 64)).to_bytes(8, "little")
        yield (word % (1 << 256)).to_bytes(32, "big")
    for value in (max(secrets.values), max(secrets.statistics), min(secrets.statistics)):
        yield f" {value!r},".encode()
        yield np.float64(value).tobytes()
        yield np.float64(value).byteswap().tobytes()
    yield f"{max(secrets.statistics):.11e}".encode()
    pair = next(iter(secrets.neighbours))
    yield np.array(pair, dtype="<i8").tobytes()
    yield b"[%d,%d]" % pair


def test_neither_the_log_nor_the_chain_holds_anything_private(tmp_path: Path, node: Place) -> None:
    run = Run(wdbc(), tmp_path, node)
    secrets = Secrets.of(run).telling()
    assert min(len(secrets.values), len(secrets.words), len(secrets.statistics)) > 500
    check(run, secrets)
    for planted in plantings(secrets):
        assert Content(run.written[-1000:] + planted).leaks(secrets) != []


def test_nothing_is_left_out_where_every_value_is_long(tmp_path: Path, node: Place) -> None:
    table = drawn()
    run = Run(table, tmp_path, node)
    secrets = Secrets.of(run)
    everything = np.concatenate(list(table.numbers.values()))
    assert everything.size == 30_000
    assert secrets.values == set(everything.tolist())
    assert {len(digits(each)) for each in secrets.values} == {DIGITS}
    searched = secrets.telling()
    assert (searched.values, searched.statistics) == (secrets.values, secrets.statistics)
    sums = {
        int(each) for part in table.parts() for one in exact(run.rows(part)) for each in one.flat
    }
    assert sums <= searched.words
    # What was under the masks, with its noise: each number by itself, or with the one beside it.
    beside = {each for pair in searched.neighbours for each in pair}
    assert secrets.words <= searched.words | beside
    check(run, searched)
    for planted in (*plantings(searched), b"x" + digits(min(secrets.values)) + b"x"):
        assert Content(run.chained[-1000:] + planted).leaks(searched) != []
