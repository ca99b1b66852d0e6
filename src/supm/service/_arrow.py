"""Arrow streams of strangers: checked before anything is unpacked, and then read without copies."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from supm._errors import MessageError
from supm.messages.report import MOST_SYMBOLS

__all__ = ["read_stream"]

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
    """Read a stream of reports.

    Parameters
    ----------
    body : bytes
        What was sent.
    most : int
        How many reports it may have.

    Returns
    -------
    tuple of dict, ndarray of uint8 and ndarray of int64
        The schema's metadata, the ids and the symbols.

    Raises
    ------
    MessageError
        If it is no such stream.
    """
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
