"""From the bytes of strangers to ids and symbols; what is not exactly a message is refused."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from supm._errors import MessageError
from supm.messages import Report
from supm.messages.report import MOST_SYMBOLS

__all__ = [
    "ARROW",
    "JSON",
    "MOST_REPORTS",
    "Told",
    "read_batch",
    "read_ids",
    "read_report",
    "read_stream",
]

ARROW: Final = "application/vnd.apache.arrow.stream"
"""The media type of an Arrow stream."""

JSON: Final = "application/json"
"""The media type of JSON."""

MOST_REPORTS: Final = 10_000
"""How many reports a batch has at most."""

_ID_LENGTH: Final = 32
_HASH: Final = re.compile("[0-9a-f]{64}")
_PLACE: Final = re.compile(r"at `(\$[\w.\[\]]*)`$")
_OF_A_FIELD: Final = re.compile("(the version|study|phase|group|symbols|id) of a report must be ")
_NO_REPORT: Final = (
    "the body must be a JSON object with version, study, phase, group, symbols and id, each once."
)
_NOT_A_DIGIT: Final = 16
_DIGITS: Final = np.full(256, _NOT_A_DIGIT, dtype=np.uint8)
_DIGITS[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Told:
    """One or many reports to one question, with symbols that are still to be checked."""

    study: str
    phase: str
    group: int
    ids: NDArray[np.uint8]
    symbols: NDArray[np.int64] | Sequence[Sequence[int]]

    def fits(self, width: int) -> NDArray[np.bool_]:
        """Say of each report whether it has so many symbols."""
        if isinstance(self.symbols, np.ndarray):
            return np.full(len(self.ids), self.symbols.shape[1] == width)
        fits: NDArray[np.bool_] = (
            np.fromiter(map(len, self.symbols), np.int64, len(self.symbols)) == width
        )
        return fits

    def table(self, width: int) -> NDArray[np.int64]:
        """Return the rows that have so many symbols."""
        if isinstance(self.symbols, np.ndarray):
            fits = self.symbols.shape[1] == width
            return self.symbols if fits else np.empty((0, width), dtype=np.int64)
        rows = [row for row in self.symbols if len(row) == width]
        try:
            flat = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * width)
        except OverflowError:
            message = "symbols of a report must be whole numbers below 2^53."
            raise MessageError(message) from None
        return flat.reshape(len(rows), width)


class _Item(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    id: str
    symbols: Annotated[list[int], msgspec.Meta(min_length=1, max_length=MOST_SYMBOLS)]


class _Batch(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    version: Literal[1]
    study: str
    phase: Literal["reduce", "train", "test"]
    group: Annotated[int, msgspec.Meta(ge=0, le=255)]
    reports: Annotated[list[_Item], msgspec.Meta(min_length=1, max_length=MOST_REPORTS)]


_DECODER: Final = msgspec.json.Decoder(_Batch)
_OF_AN_ITEM: Final = len(_Item.__struct_fields__)


def _report(text: str) -> Report:
    try:
        return Report.from_json(text)
    except MessageError as error:
        # Others name a key that was sent, into which a stranger's program may have put a value.
        ours = _OF_A_FIELD.match(str(error)) and "is not a field" not in str(error)
        sentence = str(error) if ours else _NO_REPORT
    raise MessageError(sentence)


def read_report(body: bytes) -> Told:
    """Read one report.

    Examples
    --------
    >>> report = Report(study="0" * 64, phase="train", group=0, symbols=(2, 0), id="f" * 32)
    >>> read_report(report.to_json().encode()).table(2)
    array([[2, 0]])
    """
    report = _report(_text(body))
    return Told(
        study=report.study,
        phase=report.phase,
        group=report.group,
        ids=np.frombuffer(bytes.fromhex(report.id), dtype=np.uint8).reshape(1, -1),
        symbols=[report.symbols],
    )


def read_batch(body: bytes, media_type: str) -> Told:
    """Read a batch of reports to one question."""
    if media_type == ARROW:
        header, ids, symbols = read_stream(body, most=MOST_REPORTS)
        return Told(**_checked_header(header), ids=ids, symbols=symbols)
    batch = _decoded(body)
    if _HASH.fullmatch(batch.study) is None:
        message = "study of a batch must be a hash of 64 hexadecimal digits."
        raise MessageError(message)
    return Told(
        study=batch.study,
        phase=batch.phase,
        group=batch.group,
        ids=read_ids([each.id for each in batch.reports]),
        symbols=[each.symbols for each in batch.reports],
    )


def read_ids(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return ids as bytes, 16 in a row.

    Examples
    --------
    >>> read_ids(["00" * 15 + "ff"])[0, -1]
    np.uint8(255)
    """
    joined = "".join(texts)
    whole = all(len(text) == _ID_LENGTH for text in texts) and joined.isascii()
    digits = _DIGITS[np.frombuffer(joined.encode() if whole else b"", dtype=np.uint8)]
    if not whole or bool((digits == _NOT_A_DIGIT).any()):
        message = "id of a report must be 32 hexadecimal digits."
        raise MessageError(message)
    pairs = digits.reshape(len(texts), -1, 2)
    ids: NDArray[np.uint8] = pairs[:, :, 0] * np.uint8(16) + pairs[:, :, 1]
    return ids


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        message = "a report must be JSON in UTF-8."
        raise MessageError(message) from None


def _decoded(body: bytes) -> _Batch:
    try:
        batch = _DECODER.decode(body)
    except RecursionError:
        where = ""
    except ValueError as error:
        # The decoder's own sentence may show what was sent; where it was may be said.
        found = _PLACE.search(str(error))
        where = f" (see {found[1]})" if found else ""
    else:
        # The decoder keeps the last of two equal keys. No value of a batch has a colon, so there
        # are as many as keys.
        if body.count(b":") == len(_Batch.__struct_fields__) + _OF_AN_ITEM * len(batch.reports):
            return batch
        where = ""
    message = (
        f"the body is no batch{where}: it has version 1, study, phase, group and 1 to "
        f"{MOST_REPORTS:,} reports, each with id and symbols, every key once and nothing else."
    )
    raise MessageError(message)


def _checked_header(header: dict[str, str]) -> dict[str, Any]:
    form = {name: header.get(name, "") for name in ("study", "phase")}
    group = header.get("group", "")
    known = form["phase"] in ("reduce", "train", "test") and _HASH.fullmatch(form["study"])
    small = group.isascii() and group.isdecimal() and len(group) <= 3 and int(group) < 256
    if set(header) != {"version", "study", "phase", "group"} or header["version"] != "1":
        known = None
    if not known or not small:
        message = (
            "the schema's metadata must be version 1, study (a hash), phase and group of the "
            "question, and nothing else."
        )
        raise MessageError(message)
    return form | {"group": int(group)}


_ID_BYTES: Final = 16
_NAMES: Final = ["id", "symbols"]
# The places of fields in the tables Message and RecordBatch of the Arrow format.
_HEADER, _LENGTH, _COMPRESSION = 2, 0, 3
_SHAPE: Final = (
    "an Arrow stream has the columns id: fixed_size_binary[16] and symbols: "
    "fixed_size_list<integer>[width], without nulls, dictionaries or compression"
)


def read_stream(
    body: bytes, *, most: int
) -> tuple[dict[str, str], NDArray[np.uint8], NDArray[np.int64]]:
    """Read a stream of reports."""
    try:
        return _read(body, most)
    except MessageError:
        raise
    # Damaged bytes surface as many kinds of error; none of them is a fault of ours.
    except (pa.ArrowException, ValueError, OSError, KeyError, struct.error, OverflowError):
        raise _refusal() from None


def _read(body: bytes, most: int) -> tuple[dict[str, str], NDArray[np.uint8], NDArray[np.int64]]:
    messages = _messages(body)
    first = next(messages, None)
    if first is None or first.type != "schema":
        raise _refusal()
    schema = pa.ipc.read_schema(first)
    _check_columns(schema)
    ids, symbols, left = [], [], most
    for message in messages:
        left -= _rows(message, left)
        batch = pa.ipc.read_record_batch(message, schema)
        # First: what is not valid may end the process when it is looked at.
        batch.validate(full=True)
        ids.append(_ids(batch.column(0)))
        symbols.append(_symbols(batch.column(1)))
    if left == most:
        sentence = "a batch has at least one report."
        raise MessageError(sentence)
    header = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    return header, np.concatenate(ids), np.concatenate(symbols)


def _messages(body: bytes) -> Iterator[Any]:
    reader = pa.ipc.MessageReader.open_stream(pa.py_buffer(body))
    while True:
        try:
            yield reader.read_next_message()
        except StopIteration:
            return


def _check_columns(schema: Any) -> None:  # noqa: ANN401  pyarrow ships no types
    if schema.names != _NAMES:
        raise _refusal()
    ids, symbols = (schema.field(name).type for name in _NAMES)
    if ids != pa.binary(_ID_BYTES) or not pa.types.is_fixed_size_list(symbols):
        raise _refusal()
    whole = pa.types.is_integer(symbols.value_type)
    if not whole or not 0 < symbols.list_size <= MOST_SYMBOLS:
        raise _refusal()


def _rows(message: Any, most: int) -> int:  # noqa: ANN401  pyarrow ships no types
    """Return the declared rows: they and compression are refused before memory is taken."""
    if message.type != "record batch":
        raise _refusal()
    metadata = message.metadata.to_pybytes()
    (root,) = struct.unpack_from("<I", metadata, 0)
    at = _field(metadata, root, _HEADER)
    (offset,) = struct.unpack_from("<I", metadata, at)
    batch = at + offset
    if _field(metadata, batch, _COMPRESSION):
        raise _refusal()
    length = _field(metadata, batch, _LENGTH)
    rows = struct.unpack_from("<q", metadata, length)[0] if length else 0
    if rows == 0:
        sentence = "a batch has at least one report."
        raise MessageError(sentence)
    if not 0 < rows <= most:
        sentence = "a batch has too many reports; send at most 10,000 at a time."
        raise MessageError(sentence)
    return int(rows)


def _field(data: bytes, table: int, place: int) -> int:
    """Return where a table of a flatbuffer has a field, or 0 where it is absent."""
    (back,) = struct.unpack_from("<i", data, table)
    (size,) = struct.unpack_from("<H", data, table - back)
    entry = 4 + 2 * place
    if entry >= size:
        return 0
    (offset,) = struct.unpack_from("<H", data, table - back + entry)
    return table + int(offset) if offset else 0


def _ids(column: Any) -> NDArray[np.uint8]:  # noqa: ANN401  pyarrow ships no types
    if column.null_count:
        raise _refusal()
    if not len(column):
        return np.empty((0, _ID_BYTES), dtype=np.uint8)
    held = np.frombuffer(column.buffers()[1], dtype=np.uint8)
    start = column.offset * _ID_BYTES
    return held[start : start + len(column) * _ID_BYTES].reshape(-1, _ID_BYTES)


def _symbols(column: Any) -> NDArray[np.int64]:  # noqa: ANN401  pyarrow ships no types
    flat = column.flatten()
    if column.null_count or flat.null_count:
        raise _refusal()
    # A number beyond 63 bits becomes negative, which is in no alphabet.
    values = flat.to_numpy(zero_copy_only=False).astype(np.int64)
    table: NDArray[np.int64] = values.reshape(len(column), column.type.list_size)
    return table


def _refusal() -> MessageError:
    return MessageError(f"the body is no batch: {_SHAPE}.")
