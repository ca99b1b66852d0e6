"""Nothing private is written: every byte of the log and of the chain, against a run's secrets.

Twice: on WDBC, whose short numbers stand everywhere by chance and are left out; and on a table that
is drawn with so many digits that none is.

A coincidence has no memory, and a leak has: each table's run is repeated, with new keys, new noise
and (if it is drawn) new values, and what is found is a leak if it is found in every run at the same
place, which is a cell of the table, a statistic, or a word of a vector. A place that leaks once in
a while escapes where it is not in all runs; one that leaks as a rule does not.

How often this fails by chance: what is read has less than 2^21 words and numbers in all its places.
A word is searched alone if it has 40 bits, and otherwise with those beside it until all have 48
bits together, so that a place is found by chance in one run at most once in 2^40 / 2^21 = 2^19
times, in three once in 2^57, and one of less than 2^11 words and statistics (of which 48 bits are
compared) once in 2^46. A value of 12 digits is one of 2^37 possible ones; so one of the 30,000 is
found in three runs at most once in 2^(3 * (37 - 21) - 15) = 2^33 times. Both are below 1e-9.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from supm import secure
from supm.datasets import load_wdbc
from supm.engines import carry_in_process
from supm.federation import (
    Circle,
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
from supm.publication.publishing import enter_file
from supm.publication.signing import SigningKey
from supm.schema import Categorical, Continuous, Schema

if TYPE_CHECKING:
    from tests.publication.chain.conftest import Place

TIME = "2026-11-18T14:00:00Z"
PARTIES = 3
RUNS = 3
ALONE, TOGETHER = 40, 48
MOST_BYTES = 1 << 20
DIGITS = 12
RUN_MARK = b'"commitments":'
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
RUN_OF_DIGITS = re.compile(rb"\d{%d,}" % DIGITS)
Words = tuple[int, ...]


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
        begun = place.web3.eth.block_number
        circle = Circle(parties=PARTIES, colluders=1)
        budget = {"epsilon": 1.0, "delta": 1e-5, "circle": circle}
        self.protocol = Discriminant.for_budget(encoding=self.encoding, **budget)  # type: ignore[arg-type]  # of three kinds
        study = FederatedStudy(name="f", purpose="", delta=1e-5, protocol=self.protocol)
        self.heard = [Heard(self.protocol) for _ in range(PARTIES)]
        people = [self._party(*each) for each in zip(table.parts(), self.heard, strict=True)]
        rounds: list[RoundRecord] = []
        server = study.coordinator(record=rounds.append)
        carry_in_process(server, people)
        release = study.release(server.outcome, simulation=False)
        self._publish(folder, place, release, rounds)
        self.chained = chained(place, begun)

    def rows(self, table: Table) -> Any:
        return self.encoding.rows(table.schema.read(table.columns))

    def _party(self, table: Table, heard: Heard) -> Participant:
        return Participant(self.rows(table), lambda _: heard, lambda *_: None, lambda _: secure())  # type: ignore[arg-type,return-value]  # it stands in for the protocol

    def _publish(self, folder: Path, place: Place, release: Any, rounds: list[RoundRecord]) -> None:
        key = SigningKey.made("log.example", folder / "log.key")
        account = place.account()
        with Log.create(folder / "log.db", key) as log:
            receipt = deploy(place.where, account, log.first_key.identity)
            name_contract(log, key, receipt, account.address, TIME)
            for told in rounds:
                log.append([RoundEntry(time=TIME, **vars(told))], key)
            enter_file(
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


def chained(place: Place, begun: int) -> bytes:
    """Return every transaction and event since a block, and what the contract stores."""
    web3, found = place.web3, []
    for height in range(begun, web3.eth.block_number + 1):
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
    """What must stand nowhere, by its place: raw values, exact statistics, words under masks."""

    values: dict[str, float] = field(default_factory=dict)
    statistics: dict[str, float] = field(default_factory=dict)
    words: dict[str, Words] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run) -> Secrets:
        found = cls()
        for name, column in sorted(run.table.numbers.items()):
            found.values |= {f"{name}[{n}]": each for n, each in enumerate(column.tolist())}
        for part, table in enumerate((run.table, *run.table.parts())):
            rows = run.rows(table)
            told = (*statistics(table), *means(rows))
            found.statistics |= {f"statistic {n} of part {part}": x for n, x in enumerate(told)}
            for n, vector in enumerate(exact(rows)):
                found._take(f"sum {n} of part {part}", vector.ravel().tolist())
        for part, heard in enumerate(run.heard):
            for n, vector in enumerate(heard.told):
                # The last two are public: how many rows, and a one.
                found._take(f"round {n} of party {part}", vector[:-2].tolist())
        return found

    def _take(self, name: str, vector: list[int]) -> None:
        for place in range(len(vector)):
            self.words[f"{name}[{place}]"] = telling(vector, place)

    def long(self) -> Secrets:
        """Return those that are too long to stand somewhere by chance."""
        return Secrets(
            {place: each for place, each in self.values.items() if is_long(each)},
            {place: each for place, each in self.statistics.items() if is_long(each)},
            {place: each for place, each in self.words.items() if is_telling(each)},
        )


def telling(vector: list[int], place: int) -> Words:
    """Return a word, with as many of those beside it as make it long."""
    low, high = place, place + 1
    while not is_telling(tuple(vector[low:high])) and high - low < len(vector):
        low, high = (low, high + 1) if high < len(vector) else (low - 1, high)
    return tuple(vector[low:high])


def is_telling(words: Words) -> bool:
    return sum(map(int.bit_length, words)) >= (ALONE if len(words) == 1 else TOGETHER)


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
    """All that some bytes can be read as: numbers, digits, the words of a machine."""

    def __init__(self, content: bytes) -> None:
        assert len(content) < MOST_BYTES  # on which the chances in the first lines rest
        self._bytes, found = content, [float(each) for each in NUMBER.findall(content)]
        self._numbers = set(map(rounded, found))
        self._rows = {tuple(found[n : n + k]) for k in range(2, 6) for n in range(len(found))}
        runs = RUN_OF_DIGITS.findall(content)
        self._digits = {
            run[at : at + DIGITS] for run in runs for at in range(len(run) - DIGITS + 1)
        }
        windows = np.ascontiguousarray(sliding_window_view(np.frombuffer(content, np.uint8), 8))
        both = [windows.view(order).ravel().astype(np.uint64) for order in ("<u8", ">u8")]
        self._words = np.unique(np.concatenate(both))

    def leaks(self, secrets: Secrets) -> set[str]:
        """Say which secrets stand here."""
        found = {
            f"{place} as a number"
            for place, each in (*secrets.values.items(), *secrets.statistics.items())
            if rounded(each) in self._numbers
        }
        found |= {
            f"{place} as digits"
            for place, each in secrets.values.items()
            if digits(each) in self._digits
        }
        firsts = np.array([each[0] for each in secrets.words.values()], dtype=np.int64)
        near = np.isin(firsts.view(np.uint64), self._words)
        told = zip(secrets.words.items(), near, strict=True)
        found |= {f"{place} as words" for (place, each), n in told if self._holds(each, near=n)}
        # A statistic may be summed in another order, and end in other bits.
        return found | self._among(secrets.values, 0) | self._among(secrets.statistics, 16)

    def _among(self, secrets: dict[str, float], spare: int) -> set[str]:
        bits = np.array(list(secrets.values()), dtype=np.float64).view(np.uint64)
        here = np.isin(bits >> np.uint64(spare), self._words >> np.uint64(spare))
        return {f"{place} as bits" for place, stands in zip(secrets, here, strict=True) if stands}

    def _holds(self, words: Words, *, near: bool) -> bool:
        packed = np.array(words, dtype="<i8")
        if near and any(each.tobytes() in self._bytes for each in (packed, packed.byteswap())):
            return True
        if len(words) == 1:
            return rounded(float(words[0])) in self._numbers
        return tuple(map(float, words)) in self._rows


def rounded(value: float) -> str:
    return f"{value:.9e}"


def digits(value: float) -> bytes:
    return f"{value!r}".replace(".", "").encode()


def check(runs: list[tuple[Run, Secrets]]) -> None:
    found = []
    for run, secrets in runs:
        # The log tells what is public, so it was really read.
        assert RUN_MARK in run.written
        assert len(run.chained) > 1000
        found.append(Content(run.written).leaks(secrets) | Content(run.chained).leaks(secrets))
    assert set.intersection(*found) == set()


def plantings(secrets: Secrets) -> Iterator[tuple[str, bytes]]:
    """Yield places of each kind, with the secret in each way in which it could be written down."""
    for place in (min(secrets.words), max(secrets.words)):
        words = secrets.words[place]
        yield place, b" ".join(b"%d," % each for each in words)
        for order in ("<i8", ">i8"):
            yield place, np.array(words, dtype=order).tobytes()
        if len(words) == 1:
            yield place, (words[0] % (1 << 256)).to_bytes(32, "big")
    for held in (secrets.values, secrets.statistics):
        for place in (min(held), max(held)):
            yield place, f" {held[place]!r},".encode()
            yield place, np.float64(held[place]).tobytes()
            yield place, np.float64(held[place]).byteswap().tobytes()
    place = max(secrets.statistics)
    yield place, rounded(secrets.statistics[place]).encode()


def check_plantings(content: bytes, secrets: Secrets) -> None:
    for place, planted in plantings(secrets):
        # After a digit or a sign that happens to end the content it would be another number.
        assert any(
            each.startswith(f"{place} ")
            for each in Content(content + b" " + planted).leaks(secrets)
        )


def made(table: Table, folder: Path, node: Place, number: int) -> Run:
    (home := folder / str(number)).mkdir()
    return Run(table, home, node)


def test_neither_the_log_nor_the_chain_holds_anything_private(tmp_path: Path, node: Place) -> None:
    runs = [made(wdbc(), tmp_path, node, number) for number in range(RUNS)]
    secrets = [Secrets.of(run).long() for run in runs]
    held = secrets[0]
    assert min(len(held.values), len(held.words), len(held.statistics)) > 500
    check(list(zip(runs, secrets, strict=True)))
    check_plantings(runs[0].written[-1000:], held)


def test_nothing_is_left_out_where_every_value_is_long(tmp_path: Path, node: Place) -> None:
    runs = [made(drawn(), tmp_path, node, number) for number in range(RUNS)]
    secrets = [Secrets.of(run) for run in runs]
    for held in secrets:
        assert len(held.values) == 30_000
        assert {len(digits(each)) for each in held.values.values()} == {DIGITS}
        assert len(held.words) + len(held.statistics) < 1 << 11
        assert held.long() == held
    check(list(zip(runs, secrets, strict=True)))
    check_plantings(runs[0].chained[-1000:], secrets[0])
    value = min(secrets[0].values)
    assert f"{value} as digits" in Content(b"x%bx" % digits(secrets[0].values[value])).leaks(
        secrets[0]
    )


def test_a_leak_is_what_stands_at_the_same_place_in_every_run(tmp_path: Path, node: Place) -> None:
    runs = [made(drawn(records=600), tmp_path, node, number) for number in range(2)]
    secrets = [Secrets.of(run) for run in runs]
    whole = [run.written for run in runs]
    for places, is_leak in ((("x0[7]", "x0[8]"), False), (("x0[7]", "x0[7]"), True)):
        for run, held, content, place in zip(runs, secrets, whole, places, strict=True):
            run.written = content + f" {held.values[place]!r},".encode()
        with pytest.raises(AssertionError, match=r"x0\[7\]") if is_leak else nullcontext():
            check(list(zip(runs, secrets, strict=True)))
