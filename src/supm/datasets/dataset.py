"""What a loader returns: data with its public description and where both come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supm.schema import Continuous, Records, Schema


@dataclass(frozen=True, kw_only=True)
class Bound:
    """The public bounds of a number, and where they come from.

    Parameters
    ----------
    low, high : float
        The bounds.
    why : str
        What makes them public: a definition, a unit, a document.
    by_definition : {"", "low", "high", "both"}
        Which of them no value can pass: a share ends at 100 %, a length starts at 0.
    """

    low: float
    high: float
    why: str
    by_definition: Literal["", "low", "high", "both"] = ""

    def attribute(self, name: str) -> Continuous:
        """Return the continuous attribute with these bounds."""
        return Continuous(name, low=self.low, high=self.high)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Dataset:
    """A public table with the schema under which its records are treated as private.

    Parameters
    ----------
    name : str
        The short name.
    schema : Schema
        Attributes with public bounds, and the target.
    columns : mapping of str to ndarray
        The attributes and the target as they were published, not clipped.
    bounds : mapping of str to Bound
        Where the bounds of each continuous attribute come from.
    source, licence : str
        Who made the data, and on what terms.
    notes : tuple of str
        What one should know before using them.
    groups : ndarray or None
        Rows of one group are not independent: keep them on one side of a split.
    split : ndarray or None
        "train" or "test", where the publishers made that choice.

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> wdbc
    Dataset('wdbc', rows=569, attributes=30, task='binary')
    >>> wdbc.bounds["mean radius"].high
    30.0
    >>> wdbc.records().encode(wdbc.schema.discretize(4)).shape
    (569, 30)
    """

    name: str
    schema: Schema
    columns: Mapping[str, NDArray[Any]]
    bounds: Mapping[str, Bound]
    source: str
    licence: str
    notes: tuple[str, ...] = ()
    groups: NDArray[Any] | None = None
    split: NDArray[Any] | None = None

    @property
    def rows(self) -> int:
        """The number of records."""
        return int(self.target.size)

    @property
    def target(self) -> NDArray[Any]:
        """The target as it was published."""
        return self.columns[self.schema.target.name]

    def records(self) -> Records:
        """Return the records, read by the schema."""
        return self.schema.read(self.columns)

    def __repr__(self) -> str:
        """Say what it is and how large."""
        size = f"rows={self.rows}, attributes={len(self.schema.attributes)}"
        return f"Dataset({self.name!r}, {size}, task={self.schema.task!r})"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ImageDataset:
    """Public images with their labels. A pixel is a whole number from 0 to 255 by its format.

    An array is unpacked when it is first asked for, and kept.

    Parameters
    ----------
    name : str
        The short name.
    classes : tuple of str
        The name of each label 0, 1, ….
    source, licence : str
        Who made the data, and on what terms.
    notes : tuple of str
        What one should know before using them.
    arrays : mapping of str to ndarray
        The packed arrays.
    """

    name: str
    classes: tuple[str, ...]
    source: str
    licence: str
    notes: tuple[str, ...] = ()
    arrays: Mapping[str, NDArray[Any]] = field(repr=False)

    @cached_property
    def x_train(self) -> NDArray[np.uint8]:
        """The training images, one in each row."""
        return self.arrays["x_train"]

    @cached_property
    def y_train(self) -> NDArray[np.uint8]:
        """The labels of the training images."""
        return self.arrays["y_train"]

    @cached_property
    def x_test(self) -> NDArray[np.uint8]:
        """The test images, one in each row."""
        return self.arrays["x_test"]

    @cached_property
    def y_test(self) -> NDArray[np.uint8]:
        """The labels of the test images."""
        return self.arrays["y_test"]

    def __repr__(self) -> str:
        """Say what it is, without unpacking it."""
        return f"ImageDataset({self.name!r}, classes={len(self.classes)})"
