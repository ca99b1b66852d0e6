"""The six tasks of the paper: four items of NLTCS, and salary and education of Adult.

Bounds and lists of values are those that the publishers of the data sets print.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from supm import ParameterError
from supm.datasets import load_adult, load_nltcs
from supm.federation.rows import Categories, Rows, SchemaEncoding
from supm.schema import Categorical, Records, Schema

__all__ = ["TABLES", "TASKS", "TITLES", "encode", "encoded", "read_task", "records_of"]

TASKS: Final = ("money", "outside", "bathing", "traveling", "salary", "education")
"""The panels of the paper's figure 1."""

TITLES: Final = {
    "money": "NLTCS, money",
    "outside": "NLTCS, outside",
    "bathing": "NLTCS, bathing (item toilet)",
    "traveling": "NLTCS, travelling",
    "salary": "Adult, salary",
    "education": "Adult, education",
}
"""What the panels are called."""

_NLTCS: Final = ("money", "outside", "bathing", "traveling")
TABLES: Final = {"NLTCS": _NLTCS, "Adult": ("salary", "education")}
"""The tasks that ask about the same table; the first one has all its columns."""

_DEGREES: Final = ("Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate")
_LEFT_OUT: Final = ("education", "education-num")

Columns = Mapping[str, NDArray[Any]]


@cache
def records_of(task: str) -> tuple[Schema, Records]:
    """Return the schema and the records of a task.

    Adult has its 45,222 records without a gap. For education the target is whether somebody holds
    a degree after secondary school; education and its number are no attributes then, and income is.
    """
    if task not in TASKS:
        raise ParameterError("task", f"one of {', '.join(TASKS)}", task)
    return read_task(task, load_nltcs().columns if task in _NLTCS else _complete())


def read_task(task: str, columns: Columns) -> tuple[Schema, Records]:
    """Return the schema and the records of a task, from the columns of its table.

    Parameters
    ----------
    task : str
        One of `TASKS`.
    columns : dict of str to ndarray
        All columns of NLTCS or of Adult.
    """
    whole = load_nltcs(task) if task in _NLTCS else load_adult()  # type: ignore[arg-type]  # one of its words
    schema = whole.schema
    if task == "education":
        schema, columns = _education(schema, columns)
    return schema, schema.read(columns)


def encoded(
    task: str, *, categories: Categories = "positions", shrunk: float = 1.0
) -> tuple[SchemaEncoding, Rows]:
    """Return the encoding and the rows of a task.

    Parameters
    ----------
    task : str
        One of `TASKS`.
    categories : {"positions", "indicators"}
        How unordered attributes are told.
    shrunk : float
        The public norm, as a part of the square root of the number of attributes.
    """
    if categories not in get_args(Categories):
        raise ParameterError("categories", "positions or indicators", categories)
    schema, records = records_of(task)
    encoding = encode(schema, categories=categories, shrunk=shrunk)
    return encoding, encoding.rows(records)


def encode(
    schema: Schema, *, categories: Categories = "positions", shrunk: float = 1.0
) -> SchemaEncoding:
    """Return the encoding of a schema; parameters are those of `encoded`."""
    norm = shrunk * len(schema.attributes) ** 0.5
    return SchemaEncoding(schema=schema, categories=categories, norm=norm)


def _complete() -> Columns:
    adult = load_adult()
    texts = [column for column in adult.columns.values() if column.dtype == object]
    whole = np.logical_and.reduce([[value is not None for value in column] for column in texts])
    return {name: column[whole] for name, column in adult.columns.items()}


def _education(schema: Schema, columns: Columns) -> tuple[Schema, Columns]:
    kept = tuple(each for each in schema.attributes if each.name not in _LEFT_OUT)
    income = schema.target
    target = Categorical("degree", values=("no", "yes"))
    degrees = np.where(np.isin(columns["education"].astype(str), _DEGREES), "yes", "no")
    names = [each.name for each in (*kept, income)]
    wanted = {name: columns[name] for name in names} | {"degree": degrees.astype(object)}
    return Schema(attributes=(*kept, income), target=target), wanted
