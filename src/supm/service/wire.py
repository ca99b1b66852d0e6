"""From the bytes of strangers to ids and symbols; what is not exactly a message is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError
from supm.messages import Report
from supm.messages.report import MOST_SYMBOLS
from supm.service._arrow import read_stream

__all__ = ["ARROW", "JSON", "MOST_REPORTS", "Told", "read_batch", "read_ids", "read_report"]

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
    """One or many reports to one question, with symbols that are still to be checked.

    Parameters
    ----------
    study : str
        The hash of the study that was answered.
    phase : str
        Which of its questions.
    group : int
        Of which group.
    ids : ndarray of uint8, shape (reports, 16)
        The reports' own numbers.
    symbols : ndarray of int64 or list of list of int
        What was told: a table, or as JSON has it.
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

    Parameters
    ----------
    body : bytes
        The JSON of a `supm.messages.Report`.

    Returns
    -------
    Told

    Raises
    ------
    MessageError
        If it is no report of this version; the message has no symbol.

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
    """Read a batch of reports to one question.

    Parameters
    ----------
    body : bytes
        JSON or an Arrow stream.
    media_type : str
        Which of the two: `JSON` or `ARROW`.

    Returns
    -------
    Told

    Raises
    ------
    MessageError
        If it is no batch of this version.
    """
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

    Parameters
    ----------
    texts : sequence of str
        Each of 32 hexadecimal digits, in lower case.

    Returns
    -------
    ndarray of uint8

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
