from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from supm._errors import ParameterError
from supm.reporting import Look, Result, Table, card, details, figure, page, paragraph
from supm.reporting.text import Backend

SHARES = Table(
    title="Shares", head=["name", "share"], rows=[["<a>", 0.25], ["b", None]], formats=["", ".0%"]
)


@dataclass(frozen=True, repr=False)
class Measured(Result):
    people: int

    @property
    def headline(self) -> str:
        return f"Measured on {self.people} people"

    def to_form(self) -> dict[str, Any]:
        return {"people": self.people, "most": math.inf, "steering": "\u202e"}

    def tables(self) -> Sequence[Table]:
        return (SHARES,)

    def words(self) -> Sequence[str]:
        return ("It is < than it was.",)

    def draw(self, figure: Any) -> None:
        figure.subplots().plot([1, 2])


def test_a_table_aligns_words_left_and_figures_right() -> None:
    shown = str(Table(head=["a", "b", "c"], rows=[["xx", "1", 22], ["y", "333", 4]]))
    assert shown.splitlines() == ["a     b   c", "xx    1  22", "y   333   4"]


def test_long_words_are_broken_and_what_steers_a_terminal_is_not_shown() -> None:
    rows = [["one two three", "x\x1b[0m"], ["[bold]", "y"]]
    shown = str(Table(head=["words", "more"], rows=rows, words=1, widest=7))
    assert shown.splitlines() == ["words     more", "one two  x?[0m", "three", "[bold]       y"]


class Bare(Result):
    """A result that has nothing but its form."""

    def to_form(self) -> dict[str, object]:
        return {}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_table_is_a_frame_of_numbers(backend: Backend) -> None:
    found = Measured(3).to_frame(backend=backend)
    assert type(found).__module__.startswith(backend)
    assert found.shape == (2, 2)


def test_a_frame_of_nobody_is_refused() -> None:
    with pytest.raises(ParameterError, match="backend must be one of pandas, polars, pyarrow"):
        SHARES.to_frame(backend="excel")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="one with a table, got 'Bare'"):
        Bare().to_frame()


def test_a_result_without_a_picture_says_so_and_one_without_a_form_cannot_be_made() -> None:
    with pytest.raises(ParameterError, match="one with a picture, got 'Bare'"):
        Bare().plot()
    with pytest.raises(TypeError, match="to_form"):
        Result()  # type: ignore[abstract]  # which is what is tested


def test_a_result_shows_itself_everywhere(tmp_path: Path) -> None:
    found = Measured(3)
    assert repr(found) == "<Measured on 3 people>"
    assert str(found).splitlines()[2:5] == ["Shares", "name  share", "<a>     25%"]
    shown = found._repr_html_()
    assert "<td>&lt;a&gt;</td><td>25%</td>" in shown
    assert "It is &lt; than it was." in shown
    assert json.loads(found.to_json())["most"] == "inf"
    assert "\\u202e" in found.to_json()
    found.plot(str(tmp_path / "x.png"))
    assert (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"


def test_a_page_holds_everything_and_is_drawn_alike() -> None:
    def draw(empty: Any, look: Look) -> None:
        empty.subplots().plot([1, 2], color=look.ink)

    parts = [card("3", "<people>"), figure(draw, name="n", alt='"', caption="c")]
    shown = page("<x>", [*parts, details("more", [SHARES.to_html()])])
    assert shown == page("<x>", [*parts, details("more", [SHARES.to_html()])])
    assert "<title>&lt;x&gt;</title>" in shown
    assert shown.count("data:image/svg+xml") == 2
    assert "http://" not in shown
    assert "https://" not in shown


def test_a_paragraph_is_broken_and_indented() -> None:
    lines = paragraph("word " * 40, indent="  ").splitlines()
    assert len(lines) == 3
    assert all(line.startswith("  word") and len(line) <= 88 for line in lines)
