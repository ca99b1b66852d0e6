"""How numbers are stored: plain little-endian arrays, never code.

Symbols of a transaction
    One row of whole numbers after the other, each in the smallest of the kinds u1, u2, u4 and u8
    that holds all of them; the kind is stored beside them, the width is the question's.

Ids of a transaction
    16 bytes each.

Counts
    One line of JSON in ASCII, ended by a line feed, then the arrays that it describes, one after
    the other: ``{"version":1,"what":"tally","reports":9,"arrays":[["<u1",[2,2]]]}``. What is a
    "tally" (one array of any shape) or "rows" (the distinct answers, then how often each came).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm.collection.counting import Counts, RowCounts
from supm.mechanisms import Tally
from supm.service.errors import StoreError

__all__ = ["pack_counts", "pack_symbols", "unpack_counts", "unpack_ids", "unpack_symbols"]

_VERSION: Final = 1
_UNSIGNED: Final = ("u1", "u2", "u4", "u8")


def pack_symbols(symbols: NDArray[Any]) -> tuple[str, bytes]:
    """Return the kind and the bytes of whole numbers that are not negative."""
    largest = int(symbols.max(initial=0))
    kind = next(each for each in _UNSIGNED if largest <= np.iinfo(each).max)
    return kind, symbols.astype(f"<{kind}").tobytes()


def unpack_symbols(kind: str, packed: bytes, width: int) -> NDArray[Any]:
    """Return the rows that `pack_symbols` packed."""
    return np.frombuffer(packed, dtype=f"<{kind}").reshape(-1, width)


def unpack_ids(packed: bytes) -> NDArray[np.uint64]:
    """Return each id as two words."""
    return np.frombuffer(packed, dtype="<u8").reshape(-1, 2)


def pack_counts(counts: Counts) -> bytes:
    r"""Return counts as bytes.

    Examples
    --------
    >>> packed = pack_counts(Tally(counts=np.array([3, 1]), reports=4, simulation=False))
    >>> packed
    b'{"version":1,"what":"tally","reports":4,"arrays":[["<u1",[2]]]}\n\x03\x01'
    >>> unpack_counts(packed).counts
    array([3, 1])
    """
    arrays = [counts.rows, counts.counts] if isinstance(counts, RowCounts) else [counts.counts]
    smallest = [_smallest(each) for each in arrays]
    head = {
        "version": _VERSION,
        "what": "rows" if isinstance(counts, RowCounts) else "tally",
        "reports": counts.reports,
        "arrays": [[each.dtype.str.replace("|", "<"), list(each.shape)] for each in smallest],
    }
    line = json.dumps(head, separators=(",", ":")).encode("ascii")
    return b"\n".join((line, b"".join(each.tobytes() for each in smallest)))


def unpack_counts(packed: bytes) -> Counts:
    """Return the counts that `pack_counts` packed, or raise StoreError."""
    line, _, body = packed.partition(b"\n")
    head = json.loads(line)
    if head["version"] != _VERSION:
        message = "the counts were stored by another release; use the newest release of SUPM."
        raise StoreError(message)
    arrays = _arrays(head["arrays"], body)
    if head["what"] == "rows":
        return RowCounts(rows=arrays[0], counts=arrays[1], simulation=False)
    return Tally(counts=arrays[0], reports=head["reports"], simulation=False)


def _smallest(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers in the smallest kind that holds them."""
    if numbers.dtype.kind == "f":
        return numbers.astype("<f8")
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    kinds = _UNSIGNED if low >= 0 else ("i8",)
    kind = next(each for each in kinds if high <= np.iinfo(each).max)
    return numbers.astype(f"<{kind}")


def _arrays(described: Sequence[Any], body: bytes) -> list[NDArray[Any]]:
    arrays, start = [], 0
    for kind, shape in described:
        cells = math.prod(shape)
        array = np.frombuffer(body, dtype=kind, count=cells, offset=start).reshape(shape)
        start += array.nbytes
        arrays.append(array if array.dtype.kind == "f" else array.astype(np.int64))
    return arrays
