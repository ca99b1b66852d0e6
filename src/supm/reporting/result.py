"""What every result can do: be read by people and machines, in a notebook and outside."""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from typing import Any, ClassVar, Final

from supm._errors import ParameterError
from supm.reporting.text import Backend, Table, paragraph

# What JSON may hold as it is, and what steers a terminal or turns the direction of a line.
_STEERING: Final = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Result(ABC):
    """Base of what is measured or learned: a class says what it is, and shows itself everywhere.

    A class that inherits it writes `to_form`, and of `headline`, `tables`, `words` and `draw` what
    it has. A dataclass is made with ``repr=False``, so that its repr is the headline.
    """

    size: ClassVar[tuple[float, float]] = (7.2, 5.4)
    """Width and height of its picture, in inches."""

    @property
    def headline(self) -> str:
        """What this is, in a few words."""
        return type(self).__name__

    @abstractmethod
    def to_form(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""

    def tables(self) -> Sequence[Table]:
        """Return what people read as tables; the first is also the data frame."""
        return ()

    def words(self) -> Sequence[str]:
        """Return what the tables mean, as paragraphs."""
        return ()

    def draw(self, figure: Any) -> None:  # noqa: ANN401  matplotlib ships no types
        """Draw into a figure of matplotlib."""
        del figure
        raise ParameterError("result", "one with a picture", type(self).__name__)

    def to_json(self) -> str:
        """Return the plain values as JSON text; an infinite number is written as text."""
        return json_text(self.to_form())

    def to_frame(self, *, backend: Backend = "pandas") -> Any:  # noqa: ANN401  that of the backend
        """Return the first table as a data frame of pandas, Polars or PyArrow.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default "pandas"
            Whose; the package must be installed.
        """
        tables = self.tables()
        if not tables:
            raise ParameterError("result", "one with a table", type(self).__name__)
        return tables[0].to_frame(backend=backend)

    def plot(self, path: str | None = None) -> Any:  # noqa: ANN401  matplotlib ships no types
        """Draw a picture, and write it to a file if one is named.

        Parameters
        ----------
        path : str, optional
            Where to write it; the ending says in which format.

        Returns
        -------
        Figure
            A notebook shows it.
        """
        from supm.reporting.picture import new_figure, save  # noqa: PLC0415  loaded to draw

        figure = new_figure(self.size)
        self.draw(figure)
        if path is not None:
            save(figure, path)
        return figure

    def __str__(self) -> str:
        """Return the headline, the tables and what they mean, as the command line prints them."""
        tables = (f"{each.title}\n{each}" if each.title else str(each) for each in self.tables())
        return "\n\n".join([self.headline, *tables, *map(paragraph, self.words())])

    def __repr__(self) -> str:
        """Return the headline."""
        return f"<{self.headline}>"

    def _repr_html_(self) -> str:
        parts = [f"<p><strong>{escape(self.headline)}</strong></p>"]
        parts += [each.to_html() for each in self.tables()]
        parts += [f"<p>{escape(each)}</p>" for each in self.words()]
        return "\n".join(parts)


def json_text(value: Any) -> str:  # noqa: ANN401  whatever JSON can hold
    """Return plain values as JSON for people and machines, which steers no terminal.

    Parameters
    ----------
    value : object
        What JSON can hold; an infinite number is written as text.

    Returns
    -------
    str
    """
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def _finite(value: Any) -> Any:  # noqa: ANN401  whatever JSON can hold
    """Write what JSON has no number for as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
