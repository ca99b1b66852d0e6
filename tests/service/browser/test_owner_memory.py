"""What the page remembers: nobody is asked twice, and dice are thrown once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from supm.collection import plan
from supm.messages import Report
from supm.schema import Categorical, Continuous, Ordinal, Schema

SCHEMA: Final = Schema(
    attributes=(
        Continuous("age", low=0, high=110),
        Ordinal("pain", values=("none", "some", "much"), missing="class"),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
STUDY: Final = plan(SCHEMA, epsilon=2.0, classes=3, told=2)
GROUPS: Final = plan(SCHEMA, epsilon=2.0, classes=4, reduce="regroup", sampled=1, told=2)


def prepare(page: Any, age: str = "33") -> str:
    for number in page.locator("#fields input[inputmode=decimal]").all():
        number.fill(age)
    for choice in page.locator("#fields select").all():
        choice.select_option(index=1)
    page.click("#show")
    page.wait_for_selector("#preview")
    return str(page.locator("#report").text_content())


def send(page: Any) -> None:
    page.click("#send")
    page.wait_for_selector("#done")


def test_who_has_answered_is_not_asked_again(service: Any, visit: Callable[..., Any]) -> None:
    name = service.open(STUDY)
    visited = visit(name)
    prepare(visited.page)
    send(visited.page)
    page = visited.go()
    assert page.locator("#done-words").inner_text().startswith("You have answered already")
    assert page.locator("#asking").is_hidden()
    assert service.store.reports(name) == {"train": 1}


def test_a_report_that_was_drawn_is_the_one_that_is_sent(
    service: Any, visit: Callable[..., Any]
) -> None:
    visited = visit(service.open(STUDY))
    drawn = prepare(visited.page)
    page = visited.go()
    page.wait_for_selector("#preview")
    assert page.locator("#report").text_content() == drawn
    assert page.locator("#correct").is_hidden()
    send(page)
    assert visited.bodies == [drawn]


def test_correcting_a_value_does_not_throw_the_dice_again(
    service: Any, visit: Callable[..., Any]
) -> None:
    page = visit(service.open(STUDY)).page
    first = prepare(page, "33")
    page.click("#correct")
    prepare(page, "99")
    page.click("#correct")
    assert prepare(page, "33") == first


@pytest.mark.parametrize("failure", ["busy", "cut off"])
def test_after_the_first_attempt_the_same_report_is_sent_again(
    service: Any, visit: Callable[..., Any], failure: str
) -> None:
    name = service.open(STUDY)
    visited = visit(name)
    page = visited.page

    def fail(route: Any) -> None:
        if failure == "busy":
            headers = {"Retry-After": "0"}
            route.fulfill(status=503, headers=headers, json={"error": "busy."})
        else:
            route.abort()

    page.route("**/reports", fail)
    drawn = prepare(page)
    page.click("#send")
    page.wait_for_selector("#send-wrong:text('nothing is lost')")
    assert page.locator("#correct").is_hidden()
    page.unroute("**/reports")
    send(page)
    assert visited.bodies == [drawn] * (5 if failure == "busy" else 2)
    assert service.store.reports(name) == {"train": 1}


def two_tabs(visit: Callable[..., Any], name: str) -> list[Any]:
    """Open a page in two tabs of one browser, before anything is drawn."""
    first = visit(name)
    second = type(first)(page=first.page.context.new_page(), address=first.address)
    second.listen()
    second.go()
    return [first, second]


def test_two_tabs_send_one_report(service: Any, visit: Callable[..., Any]) -> None:
    name = service.open(STUDY)
    tabs = two_tabs(visit, name)
    drawn = [prepare(tab.page, age) for tab, age in zip(tabs, ("33", "99"), strict=True)]
    for tab in tabs:
        send(tab.page)
    assert drawn[0] == drawn[1]
    assert [tab.bodies for tab in tabs] == [[drawn[0]], [drawn[0]]]
    assert service.store.reports(name) == {"train": 1}


def test_a_report_that_another_tab_sent_is_not_corrected(
    service: Any, visit: Callable[..., Any]
) -> None:
    first, second = two_tabs(visit, service.open(STUDY))
    drawn = prepare(first.page)
    prepare(second.page)
    first.page.click("#correct")
    send(second.page)
    first.page.fill("#field-0", "99")
    first.page.click("#show")
    first.page.wait_for_selector("#done")
    assert (first.bodies, second.bodies) == ([], [drawn])


def test_what_was_corrected_in_another_tab_is_not_sent_as_it_was(
    service: Any, visit: Callable[..., Any]
) -> None:
    first, second = two_tabs(visit, service.open(STUDY))
    prepare(first.page)
    prepare(second.page)
    # Dice may hide one correction, so the report is replaced as a correction would.
    replaced = "({ text }) => localStorage.setItem(text, localStorage.getItem(text).replace"
    key = {"text": f"supm report train {STUDY.hash}"}
    first.page.evaluate(f"{replaced}('\"group\":0', '\"group\":9'))", key)
    second.page.click("#send")
    assert "corrected in another tab" in second.page.locator("#send-wrong").inner_text()
    assert second.bodies == []


def test_a_second_address_of_one_document_gets_the_same_report(
    service: Any, visit: Callable[..., Any]
) -> None:
    names = [service.open(STUDY) for _ in range(2)]
    visited = visit(names[0])
    drawn = prepare(visited.page)
    send(visited.page)
    visited.address = visited.address.replace(*names)
    page = visited.go()
    page.wait_for_selector("#preview")
    assert page.locator("#report").text_content() == drawn
    send(page)
    assert visited.bodies == [drawn, drawn]
    assert [service.store.reports(name) for name in names] == [{"train": 1}] * 2
    assert visited.go().locator("#done-words").inner_text().startswith("You have answered already")


def test_values_as_they_are_are_not_remembered(service: Any, visit: Callable[..., Any]) -> None:
    open_hearted = plan(
        SCHEMA, epsilon=4.0, mode="faithful", trust="t,t,t", attributes=["age"], train="oda"
    )
    name = service.open(open_hearted)
    visited = visit(name)
    visited.page.check("#consent")
    drawn = Report.from_json(prepare(visited.page))
    page = visited.go()
    page.check("#consent")
    assert Report.from_json(prepare(page)).id == drawn.id, "typed again, it counts once"
    send(page)
    assert "symbols" not in visited.memory()
    assert visited.go().locator("#done-words").inner_text().startswith("You have answered already")
    assert service.store.reports(name) == {"train": 1}


def test_two_owners_draw_for_themselves(service: Any, visit: Callable[..., Any]) -> None:
    name = service.open(STUDY)
    ids = {Report.from_json(prepare(visit(name).page)).id for _ in range(3)}
    assert len(ids) == 3


@pytest.mark.parametrize("group", [0, 1])
def test_only_the_drawn_group_is_asked(service: Any, visit: Callable[..., Any], group: int) -> None:
    name = service.open(GROUPS)
    visited = visit(name, remembered={f"supm group {GROUPS.hash}": str(group)})
    assert visited.page.locator("#asking").is_visible() == (group == 0)
    if group == 1:
        assert "another group is asked now" in visited.page.locator("#notice").inner_text()
    assert visited.complaints == []


def test_a_group_is_drawn_once(service: Any, visit: Callable[..., Any]) -> None:
    visited = visit(service.open(GROUPS))
    key = f"supm group {GROUPS.hash}"
    drawn = visited.page.evaluate("key => localStorage.getItem(key)", key)
    assert drawn in {"0", "1"}
    visited.go()
    assert visited.page.evaluate("key => localStorage.getItem(key)", key) == drawn


def test_who_trained_is_not_tested_but_answered_on_the_device(
    service: Any, visit: Callable[..., Any]
) -> None:
    name = service.open(STUDY)
    service.fill(name, 200)
    visited = visit(name)
    prepare(visited.page)
    send(visited.page)
    service.act(name, "train")
    service.act(name, "serve")
    page = visited.go()
    assert "You helped to train this model" in page.locator("#notice").inner_text()
    page.fill("#field-0", "60")
    page.select_option("#field-1", label="I do not know")
    page.click("#show")
    page.wait_for_selector("#device")
    assert len(visited.bodies) == 1


def test_after_the_deadline_nobody_is_asked(service: Any, visit: Callable[..., Any]) -> None:
    visited = visit(service.open(STUDY, deadlines={"train": 1.0}))
    assert "time for answering has passed" in visited.page.locator("#notice").inner_text()


def test_a_study_that_asks_nothing_says_so(service: Any, visit: Callable[..., Any]) -> None:
    name = service.open(STUDY)
    service.act(name, "close")
    visited = visit(name)
    assert "This study is closed" in visited.page.locator("#notice").inner_text()
    assert visited.complaints == []
