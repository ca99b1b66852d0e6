"""Radar returns from the ionosphere."""

from __future__ import annotations

from typing import Final

import numpy as np

from supm.datasets._sources import SOURCES
from supm.datasets._text import Text, decimals, published_text, text_columns, whole_numbers
from supm.datasets.dataset import Bound, Dataset
from supm.schema import Categorical, Schema

__all__ = ["load_ionosphere"]

_NAMES: Final = (*(f"a{place:02d}" for place in range(1, 35)), "class")
_BOUND: Final = Bound(
    low=-1,
    high=1,
    why="one part of a complex autocorrelation, normalised to [-1, 1] by the publishers",
    by_definition="both",
)
_BOUNDS: Final = dict.fromkeys(_NAMES[2:34], _BOUND)


def load_ionosphere() -> Dataset:
    """Load the ionosphere set: 351 radar returns, "g" (225) if they show structure, "b" if not.

    The attributes are the 32 continuous parts ``a03`` to ``a34`` and the discrete ``a01``, as in
    the papers; ``a02`` is 0 in every record, so it is left out.

    Returns
    -------
    Dataset
        The target is ``class``.

    Raises
    ------
    DatasetError
        If the file cannot be had, or is not the right one.
    """
    text = published_text(SOURCES["ionosphere"], _from_original)
    columns = {name: decimals(text[name]) for name in _BOUNDS}
    return Dataset(
        name="ionosphere",
        schema=Schema(
            attributes=(
                Categorical("a01", values=(0, 1)),
                *(bound.attribute(name) for name, bound in _BOUNDS.items()),
            ),
            target=Categorical("class", values=("b", "g")),
        ),
        columns={"a01": whole_numbers(text["a01"]), **columns, "class": np.array(text["class"])},
        bounds=_BOUNDS,
        source="UCI Ionosphere; Sigillito, Wing, Hutton, Baker 1989",
        licence="CC BY 4.0",
        notes=("One record occurs twice.",),
    )


def _from_original(content: bytes) -> Text:
    return text_columns(content.decode(), _NAMES)
