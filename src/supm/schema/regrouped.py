"""The classes of a discretizer, merged by a published list."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import SchemaError
from supm.schema.attributes import Attribute, Continuous
from supm.schema.discretizer import Discretizer


@dataclass(frozen=True)
class Regrouped(Discretizer):
    """The classes of another discretizer, merged by a published list.

    Parameters
    ----------
    finer : Discretizer
        The classes that are merged, that of missing values included.
    groups : tuple of int
        The group of each of them, 0 … largest, every number used.

    Examples
    --------
    >>> from supm.schema import Continuous, EqualWidth, Regrouped
    >>> age = EqualWidth(Continuous("age", low=0, high=100), classes=4)
    >>> merged = Regrouped(age, groups=(0, 1, 1, 0))
    >>> merged.encode([10, 30, 99]).tolist()
    [0, 1, 0]
    >>> merged.labels
    ('[0, 25] or (75, 100]', '(25, 75]')
    """

    finer: Discretizer
    _: KW_ONLY
    groups: tuple[int, ...]
    attribute: Attribute = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", self.finer.attribute)
        whole = all(type(group) is int for group in self.groups)
        if not whole or len(self.groups) != self.finer.size:
            raise SchemaError(
                f"{self.attribute.name}: groups must be a whole number for each of the "
                f"{self.finer.size} classes."
            )
        used = set(self.groups)
        if len(used) < 2 or min(used) != 0 or max(used) != len(used) - 1:
            raise SchemaError(
                f"{self.attribute.name}: groups must be numbered from 0, at least two."
            )

    @property
    def size(self) -> int:
        """The number of groups; missing values are in one of them."""
        return max(self.groups) + 1

    @property
    def labels(self) -> tuple[str, ...]:
        """What each group holds, in words."""
        held: list[list[str]] = [[] for _ in range(self.size)]
        for label, group in zip(self.finer.labels, self.groups, strict=True):
            held[group].append(label)
        ranges = isinstance(self.attribute, Continuous)
        return tuple(" or ".join(_joined(each) if ranges else each) for each in held)

    @property
    def representatives(self) -> None:  # noqa: D102  inherited
        return None

    def classify(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the group of each value's class."""
        return np.take(self._table, self.finer.classify(values))

    @property
    def _classes(self) -> int:
        return self.size

    @property
    def _labels(self) -> tuple[str, ...]:
        return self.labels

    @cached_property
    def _table(self) -> NDArray[np.int64]:
        return np.array(self.groups, dtype=np.int64)


def _joined(labels: list[str]) -> list[str]:
    """Make one range of two where the second begins at the end of the first."""
    told: list[str] = []
    for label in labels:
        end = told[-1].rpartition(", ")[2].removesuffix("]") if told else ""
        if told and label.startswith(f"({end}, "):
            told[-1] = told[-1].removesuffix(f"{end}]") + label.removeprefix(f"({end}, ")
        else:
            told.append(label)
    return told
