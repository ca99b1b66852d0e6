"""What is no message is refused, without a word of it, and before it can do any harm."""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from supm import simulation
from supm._errors import MessageError
from supm.service.received_reports import ARROW, JSON, MOST_REPORTS, read_batch, read_report

HASH = "ab" * 32
ONE = {
    "version": 1,
    "study": HASH,
    "phase": "train",
    "group": 0,
    "symbols": [3, 0],
    "id": "0f" * 16,
}
HEAD = {"version": 1, "study": HASH, "phase": "train", "group": 0}
ITEM = {"id": "0f" * 16, "symbols": [3, 0]}
METADATA = {"version": "1", "study": HASH, "phase": "train", "group": "0"}


def batch(**changed: Any) -> bytes:
    return json.dumps({**HEAD, "reports": [ITEM], **changed}).encode()


def columns(rows: int, symbols: Any) -> list[Any]:
    ids = pa.array([bytes([row % 256] * 16) for row in range(rows)], pa.binary(16))
    return [ids, symbols]


def lists(rows: int, width: int = 2, kind: Any = np.int16) -> Any:
    return pa.FixedSizeListArray.from_arrays(pa.array(np.arange(rows * width, dtype=kind)), width)


def stream(
    arrays: list[Any],
    *,
    names: tuple[str, ...] = ("id", "symbols"),
    metadata: dict[str, str] | None = None,
    compression: str | None = None,
    times: int = 1,
) -> bytes:
    made = pa.record_batch(arrays, names=list(names))
    made = made.replace_schema_metadata(METADATA if metadata is None else metadata)
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(file, made.schema, options=options) as writer:
        for _ in range(times):
            writer.write_batch(made)
    return file.getvalue()


def good_stream(rows: int = 3) -> bytes:
    return stream(columns(rows, lists(rows)))


def test_a_report_is_read() -> None:
    told = read_report(json.dumps(ONE).encode())
    assert (told.study, told.phase, told.group) == (HASH, "train", 0)
    assert told.ids.tobytes() == b"\x0f" * 16
    assert told.table(2).tolist() == [[3, 0]]
    assert told.fits(2).tolist() == [True]
    assert told.table(3).tolist() == []


def test_a_batch_in_json_is_read_and_rows_of_another_length_are_left_out() -> None:
    told = read_batch(batch(reports=[ITEM, {"id": "a0" * 16, "symbols": [1]}]), JSON)
    assert told.fits(2).tolist() == [True, False]
    assert told.table(2).tolist() == [[3, 0]]
    # However wide the question, nothing is made as wide as it.
    assert told.table(1 << 40).shape == (0, 1 << 40)
    assert told.ids[1].tobytes() == b"\xa0" * 16


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_a_stream_is_read_in_every_integer(kind: Any) -> None:
    told = read_batch(stream(columns(3, lists(3, kind=kind))), ARROW)
    assert told.table(2).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert told.ids[2].tobytes() == b"\x02" * 16
    assert told.group == 0


def test_a_stream_of_several_parts_and_slices_is_read() -> None:
    arrays = [each.slice(1, 2) for each in columns(4, lists(4))]
    told = read_batch(stream(arrays, times=2), ARROW)
    assert told.table(2).tolist() == [[2, 3], [4, 5]] * 2
    assert told.ids[0].tobytes() == b"\x01" * 16


def test_a_number_beyond_63_bits_in_a_stream_is_in_no_alphabet() -> None:
    held = pa.FixedSizeListArray.from_arrays(pa.array([2**64 - 1, 0], pa.uint64()), 2)
    assert read_batch(stream(columns(1, held)), ARROW).table(2).min() < 0


@pytest.mark.parametrize(
    "own", ["0F" * 16, "0f" * 15, " f" * 16, "é" * 32, "zz" * 16, "0f" * 16 + "\n"]
)
def test_an_id_is_32_hexadecimal_digits(own: str) -> None:
    with pytest.raises(MessageError, match=r"no batch \(see \$.reports\[0\].id\)"):
        read_batch(batch(reports=[{**ITEM, "id": own}]), JSON)
    with pytest.raises(MessageError, match=r"no report \(see \$.id\)"):
        read_report(json.dumps({**ONE, "id": own}).encode())


WRONG_VALUES: list[Any] = [None, True, 1.5, "1", [], {}, -1, 2**63, 10**30]


@pytest.mark.parametrize("field", list(ONE))
@pytest.mark.parametrize("value", WRONG_VALUES, ids=str)
def test_a_report_with_a_wrong_field_is_refused(field: str, value: Any) -> None:
    with pytest.raises(MessageError):
        read_report(json.dumps({**ONE, field: value}).encode())


@pytest.mark.parametrize("field", [*HEAD, "reports"])
@pytest.mark.parametrize("value", WRONG_VALUES, ids=str)
def test_a_batch_with_a_wrong_field_is_refused(field: str, value: Any) -> None:
    with pytest.raises(MessageError):
        read_batch(batch(**{field: value}), JSON)


@pytest.mark.parametrize(
    "symbols", [None, [], ["1"], [1.0], [True], [None], [[1]], {}, [2**63], [10**400]], ids=str
)
def test_wrong_symbols_in_a_batch_are_refused_or_in_no_alphabet(symbols: Any) -> None:
    with pytest.raises(MessageError):
        read_batch(batch(reports=[{"id": "0f" * 16, "symbols": symbols}]), JSON).table(1)


TEXTS = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"text"',
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"version":1}',
    b"NaN",
    batch()[:-1],
    batch() + b"x",
    batch(extra=1),
    batch(reports=[{**ITEM, "extra": 1}]),
    b"1" * 100_000,
]


@pytest.mark.parametrize("body", TEXTS, ids=range(len(TEXTS)))
def test_what_is_no_message_is_refused(body: bytes) -> None:
    for read in (read_report, lambda each: read_batch(each, JSON), lambda e: read_batch(e, ARROW)):
        with pytest.raises(MessageError):
            read(body)


def test_a_refusal_says_where_and_not_what() -> None:
    with pytest.raises(MessageError) as caught:
        read_batch(batch(reports=[ITEM, {"id": "0f" * 16, "symbols": ["secret"]}]), JSON)
    assert "$.reports[1].symbols[0]" in str(caught.value)
    assert "secret" not in str(caught.value)


TWICE = [
    batch().replace(b'"group": 0', b'"group": 1, "group": 0'),
    batch().replace(b'"group": 0', b'"gr\\u006fup": 1, "group": 0'),
    batch().replace(b'"symbols": [3, 0]', b'"symbols": [9], "symbols": [3, 0]'),
    batch().replace(b'"reports"', b'"reports": [], "reports"').replace(b"[],", b"[{}],"),
    batch().replace(b'"phase"', b'"phase": "test", "phase"'),
]


@pytest.mark.parametrize("body", TWICE, ids=range(len(TWICE)))
def test_a_key_that_occurs_twice_in_a_batch_is_refused(body: bytes) -> None:
    assert len(body) > len(batch())
    with pytest.raises(MessageError, match="the body is no batch"):
        read_batch(body, JSON)


def test_a_batch_has_a_bound() -> None:
    with pytest.raises(MessageError):
        read_batch(batch(reports=[ITEM] * (MOST_REPORTS + 1)), JSON)
    with pytest.raises(MessageError, match="too many"):
        read_batch(stream(columns(6000, lists(6000)), times=2), ARROW)
    assert len(read_batch(good_stream(MOST_REPORTS), ARROW).ids) == MOST_REPORTS


def nulls() -> list[Any]:
    values = pa.array([1, None, 2, 3], pa.int16())
    return columns(2, pa.FixedSizeListArray.from_arrays(values, 2))


def absent_rows() -> list[Any]:
    return columns(2, pa.array([[1, 2], None], pa.list_(pa.int16(), 2)))


def dictionary() -> list[Any]:
    ids = pa.array([b"0" * 16] * 2, pa.binary(16))
    return [ids.dictionary_encode(), lists(2)]


STREAMS: dict[str, Callable[[], bytes]] = {
    "compressed by zstd": lambda: stream(columns(900, lists(900)), compression="zstd"),
    "compressed by lz4": lambda: stream(columns(900, lists(900)), compression="lz4"),
    "dictionary": lambda: stream(dictionary()),
    "null symbols": lambda: stream(nulls()),
    "null rows": lambda: stream(absent_rows()),
    "null ids": lambda: stream([pa.array([None, b"0" * 16], pa.binary(16)), lists(2)]),
    "short ids": lambda: stream([pa.array([b"0" * 8] * 2, pa.binary(8)), lists(2)]),
    "text ids": lambda: stream([pa.array(["0" * 16] * 2), lists(2)]),
    "numbers with fractions": lambda: stream(columns(2, lists(2, kind=np.float64))),
    "lists of any length": lambda: stream(columns(2, pa.array([[1], [2, 3]]))),
    "plain numbers": lambda: stream(columns(2, pa.array([1, 2]))),
    "another name": lambda: stream(columns(2, lists(2)), names=("id", "told")),
    "another order": lambda: stream(columns(2, lists(2)), names=("symbols", "id")),
    "one column more": lambda: stream(
        [*columns(2, lists(2)), pa.array([1, 2])], names=("id", "symbols", "more")
    ),
    "nothing in it": lambda: stream(columns(2, lists(2)), times=0),
    "no rows": lambda: stream([each.slice(0, 0) for each in columns(1, lists(1))]),
    "no metadata": lambda: stream(columns(2, lists(2)), metadata={}),
    "another version": lambda: stream(columns(2, lists(2)), metadata={**METADATA, "version": "2"}),
    "no hash": lambda: stream(columns(2, lists(2)), metadata={**METADATA, "study": "x"}),
    "no phase": lambda: stream(columns(2, lists(2)), metadata={**METADATA, "phase": "x"}),
    "no group": lambda: stream(columns(2, lists(2)), metadata={**METADATA, "group": "-1"}),
    "a group too large": lambda: stream(
        columns(2, lists(2)), metadata={**METADATA, "group": "256"}
    ),
    "more metadata": lambda: stream(columns(2, lists(2)), metadata={**METADATA, "more": "x"}),
    "a file and no stream": lambda: b"ARROW1\0\0" + good_stream(),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_of_another_shape_is_refused(name: str) -> None:
    with pytest.raises(MessageError):
        read_batch(STREAMS[name](), ARROW)


def test_every_truncated_stream_is_refused() -> None:
    whole = good_stream()
    end = len(whole) - 8  # the end of a stream is marked, and may be left out
    for length in range(end):
        with pytest.raises(MessageError):
            read_batch(whole[:length], ARROW)
    assert len(read_batch(whole[:end], ARROW).ids) == 3


def test_a_length_that_is_declared_and_not_there_is_refused() -> None:
    whole = good_stream()
    found = 0
    for place in range(0, len(whole) - 8, 4):
        if struct.unpack_from("<q", whole, place)[0] == 3:
            for length in (2**62, 2**31, 10_001, 4_000, -1):
                damaged = bytearray(whole)
                struct.pack_into("<q", damaged, place, length)
                with pytest.raises(MessageError):
                    read_batch(bytes(damaged), ARROW).table(2)
            found += 1
    assert found


def test_a_damaged_stream_is_refused_or_read_and_never_anything_else() -> None:
    whole = np.frombuffer(good_stream(), dtype=np.uint8)
    source = simulation(5)
    read = 0
    for _ in range(3000):
        damaged = whole.copy()
        places = source.below(len(whole), 3)
        damaged[places] = source.below(256, 3).astype(np.uint8)
        try:
            told = read_batch(damaged.tobytes(), ARROW)
        except MessageError:
            continue
        assert told.table(2).shape == (len(told.ids), 2)
        read += 1
    assert read < 3000


WORD = "Lovelace"
REPORTS_WITH_A_WORD = [
    *(json.dumps({**ONE, field: told}) for field in ONE for told in (WORD, [WORD], {WORD: WORD})),
    *(f'{{"version": 1, "id": {told}}}' for told in (WORD, f'"{WORD}', f'"{WORD}\\x"')),
    json.dumps({**ONE, WORD: 1}),
    f'{{"{WORD}": 1, "{WORD}": 2}}',
    f'["{WORD}"]',
    WORD,
]
BATCHES_WITH_A_WORD = [
    *(batch(**{field: told}) for field in (*HEAD, "reports") for told in (WORD, {WORD: [WORD]})),
    *(batch(reports=[ITEM, {**ITEM, field: WORD}]) for field in (*ITEM, WORD)),
    batch(**{WORD: WORD}),
    json.dumps({WORD: WORD}).encode(),
    batch()[:-1] + f',"{WORD}'.encode(),
    batch() + WORD.encode(),
]
STREAMS_WITH_A_WORD = [
    *(stream(columns(2, lists(2)), metadata={**METADATA, name: WORD}) for name in METADATA),
    stream(columns(2, lists(2)), metadata={**METADATA, WORD: WORD}),
    stream(columns(2, lists(2)), names=("id", WORD)),
    stream(columns(2, lists(2)), names=(WORD, "symbols")),
    stream([pa.array([WORD] * 2), lists(2)]),
    stream([*columns(2, lists(2)), pa.array([WORD] * 2)], names=("id", "symbols", WORD)),
    stream(columns(2, pa.array([[WORD, WORD]] * 2, pa.list_(pa.string(), 2)))),
    stream(columns(2, lists(2)), metadata={**METADATA, "phase": f"{WORD}~"}).replace(b"~", b"\xff"),
    WORD.encode() * 20,
    b"\xff\xff\xff\xff" + WORD.encode() * 20,
]


def shown(read: Callable[[], object]) -> str:
    """Return all that a refusal would show in a log, its causes included."""
    with pytest.raises(MessageError) as caught:
        read()
    return "".join(traceback.format_exception(caught.value))


def test_no_refusal_shows_a_word_of_what_was_sent() -> None:
    found = [shown(partial(read_report, each.encode())) for each in REPORTS_WITH_A_WORD]
    found += [shown(partial(read_report, WORD.encode() + b"\xff"))]
    found += [shown(partial(read_batch, each, JSON)) for each in BATCHES_WITH_A_WORD]
    found += [shown(partial(read_batch, each, ARROW)) for each in STREAMS_WITH_A_WORD]
    assert [each for each in found if WORD in each] == []
    # Nor does it pass on what the Arrow library says of damaged bytes.
    assert all("no batch: an Arrow stream has the columns" in each for each in found[-3:])


# In a process of its own: a stream that is not validated first ends it.
DAMAGED = """
import io, struct
import pyarrow as pa
from supm._errors import MessageError
from supm.service.received_reports import ARROW, read_batch

ids = pa.array([bytes([row] * 16) for row in range(3)], pa.binary(16))
symbols = pa.FixedSizeListArray.from_arrays(pa.array(range(6), pa.int16()), 2)
made = pa.record_batch([ids, symbols], names=["id", "symbols"])
made = made.replace_schema_metadata(%r)
file = io.BytesIO()
with pa.ipc.new_stream(file, made.schema) as writer:
    writer.write_batch(made)
whole, refused = file.getvalue(), 0
for place in range(0, len(whole) - 8, 4):
    if struct.unpack_from("<q", whole, place)[0] in (3, 6):
        damaged = bytearray(whole)
        struct.pack_into("<q", damaged, place, -8)
        try:
            read_batch(bytes(damaged), ARROW)
        except MessageError:
            refused += 1
print(refused)
"""


def test_a_column_of_a_negative_length_is_refused_and_does_not_end_the_process() -> None:
    done = subprocess.run(  # noqa: S603  our own interpreter and text
        [sys.executable, "-c", DAMAGED % METADATA], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 4, "the batch and each of its columns declare a length"


def test_empty_batches_are_refused_at_the_first() -> None:
    empty = [each.slice(0, 0) for each in columns(1, lists(1))]
    # What follows is not looked at.
    body = stream(empty)[:-8] + b"\xff" * 100_000
    with pytest.raises(MessageError, match="at least one report"):
        read_batch(body, ARROW)


def test_a_full_batch_beside_an_empty_one_is_refused() -> None:
    made = pa.record_batch(columns(1, lists(1)), names=["id", "symbols"])
    made = made.replace_schema_metadata(METADATA)
    file = pa.BufferOutputStream()
    with pa.ipc.new_stream(file, made.schema) as writer:
        writer.write_batch(made)
        writer.write_batch(made.slice(0, 0))
    with pytest.raises(MessageError, match="at least one report"):
        read_batch(file.getvalue().to_pybytes(), ARROW)
