"""Tables for people and JSON for machines."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from supm._errors import ParameterError

__all__ = ["check_target", "table", "write_json"]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Align columns: the first ``left`` ones at the left, the others at the right.

    Parameters
    ----------
    head : sequence of str
        The names of the columns.
    rows : sequence of sequence of str
        The cells.
    left : int, default 1
        How many columns hold words.

    Returns
    -------
    str
        Lines without a final newline.

    Examples
    --------
    >>> print(table(["name", "count"], [["a", "10"], ["longer", "5"]]))
    name    count
    a          10
    longer      5
    """
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    return "\n".join(_line(row, widths, left) for row in (head, *rows))


def check_target(target: str | None) -> None:
    """Refuse a file that cannot be written before the work is done.

    Parameters
    ----------
    target : str or None
        The name of the file, "-" for the standard output, or None for nothing.
    """
    if target and target != "-" and not Path(target).parent.is_dir():
        raise ParameterError("--json", "a file in a folder that exists", target)


def write_json(value: Any, target: str) -> None:  # noqa: ANN401  whatever JSON can hold
    """Write JSON to a file, or to the standard output if the target is a dash.

    Parameters
    ----------
    value : object
        What JSON can hold; an infinite number is written as text.
    target : str
        The name of the file, or "-".
    """
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if target == "-":
        sys.stdout.write(text)
    else:
        Path(target).write_text(text, encoding="utf-8")


def _line(row: Sequence[str], widths: Sequence[int], left: int) -> str:
    cells = [
        cell.ljust(width) if place < left else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()


def _finite(value: Any) -> Any:  # noqa: ANN401  whatever JSON can hold
    """Write what JSON has no number for as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
