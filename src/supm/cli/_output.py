"""What all verbs share: arguments, tables and sentences for people, and progress."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from supm._validation import EPSILON

__all__ = [
    "bar",
    "epsilon",
    "epsilons",
    "notice",
    "paragraph",
    "progress",
    "say",
    "table",
]

_Item = TypeVar("_Item")
_NOTICED = 0.01
_MOST_BUDGETS = 100
_WIDTH = 88


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


def epsilons(text: str) -> list[float]:
    """Read a list of different epsilons as argparse wants it done.

    Parameters
    ----------
    text : str
        Numbers with commas between.

    Returns
    -------
    list of float

    Examples
    --------
    >>> epsilons("1,2.5")
    [1.0, 2.5]
    """
    numbers = [epsilon(part) for part in text.split(",")]
    if len(numbers) > _MOST_BUDGETS or len(set(numbers)) < len(numbers):
        wanted = f"must be at most {_MOST_BUDGETS} different numbers, with commas between"
        message = f"{wanted}, got {text!r}"
        raise argparse.ArgumentTypeError(message)
    return numbers


def notice(asked: float, kept: float) -> None:
    """Say on the standard error that a mechanism keeps a smaller epsilon than was asked for.

    Parameters
    ----------
    asked, kept : float
        The two epsilons; nothing is said where they agree to one part in a hundred.
    """
    if kept < asked * (1 - _NOTICED):
        say(f"64-bit words cannot hold more than epsilon {kept:.4g} here; {asked:g} was asked for.")


def say(text: str) -> None:
    """Say something beside the result, on the standard error.

    Parameters
    ----------
    text : str
        A sentence.
    """
    print(f"supm: note: {text}", file=sys.stderr)


def paragraph(text: str, *, indent: str = "") -> str:
    """Break a text into lines.

    Parameters
    ----------
    text : str
        Sentences.
    indent : str, default ""
        What every line begins with.

    Returns
    -------
    str
        Lines without a final newline.
    """
    return textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)


@contextmanager
def bar(*, total: int, unit: str) -> Iterator[Callable[[], object]]:
    """Show a bar on the standard error where work takes more than two seconds.

    Parameters
    ----------
    total : int
        How many steps there are.
    unit : str
        What they are.

    Yields
    ------
    callable
        To be called after each step.
    """
    from tqdm import tqdm  # noqa: PLC0415  loaded when the verb runs

    # disable=None: no bar where nobody watches.
    with tqdm(total=total, unit=f" {unit}", delay=2, disable=None, leave=False) as shown:
        yield shown.update


def progress(items: Iterable[_Item], *, total: int | None, unit: str) -> Iterator[_Item]:
    """Go through items, with a bar on the standard error where it takes more than two seconds.

    Parameters
    ----------
    items : iterable
        What to go through.
    total : int or None
        How many there are, if that is known.
    unit : str
        What they are.

    Yields
    ------
    object
        The items.
    """
    from tqdm import tqdm  # noqa: PLC0415  loaded when the verb runs

    # disable=None: no bar where nobody watches.
    yield from tqdm(items, total=total, unit=f" {unit}", delay=2, disable=None, leave=False)


def _line(row: Sequence[str], widths: Sequence[int], left: int) -> str:
    cells = [
        cell.ljust(width) if place < left else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()
