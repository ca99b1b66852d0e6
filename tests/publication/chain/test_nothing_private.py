"""Nothing private is written: every byte of the log and of the chain, against a run's secrets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import secure
from supm.datasets import load_wdbc
from supm.engines import run_in_process
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
from supm.federation.sums import class_sums, scatter
from supm.publication.chain import Chain, deploy
from supm.publication.entry import RoundEntry
from supm.publication.keys import SigningKey
from supm.publication.log import Log
from supm.publication.publishing import anchor, name_contract, publish

if TYPE_CHECKING:
    from tests.publication.chain.conftest import Place

TIME = "2026-11-18T14:00:00Z"
PARTIES = 3
WDBC = load_wdbc()
ENCODING = SchemaEncoding(schema=WDBC.schema)
# Shorter numbers stand everywhere: sizes, places, times.
TELLING = 1 << 24
RUN_MARK = b'"commitments":'
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e-?\d+)?")


class Heard:
    """A protocol whose unmasked numbers are written down, with and without noise."""

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

    def __init__(self, folder: Path, place: Place) -> None:
        circle = Circle(parties=PARTIES, colluders=1)
        budget = {"epsilon": 1.0, "delta": 1e-5, "circle": circle}
        self.protocol = Discriminant.for_budget(encoding=ENCODING, **budget)  # type: ignore[arg-type]  # of three kinds
        study = FederatedStudy(name="f", purpose="", delta=1e-5, protocol=self.protocol)
        self.heard = [Heard(self.protocol) for _ in range(PARTIES)]
        self.tables = [
            {name: column[n::PARTIES] for name, column in WDBC.columns.items()}
            for n in range(PARTIES)
        ]
        people = [self._party(*each) for each in zip(self.tables, self.heard, strict=True)]
        rounds: list[RoundRecord] = []
        server = Coordinator(self.protocol, study.to_json(), record=rounds.append)
        run_in_process(server, people)
        release = study.release(server.outcome, simulation=False)
        self._publish(folder, place, release, rounds)

    def _party(self, table: dict[str, Any], heard: Heard) -> Participant:
        rows = ENCODING.rows(WDBC.schema.read(table))
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


@pytest.fixture
def run(tmp_path: Path, node: Place) -> Run:
    return Run(tmp_path, node)


def told_words(vector: NDArray[np.int64]) -> set[int]:
    """Return the whole numbers of a vector that are too long to stand somewhere by chance."""
    return {int(each) for each in vector.ravel() if abs(int(each)) >= TELLING}


def unmasked(run: Run) -> set[int]:
    """Return what parties had before masks, with noise and without; and the exact sum."""
    found: set[int] = set()
    rows = [ENCODING.rows(WDBC.schema.read(table)) for table in run.tables]
    exact = [
        np.concatenate([class_sums(each).ravel(), scatter(each.values).ravel()]) for each in rows
    ]
    for vector in (*exact, sum(exact), *(each for heard in run.heard for each in heard.told)):
        found |= told_words(np.asarray(vector)) | told_words(2 * np.asarray(vector))
    return found


def raw_values() -> set[float]:
    """Return the values of all records that have enough digits to be known by them."""
    numbers = (
        float(each)
        for column in WDBC.columns.values()
        for each in np.asarray(column)
        if np.asarray(column).dtype.kind == "f"
    )
    return {each for each in numbers if len(f"{each!r}".strip("0").replace(".", "")) >= 5}


def leaks(content: bytes, words: set[int], values: set[float]) -> list[str]:
    """Say which secrets stand in some bytes: as text, or as the words of a machine."""
    numbers = {float(each) for each in NUMBER.findall(content)}
    found = [f"the value {each}" for each in values if each in numbers]
    found += [f"the word {each}" for each in words if float(each) in numbers]
    found += [f"the bits of {each}" for each in values if bits(each, content)]
    for each in words:
        masked = each % (1 << 64)
        if any(masked.to_bytes(8, order) in content for order in ("little", "big")):
            found.append(f"the bytes of {each}")
    return found


def bits(value: float, content: bytes) -> bool:
    word = np.float64(value)
    return word.tobytes() in content or word.tobytes()[::-1] in content


def test_neither_the_log_nor_the_chain_holds_anything_private(run: Run) -> None:
    words = unmasked(run)
    # The same as means and products in the units of the records; whole ones stand everywhere.
    scaled = {each / (1 << scale) for each in words for scale in (16, 32)}
    values = raw_values() | {each for each in scaled if not each.is_integer()}
    assert len(words) > 500
    assert len(values) > 1000
    # The log tells what is public, so it was really read.
    assert RUN_MARK in run.written
    assert len(run.chained) > 1000
    assert leaks(run.written, words, values) == []
    assert leaks(run.chained, words, values) == []


def test_the_scan_would_find_what_it_looks_for(run: Run) -> None:
    words, values = unmasked(run), raw_values()
    word, value = max(words), max(values)
    for planted in (b" %d " % word, word.to_bytes(8, "little"), word.to_bytes(32, "big")):
        assert leaks(run.written + planted, words, values) != []
    for planted in (f" {value!r},".encode(), np.float64(value).tobytes()):
        assert leaks(run.chained + planted, words, values) != []
