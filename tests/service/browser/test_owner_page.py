"""The page for owners, end to end: a real server, a real browser, and what crosses the wire."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from supm.collection import plan
from supm.messages import Model, Report
from supm.schema import Categorical, Continuous, Ordinal, Schema

AGE: Final = Continuous("age", low=0, high=110)
WARD: Final = Categorical("ward", values=("lighthouse", "orangery"))
PAIN: Final = Ordinal("pain", values=("none", "some", "much"), missing="class")
ILL: Final = Categorical("ill", values=("never", "sometimes"))
SCHEMA: Final = Schema(attributes=(AGE, WARD, PAIN), target=ILL)
JOINT: Final = plan(
    SCHEMA, epsilon=1.0, attributes=["age", "ward"], classes=3, train="joint", purpose="Why?"
)
RAW_AGE: Final = "47.12345"
RAW_VALUES: Final = (RAW_AGE, "lighthouse", "orangery", "sometimes")


def fill(page: Any) -> None:
    """Give values that cannot be taken for anything else."""
    for number in page.locator("#fields input[inputmode=decimal]").all():
        number.fill(RAW_AGE)
    for choice in page.locator("#fields select").all():
        choice.select_option(index=2)


def prepare(page: Any) -> str:
    fill(page)
    page.click("#show")
    page.wait_for_selector("#preview")
    return str(page.locator("#report").text_content())


def send(page: Any) -> None:
    page.click("#send")
    page.wait_for_selector("#done")


def test_what_is_shown_is_what_is_sent_and_nothing_else(
    service: Any, visit: Callable[..., Any]
) -> None:
    name = service.open(JOINT)
    visited = visit(name)
    shown = prepare(visited.page)
    assert visited.bodies == []
    send(visited.page)
    assert visited.bodies == [shown]
    assert Report.from_json(shown).to_json() == shown
    assert service.store.reports(name) == {"train": 1}
    assert visited.hosts == {service.url.removeprefix("http://")}
    assert visited.complaints == []


def test_no_request_and_no_memory_has_a_raw_value(service: Any, visit: Callable[..., Any]) -> None:
    visited = visit(service.open(JOINT))
    prepare(visited.page)
    send(visited.page)
    everything = " ".join(visited.sent) + visited.memory()
    assert len(visited.sent) > 5
    for value in RAW_VALUES:
        assert value not in everything


def test_the_receipt_says_what_arrived_and_can_be_kept(
    service: Any, visit: Callable[..., Any]
) -> None:
    visited = visit(service.open(JOINT))
    report = Report.from_json(prepare(visited.page))
    send(visited.page)
    shown = visited.page.locator("#receipt").inner_text()
    assert report.id in shown
    assert JOINT.hash in shown
    with visited.page.expect_download() as download:
        visited.page.click("#download")
    receipt = json.loads(download.value.path().read_text())
    assert (receipt["id"], receipt["study"]) == (report.id, JOINT.hash)
    assert (receipt["phase"], receipt["verdict"]) == ("train", "accepted")


def test_the_page_works_by_keyboard_alone(service: Any, visit: Callable[..., Any]) -> None:
    name = service.open(JOINT)
    page = visit(name).page
    keyboard = page.keyboard

    def tab_to(selector: str) -> None:
        for _ in range(40):
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            keyboard.press("Tab")
        pytest.fail(f"the keyboard does not reach {selector}")

    tab_to("#field-0")
    keyboard.type("61")
    tab_to("#field-1")
    keyboard.type("orang")
    tab_to("#field-2")
    keyboard.type("never")
    tab_to("#show")
    keyboard.press("Enter")
    page.wait_for_selector("#preview")
    assert page.evaluate("document.activeElement.id") == "preview-title"
    tab_to("#send")
    keyboard.press("Enter")
    page.wait_for_selector("#done")
    assert page.evaluate("document.activeElement.id") == "done-title"
    assert service.store.reports(name) == {"train": 1}


def test_what_is_missing_is_said_beside_its_field(service: Any, visit: Callable[..., Any]) -> None:
    page = visit(service.open(JOINT)).page
    page.click("#show")
    assert page.locator("#field-0-wrong").inner_text() == "Please answer this."
    assert page.locator("#field-0").get_attribute("aria-invalid") == "true"
    assert page.evaluate("document.activeElement.id") == "field-0"
    assert page.locator("#preview").is_hidden()


def test_what_may_be_missing_is_said_to_be_unknown(service: Any, visit: Callable[..., Any]) -> None:
    study = plan(SCHEMA, epsilon=60.0, attributes=["pain"], classes=4, train="joint")
    page = visit(service.open(study)).page
    page.click("#show")
    assert page.locator("#field-0-wrong").inner_text() == "Please answer this."
    page.select_option("#field-0", label="I do not know")
    page.select_option("#field-1", label="never")
    page.click("#show")
    page.wait_for_selector("#preview")
    told = page.locator("#told tr").all_inner_texts()
    assert told == ["pain\tunknown\tunknown\tno", "ill\tnever\tnever\tno"]


def test_only_the_drawn_questions_are_asked(service: Any, visit: Callable[..., Any]) -> None:
    study = plan(SCHEMA, epsilon=2.0, classes=3, told=1)
    visited = visit(service.open(study))
    assert visited.page.locator("#fields .field").count() == 2
    asked = visited.page.locator("#fields label").all_inner_texts()
    report = Report.from_json(prepare(visited.page))
    assert asked == [SCHEMA.names[report.symbols[0]], "ill"]
    send(visited.page)
    visited.go()
    assert visited.page.locator("#done").is_visible()


def test_an_invitation_is_asked_for_and_used_once(service: Any, visit: Callable[..., Any]) -> None:
    name = service.open(JOINT, invitation="ABCD-EFGH")
    for already_used in (False, True):
        page = visit(name).page
        prepare(page)
        page.click("#send")
        assert page.locator("#send-wrong").inner_text() == "Please enter your invitation code."
        page.fill("#invitation", "another")
        page.click("#send")
        page.get_by_text("invitation is not known").wait_for()
        page.fill("#invitation", "abcd efgh")
        page.click("#send")
        if already_used:
            page.get_by_text("invitation was used").wait_for()
        else:
            page.wait_for_selector("#done")
    assert service.store.reports(name) == {"train": 1}


def test_a_failed_attempt_is_explained_and_repeated(
    service: Any, visit: Callable[..., Any]
) -> None:
    name = service.open(JOINT)
    visited = visit(name)
    shown = prepare(visited.page)
    visited.page.route("**/reports", lambda route: route.abort())
    visited.page.click("#send")
    visited.page.get_by_text("could not be reached; nothing is lost").wait_for()
    visited.page.unroute("**/reports")
    send(visited.page)
    assert visited.bodies == [shown, shown]
    assert service.store.reports(name) == {"train": 1}


def test_a_question_that_states_less_than_it_spends_is_not_asked(
    service: Any, visit: Callable[..., Any]
) -> None:
    visited = visit(service.open(JOINT))

    def lower(route: Any) -> None:
        answer = route.fetch()
        text = re.sub(r'"epsilon": 1\.0', '"epsilon": 0.9', answer.text())
        route.fulfill(response=answer, body=text)

    visited.page.route(visited.address, lower)
    visited.go()
    notice = visited.page.locator("#notice").inner_text()
    assert "would spend more than the study states" in notice
    assert visited.page.locator("#part").is_hidden()


def test_a_question_that_is_not_the_documents_is_not_asked(
    service: Any, visit: Callable[..., Any]
) -> None:
    visited = visit(service.open(JOINT))
    assert f"hash is {JOINT.hash}" in visited.page.locator("#checked").text_content()

    def raise_epsilon(route: Any) -> None:
        answer = route.fetch()
        text = re.sub(r'"epsilon": 1\.0', '"epsilon": 5.0', answer.text())
        route.fulfill(response=answer, body=text)

    visited.page.route(visited.address, raise_epsilon)
    visited.go()
    assert "not what the study's document states" in visited.page.locator("#notice").inner_text()


def test_values_as_they_are_need_a_yes(service: Any, visit: Callable[..., Any]) -> None:
    study = plan(
        SCHEMA, epsilon=4.0, mode="faithful", trust="t,t,t", attributes=["age"], train="oda"
    )
    visited = visit(service.open(study))
    assert "Nothing is promised" in visited.page.locator("#explain").inner_text()
    fill(visited.page)
    visited.page.click("#show")
    assert "Please say that you agree" in visited.page.locator("#form-wrong").inner_text()
    visited.page.check("#consent")
    prepare(visited.page)
    send(visited.page)


def test_names_are_text_whatever_is_in_them(service: Any, visit: Callable[..., Any]) -> None:
    hostile = "</script><img src=x onerror=alert(1)> & <b>"
    schema = Schema(attributes=(Continuous(hostile, low=0, high=1),), target=ILL)
    visited = visit(service.open(plan(schema, epsilon=1.0, purpose=hostile)))
    assert visited.page.locator("#fields label").first.inner_text() == hostile
    assert visited.page.locator("h1").inner_text() == hostile
    assert visited.page.locator("main img, main b").count() == 0
    assert visited.complaints == []


def trained(service: Any, trust: str) -> str:
    name: str = service.open(plan(SCHEMA, epsilon=4.0, classes=3, trust=trust))
    service.fill(name, 300)
    service.act(name, "train")
    service.act(name, "serve")
    return name


def model_answer(service: Any, name: str) -> str:
    """Return what Python's model says about the values that `fill` gives."""
    model = Model.from_json(service.store.find(name).model)
    record = {"age": float(RAW_AGE), "ward": "orangery", "pain": "some"}
    read = model.study.schema.read([record], labelled=False)
    return str(model.labels[int(model.predict(read)[0])])


def test_on_the_device_the_model_is_followed_and_nothing_leaves(
    service: Any, visit: Callable[..., Any]
) -> None:
    name = trained(service, "u,u,d")
    visited = visit(name)
    fill(visited.page)
    visited.page.click("#show")
    visited.page.wait_for_selector("#device")
    told = visited.page.locator("#device-answer").inner_text()
    assert told.startswith(model_answer(service, name))
    assert visited.bodies == []
    assert RAW_AGE not in " ".join(visited.sent) + visited.memory()


def test_in_the_test_phase_the_answer_is_told_and_answered(
    service: Any, visit: Callable[..., Any]
) -> None:
    name = trained(service, "u,u,u")
    visited = visit(name)
    shown = prepare(visited.page)
    own = visited.page.locator("#own-answer").inner_text()
    assert f"only you see: {model_answer(service, name)}" in own
    send(visited.page)
    assert visited.bodies == [shown]
    assert len(Report.from_json(shown).symbols) == 1
    answer = visited.page.locator("#server-answer").inner_text()
    assert any(str(label) in answer for label in ILL.values)
    assert visited.complaints == []
    assert service.store.reports(name)["test"] == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(service: Any, visit: Callable[..., Any], scheme: str) -> None:
    looks = {"viewport": {"width": 390, "height": 844}, "color_scheme": scheme}
    visited = visit(service.open(JOINT), **looks)
    wide = "document.documentElement.scrollWidth"
    assert visited.page.evaluate(wide) == 390
    prepare(visited.page)
    assert visited.page.evaluate(wide) == 390
    send(visited.page)
    assert visited.page.evaluate(wide) == 390
