"""From the bytes of strangers to ids and symbols; what is not exactly a message is refused.

What a message is stands in the structs below, once: they read JSON, they read the metadata of an
Arrow stream, and the interface's description has their schemas. An Arrow stream is checked before
anything is unpacked, and then read without copies.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import Meta
from numpy.typing import NDArray

from supm._errors import MessageError
from supm.messages.question import MOST_SYMBOLS

ARROW: Final = "application/vnd.apache.arrow.stream"
"""The media type of an Arrow stream."""

JSON: Final = "application/json"
"""The media type of JSON."""

MOST_REPORTS: Final = 10_000
"""How many reports a batch has at most."""

_PLACE: Final = re.compile(r"at `(\$[\w.\[\]]*)`$")
# The longest is said too: the sign for the end of a pattern lets a line end after it.
_Id = Annotated[str, Meta(pattern="^[0-9a-f]{32}$", max_length=32)]
_Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", max_length=64)]
_Symbol = Annotated[int, Meta(ge=0, lt=1 << 53)]
_Length = Meta(min_length=1, max_length=MOST_SYMBOLS)


class _Head(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    version: Literal[1]
    study: _Hash
    phase: Literal["reduce", "train", "test"]
    group: Annotated[int, Meta(ge=0, le=255)]


class OneReport(_Head, forbid_unknown_fields=True, gc=False):
    """A report, as `supm.messages.Report` writes it."""

    symbols: Annotated[list[_Symbol], _Length]
    id: _Id


class ReportItem(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """One report of a batch."""

    id: _Id
    # Of many, a wrong number makes its own report wrong and not all of them.
    symbols: Annotated[list[int], _Length]


class ManyReports(_Head, forbid_unknown_fields=True, gc=False):
    """A batch: reports to one question."""

    reports: Annotated[list[ReportItem], Meta(min_length=1, max_length=MOST_REPORTS)]


_ONE: Final = msgspec.json.Decoder(OneReport)
_MANY: Final = msgspec.json.Decoder(ManyReports)
_REPORT_SHAPE: Final = "version 1, study, phase, group, symbols and id, every key once"
_BATCH_SHAPE: Final = (
    f"version 1, study, phase, group and 1 to {MOST_REPORTS:,} reports, each with id and symbols, "
    "every key once and nothing else"
)
_ID_BYTES: Final = 16
_NAMES: Final = ["id", "symbols"]
# The places of fields in the tables Message and RecordBatch of the Arrow format.
_HEADER, _LENGTH, _COMPRESSION = 2, 0, 3
_SHAPE: Final = (
    "an Arrow stream has the columns id: fixed_size_binary[16] and symbols: "
    "fixed_size_list<integer>[width], without nulls, dictionaries or compression"
)
_Message = TypeVar("_Message", OneReport, ManyReports)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReceivedReports:
    """One or many reports to one question, with symbols that are still to be checked.

    ``symbols`` are a table, or rows as JSON has them.
    """

    study: str
    phase: str
    group: int
    ids: NDArray[np.uint8]
    symbols: NDArray[np.int64] | Sequence[Sequence[int]]

    def fits(self, width: int) -> NDArray[np.bool_]:
        """Say of each report whether it has so many symbols."""
        if isinstance(self.symbols, np.ndarray):
            return np.full(len(self.ids), self.symbols.shape[1] == width)
        return np.fromiter((len(row) == width for row in self.symbols), np.bool_, len(self.symbols))

    def table(self, width: int) -> NDArray[np.int64]:
        """Return the rows that have so many symbols."""
        if isinstance(self.symbols, np.ndarray):
            fits = self.symbols.shape[1] == width
            return self.symbols if fits else np.empty((0, width), dtype=np.int64)
        rows = [row for row in self.symbols if len(row) == width]
        try:
            flat = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * width)
        except OverflowError:
            raise MessageError("symbols of a report must be whole numbers below 2^53.") from None
        return flat.reshape(len(rows), width)


def read_report(body: bytes) -> ReceivedReports:
    """Read one report, or raise MessageError; no message has a symbol.

    Examples
    --------
    >>> from supm.messages import Report
    >>> report = Report(study="0" * 64, phase="train", group=0, symbols=(2, 0), id="f" * 32)
    >>> read_report(report.to_json().encode()).table(2)
    array([[2, 0]])
    """
    keys = len(OneReport.__struct_fields__)
    one = _decoded(body, _ONE, lambda _: keys, "report", _REPORT_SHAPE)
    return _received(one, [one.id], [one.symbols])


def read_batch(body: bytes, media_type: str) -> ReceivedReports:
    """Read a batch of reports to one question in JSON or Arrow, or raise MessageError."""
    if media_type == ARROW:
        return _read_stream(body)
    many = _decoded(body, _MANY, _keys_of_a_batch, "batch", _BATCH_SHAPE)
    return _received(
        many, [each.id for each in many.reports], [each.symbols for each in many.reports]
    )


def _received(head: _Head, ids: Sequence[str], symbols: Sequence[Sequence[int]]) -> ReceivedReports:
    packed = np.frombuffer(bytes.fromhex("".join(ids)), dtype=np.uint8).reshape(-1, _ID_BYTES)
    return ReceivedReports(
        study=head.study, phase=head.phase, group=head.group, ids=packed, symbols=symbols
    )


def _keys_of_a_batch(many: ManyReports) -> int:
    return len(ManyReports.__struct_fields__) + len(ReportItem.__struct_fields__) * len(
        many.reports
    )


def _decoded(
    body: bytes,
    decoder: msgspec.json.Decoder[_Message],
    keys: Callable[[_Message], int],
    what: str,
    shape: str,
) -> _Message:
    where = ""
    try:
        message = decoder.decode(body)
        # The decoder keeps the last of two equal keys. No value of ours has a colon, so there are
        # as many as keys.
        if body.count(b":") == keys(message):
            return message
    except RecursionError:
        pass
    except ValueError as error:
        # The decoder's own sentence may show what was sent; where it was may be said.
        found = _PLACE.search(str(error))
        where = f" (see {found[1]})" if found else ""
    sentence = f"the body is no {what}{where}: it has {shape}."
    raise MessageError(sentence)


def _read_stream(body: bytes) -> ReceivedReports:
    try:
        return _unpacked(body)
    except MessageError:
        raise
    # Damaged bytes surface as many kinds of error; none of them is a fault of ours.
    except (pa.ArrowException, ValueError, OSError, KeyError, struct.error, OverflowError):
        raise _refusal() from None


def _unpacked(body: bytes) -> ReceivedReports:
    messages = _messages(body)
    first = next(messages, None)
    if first is None or first.type != "schema":
        raise _refusal()
    schema = pa.ipc.read_schema(first)
    _check_columns(schema)
    head = _head(schema.metadata or {})
    ids, symbols, left = [], [], MOST_REPORTS
    for message in messages:
        left -= _rows(message, left)
        batch = pa.ipc.read_record_batch(message, schema)
        # First: what is not valid may end the process when it is looked at.
        batch.validate(full=True)
        ids.append(_ids(batch.column(0)))
        symbols.append(_symbols(batch.column(1)))
    if left == MOST_REPORTS:
        sentence = "a batch has at least one report."
        raise MessageError(sentence)
    return ReceivedReports(
        study=head.study,
        phase=head.phase,
        group=head.group,
        ids=np.concatenate(ids),
        symbols=np.concatenate(symbols),
    )


def _head(metadata: dict[bytes, bytes]) -> _Head:
    form = {key.decode(): value.decode() for key, value in metadata.items()}
    try:
        # Metadata are texts, numbers as well.
        return msgspec.convert(form, _Head, strict=False)
    except msgspec.ValidationError:
        raise MessageError(
            "the schema's metadata must be version 1, study (a hash), phase and group of the "
            "question, and nothing else."
        ) from None


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
