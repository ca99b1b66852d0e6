"""What a party is shown before it agrees."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from supm import secure
from supm.datasets import load_wdbc
from supm.federation import (
    Circle,
    Components,
    FederatedStudy,
    Rows,
    SchemaEncoding,
    VectorEncoding,
    plan_federation,
    what_leaves,
)
from supm.federation.policy import example

SHOWN = re.compile(r"which were drawn just now: (\d+), (\d+), (\d+), …")


def numbers_in(sentence: str) -> list[int]:
    found = SHOWN.search(sentence)
    assert found is not None
    return [int(each) for each in found.groups()]


@pytest.mark.parametrize(
    "wanted",
    [
        {"computation": "lda", "parties": 3},
        {"computation": "pca", "components": 2, "parties": 1},
        {"computation": "logistic", "parties": 2},
    ],
    ids=lambda wanted: str(wanted["computation"]),
)
def test_a_party_sees_numbers_such_as_those_that_leave(wanted: dict[str, Any]) -> None:
    wdbc = load_wdbc()
    study = plan_federation(wdbc.schema, epsilon=1.0, delta=1e-5, **wanted)
    rows = SchemaEncoding(schema=wdbc.schema).rows(wdbc.records())
    first, again = (numbers_in(what_leaves(study, rows, "wdbc.csv")[-1]) for _ in range(2))
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
    return "\n".join(what_leaves(study, rows, "north.csv"))


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
