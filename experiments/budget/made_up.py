"""Data sets that the issue does not name: two public ones, and made-up ones of many kinds.

Nothing of the planner or of the learner was chosen by looking at them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np
from experiments.budget import data
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.datasets import load_iris

from supm import RandomSource, simulation
from supm.datasets import load_nltcs
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Records, Schema

__all__ = ["MADE_UP", "OTHERS", "normal", "numbers", "table_of", "uniform"]

Floats = NDArray[np.float64]
Table = tuple[Schema, Records]

_SEED: Final = 20_260
_REACH: Final = 2.5


def uniform(source: RandomSource, *shape: int) -> Floats:
    """Return numbers between 0 and 1.

    Examples
    --------
    >>> uniform(simulation(1), 2, 3).shape
    (2, 3)
    """
    words = source.words(int(np.prod(shape))) >> np.uint64(11)
    return ((words.astype(np.float64) + 0.5) / 2.0**53).reshape(shape)


def normal(source: RandomSource, *shape: int) -> Floats:
    """Return numbers of a standard normal distribution.

    Examples
    --------
    >>> abs(float(normal(simulation(1), 10_000).mean())) < 0.05
    True
    """
    return np.asarray(norm.ppf(uniform(source, *shape)), dtype=np.float64)


def numbers(table: Floats, labels: NDArray[np.int64], reach: float = _REACH) -> Table:
    """Return records of continuous attributes between -reach and reach."""
    names = [f"a{place}" for place in range(table.shape[1])]
    schema = Schema(
        attributes=tuple(Continuous(name, low=-reach, high=reach) for name in names),
        target=Categorical("label", values=tuple(range(int(labels.max()) + 1))),
    )
    columns: dict[str, Any] = dict(zip(names, np.clip(table, -reach, reach).T, strict=True))
    return schema, schema.read({**columns, "label": labels})


@cache
def table_of(name: str) -> Table:
    """Return a data set by its name: one of the six, or one of `OTHERS`.

    Examples
    --------
    >>> schema, records = table_of("xor")
    >>> len(schema.attributes), records.rows
    (6, 4000)
    """
    if name in MADE_UP:
        return MADE_UP[name](simulation(_SEED).child(name))
    if name == "iris":
        return _iris()
    if name == "nltcs":
        found = load_nltcs("money")
        return found.schema, found.records()
    return data.load(name)


def _iris() -> Table:
    bunch = load_iris()
    middle, spread = bunch.data.mean(axis=0), bunch.data.std(axis=0)
    return numbers((bunch.data - middle) / spread, bunch.target.astype(np.int64), 2.0)


def _clusters(source: RandomSource, shape: tuple[int, int], strong: int, apart: float) -> Table:
    """Two clusters; attributes share a common part, as measurements of one body do."""
    people, count = shape
    labels = source.child("labels").below(2, people).astype(np.int64)
    shared = normal(source.child("shared"), people, 1)
    own = normal(source.child("own"), *shape)
    shift = apart * (np.arange(count) < strong) * np.linspace(1.0, 0.4, count)
    table = 0.6 * shared + 0.8 * own + np.outer(labels - 0.5, shift)
    return numbers(table, labels)


def _body(source: RandomSource) -> Table:
    return _clusters(source, (600, 20), 12, 1.6)


def _wide(source: RandomSource) -> Table:
    return _clusters(source, (2_000, 200), 20, 1.0)


def _large(source: RandomSource) -> Table:
    return _clusters(source, (100_000, 20), 8, 0.7)


def _rare(source: RandomSource) -> Table:
    """One in twenty has the second label."""
    labels = (source.child("labels").below(20, 5_000) == 0).astype(np.int64)
    table = normal(source.child("own"), 5_000, 10)
    return numbers(table + np.outer(labels, np.linspace(1.2, 0.0, 10)), labels)


def _xor(source: RandomSource) -> Table:
    """Label people by the sign of a product; no attribute alone says anything."""
    table = normal(source.child("own"), 4_000, 6)
    return numbers(table, (table[:, 0] * table[:, 1] > 0).astype(np.int64))


def _ring(source: RandomSource) -> Table:
    """Label people by whether they are outside a circle; means say nothing."""
    table = normal(source.child("own"), 3_000, 8)
    outside = np.square(table[:, :2]).sum(axis=1) > 1.4
    return numbers(table, outside.astype(np.int64))


def _mixed(source: RandomSource) -> Table:
    """Numbers, ordered and unordered values, some missing; three labels."""
    people = 3_000
    labels = source.child("labels").below(3, people).astype(np.int64)
    table = normal(source.child("own"), people, 4) + 0.7 * labels[:, np.newaxis] - 0.7
    held = [None if hidden else float(value) for value, hidden in _hidden(source, table[:, 1])]
    stages = np.clip(np.round(table[:, 2] + 2), 0, 4).astype(int)
    drawn = source.child("ward").below(10, people).astype(int)
    wards = np.where(drawn < 5, labels, drawn % 5)
    coins = source.child("coin").below(2, people).astype(int)
    attributes: tuple[Attribute, ...] = (
        Continuous("a0", low=-_REACH, high=_REACH),
        Continuous("a1", low=-_REACH, high=_REACH, missing="class"),
        Ordinal("stage", values=(0, 1, 2, 3, 4)),
        Categorical("ward", values=(0, 1, 2, 3, 4)),
        Categorical("coin", values=(0, 1)),
        Continuous("a3", low=-_REACH, high=_REACH),
    )
    schema = Schema(attributes=attributes, target=Categorical("label", values=(0, 1, 2)))
    columns: dict[str, Any] = {
        "a0": np.clip(table[:, 0], -_REACH, _REACH),
        "a1": held,
        "stage": stages,
        "ward": wards,
        "coin": coins,
        "a3": np.clip(table[:, 3], -_REACH, _REACH),
        "label": labels,
    }
    return schema, schema.read(columns)


def _hidden(source: RandomSource, column: Floats) -> zip[tuple[Any, ...]]:
    missing = source.child("missing").below(10, len(column)) == 0
    return zip(np.clip(column, -_REACH, _REACH), missing, strict=True)


def _table(source: RandomSource) -> Table:
    """Three unordered attributes that a whole table holds, with a label that none tells alone."""
    people = 8_000
    held = source.child("own").below(3, people * 3).astype(np.int64).reshape(people, 3)
    right = held.sum(axis=1) % 2
    wrong = (source.child("wrong").below(10, people) == 0).astype(np.int64)
    schema = Schema(
        attributes=tuple(Categorical(name, values=(0, 1, 2)) for name in "abc"),
        target=Categorical("label", values=(0, 1)),
    )
    columns: dict[str, Any] = dict(zip("abc", held.T, strict=True))
    return schema, schema.read({**columns, "label": (right + wrong) % 2})


MADE_UP: Final[dict[str, Callable[[RandomSource], Table]]] = {
    "body": _body,
    "wide": _wide,
    "rare": _rare,
    "mixed": _mixed,
    "ring": _ring,
    "xor": _xor,
    "table": _table,
    "large": _large,
}
"""Made-up people, by name, from a seed."""

OTHERS: Final = ("iris", "nltcs", *MADE_UP)
"""The data sets that the issue does not name."""
