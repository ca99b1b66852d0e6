"""What every discretizer is: public arithmetic from the values of an attribute to a few classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError, SchemaError
from supm._validation import Integers
from supm.schema.attributes import Attribute

CLASSES: Final = Integers("classes", 2, 1 << 20, "One class tells nothing.")


class Discretizer(ABC):
    """What the four discretizers share: classes 0 … size - 1 of one attribute.

    Where the attribute has ``missing="class"``, the last class is that of the missing values.
    """

    attribute: Attribute

    @property
    def size(self) -> int:
        """The number of classes, that of the missing values included."""
        return self._classes + (self.attribute.missing == "class")

    @property
    def labels(self) -> tuple[str, ...]:
        """What each class holds, in words."""
        return (*self._labels, "missing")[: self.size]

    @property
    @abstractmethod
    def representatives(self) -> NDArray[np.float64] | None:
        """The number that stands for each class, or None where classes have no order.

        Missing values have no place on the scale: the number of their class is the middle of it.
        """

    @abstractmethod
    def classify(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the classes of values that ``attribute.read`` returned."""

    def encode(self, column: object) -> NDArray[np.int64]:
        """Return the class of each value of a raw column, which is checked first.

        Parameters
        ----------
        column : array, series, list or tuple
            The values as they are in the records.

        Returns
        -------
        ndarray of int64
            Numbers in 0 … size - 1.

        Raises
        ------
        RecordError
            If the attribute's description does not allow a value.
        """
        return self.classify(self.attribute.read(column))

    def one_hot(self, classes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return one row for each class number: 1 in its own column and 0 elsewhere.

        Parameters
        ----------
        classes : ndarray of int
            Numbers in 0 … size - 1.

        Returns
        -------
        ndarray of float64, shape (n, size)
        """
        numbers = np.asarray(classes)
        inside = numbers.dtype.kind in "iu" and bool(((numbers >= 0) & (numbers < self.size)).all())
        if numbers.ndim != 1 or not inside:
            name, last = self.attribute.name, self.size - 1
            message = f"{name}: classes must be whole numbers in [0, {last}]."
            raise RecordError(message)
        rows = np.zeros((numbers.size, self.size))
        rows[np.arange(numbers.size), numbers] = 1.0
        return rows

    @property
    @abstractmethod
    def _classes(self) -> int: ...

    @property
    @abstractmethod
    def _labels(self) -> tuple[str, ...]: ...

    def _with_missing(self, scale: NDArray[np.float64], middle: float) -> NDArray[np.float64]:
        return np.append(scale, middle)[: self.size]


def expect(discretizer: Discretizer, kind: type) -> None:
    """Check that a discretizer was given an attribute of its kind."""
    if not isinstance(discretizer.attribute, kind):
        name = type(discretizer).__name__
        got = type(discretizer.attribute).__name__
        message = f"{name} needs an attribute of kind {kind.__name__}, got {got}."
        raise SchemaError(message)
