"""Numbers of entries as people say them."""

from __future__ import annotations

__all__ = ["entries_in_words"]


def entries_in_words(count: int, which: str = "") -> str:
    """Return how many entries there are, in words.

    Parameters
    ----------
    count : int
        How many.
    which : str, optional
        What they are like.

    Returns
    -------
    str

    Examples
    --------
    >>> entries_in_words(1), entries_in_words(3, "raw")
    ('1 entry', '3 raw entries')
    """
    noun = "entry" if count == 1 else "entries"
    return f"{count} {which} {noun}" if which else f"{count} {noun}"
