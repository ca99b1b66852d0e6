"""Disability in the National Long Term Care Survey (NLTCS)."""

from __future__ import annotations

from typing import Final, Literal

from supm._errors import ParameterError
from supm.datasets._sources import SOURCES
from supm.datasets._text import Text, published_text, text_columns, whole_numbers
from supm.datasets.dataset import Dataset
from supm.schema import Categorical, Schema

__all__ = ["load_nltcs"]

# The sixteen items in the order of the survey, with the number of the column in the original file.
_ITEMS: Final = {
    "eating": 4,
    "bed": 14,
    "inside": 13,
    "dressing": 12,
    "bathing": 11,
    "toilet": 10,
    "heavy_housework": 9,
    "light_housework": 8,
    "laundry": 7,
    "cooking": 6,
    "grocery": 5,
    "outside": 15,
    "traveling": 3,
    "money": 2,
    "medicine": 1,
    "telephone": 0,
}
_TASKS: Final = {
    "bathing": "toilet",
    "money": "money",
    "outside": "outside",
    "traveling": "traveling",
}
Task = Literal["bathing", "money", "outside", "traveling"]


def load_nltcs(task: Task = "money") -> Dataset:
    """Load NLTCS: 21,574 interviews, 16 items that are 1 if the person is disabled in them.

    Parameters
    ----------
    task : {"bathing", "money", "outside", "traveling"}
        Which item is the target, by the name that the papers on private synthesis use. What they
        call "bathing" is the item ``toilet``; the item ``bathing`` itself is another column.

    Returns
    -------
    Dataset
        The other fifteen items are the attributes.

    Raises
    ------
    DatasetError
        If the file cannot be had, or is not the right one.
    """
    if task not in _TASKS:
        raise ParameterError("task", f"one of {', '.join(_TASKS)}", task)
    text = published_text(SOURCES["nltcs"], _from_original)
    target = _TASKS[task]
    attributes = tuple(Categorical(item, values=(0, 1)) for item in _ITEMS if item != target)
    return Dataset(
        name=f"nltcs-{task}",
        schema=Schema(attributes=attributes, target=Categorical(target, values=(0, 1))),
        columns={item: whole_numbers(text[item]) for item in _ITEMS},
        bounds={},
        source="StatLib extract of NLTCS 1982, 1984, 1989 and 1994; Erosheva, Fienberg",
        licence="none stated by the publishers; the repository of the file is Apache-2.0",
        notes=(
            "The records are sorted by pattern: shuffle them before a split.",
            "The task that the papers call bathing has the item toilet as its target.",
        ),
    )


def _from_original(content: bytes) -> Text:
    numbered = text_columns(content.decode())
    return {item: numbered[str(place)] for item, place in _ITEMS.items()}
