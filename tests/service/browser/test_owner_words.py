"""What an owner is told: how far a report may be believed, who asks, and until when."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from supm.collection import plan
from supm.schema import Categorical, Continuous, Ordinal, Schema

ILL: Final = Categorical("ill", values=("never", "sometimes"))
SCHEMA: Final = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("pain", values=("none", "some", "much")),
    ),
    target=ILL,
)
YES_OR_NO: Final = Schema(attributes=(Categorical("smokes", values=("no", "yes")),), target=ILL)


def joint(epsilon: float, schema: Schema = YES_OR_NO, **wishes: Any) -> Any:
    names = [each.name for each in schema.attributes]
    return plan(schema, epsilon=epsilon, attributes=names, train="joint", **wishes)


def crowd(page: Any) -> int:
    """Return how many of the hundred people send what is true."""
    kept: int = page.locator(".crowd .kept").count()
    assert kept + page.locator(".crowd .changed").count() == 100
    return kept


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 6.0])
def test_how_far_a_report_may_be_believed_follows_the_picture(
    service: Any, visit: Callable[..., Any], epsilon: float
) -> None:
    page = visit(service.open(joint(epsilon))).page
    words, kept = page.locator("#explain .note").inner_text(), crowd(page)
    assert words.startswith("Nobody can be certain")
    assert "can know whether it is the truth" not in words
    if kept < 50:
        assert f"wrong more often than right, about {100 - kept} times in 100" in words
    else:
        assert f"is right about {kept} times in 100" in words
    assert ("hides little" in words) is (kept >= 90)


def test_a_huge_budget_is_not_said_to_hide_anything(
    service: Any, visit: Callable[..., Any]
) -> None:
    page = visit(service.open(joint(30.0))).page
    words = page.locator("#explain .note").inner_text()
    assert "is right more than 99 times in 100. That hides little" in words


def test_the_own_answer_stands_beside_what_is_sent_and_stays_here(
    service: Any, visit: Callable[..., Any]
) -> None:
    visited = visit(service.open(joint(4.0, SCHEMA, classes=4)))
    page = visited.page
    page.fill("#field-0", "61")
    page.select_option("#field-1", label="much")
    page.select_option("#field-2", label="never")
    page.click("#show")
    page.wait_for_selector("#preview")
    heads = page.locator("#preview thead th").all_inner_texts()
    assert heads == ["Asked", "Your answer", "Sent", "Changed?"]
    rows = [each.split("\t") for each in page.locator("#told tr").all_inner_texts()]
    assert [own for _, own, *_ in rows] == ["over 50 to 75", "much", "never"]
    for _, own, sent, changed in rows:
        assert (own == sent) is (changed == "no")
    page.click("#send")
    page.wait_for_selector("#done")
    assert not any(own in " ".join(visited.bodies) for own in ("over 50", "much", "never"))
    assert "much" not in visited.memory()


def test_from_memory_there_is_no_own_answer(service: Any, visit: Callable[..., Any]) -> None:
    visited = visit(service.open(joint(1.0)))
    visited.page.select_option("#field-0", label="yes")
    visited.page.select_option("#field-1", label="never")
    visited.page.click("#show")
    visited.page.wait_for_selector("#preview")
    visited.go()
    visited.page.wait_for_selector("#preview")
    assert visited.page.locator("#own-column").is_hidden()
    assert visited.page.locator("#told tr").first.locator("td").count() == 2


def test_numbers_of_their_own_are_told_in_their_unit(
    service: Any, visit: Callable[..., Any]
) -> None:
    study = plan(SCHEMA, epsilon=4.0, train="pw")
    page = visit(service.open(study)).page
    for number in page.locator("#fields input[inputmode=decimal]").all():
        number.fill("61")
    for choice in page.locator("#fields select").all():
        choice.select_option(index=2)
    page.click("#show")
    page.wait_for_selector("#preview")
    told = {each.split("\t")[0]: each.split("\t")[1] for each in rows_of(page)}
    assert float(told["age"]) == pytest.approx(61, abs=0.1)
    assert told["ill"] == "sometimes"


def rows_of(page: Any) -> list[str]:
    rows: list[str] = page.locator("#told tr").all_inner_texts()
    return rows


def test_who_asks_until_when_and_how_many_answered_is_said(
    service: Any, visit: Callable[..., Any]
) -> None:
    until = time.time() + 86_400
    hostile = "St Mary's <b>ward</b>"
    name = service.open(
        plan(SCHEMA, epsilon=2.0, classes=3, told=1),
        by=hostile,
        contact="study@hospital.example",
        deadlines={"train": until},
    )
    visited = visit(name)
    words = visited.page.locator("#who").inner_text()
    assert words == f"Run by {hostile}, contact study@hospital.example."
    link = visited.page.locator("#who a")
    assert link.get_attribute("href") == "mailto:study@hospital.example"
    assert visited.page.locator("#who b").count() == 0
    so_far = visited.page.locator("#so-far").inner_text()
    assert re.fullmatch(
        r"Answers are taken until \S+ \S+ UTC\. Nobody has answered so far\.", so_far
    )
    service.fill(name, 12)
    assert "12 people have answered so far." in visited.go().locator("#so-far").inner_text()
    assert visited.complaints == []


def test_those_who_trained_count_as_having_answered(
    service: Any, visit: Callable[..., Any]
) -> None:
    name = service.open(plan(SCHEMA, epsilon=2.0, classes=3, told=1, test="answer"))
    service.fill(name, 200)
    service.act(name, "train")
    service.act(name, "serve")
    so_far = visit(name).page.locator("#so-far").inner_text()
    assert so_far == "200 people have answered so far."


@pytest.mark.parametrize("contact", ["javascript:alert(1)", "Room 4, Main St", "http://a.example"])
def test_what_is_not_safely_a_link_is_text(
    service: Any, visit: Callable[..., Any], contact: str
) -> None:
    page = visit(service.open(joint(1.0), contact=contact)).page
    assert page.locator("#who").inner_text() == f"Contact {contact}."
    assert page.locator("#who a").count() == 0


def test_who_says_nothing_of_themselves_has_no_line(
    service: Any, visit: Callable[..., Any]
) -> None:
    page = visit(service.open(joint(1.0))).page
    assert page.locator("#who").count() == 0
    assert page.locator("#so-far").inner_text() == "Nobody has answered so far."


@pytest.mark.parametrize("dated", [True, False])
def test_another_group_is_told_when_to_come_back(
    service: Any, visit: Callable[..., Any], *, dated: bool
) -> None:
    study = plan(SCHEMA, epsilon=2.0, classes=4, reduce="regroup", sampled=1, told=2)
    deadlines = {"reduce": time.time() + 86_400} if dated else {}
    asked = study.question("reduce")
    assert asked is not None
    kept = {f"supm group {study.beginning}": str(1 - asked.group)}
    page = visit(service.open(study, deadlines=deadlines), remembered=kept).page
    notice = page.locator("#notice").inner_text()
    assert "another group is asked now" in notice
    assert bool(re.search(r"come back after \d{4}-\d\d-\d\d \d\d:\d\d UTC", notice)) is dated


def test_of_a_list_the_own_combination_is_said_once(
    service: Any, visit: Callable[..., Any]
) -> None:
    page = visit(service.open(joint(0.5, SCHEMA, classes=4))).page
    assert "that your own combination is on the list" in page.locator("#explain").inner_text()
    page.fill("#field-0", "61")
    page.select_option("#field-1", label="much")
    page.select_option("#field-2", label="never")
    page.click("#show")
    page.wait_for_selector("#preview")
    own = [each.split("\t")[1] for each in rows_of(page)]
    assert own[0] == "age: over 50 to 75; pain: much; ill: never"
    assert len(own) > 2
    assert set(own[1:]) == {""}
