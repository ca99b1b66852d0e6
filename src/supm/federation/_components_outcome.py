"""What a protocol of components publishes, and the shape of rows that all models agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError

__all__ = ["ComponentsOutcome", "read_table", "shortened"]

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ComponentsOutcome:
    """Directions in which the parties' rows are long.

    Parameters
    ----------
    components : ndarray of float64, shape (components, width)
        Orthonormal rows.
    eigenvalues : ndarray of float64
        Noisy sum of squares along each. Where the parties told subspaces: which part of the records
        belongs to parties that have it among theirs, 1 at the most.

    Examples
    --------
    >>> outcome = ComponentsOutcome(components=np.eye(2)[:1], eigenvalues=np.array([3.0]))
    >>> outcome.transform(np.array([[0.5, 0.25]])).tolist()
    [[0.5]]
    """

    components: Floats
    eigenvalues: Floats

    def transform(self, vectors: Floats) -> Floats:
        """Return the vectors along the components; longer ones than one are shortened first."""
        return shortened(vectors) @ self.components.T

    def to_form(self) -> dict[str, Any]:
        """Return the outcome as plain values for JSON."""
        return {"components": self.components.tolist(), "eigenvalues": self.eigenvalues.tolist()}

    @classmethod
    def from_form(cls, form: object) -> ComponentsOutcome:
        """Read what `to_form` wrote.

        Raises
        ------
        MessageError
            If it is no such outcome.
        """
        if not isinstance(form, dict) or set(form) != {"components", "eigenvalues"}:
            message = "components are told with the fields components and eigenvalues."
            raise MessageError(message)
        components, eigenvalues = read_table(form["components"]), read_table([form["eigenvalues"]])
        if len(components) != eigenvalues.shape[1]:
            message = "components must have one eigenvalue each."
            raise MessageError(message)
        return cls(components=components, eigenvalues=eigenvalues[0])


def read_table(form: object) -> Floats:
    """Read rows of finite numbers.

    Raises
    ------
    MessageError
        If they are anything else.
    """
    try:
        table = np.asarray(form, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        message = "a table must have rows of finite numbers, all of one length."
        raise MessageError(message)
    return table


def shortened(vectors: Floats) -> Floats:
    """Return the vectors, those longer than one shortened to one.

    Examples
    --------
    >>> shortened(np.array([[3.0, 4.0], [0.1, 0.0]])).round(6).tolist()
    [[0.6, 0.8], [0.1, 0.0]]
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.maximum(lengths, 1.0)[:, None])
