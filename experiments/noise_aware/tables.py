"""The three tables, each column scaled to [0, 1] by its public bounds; the target is the last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm.datasets import Dataset, load_adult, load_boston, load_diabetes
from supm.schema import Attribute, Continuous

__all__ = ["TABLES", "load_table"]

Floats = NDArray[np.float64]
_GAPS: Final = ("workclass", "occupation", "native-country")
_NUMBERS: Final = (
    "age",
    "fnlwgt",
    "education-num",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
)
TABLES: Final[dict[str, Callable[[], Dataset]]] = {
    "boston": load_boston,
    "diabetes": load_diabetes,
    "adult": load_adult,
}


def load_table(name: str) -> Floats:
    """Return a table of the paper: Adult has the 30,162 training records without a gap."""
    dataset = TABLES[name]()
    target = dataset.schema.target
    names = _NUMBERS if name == "adult" else dataset.schema.names
    held = {each.name: each for each in (*dataset.schema.attributes, target)}
    columns = [_scaled(held[each], dataset.columns[each]) for each in (*names, target.name)]
    rows = np.column_stack(columns)
    return rows[_whole(dataset)] if name == "adult" else rows


def _scaled(attribute: Attribute, values: NDArray[Any]) -> Floats:
    if isinstance(attribute, Continuous):
        low, span = attribute.low, attribute.high - attribute.low
        return np.clip((values.astype(np.float64) - low) / span, 0.0, 1.0)
    place = {value: number for number, value in enumerate(attribute.values)}
    codes = np.array([place[value] for value in values.tolist()], dtype=np.float64)
    return np.asarray(codes / (len(place) - 1))


def _whole(dataset: Dataset) -> NDArray[np.bool_]:
    gaps = [[value is None for value in dataset.columns[name]] for name in _GAPS]
    return np.asarray((np.asarray(dataset.split) == "train") & ~np.any(gaps, axis=0))
