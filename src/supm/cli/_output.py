"""What all verbs share: tables and sentences for people."""

from __future__ import annotations

import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest

__all__ = ["counted", "notice", "notice_large", "paragraph", "printable", "say", "table"]

_NOTICED = 0.01
_LARGE = 10.0
_WIDTH = 88


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: int = 1,
    widest: int | None = None,
) -> str:
    """Align columns: the first ``left`` ones at the left, the others at the right.

    Parameters
    ----------
    head : sequence of str
        The names of the columns.
    rows : sequence of sequence of str
        The cells.
    left : int, default 1
        How many columns hold words.
    widest : int, optional
        Words are broken into lines of at most so many characters.

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
    lines: list[Sequence[str]] = [
        [printable(cell).replace("\n", " ") for cell in row] for row in (head, *rows)
    ]
    if widest is not None:
        lines = [line for row in lines for line in _broken(row, left, widest)]
    widths = [max(len(row[place]) for row in lines) for place in range(len(head))]
    return "\n".join(_line(row, widths, left) for row in lines)


def notice(asked: float, kept: float) -> None:
    """Say on the standard error that a mechanism keeps a smaller epsilon than was asked for.

    Parameters
    ----------
    asked, kept : float
        The two epsilons; nothing is said where they agree to one part in a hundred.
    """
    if kept < asked * (1 - _NOTICED):
        say(f"64-bit words cannot hold more than epsilon {kept:.4g} here; {asked:g} was asked for.")


def notice_large(epsilon: float) -> None:
    """Say on the standard error that a promise is worth nothing by itself.

    Parameters
    ----------
    epsilon : float
        What is promised; nothing is said where it is at most 10.
    """
    if epsilon > _LARGE:
        say(f"epsilon {epsilon:.4g}: a factor as large as that protects nobody by itself.")


def say(text: str) -> None:
    """Say something beside the result, on the standard error.

    Parameters
    ----------
    text : str
        A sentence.
    """
    print(f"supm: note: {printable(text)}", file=sys.stderr)


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
    return textwrap.fill(printable(text), _WIDTH, initial_indent=indent, subsequent_indent=indent)


def printable(text: str) -> str:
    r"""Return a text in which nothing steers a terminal: a stranger may have written a part of it.

    Parameters
    ----------
    text : str
        For people.

    Returns
    -------
    str

    Examples
    --------
    >>> printable("a\x1b]0;b")
    'a?]0;b'
    """
    return text if text.isprintable() else "".join(map(_sign, text))


def _sign(sign: str) -> str:
    if sign.isprintable() or sign == "\n" or unicodedata.category(sign) == "Zs":
        return sign
    return " " if sign.isspace() else "?"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Parameters
    ----------
    number : int
        How many.
    noun : str
        Of what, for one.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "fold"), counted(3, "fold")
    ('1 fold', '3 folds')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _broken(row: Sequence[str], left: int, widest: int) -> Iterator[Sequence[str]]:
    """Break the words of a row into lines, with the numbers on the first."""
    words = [textwrap.wrap(cell, widest) for cell in row[:left]]
    return zip_longest(*words, *([cell] for cell in row[left:]), fillvalue="")


def _line(row: Sequence[str], widths: Sequence[int], left: int) -> str:
    cells = [
        cell.ljust(width) if place < left else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()
