"""What a verb prints: its result, notes beside it, and progress on the standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from supm.reporting import Table, bar, printable, progress


def emit(form: Any, words: Iterable[str], json: str | None) -> None:  # noqa: ANN401  whatever JSON can hold
    """Write plain values where --json says, and print words where they do not mix with them.

    Parameters
    ----------
    form : object
        What JSON can hold.
    words : iterable of str
        Blocks of lines for people, such as tables and paragraphs.
    json : str or None
        The name of a file, "-" for the standard output, or None.
    """
    from supm.cli._files import write_json

    if json:
        write_json(form, json)
    if json != "-":
        for block in words:
            print(block)


def where(written: Mapping[str, str | None]) -> Iterator[str]:
    """Say where each file is that was written.

    Parameters
    ----------
    written : mapping of str to str or None
        What it is with its verb, such as "figures are", and the name of the file if there is one.

    Yields
    ------
    str
    """
    for what, name in written.items():
        if name and name != "-":
            yield f"The {what} in {name}."


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, widest: int | None = None
) -> str:
    """Align columns: the first ``left`` ones at the left, the others at the right."""
    return str(Table(head=head, rows=rows, words=left, widest=widest))


def say(text: str) -> None:
    """Say something beside the result, on the standard error.

    Parameters
    ----------
    text : str
        A sentence.
    """
    print(f"supm: note: {printable(text)}", file=sys.stderr)


def agreed(
    question: str,
    aloud: TextIO,
    *,
    yes: bool,
    otherwise: str = "Nothing was sent, and nothing was spent.",
) -> bool:
    """Ask for consent, unless that was answered on the command line.

    Parameters
    ----------
    question : str
        What to ask.
    aloud : text file
        Where to ask it.
    yes : bool
        Whether it was answered already.
    otherwise : str, optional
        What to say where the answer is no.

    Returns
    -------
    bool
    """
    if yes:
        return True
    print(f"{question} [y/N] ", end="", file=aloud, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print(otherwise, file=aloud)
    return False


@contextmanager
def folds_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Show folds as `supm.collection.simulate` tells them, after two seconds."""
    with bar(total=None, unit="folds", label="simulation") as shown:
        yield shown.reach


def lines_read(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Go through the lines of a file."""
    return progress(lines, total=None, unit="lines")
