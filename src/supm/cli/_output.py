"""What a verb prints: its result, notes beside it, and progress on the standard error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TextIO, TypeVar

from supm.reporting import Table, counted, paragraph, printable

__all__ = [
    "Bar",
    "agreed",
    "bar",
    "counted",
    "emit",
    "folds_bar",
    "lines_read",
    "paragraph",
    "printable",
    "progress",
    "say",
    "table",
    "where",
]

_Item = TypeVar("_Item")
_SILENT: Final = 2.0


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
    from supm.cli._files import write_json  # noqa: PLC0415  it is wanted seldom

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
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: int = 1,
    widest: int | None = None,
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


class Bar:
    """A bar whose label says what is under way.

    Parameters
    ----------
    shown : rich.progress.Progress
        What draws it.
    label : str
        What is under way first.
    total : int or None
        How many steps there are.
    """

    def __init__(self, shown: Any, label: str, total: int | None) -> None:  # noqa: ANN401  loaded late
        self._shown, self._task = shown, shown.add_task(printable(label), total=total)

    def label(self, text: str) -> None:
        """Say what is under way."""
        self._shown.update(self._task, description=printable(text))

    def reach(self, done: int, total: int, what: str) -> None:
        """Show how many of all steps are done, and what is under way."""
        self._shown.update(self._task, completed=done, total=total, description=printable(what))

    def step(self) -> None:
        """Go one step further."""
        self._shown.advance(self._task)


@contextmanager
def bar(*, total: int | None, unit: str, label: str) -> Iterator[Bar]:
    """Show a bar on the standard error where somebody watches and work takes more than two seconds.

    Its clock goes on while a single step takes long, and it is wiped at the end.

    Parameters
    ----------
    total : int or None
        How many steps there are, if that is known.
    unit : str
        What they are.
    label : str
        What is under way first.

    Yields
    ------
    Bar
    """
    from rich import progress as rich  # noqa: PLC0415  loaded when the verb runs
    from rich.console import Console  # noqa: PLC0415  the same

    watched = sys.stderr.isatty()
    shown = rich.Progress(
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn(unit, markup=False),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
        console=Console(file=sys.stderr, force_terminal=watched),
        transient=True,
    )
    late = threading.Timer(_SILENT, shown.start)
    late.daemon = True
    if watched:
        late.start()
    try:
        yield Bar(shown, label, total)
    finally:
        _end(late)
        if shown.live.is_started:
            shown.stop()


def _end(timer: threading.Timer) -> None:
    timer.cancel()
    if timer.is_alive():
        timer.join()


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
    with bar(total=total, unit=unit, label="") as shown:
        for item in items:
            yield item
            shown.step()


@contextmanager
def folds_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Show folds as `supm.collection.simulate` tells them, after two seconds."""
    with bar(total=None, unit="folds", label="simulation") as shown:
        yield shown.reach


def lines_read(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Go through the lines of a file."""
    return progress(lines, total=None, unit="lines")
