"""What reports of one column say, as cells of a finite alphabet with the channel into them.

A number is known up to a place on a public grid. Where models are fitted, both bounds are places of
their own: clipping, zeros that stand for "none" and numbers that are yes or no put many records
there. Cells are public: they do not depend on the reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm.mechanisms import NoisedNumber

__all__ = ["CellReports", "Channel", "Kind", "count_together"]

Kind: TypeAlias = Literal["number", "ordered", "unordered"]

# Finer than the noise of any epsilon up to 10 lets be seen.
_INNER: Final = 48
# A bound is a bin so narrow that no other value falls into it.
_NARROW: Final = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Channel:
    """The places that a true value can have, and the cells in which its report can fall.

    ``places`` of a number are its way from the low bound, 0, to the high bound, 1; those of a class
    are the same by its place in the list. ``matrix`` has the probability of each cell (column) for
    each place (row), and ``borders`` are the inner borders of the cells of a number.
    """

    kind: Kind
    places: NDArray[np.float64]
    matrix: NDArray[np.float64]
    low: float = 0.0
    high: float = 1.0
    borders: NDArray[np.float64]

    @classmethod
    def of_number(cls, noise: NoisedNumber) -> Channel:
        """Return that of a number: equal bins, and a narrow one at either bound."""
        inner = noise.edges(_INNER)
        bounds = noise.low + noise.span * _NARROW, noise.high - noise.span * _NARROW
        edges = np.concatenate((inner[:1], bounds[:1], inner[1:-1], bounds[1:], inner[-1:]))
        cells = noise.report_cells(edges)
        places = ((edges[:-1] + edges[1:]) / 2 - noise.low) / noise.span
        places[[0, -1]] = 0.0, 1.0
        return cls(
            kind="number",
            places=places,
            matrix=noise.transition(edges, cells),
            low=noise.low,
            high=noise.high,
            borders=cells[1:-1],
        )

    @classmethod
    def of_classes(cls, kind: Kind, matrix: NDArray[np.float64]) -> Channel:
        """Return that of classes; the unit matrix is that of classes which were never noised.

        Examples
        --------
        >>> Channel.of_classes("ordered", np.eye(3)).places
        array([0. , 0.5, 1. ])
        """
        places = np.arange(len(matrix)) / max(len(matrix) - 1, 1)
        return cls(kind=kind, places=places, matrix=matrix, borders=np.empty(0))

    def cells(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return the cell of each report, and -1 for one that is not there (NaN, or -1)."""
        told = np.asarray(reports)
        if self.kind != "number":
            return told.astype(np.int64)
        found = np.searchsorted(self.borders, told, side="right")
        return np.where(np.isnan(told), -1, found).astype(np.int64)

    def scaled(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return where clean numbers lie between the bounds, from 0 to 1; beyond is clipped."""
        numbers = np.asarray(values, dtype=np.float64)
        return np.clip((numbers - self.low) / (self.high - self.low), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class CellReports:
    """The cell of each record, -1 where nothing was asked, and the channel from bins or classes."""

    cells: NDArray[np.int64]
    channel: NDArray[np.float64]

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(self.channel.shape[1])

    def counts(self) -> NDArray[np.int64]:
        """Count the reports in each cell."""
        return np.bincount(self.cells[self.cells >= 0], minlength=self.size)


def count_together(columns: Sequence[CellReports]) -> NDArray[np.int64]:
    """Count how often each combination of cells was reported, by records that have all of them."""
    shape = tuple(each.size for each in columns)
    asked = np.logical_and.reduce([each.cells >= 0 for each in columns])
    cells = [each.cells if asked.all() else each.cells[asked] for each in columns]
    places = np.ravel_multi_index(cells, shape)
    return np.bincount(places, minlength=math.prod(shape)).reshape(shape)
