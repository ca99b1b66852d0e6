from __future__ import annotations

import numpy as np
import pytest

from supm.cli._oddities import oddity

LINES = np.arange(2, 102)


def said(*cells: str) -> str | None:
    text = np.array((list(cells) * 100)[:100], dtype=np.dtypes.StringDType())
    return oddity("x", text, LINES)


@pytest.mark.parametrize("cell", ["1,5", "-0,25", "4.321,5", "4,321.5", "1'000", "1 000 000"])
def test_numbers_of_another_spelling_get_a_hint(cell: str) -> None:
    hint = said(cell)
    assert hint is not None
    assert "decimal commas or thousands separators" in hint
    assert cell not in hint


@pytest.mark.parametrize("cells", [["north", "east"], ["1.5", "2"], ["1", "2", "3+"], ["", "NA"]])
def test_what_looks_right_is_passed_over(cells: list[str]) -> None:
    assert said(*cells) is None


def test_one_text_among_numbers_is_named_by_its_line() -> None:
    hint = said(*(f"{k}.5" for k in range(50)), "", "?", "six", *(["7"] * 47))
    assert hint == (
        "'x' counts as text: 97 of 98 values are numbers, and that of line 54 is not; correct it, "
        "or leave it empty."
    )


def test_an_identifier_is_another_whole_number_in_every_line() -> None:
    assert "if it is an identifier" in str(said(*map(str, range(100))))
    assert said(*map(str, range(99)), "7") is None
    assert said(*(f"{k}.5" for k in range(100))) is None
