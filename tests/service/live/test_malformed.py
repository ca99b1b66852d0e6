"""Two hundred bodies that are not quite batches: refused, or stored exactly; never our error."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

from supm import simulation
from supm.collection import plan
from supm.schema import Schema
from supm.service.received_reports import ARROW, JSON
from supm.service.store import Opened, Store, Submission

if TYPE_CHECKING:
    from pathlib import Path

    from tests.service.live.conftest import Nursery


def as_json(given: Submission) -> dict[str, Any]:
    pairs = zip(given.ids, given.symbols.tolist(), strict=True)
    reports = [{"id": one.tobytes().hex(), "symbols": row} for one, row in pairs]
    head = {"version": 1, "study": given.document, "phase": given.phase, "group": 0}
    return {**head, "reports": reports}


def as_arrow(given: Submission, **changed: Any) -> bytes:
    """Return a stream, of which columns, metadata and options may be others."""
    ids = pa.array([each.tobytes() for each in given.ids], pa.binary(16))
    rows = given.symbols
    symbols = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    columns = {"id": ids, "symbols": symbols, **changed.get("columns", {})}
    head = {"version": "1", "study": given.document, "phase": given.phase, "group": "0"}
    head |= changed.get("head", {})
    made = pa.record_batch(list(columns.values()), names=list(columns))
    made = made.replace_schema_metadata({key: head[key] for key in head if head[key] is not None})
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=changed.get("compression"))
    with pa.ipc.new_stream(file, made.schema, options=options) as writer:
        for _ in range(changed.get("times", 1)):
            writer.write_batch(made)
    return file.getvalue()


def wrong_json(good: dict[str, Any]) -> Iterator[bytes]:
    """Yield JSON with one thing wrong, or not wrong enough to be refused."""
    others: list[Any] = [None, True, -1, 0.5, 1e300, 2**53, 2**64, 10**400, "", "x", [], {}, [[]]]
    for name in good:
        yield from (json.dumps({**good, name: other}).encode() for other in others[:8])
        yield json.dumps({key: good[key] for key in good if key != name}).encode()
    for place in ("id", "symbols"):
        for other in others:
            changed = copy.deepcopy(good)
            changed["reports"][2][place] = other
            yield json.dumps(changed).encode()
    for symbol in others:
        changed = copy.deepcopy(good)
        changed["reports"][1]["symbols"][0] = symbol
        yield json.dumps(changed).encode()
    many = {**good, "reports": [good["reports"][0]] * 10_001}
    yield json.dumps(many).encode()
    yield json.dumps({**good, "more": 1}).encode()
    yield json.dumps({**good, "reports": [good["reports"][0]] * 3}).encode()
    text = json.dumps(good).encode()
    yield b"[" * 100_000
    yield text.replace(b'"reports": [', b'"reports": [' + b"[" * 5_000)
    yield b'{"a":' * 50_000
    yield b"\xff\xfe" + text
    yield text.decode().encode("utf-16")
    yield text + text


def wrong_arrow(given: Submission) -> Iterator[bytes]:
    """Yield streams of another shape."""
    count, width = given.symbols.shape
    flat, ids = given.symbols.ravel(), [each.tobytes() for each in given.ids]

    def symbols(values: Any, size: int = width) -> dict[str, Any]:
        return {"columns": {"symbols": pa.FixedSizeListArray.from_arrays(values, size)}}

    for kind in ("f2", "f4", "f8", "?", "i1", "u1", "i2", "u2", "i4", "u4", "u8"):
        yield as_arrow(given, **symbols(pa.array(flat.astype(kind))))
    yield as_arrow(given, **symbols(pa.array(flat.astype(str))))
    yield as_arrow(given, **symbols(pa.array([*flat.tolist()[:-1], None])))
    yield as_arrow(given, **symbols(pa.array(flat).dictionary_encode()))
    for symbol in (-1, 2**53, 2**63 - 1, -(2**63)):
        yield as_arrow(given, **symbols(pa.array([symbol, *flat[1:].tolist()], pa.int64())))
    yield as_arrow(given, **symbols(pa.array([2**64 - 1, *flat[1:].tolist()], pa.uint64())))
    for size in (1, width - 1, width + 1, 40):
        zeros = pa.array(np.zeros(count * size, dtype=np.int64))
        yield as_arrow(given, **symbols(zeros, size))
    yield as_arrow(given, columns={"symbols": pa.array(given.symbols.tolist())})
    lacking = pa.array([None, *given.symbols.tolist()[1:]], pa.list_(pa.int64(), width))
    yield as_arrow(given, columns={"symbols": lacking})
    for kind in (pa.binary(), pa.binary(15), pa.binary(17), pa.large_binary()):
        size = kind.byte_width if kind in (pa.binary(15), pa.binary(17)) else 16
        yield as_arrow(given, columns={"id": pa.array([(one * 2)[:size] for one in ids], kind)})
    yield as_arrow(given, columns={"id": pa.array([None, *ids[1:]], pa.binary(16))})
    yield as_arrow(given, columns={"id": pa.array(ids, pa.binary(16)).dictionary_encode()})
    yield as_arrow(given, columns={"id": pa.array([ids[0]] * count, pa.binary(16))})
    yield as_arrow(given, columns={"more": pa.array(range(count))})
    for way in ("lz4", "zstd"):
        yield as_arrow(given, compression=way)
    for name in ("version", "study", "phase", "group"):
        yield from (as_arrow(given, head={name: other}) for other in (None, "", "9", "ü"))
    yield as_arrow(given, head={"more": "1"})
    yield as_arrow(given, times=0)
    yield as_arrow(given, times=2)
    yield as_arrow(given, times=10_000 // count + 1)


def damaged(good: bytes, seed: int) -> Iterator[bytes]:
    """Yield a body cut short, with bits turned, with parts lost or doubled, without end."""
    source = simulation(seed)
    while True:
        place, end = sorted(source.below(len(good), 2).astype(int).tolist())
        yield good[:place]
        turned = bytearray(good)
        turned[place] ^= 1 << int(source.below(8, 1)[0])
        yield bytes(turned)
        yield good[:place] + good[end:]
        yield good[:end] + good[place:]


@pytest.fixture
def opened(store: Store, schema: Schema) -> Opened:
    study = plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage", "ward"])
    return store.create(study, token_hash="0" * 64, minimums={}, deadlines={})


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/malformed.db"


def test_malformed_bodies_are_refused_or_stored_exactly(
    nursery: Nursery, store_url: str, store: Store, opened: Opened, told: Callable[..., Submission]
) -> None:
    server = nursery.start(store_url)
    given = told(opened, 20, 1)
    good = as_json(given)
    bodies = [(JSON, each) for each in wrong_json(good)]
    bodies += [(ARROW, each) for each in wrong_arrow(given)]
    bodies += [(JSON, each) for each in islice(damaged(json.dumps(good).encode(), 1), 60)]
    bodies += [(ARROW, each) for each in islice(damaged(as_arrow(given), 2), 120)]
    refused = 0
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        for media_type, body in bodies:
            before = store.reports(opened.name)["train"]
            headers = {"content-type": media_type}
            at = f"/api/v1/studies/{opened.name}/reports/batch"
            answer = client.post(at, content=body, headers=headers)
            form, stored = answer.json(), store.reports(opened.name)["train"]
            if answer.status_code == 200:
                assert stored == before + form["accepted"]
                continue
            assert answer.status_code in (400, 409, 413, 422), (answer.status_code, body[:200])
            assert set(form) == {"error"}
            assert stored == before
            refused += 1
        assert client.get("/api/v1/health").json() == {"status": "ok"}
        last = client.post(
            at, content=as_arrow(told(opened, 20, 2)), headers={"content-type": ARROW}
        )
        assert last.json() == {"accepted": 20, "sent_before": 0, "refused": []}
    assert refused >= 200, "the others were batches by chance, and were stored as such"
    counts = store.counts(opened.name, "train")
    assert counts is not None
    assert counts.reports == store.reports(opened.name)["train"]
    server.kill()
