"""Shapes of molecules, musks and others (Musk, version 2)."""

from __future__ import annotations

from typing import Final

import numpy as np

from supm.datasets._sources import SOURCES
from supm.datasets._text import Text, decimals, published_text, text_columns
from supm.datasets.dataset import Bound, Dataset
from supm.schema import Categorical, Schema

__all__ = ["load_musk2"]

_FEATURES: Final = tuple(f"f{place}" for place in range(1, 167))
_NAMES: Final = ("molecule_name", "conformation_name", *_FEATURES, "class")
_BOUND: Final = Bound(
    low=-400,
    high=400,
    why="a distance in hundredths of an angstrom along a ray, from an origin on it, by UCI's "
    "description; 4 angstrom to either side is a round choice",
)
_BOUNDS: Final = dict.fromkeys(_FEATURES, _BOUND)


def load_musk2() -> Dataset:
    """Load Musk (version 2): 6,598 conformations of 102 molecules, musk (1,017) or not.

    The names of molecule and conformation are not attributes: they tell the class. The molecule is
    kept as ``groups``, because conformations of one molecule are not independent.

    Returns
    -------
    Dataset
        The target ``class`` is 1 for a musk and 0 otherwise.

    Raises
    ------
    DatasetError
        If the file cannot be had, or is not the right one.
    """
    text = published_text(SOURCES["musk2"], _from_original)
    columns = {name: decimals(text[name]) for name in _FEATURES}
    return Dataset(
        name="musk2",
        schema=Schema(
            attributes=tuple(bound.attribute(name) for name, bound in _BOUNDS.items()),
            target=Categorical("class", values=(0, 1)),
        ),
        # The original writes the class as a decimal, "1.".
        columns={**columns, "class": decimals(text["class"]).astype(np.int64)},
        bounds=_BOUNDS,
        source="UCI Musk (Version 2); Dietterich, Jain, Lathrop, Lozano-Perez 1994",
        licence="CC BY 4.0",
        notes=(
            "The bounds clip 0.02 % of all values: 246 in f161, f163, f165 and f166.",
            "Split by groups: the rows of one molecule are conformations of it.",
        ),
        groups=np.array(text["molecule_name"]),
    )


def _from_original(content: bytes) -> Text:
    return text_columns(content.decode(), _NAMES)
