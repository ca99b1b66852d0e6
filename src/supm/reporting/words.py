"""Sentences for people: broken into lines, and with nothing in them that steers a terminal."""

from __future__ import annotations

import textwrap
import unicodedata

__all__ = ["counted", "paragraph", "printable"]

_WIDTH = 88


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
    return textwrap.fill(
        printable(text),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


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
