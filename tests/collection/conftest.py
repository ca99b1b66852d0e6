from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import simulation
from supm.schema import Categorical, Continuous, Ordinal, Records, Schema


@dataclass(frozen=True)
class People:
    """Made-up owners: "strong" decides the label but for a tenth of them, "noise" says nothing."""

    schema: Schema
    table: dict[str, NDArray[Any]]
    records: Records


class MakePeople(Protocol):
    def __call__(
        self, rows: int = ..., *, labels: int = ..., seed: int = ..., wards: bool = ...
    ) -> People: ...


@pytest.fixture
def make_people() -> MakePeople:
    return _make_people


def _make_people(rows: int = 400, *, labels: int = 2, seed: int = 1, wards: bool = False) -> People:
    source = simulation(seed)
    strong = source.below(1000, rows).astype(np.float64) / 500 - 1
    label = np.minimum((strong + 1) / 2 * labels, labels - 1).astype(np.int64)
    wrong = source.below(10, rows) == 0
    label[wrong] = source.below(labels, int(wrong.sum()))
    told = np.where(source.below(3, rows) == 0, label, source.below(labels, rows).astype(np.int64))
    table: dict[str, NDArray[Any]] = {
        "noise": source.below(1000, rows).astype(np.float64) / 500 - 1,
        "strong": strong,
        "weak": np.minimum(told, 3),
        "sex": np.array(["f", "m"])[source.below(2, rows).astype(np.int64)],
        "ward": np.array(["east", "west", "north"])[np.minimum(told, 2)],
        "ill": np.array(["no", "yes", "unsure", "other"])[label],
    }
    schema = Schema(
        attributes=(
            Continuous("noise", low=-1, high=1),
            Continuous("strong", low=-1, high=1),
            Ordinal("weak", values=(0, 1, 2, 3)),
            Categorical("sex", values=("f", "m")),
            *([Categorical("ward", values=("east", "west", "north"))] if wards else []),
        ),
        target=Categorical("ill", values=("no", "yes", "unsure", "other")[:labels]),
    )
    names = (*schema.names, "ill")
    table = {name: table[name] for name in names}
    return People(schema=schema, table=table, records=schema.read(table))
