"""Progress for people: a bar on the standard error where work takes more than two seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

__all__ = ["Bar", "bar", "folds_bar", "lines_read", "progress"]

_Item = TypeVar("_Item")
_SILENT, _EVERY = 2.0, 1.0
_FORMAT: Final = (
    "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{unit} [{elapsed}<{remaining}]"
)


class Bar:
    """A bar whose label says what is under way.

    Parameters
    ----------
    shown : tqdm
        What draws it.
    """

    def __init__(self, shown: Any) -> None:  # noqa: ANN401  tqdm ships no types
        self._shown = shown

    def label(self, text: str) -> None:
        """Say what is under way.

        Parameters
        ----------
        text : str
            A few words.
        """
        self._shown.set_description_str(text, refresh=False)

    def reach(self, done: int, total: int, what: str) -> None:
        """Show how many of all steps are done, and what is under way."""
        self._shown.total = total
        self.label(what)
        self._shown.update(done - self._shown.n)

    def step(self) -> None:
        """Go one step further."""
        self._shown.update()


@contextmanager
def bar(*, total: int, unit: str, label: str) -> Iterator[Bar]:
    """Show a bar on the standard error where work takes more than two seconds.

    It appears after two seconds and its clock goes on, also while a single step takes long.

    Parameters
    ----------
    total : int
        How many steps there are.
    unit : str
        What they are.
    label : str
        What is under way first.

    Yields
    ------
    Bar
    """
    from tqdm import tqdm  # noqa: PLC0415  loaded when the verb runs

    # disable=None: no bar where nobody watches.
    with tqdm(
        total=total,
        unit=f" {unit}",
        desc=label,
        bar_format=_FORMAT,
        delay=_SILENT,
        disable=None,
        leave=False,
    ) as shown:
        stop = _redraw(shown)
        try:
            yield Bar(shown)
        finally:
            stop()


@contextmanager
def folds_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Show folds as `supm.collection.simulate` tells them, after two seconds."""
    with bar(total=0, unit="folds", label="simulation") as shown:
        yield shown.reach


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
    yield from tqdm(items, total=total, unit=f" {unit}", delay=_SILENT, disable=None, leave=False)


def lines_read(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Go through the lines of a file."""
    return progress(lines, total=None, unit="lines")


def _redraw(shown: Any) -> Callable[[], None]:  # noqa: ANN401  tqdm ships no types
    """Draw the bar again every second, and return what ends that."""
    done = threading.Event()

    def draw() -> None:
        wait = _SILENT
        while not done.wait(wait):
            # tqdm wipes a bar at the end only if it thinks that it was drawn.
            shown.last_print_t = max(shown.last_print_t, shown.start_t + _SILENT)
            shown.refresh()
            wait = _EVERY

    if shown.disable:
        return done.set
    thread = threading.Thread(target=draw, daemon=True)
    thread.start()

    def stop() -> None:
        done.set()
        thread.join()

    return stop
