"""Prices of houses in Boston."""

from __future__ import annotations

from typing import Final

from supm.datasets._sources import SOURCES
from supm.datasets._text import Text, decimals, published_text, text_columns, whole_numbers
from supm.datasets.dataset import Bound, Dataset
from supm.schema import Categorical, Schema

__all__ = ["load_boston"]

_SHARE: Final = "a share in per cent"
_ROUND: Final = "a round number above what a town can have"
_BOUNDS: Final = {
    "CRIM": Bound(low=0, high=100, why=f"crime rate per head; {_ROUND}", by_definition="low"),
    "ZN": Bound(low=0, high=100, why=_SHARE, by_definition="both"),
    "INDUS": Bound(low=0, high=100, why=_SHARE, by_definition="both"),
    "NOX": Bound(low=0, high=1, why=f"parts per ten million; {_ROUND}", by_definition="low"),
    "RM": Bound(low=1, high=12, why="mean number of rooms; a dwelling has one to twelve"),
    "AGE": Bound(low=0, high=100, why=_SHARE, by_definition="both"),
    "DIS": Bound(low=0, high=15, why=f"distance to work, weighted; {_ROUND}", by_definition="low"),
    "RAD": Bound(low=0, high=25, why="an index of access to highways; a round range"),
    "TAX": Bound(low=0, high=1000, why=f"dollars on 10,000 dollars; {_ROUND}", by_definition="low"),
    "PTRATIO": Bound(low=5, high=30, why="pupils for each teacher; a round range of classes"),
    "B": Bound(
        low=0, high=396.9, why="1000 (share - 0.63)^2, share in [0, 1]", by_definition="both"
    ),
    "LSTAT": Bound(low=0, high=100, why=_SHARE, by_definition="both"),
    "MEDV": Bound(
        low=0,
        high=50,
        why="thousands of dollars; the census recorded 50 and over as 50",
        by_definition="both",
    ),
}
_COLUMNS: Final = (*list(_BOUNDS)[:3], "CHAS", *list(_BOUNDS)[3:-1])


def load_boston() -> Dataset:
    """Load Boston housing: 506 census tracts, 13 attributes, the median price of a house.

    Returns
    -------
    Dataset
        The target ``MEDV`` is continuous, in 1,000 dollars.

    Raises
    ------
    DatasetError
        If the file cannot be had, or is not the right one.
    """
    text = published_text(SOURCES["boston"], _from_original)
    attributes = tuple(
        Categorical("CHAS", values=(0, 1)) if name == "CHAS" else _BOUNDS[name].attribute(name)
        for name in _COLUMNS
    )
    columns = {name: decimals(text[name]) for name in _BOUNDS}
    return Dataset(
        name="boston",
        schema=Schema(attributes=attributes, target=_BOUNDS["MEDV"].attribute("MEDV")),
        columns={**columns, "CHAS": whole_numbers(text["CHAS"])},
        bounds=_BOUNDS,
        source="Harrison, Rubinfeld 1978, by StatLib and scikit-learn 1.1.3",
        licence="BSD-3-Clause (scikit-learn)",
        notes=(
            "B is built from the share of Black residents; scikit-learn withdrew the set for it.",
            "MEDV is 50 in 16 records whose price was higher.",
        ),
    )


def _from_original(content: bytes) -> Text:
    # The first line has the size of the table.
    return text_columns(content.decode().split("\n", 1)[1])
