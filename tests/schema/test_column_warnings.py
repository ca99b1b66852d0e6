from __future__ import annotations

import numpy as np
import pytest

from supm.schema.column_warnings import PublicColumn, warning_about

LINES = np.arange(2, 102)


def said(*cells: str) -> str | None:
    text = np.array((list(cells) * 100)[:100], dtype=np.dtypes.StringDType())
    return warning_about(PublicColumn.of_text("x", text, LINES))


@pytest.mark.parametrize("cell", ["1,5", "-0,25", "4.321,5", "4,321.5", "1'000", "1 000 000"])
def test_numbers_of_another_spelling_get_a_hint(cell: str) -> None:
    hint = said(cell)
    assert hint is not None
    assert "decimal commas or thousands separators" in hint
    assert cell not in hint


@pytest.mark.parametrize(
    "cell", ["{} kg", "{}.5kg", "€ {}", "{} €", "{}%", "{},5 mg/dl", "{} m2", "{} °C"]
)
def test_numbers_with_a_unit_get_a_hint(cell: str) -> None:
    hint = said(*(cell.format(k) for k in range(100)))
    assert hint is not None
    assert "holds numbers with a unit" in hint
    assert "remove the unit" in hint
    assert cell.format(77) not in hint


@pytest.mark.parametrize(
    "cell",
    ["2020-01-{}", "{}.1.2020", "{}/1/20", "2020-01-{}T10:00:00Z", "{} Mar 2020", "March {}, 2020"],
)
def test_dates_get_a_hint(cell: str) -> None:
    hint = said(*(cell.format(k) for k in range(10, 29)))
    assert hint == (
        "'x' holds dates, which count as text: turn each into a number, such as a number of days."
    )


def test_codes_and_few_doses_are_no_numbers_with_a_unit() -> None:
    assert said("5 mg", "10 mg", "20 mg") is None
    assert said(*(f"{k}{letter}" for k in range(20) for letter in "abcde")) is None
    assert said(*(f"{k} Main Street" for k in range(100))) is None


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
