"""How a table, a picture and a page look, on the command line, in a notebook and in a browser.

No words of any strand live here: a result of a strand inherits `Result`, says what it is in plain
values, tables and a drawing, and shows itself everywhere in the same way.
"""

from __future__ import annotations

from supm.reporting.page import card, details, figure, page
from supm.reporting.picture import COLOURS, DARK, LIGHT, Look, as_svg, legend_below, save, tidy
from supm.reporting.progress import Bar, bar, progress
from supm.reporting.result import Result, json_text
from supm.reporting.text import Table, counted, paragraph, printable

__all__ = [
    "COLOURS",
    "DARK",
    "LIGHT",
    "Bar",
    "Look",
    "Result",
    "Table",
    "as_svg",
    "bar",
    "card",
    "counted",
    "details",
    "figure",
    "json_text",
    "legend_below",
    "page",
    "paragraph",
    "printable",
    "progress",
    "save",
    "tidy",
]
