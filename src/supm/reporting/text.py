"""Sentences, tables and progress for people; nothing in them steers a terminal."""

from __future__ import annotations

import io
import re
import sys
import textwrap
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

from supm._errors import ParameterError
from supm._lazy import package_error

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
    >>> counted(1, "fold"), counted(3, "fold"), counted(2, "entry")
    ('1 fold', '3 folds', '2 entries')
    """
    nouns = re.sub("(?<=[^aeiou])y$", "ie", noun) + "s"
    return f"{number} {noun if number == 1 else nouns}"


def cut_short(text: str, most: int = 22) -> str:
    """Cut a text that is too long.

    Parameters
    ----------
    text : str
        Of one line.
    most : int, default 22
        How many letters stay at most; so many leave room for a picture beside them.

    Returns
    -------
    str

    Examples
    --------
    >>> cut_short("weight"), cut_short("weight at birth", 9)
    ('weight', 'weight a…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
Cell: TypeAlias = str | int | float | None

# Nothing is cut: a terminal breaks a line that is too long, and a file holds it.
_WIDE: Final = 10_000


@dataclass(frozen=True, kw_only=True, repr=False)
class Table:
    """Rows of plain values under a head.

    Parameters
    ----------
    head : sequence of str
        The names of the columns.
    rows : sequence of sequence of str, int, float or None
        The cells; None is shown as a dash.
    title : str, default ""
        What the rows are.
    formats : sequence of str, optional
        How the numbers of each column are written, such as ``".1%"``; ``"g"`` by default.
    words : int, default 1
        How many columns, from the left, hold words and begin at the left.
    widest : int, optional
        Words are broken into lines of at most so many characters.

    Examples
    --------
    >>> rows = [["a", 0.5], ["longer", None]]
    >>> print(Table(head=["name", "share"], rows=rows, formats=["", ".0%"]))
    name    share
    a         50%
    longer      -
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    formats: Sequence[str] = ()
    words: int = 1
    widest: int | None = None

    def cells(self) -> list[list[str]]:
        """Return the rows as they are shown, without the head."""
        formats = self.formats or ("g",) * len(self.head)
        return [
            [_shown(cell, how) for cell, how in zip(row, formats, strict=True)] for row in self.rows
        ]

    def __str__(self) -> str:
        """Return aligned columns, without a final newline."""
        from rich.console import Console  # noqa: PLC0415  loaded when something is shown
        from rich.table import Table as Grid  # noqa: PLC0415  the same
        from rich.text import Text  # noqa: PLC0415  the same

        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        for place in range(len(self.head)):
            left = place < self.words
            widest = self.widest if left else None
            grid.add_column(
                justify="left" if left else "right", max_width=widest, no_wrap=widest is None
            )
        for row in (self.head, *self.cells()):
            grid.add_row(*(Text(printable(cell).replace("\n", " ")) for cell in row))
        shown = io.StringIO()
        Console(file=shown, width=_WIDE, color_system=None, legacy_windows=False).print(grid)
        return "\n".join(line.rstrip() for line in shown.getvalue().splitlines())

    def __repr__(self) -> str:
        """Return what a notebook without HTML shows."""
        return str(self)

    def to_html(self) -> str:
        """Return the table as HTML, with its title as the caption."""
        title = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        head = "".join(f'<th scope="col">{escape(each)}</th>' for each in self.head)
        rows = (
            "<tr>" + "".join(f"<td>{escape(each)}</td>" for each in row) + "</tr>"
            for row in self.cells()
        )
        body = "\n".join(rows)
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_frame(self, *, backend: Backend = "pandas") -> Any:  # noqa: ANN401  that of the backend
        """Return the rows as a data frame of pandas, Polars or PyArrow.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default "pandas"
            Whose; the package must be installed.
        """
        if backend not in get_args(Backend):
            raise ParameterError("backend", f"one of {', '.join(get_args(Backend))}", backend)
        columns = {name: [row[place] for row in self.rows] for place, name in enumerate(self.head)}
        try:
            import narwhals as nw  # noqa: PLC0415  loaded when a frame is wanted

            return nw.from_dict(columns, backend=backend).to_native()
        except ModuleNotFoundError as error:
            told = package_error(error)
        raise told


def _shown(cell: Cell, how: str) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    return format(cell, how if isinstance(cell, float) else how.removesuffix("g"))


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

    def step(self, steps: int = 1) -> None:
        """Go so many steps further."""
        self._shown.advance(self._task, steps)


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
