"""The census of the !Kung by Nancy Howell."""

from __future__ import annotations

from typing import Final

from supm.datasets._sources import SOURCES
from supm.datasets._text import Text, decimals, published_text, text_columns, whole_numbers
from supm.datasets.dataset import Bound, Dataset
from supm.schema import Categorical, Schema

__all__ = ["load_howell1"]

_BOUNDS: Final = {
    "weight": Bound(
        low=0, high=100, why="kilograms; a round number above a lean adult", by_definition="low"
    ),
    "age": Bound(low=0, high=100, why="years of life", by_definition="low"),
    "height": Bound(low=40, high=200, why="centimetres, from a newborn to a tall adult"),
}


def load_howell1() -> Dataset:
    """Load the !Kung census: 544 people, their height, weight, age and sex.

    Returns
    -------
    Dataset
        The target is the continuous ``height``.

    Raises
    ------
    DatasetError
        If the file cannot be had, or is not the right one.
    """
    text = published_text(SOURCES["howell1"], _from_original)
    columns = {name: decimals(text[name]) for name in _BOUNDS}
    return Dataset(
        name="howell1",
        schema=Schema(
            attributes=(
                _BOUNDS["weight"].attribute("weight"),
                _BOUNDS["age"].attribute("age"),
                Categorical("male", values=(0, 1)),
            ),
            target=_BOUNDS["height"].attribute("height"),
        ),
        columns={**columns, "male": whole_numbers(text["male"])},
        bounds=_BOUNDS,
        source="Nancy Howell, University of Toronto, by the R package rethinking",
        licence="GPL (>= 3) (package)",
        notes=("287 records have male = 0; 352 people are 18 or older.",),
    )


def _from_original(content: bytes) -> Text:
    return text_columns(content.decode(), delimiter=";")
