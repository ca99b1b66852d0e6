"""The tables: each column scaled to [0, 1] by its least and greatest value, as the paper does.

The paper takes the ranges of the columns for public; so do we here. The target is the last column.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
from experiments.copula.made_up import MADE_UP
from numpy.typing import NDArray

from supm import simulation
from supm.datasets import load_adult, load_boston, load_diabetes, load_howell1
from supm.datasets.dataset import Dataset

__all__ = ["REAL", "TITLES", "names_of", "real_columns", "table"]

Floats = NDArray[np.float64]
_ADULT: Final = (
    "age",
    "fnlwgt",
    "education-num",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "income",
)
REAL: Final = ("boston", "kung", "diabetes", "adult")
TITLES: Final = {
    "boston": "Boston",
    "kung": "!Kung",
    "diabetes": "Diabetes",
    "adult": "Adult",
    "normal": "normal",
    "t": "t",
    "negative multinomial": "negative multinomial",
}


@lru_cache(maxsize=4)
def table(name: str, records: int, repetition: int) -> Floats:
    """Return a table in [0, 1]; ``records`` is 0 for all of a real one, or the size of another.

    A made-up table is drawn anew in each repetition; a real one is the same in all of them.
    """
    if name in MADE_UP:
        seed = simulation(repetition).child(f"{name} {records}")
        return scaled(MADE_UP[name](records, seed))
    rows = scaled(np.column_stack(list(real_columns(name).values())))
    # The files are sorted by this or that: the first rows would be no sample.
    return rows[simulation(0).child(name).permutation(len(rows))][: records or None]


def names_of(name: str) -> list[str]:
    """Return the columns of a real table, the target last."""
    return list(real_columns(name))


@lru_cache(maxsize=4)
def real_columns(name: str) -> dict[str, Floats]:
    """Return the columns of a real table in their own units, the target last."""
    return {key: np.asarray(column, dtype=float) for key, column in _READERS[name]().items()}


def scaled(rows: Floats) -> Floats:
    """Return the columns in [0, 1]; one that never changes becomes 0."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    return np.asarray((rows - low) / np.where(high > low, high - low, 1.0))


def _plain(loaded: Dataset) -> dict[str, Floats]:
    target = loaded.schema.target.name
    names = [each.name for each in loaded.schema.attributes]
    return {name: loaded.columns[name] for name in (*names, target)}


def _kung() -> dict[str, Floats]:
    columns = _plain(load_howell1())
    # The 287 records of the paper are those of the women, so sex is a column that says nothing.
    chosen = columns["male"] == 0
    return {name: column[chosen] for name, column in columns.items()}


def _adult() -> dict[str, Floats]:
    loaded = load_adult()
    gaps = [loaded.columns[name] == None for name in ("workclass", "occupation", "native-country")]  # noqa: E711  element by element
    chosen = (loaded.split == "train") & ~np.any(gaps, axis=0)
    columns = {**loaded.columns, "income": loaded.target == ">50K"}
    return {name: columns[name][chosen] for name in _ADULT}


_READERS: Final[dict[str, Callable[[], dict[str, Floats]]]] = {
    "boston": lambda: _plain(load_boston()),
    "kung": _kung,
    "diabetes": lambda: _plain(load_diabetes()),
    "adult": _adult,
}
