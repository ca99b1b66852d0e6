"""Progress for people: a bar on the standard error where work takes more than two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from supm.reporting.text import printable

_Item = TypeVar("_Item")
_SILENT: Final = 2.0


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
def bar(*, total: int | None, unit: str, label: str, after: float = _SILENT) -> Iterator[Bar]:
    """Show a bar on the standard error where somebody watches and work takes long.

    Its clock goes on while a single step takes long, and it is wiped at the end.

    Parameters
    ----------
    total : int or None
        How many steps there are, if that is known.
    unit : str
        What they are.
    label : str
        What is under way first.
    after : float, default 2
        It appears after so many seconds.

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
    late = threading.Timer(after, shown.start)
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
