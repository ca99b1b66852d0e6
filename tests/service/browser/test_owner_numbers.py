"""How the page reads numbers: a decimal comma, what lies beyond the bounds, and what is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from supm.collection import plan
from supm.schema import Categorical, Continuous, Schema

SCHEMA: Final = Schema(
    attributes=(
        Continuous("acid", low=4.2, high=32.9),
        Continuous("dose", low=0, high=10, missing="class"),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
# Values as they are, so that the report shows what was read.
STUDY: Final = plan(SCHEMA, epsilon=4.0, mode="faithful", trust="t,t,t", train="oda")


def open_page(service: Any, visit: Callable[..., Any]) -> Any:
    page = visit(service.open(STUDY)).page
    page.select_option("#fields select", label="yes")
    page.check("#consent")
    return page


def symbols(page: Any, acid: str, dose: str) -> list[int]:
    """Return what would be sent for two numbers."""
    page.fill("#field-0", acid)
    page.fill("#field-1", dose)
    page.click("#show")
    page.wait_for_selector("#preview")
    told: list[int] = json.loads(page.locator("#report").text_content())["symbols"]
    page.click("#correct")
    return told


def test_a_decimal_comma_is_a_point(service: Any, visit: Callable[..., Any]) -> None:
    page = open_page(service, visit)
    with_point = symbols(page, "29.5", "9.5")
    assert symbols(page, "29,5", " 9,5 ") == with_point
    assert page.locator("#field-0-note").inner_text() == "This is read as 29.5."
    assert symbols(page, "4.5", "0.5") != with_point


def test_what_lies_beyond_is_said_before_it_is_sent(
    service: Any, visit: Callable[..., Any]
) -> None:
    page = open_page(service, visit)
    page.fill("#field-0", "275")
    note = page.locator("#field-0-note")
    assert note.inner_text() == "275 is beyond 32.9 and counts as 32.9."
    page.fill("#field-0", "\u22121")
    assert note.inner_text() == "-1 is beyond 4.2 and counts as 4.2."
    assert symbols(page, "275", "5") == symbols(page, "32.9", "5")
    assert note.inner_text() == ""


@pytest.mark.parametrize("text", ["about 5", "1,000.5", "0x10", "1e999", "Infinity", "5 6", "-"])
def test_what_is_no_number_is_refused_even_where_none_is_needed(
    service: Any, visit: Callable[..., Any], text: str
) -> None:
    page = open_page(service, visit)
    page.fill("#field-0", "5")
    page.fill("#field-1", text)
    page.click("#show")
    assert page.locator("#field-1-wrong").inner_text() == "Please give a number."
    assert page.locator("#preview").is_hidden()
    assert page.evaluate("document.activeElement.id") == "field-1"


def test_an_empty_field_is_unknown_only_where_that_is_allowed(
    service: Any, visit: Callable[..., Any]
) -> None:
    page = open_page(service, visit)
    assert symbols(page, "5", "")
    page.fill("#field-0", " ")
    page.click("#show")
    assert page.locator("#field-0-wrong").inner_text() == "Please answer this."
