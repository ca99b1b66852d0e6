"""A download ends in the same content as the compact file.

The network is not used. From the compact file each original is written back; that it is the
original, byte for byte, is shown by the digest that the table pins for it. It is then put where a
download would have put it, and loaded.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from supm.datasets import (
    Dataset,
    load_adult,
    load_boston,
    load_howell1,
    load_ionosphere,
    load_musk2,
    load_nltcs,
)
from supm.datasets.files import about, cache_folder, source_of

pytestmark = pytest.mark.data
Rows = list[list[str]]
# Where ionosphere.data has 0.50000; elsewhere it has 0.5.
LONG_HALVES = {(169, 7), (169, 25)}


def _rows(name: str) -> tuple[list[str], Rows]:
    path = Path(os.environ["SUPM_DATA"]) / source_of(name).compact.name
    header, *rows = csv.reader(io.StringIO(gzip.decompress(path.read_bytes()).decode()))
    return header, rows


def _number(word: str) -> str:
    return f"{float(word):.15g}"


def _part(row: int, column: int, word: str) -> str:
    """Write five decimals, but none of a whole number and one of a half, save in two places."""
    value = float(word)
    short = value.is_integer() or (abs(value) == 0.5 and (row, column) not in LONG_HALVES)
    return f"{value:g}" if short else f"{value:.5f}"


def _ionosphere(_: list[str], rows: Rows) -> list[str]:
    lines = (
        [*(_part(row, column, word) for column, word in enumerate(words[:-1])), words[-1]]
        for row, words in enumerate(rows)
    )
    return ["".join(",".join(line) + "\n" for line in lines)]


def _musk2(_: list[str], rows: Rows) -> list[str]:
    return ["".join(",".join(row) + ".\n" for row in rows)]


def _adult(_: list[str], rows: Rows) -> list[str]:
    train = "".join(", ".join(row[:-1]) + "\n" for row in rows if row[-1] == "train")
    test = "".join(", ".join(row[:-1]) + ".\n" for row in rows if row[-1] == "test")
    return [f"{train}\n", f"|1x3 Cross validator\n{test}\n"]


def _nltcs(_: list[str], rows: Rows) -> list[str]:
    order = np.argsort(list(about()["nltcs"]["items"].values()))
    lines = [map(str, range(16)), *([row[place] for place in order] for row in rows)]
    return ["".join(",".join(line) + "\r\n" for line in lines)]


def _boston(header: list[str], rows: Rows) -> list[str]:
    lines = [[f'"{name}"' for name in header], *(map(_number, row) for row in rows)]
    return ["506,13,,,,,,,,,,,,\n" + "".join(",".join(line) + "\n" for line in lines)]


def _howell1(header: list[str], rows: Rows) -> list[str]:
    lines = [[f'"{name}"' for name in header], *(map(_number, row) for row in rows)]
    return ["".join(";".join(line) + "\n" for line in lines)]


CASES = [
    ("ionosphere", load_ionosphere, _ionosphere),
    ("musk2", load_musk2, _musk2),
    ("adult", load_adult, _adult),
    ("nltcs", load_nltcs, _nltcs),
    ("boston", load_boston, _boston),
    ("howell1", load_howell1, _howell1),
]


@pytest.mark.parametrize(("name", "load", "write_back"), CASES, ids=[case[0] for case in CASES])
def test_the_original_gives_the_same_data_as_the_compact_file(
    name: str,
    load: Callable[[], Dataset],
    write_back: Callable[[list[str], Rows], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    compact = load()
    originals = [text.encode() for text in write_back(*_rows(name))]
    files = source_of(name).originals
    digests = [hashlib.sha256(content).hexdigest() for content in originals]
    assert digests == [file.sha256 for file in files]

    monkeypatch.delenv("SUPM_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache_folder().mkdir()
    for file, content in zip(files, originals, strict=True):
        (cache_folder() / f"{file.sha256[:16]}-{file.name}").write_bytes(content)
    original = load()

    assert original.schema == compact.schema
    assert list(original.columns) == list(compact.columns)
    for column, values in compact.columns.items():
        np.testing.assert_array_equal(original.columns[column], values, strict=True)
    np.testing.assert_array_equal(original.groups, compact.groups)
    np.testing.assert_array_equal(original.split, compact.split)
