"""Tables for people and JSON for machines."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from supm._errors import ParameterError
from supm._validation import EPSILON

__all__ = ["check_target", "epsilon", "notice", "table", "write_json"]

_NOTICED = 0.01


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


def check_target(option: str, target: str | None) -> None:
    """Refuse a file that cannot be written before the work is done.

    Parameters
    ----------
    option : str
        The option that names the file.
    target : str or None
        The name of the file, "-" for the standard output, or None for nothing.
    """
    if target is None or target == "-":
        return
    path = Path(target)
    if not target or path.is_dir() or not path.parent.is_dir():
        raise ParameterError(option, "a file in a folder that exists", target)
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(option, "a file that may be written", target)


def epsilon(text: str) -> float:
    """Read an epsilon as argparse wants it done.

    Parameters
    ----------
    text : str
        What was typed.

    Returns
    -------
    float
        A number in the interval that all mechanisms take.

    Examples
    --------
    >>> epsilon("0.5")
    0.5
    """
    try:
        return EPSILON.check(float(text))
    except ValueError:
        message = f"must be a number in [{EPSILON.low:g}, {EPSILON.high:g}], got {text!r}"
        raise argparse.ArgumentTypeError(message) from None


def notice(asked: float, kept: float) -> None:
    """Say on the standard error that a mechanism keeps a smaller epsilon than was asked for.

    Parameters
    ----------
    asked, kept : float
        The two epsilons; nothing is said where they agree to one part in a hundred.
    """
    if kept < asked * (1 - _NOTICED):
        print(
            f"supm: note: 64-bit words cannot hold more than epsilon {kept:.4g} here; {asked:g} "
            "was asked for.",
            file=sys.stderr,
        )


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
        try:
            Path(target).write_text(text, encoding="utf-8")
        except OSError as error:
            hint = f"{error.strerror}."
            raise ParameterError("--json", "a file that can be written", target, hint) from None


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
