"""Answers that get lost on their way back: what was sent is remembered before it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from supm.collection import plan
from supm.messages import Trust
from supm.schema import Categorical, Continuous, Ordinal, Schema

SCHEMA: Final = Schema(
    attributes=(
        Continuous("age", low=0, high=110),
        Ordinal("pain", values=("none", "some", "much")),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
TESTED: Final = plan(SCHEMA, epsilon=2.0, attributes=["age", "pain"], trust=Trust())
# So large that another value gives another report.
CLEAR: Final = plan(SCHEMA, epsilon=40.0, attributes=["age", "pain"])


def fill(page: Any, age: str = "33") -> None:
    for number in page.locator("#fields input[inputmode=decimal]").all():
        number.fill(age)
    for choice in page.locator("#fields select").all():
        choice.select_option(index=1)
    page.click("#show")
    page.wait_for_selector("#preview:not([hidden])")


def lose(page: Any) -> None:
    """Let a report arrive, and its answer not."""

    def lost(route: Any) -> None:
        route.fetch()
        route.abort()

    page.route("**/reports", lost)


def send_in_vain(page: Any) -> None:
    lose(page)
    page.click("#send")
    page.wait_for_selector("#send-wrong:not([hidden])")
    page.unroute("**/reports")


def phases(visited: Any) -> list[str]:
    return [json.loads(each)["phase"] for each in visited.bodies]


def test_who_trained_without_hearing_so_is_not_tested(
    service: Any, visit: Callable[..., Any]
) -> None:
    name = service.open(TESTED)
    service.fill(name, 300)
    visited = visit(name)
    fill(visited.page)
    send_in_vain(visited.page)
    assert service.store.reports(name) == {"train": 301}
    service.act(name, "train")
    service.act(name, "serve")
    page = visited.go()
    assert "You helped to train this model" in page.locator("#notice").inner_text()
    assert phases(visited) == ["train"]


def test_who_closed_the_tab_after_sending_is_not_tested(
    service: Any, visit: Callable[..., Any]
) -> None:
    name = service.open(TESTED)
    service.fill(name, 300)
    visited = visit(name)
    fill(visited.page)
    visited.page.route("**/reports", lambda route: route.fetch())  # and never an answer
    visited.page.click("#send")
    other = type(visited)(page=visited.page.context.new_page(), address=visited.address)
    visited.page.close()
    service.act(name, "train")
    service.act(name, "serve")
    assert "You helped to train this model" in other.go().locator("#notice").inner_text()


def test_who_sends_after_the_study_moved_on_is_told_to_reload(
    service: Any, visit: Callable[..., Any]
) -> None:
    name = service.open(TESTED)
    service.fill(name, 300)
    page = visit(name).page
    fill(page)
    service.act(name, "train")
    service.act(name, "serve")
    page.click("#send")
    wrong = page.locator("#send-wrong", has_text="moved on")
    wrong.wait_for()
    assert wrong.inner_text() == "The study has moved on; nothing was stored. Reload this page."
    assert page.locator("#send").is_hidden()
    assert service.store.reports(name)["train"] == 300


def test_who_was_tested_in_another_tab_does_not_train_in_this_one(
    service: Any, visit: Callable[..., Any]
) -> None:
    visited = visit(service.open(TESTED))
    fill(visited.page)
    key = f"supm role {TESTED.beginning}"
    visited.page.evaluate("key => localStorage.setItem(key, '\"tested\"')", key)
    visited.page.click("#send")
    assert "You have taken part" in visited.page.locator("#send-wrong").inner_text()
    assert visited.bodies == []


def test_what_was_lost_in_one_tab_is_not_drawn_again_in_another(
    service: Any, visit: Callable[..., Any]
) -> None:
    name = service.open(CLEAR)
    first = visit(name)
    second = type(first)(page=first.page.context.new_page(), address=first.address)
    second.listen()
    second.go()
    fill(first.page)
    drawn = first.page.locator("#report").text_content()
    fill(second.page)
    first.page.click("#correct")
    send_in_vain(second.page)
    fill(first.page, "99")
    assert first.page.locator("#report").text_content() == drawn
    assert first.page.locator("#correct").is_hidden()
    first.page.click("#send")
    first.page.wait_for_selector("#done:not([hidden])")
    assert "arrived before" in first.page.locator("#done-words").inner_text()
    assert first.bodies == second.bodies == [drawn]
    assert service.store.reports(name) == {"train": 1}


@pytest.mark.parametrize("status", [429, 503])
def test_the_page_comes_again_while_the_study_is_busy(
    service: Any, visit: Callable[..., Any], status: int
) -> None:
    name = service.open(TESTED)
    visited = visit(name)
    fill(visited.page)
    left = [status, status]

    def busy(route: Any) -> None:
        if left:
            route.fulfill(status=left.pop(), headers={"Retry-After": "1"}, json={"error": "busy."})
        else:
            route.continue_()

    visited.page.route("**/reports", busy)
    visited.page.click("#send")
    visited.page.wait_for_selector("#send-wrong:not([hidden])")
    assert "tries again in 1 s" in visited.page.locator("#send-wrong").inner_text()
    visited.page.wait_for_selector("#done:not([hidden])")
    assert len(visited.bodies) == 3
    assert len(set(visited.bodies)) == 1
    assert service.store.reports(name) == {"train": 1}


def test_the_page_does_not_come_again_for_ever(service: Any, visit: Callable[..., Any]) -> None:
    visited = visit(service.open(TESTED))
    fill(visited.page)
    visited.page.route(
        "**/reports", lambda route: route.fulfill(status=503, headers={"Retry-After": "0"}, json={})
    )
    visited.page.click("#send")
    visited.page.wait_for_selector("#send-wrong:text('nothing is lost')")
    assert len(visited.bodies) == 4
    assert visited.page.locator("#send").is_enabled()
