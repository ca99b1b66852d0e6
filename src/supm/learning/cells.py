"""Weighted cells: what training needs of any number of reports.

Discretised records fall into finitely many cells, so a model is trained on the distinct cells with
their counts as weights. That equals training on all the duplicates, and its cost does not grow with
people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedCells:
    """Points with a class and a weight each.

    Parameters
    ----------
    features : ndarray of float, shape (points, attributes)
        Where each point lies.
    labels : ndarray of int
        The class of each point, a number from 0.
    weights : ndarray of float
        How many records each point stands for; positive.

    Examples
    --------
    >>> places = np.array([[-0.5], [0.5]])
    >>> cells = WeightedCells.from_counts(places, np.array([[3, 0], [1, 2]]))
    >>> cells.labels, cells.weights
    (array([0, 0, 1]), array([3., 1., 2.]))
    """

    features: NDArray[np.float64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or not len(self.features):
            raise ParameterError("features", "a table of at least one point", self.features.shape)
        for name, column in (("labels", self.labels), ("weights", self.weights)):
            if column.shape != (len(self.features),):
                raise ParameterError(name, f"of length {len(self.features)}", column.shape)
        if not (np.isfinite(self.weights) & (self.weights > 0)).all():
            raise ParameterError("weights", "positive and finite", "one that is not")

    @classmethod
    def from_counts(cls, places: NDArray[np.float64], counts: ArrayLike) -> Self:
        """Make points of the cells that hold anyone.

        Parameters
        ----------
        places : ndarray of float, shape (cells, attributes)
            Where each cell lies.
        counts : array-like, shape (cells, classes)
            How many records of each class each cell holds; what is not positive is left out.

        Returns
        -------
        WeightedCells
        """
        held = np.asarray(counts, dtype=np.float64)
        cell, label = np.nonzero(held > 0)
        return cls(features=places[cell], labels=label, weights=held[cell, label])

    @classmethod
    def from_rows(cls, features: NDArray[np.float64], labels: ArrayLike) -> Self:
        """Merge equal rows of one class into one point each."""
        classes = np.asarray(labels, dtype=np.int64)
        rows = np.column_stack((features, classes))
        points, counts = np.unique(rows, axis=0, return_counts=True)
        return cls(
            features=np.ascontiguousarray(points[:, :-1]),
            labels=points[:, -1].astype(np.int64),
            weights=counts.astype(np.float64),
        )

    @property
    def variances(self) -> NDArray[np.float64]:
        """The variance of each attribute over the records that the points stand for."""
        mean = np.average(self.features, axis=0, weights=self.weights)
        spread: NDArray[np.float64] = np.average(
            np.square(self.features - mean), axis=0, weights=self.weights
        )
        return spread

    def only(self, classes: tuple[int, ...]) -> WeightedCells:
        """Return the points of some classes, numbered by their place in the list."""
        place = {label: number for number, label in enumerate(classes)}
        kept = np.isin(self.labels, classes)
        return WeightedCells(
            features=self.features[kept],
            labels=np.array([place[int(label)] for label in self.labels[kept]], dtype=np.int64),
            weights=self.weights[kept],
        )
