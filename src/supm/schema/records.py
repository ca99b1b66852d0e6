"""Records that a schema has read and found in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import SchemaError
from supm.schema.attributes import Attribute
from supm.schema.discretizer import Discretizer


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Records:
    """Checked private records, column by column. `Schema.read` makes them.

    Parameters
    ----------
    attributes : tuple of Attribute
        What the columns are.
    columns : mapping of str to ndarray
        Continuous attributes as numbers within their bounds (NaN where missing), the others as
        positions in their list of values (``len(values)`` where missing). The arrays are read-only.
    target : ndarray or None
        The target in the same form, or None where the records have no labels.
    rows : int
        How many records there are.

    Examples
    --------
    >>> from supm.schema import Continuous, Categorical, Schema
    >>> schema = Schema(
    ...     attributes=(Continuous("age", low=0, high=100),),
    ...     target=Categorical("ill", values=("no", "yes")),
    ... )
    >>> records = schema.read([{"age": 61, "ill": "yes"}, {"age": 20, "ill": "no"}])
    >>> records.encode(schema.discretize(4)).tolist(), records.target.tolist()
    ([[2], [0]], [1, 0])
    """

    attributes: tuple[Attribute, ...]
    columns: Mapping[str, NDArray[Any]]
    target: NDArray[Any] | None
    rows: int

    def encode(self, discretizers: Sequence[Discretizer]) -> NDArray[np.int64]:
        """Return the classes of all records.

        Parameters
        ----------
        discretizers : sequence of Discretizer
            One for each attribute that is wanted, in any order.

        Returns
        -------
        ndarray of int64, shape (rows, len(discretizers))
            Class numbers, one column for each discretizer.

        Raises
        ------
        SchemaError
            If a discretizer is for an attribute that these records do not have.
        """
        classes = np.empty((self.rows, len(discretizers)), dtype=np.int64, order="F")
        known = {attribute.name: attribute for attribute in self.attributes}
        for place, discretizer in enumerate(discretizers):
            name = discretizer.attribute.name
            if known.get(name) != discretizer.attribute:
                message = f"a discretizer is for {name!r}, which these records do not have."
                raise SchemaError(message)
            classes[:, place] = discretizer.classify(self.columns[name])
        return classes

    def __repr__(self) -> str:
        """Say how many there are, never what they hold."""
        return f"Records(rows={self.rows}, attributes={len(self.attributes)})"
