"""Tables of a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["cell", "table"]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, or nothing where it has no rows.

    Examples
    --------
    >>> print(table(["a"], [["1"]]).rstrip())
    | a |
    |---|
    | 1 |
    """
    lines = [_row(row) for row in rows]
    if not lines:
        return ""
    return "\n".join((_row(head), "|" + "---|" * len(head), *lines)) + "\n"


def cell(found: NDArray[np.float64] | None) -> str:
    """Return mean and spread of repetitions, or a dash."""
    if found is None or not found.size:
        return "-"
    if found.size == 1:
        return f"{found[0]:.1f}"
    return f"{found.mean():.1f} ± {found.std(ddof=1):.1f}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
