"""What a party is shown before it agrees."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from supm import secure
from supm.cli import main
from supm.cli._federate_leaving import describe, example
from supm.cli._federate_study import read_rows, read_study
from supm.federation import Circle, Components, FederatedStudy, Rows, VectorEncoding

CREATE = ["federate", "create", "--schema", "wdbc.json", "--epsilon", "1", "--delta", "1e-5"]
SHOWN = re.compile(r"which were drawn just now: (\d+), (\d+), (\d+), …")


def numbers_in(sentence: str) -> list[int]:
    found = SHOWN.search(sentence)
    assert found is not None
    return [int(each) for each in found.groups()]


@pytest.mark.parametrize(
    "words",
    [
        ["lda", "--parties", "3"],
        ["pca", "--components", "2", "--parties", "1"],
        ["logistic", "--parties", "2"],
    ],
    ids=lambda words: str(words[0]),
)
def test_a_party_sees_numbers_such_as_those_that_leave(wdbc: Path, words: list[str]) -> None:
    assert main([*CREATE, "--protocol", *words, "-o", "study.json"]) == 0
    study = read_study("study.json")
    rows = read_rows(str(wdbc), study)
    first, again = (numbers_in(describe(study, rows, str(wdbc))[-1]) for _ in range(2))
    assert not set(first) & set(again)
    assert all(0 <= each < 1 << 64 for each in (*first, *again))


def test_the_numbers_that_are_shown_are_uniform() -> None:
    """As those that leave are, each bit is 1 in half of them."""
    source = secure()
    told = [numbers_in(example(source)) for _ in range(100)]
    numbers = [each for one in told for each in one]
    bits = np.array([[number >> place & 1 for place in range(64)] for number in numbers])
    spread = np.sqrt(len(numbers)) / 2
    assert (np.abs(bits.sum(axis=0) - len(numbers) / 2) < 7 * spread).all()


def described(rows: Rows, width: int) -> str:
    encoding = VectorEncoding(width=width, classes=1)
    protocol = Components.for_budget(
        encoding=encoding, epsilon=1.0, delta=1e-5, circle=Circle(parties=3), components=1
    )
    study = FederatedStudy(name="vectors", protocol=protocol, delta=1e-5)
    return "\n".join(describe(study, rows, "north.csv"))


@pytest.mark.parametrize("clipped", [0, 1, 2])
def test_a_party_reads_how_many_of_its_rows_are_shortened(clipped: int) -> None:
    vectors = np.full((3, 2), 0.1)
    vectors[:clipped] = 4.0
    rows = VectorEncoding(width=2, classes=1).rows(vectors, np.zeros(3, dtype=np.int64))
    said = described(rows, 2)
    whole = "All of them are within the public bound on their length."
    some = f"{clipped} of them are longer than the public bound and are shortened to it;"
    assert (whole in said, some in said) == (not clipped, bool(clipped))


def test_a_wide_table_is_described_without_a_look_at_its_numbers() -> None:
    """Noise for as many products would take gigabytes, and rows of another width be refused."""
    rows = VectorEncoding(width=2, classes=1).rows(np.zeros((1, 2)), np.zeros(1, dtype=np.int64))
    assert f"{16_384 * 16_385 // 2 + 1:,}" in described(rows, 16_384)
