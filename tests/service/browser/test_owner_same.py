"""The same question gets the same answer, in whichever study of an aggregator it is asked."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from supm._json import canonical
from supm.collection import plan
from supm.messages import Report, Study, Trust
from supm.owner import owner
from supm.schema import Categorical, Continuous, Ordinal, Schema

SCHEMA: Final = Schema(
    attributes=(
        Continuous("age", low=0, high=110),
        Ordinal("pain", values=("none", "some", "much")),
        Categorical("ward", values=("north", "söuth")),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
STUDY: Final = plan(SCHEMA, epsilon=1.0, classes=12, told=1, attributes=list(SCHEMA.names))


def about(purpose: str, study: Study = STUDY) -> Study:
    return dataclasses.replace(study, purpose=purpose)


def answer(page: Any, age: str = "33") -> Report:
    for number in page.locator("#fields input[inputmode=decimal]").all():
        number.fill(age)
    for choice in page.locator("#fields select").all():
        choice.select_option(index=1)
    page.click("#show")
    page.wait_for_selector("#preview:not([hidden])")
    return Report.from_json(page.locator("#report").text_content())


def send(page: Any) -> None:
    page.click("#send")
    page.wait_for_selector("#done:not([hidden])")


def go(visited: Any, service: Any, name: str) -> Any:
    visited.address = f"{service.url}/studies/{name}"
    return visited.go()


def sent(visited: Any) -> list[Report]:
    return [Report.from_json(each) for each in visited.bodies]


def test_studies_that_differ_in_their_purpose_get_one_answer(
    service: Any, visit: Callable[..., Any]
) -> None:
    names = [service.open(about(f"purpose {number}")) for number in range(4)]
    visited = visit(names[0])
    answer(visited.page)
    send(visited.page)
    for name in names[1:]:
        page = go(visited, service, name)
        assert page.locator("#asking").is_hidden()
        assert page.locator("#correct").is_hidden()
        told = page.locator("#spent").inner_text()
        assert "cost ε = 1 so far" in told
        assert "costs you nothing more" in told
        send(page)
    reports = sent(visited)
    assert len({each.symbols for each in reports}) == 1
    assert len({each.study for each in reports}) == len({each.id for each in reports}) == 4
    assert [service.store.reports(name) for name in names] == [{"train": 1}] * 4
    assert visited.complaints == []


def test_another_question_is_asked_anew(service: Any, visit: Callable[..., Any]) -> None:
    dearer = plan(SCHEMA, epsilon=1.5, classes=12, told=1, attributes=list(SCHEMA.names))
    visited = visit(service.open(about("first")))
    answer(visited.page)
    send(visited.page)
    page = go(visited, service, service.open(dearer))
    assert "nothing more" not in page.locator("#spent").inner_text()
    answer(page)
    send(page)
    page = go(visited, service, service.open(about("third", dearer)))
    assert "cost ε = 2.5 so far" in page.locator("#spent").inner_text()


def told_by_python(study: Study, phase: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what supm.owner.owner hashes of a question."""
    told: list[Any] = []

    def note(form: object) -> str:
        told.append(form)
        return ""

    monkeypatch.setattr(owner, "canonical", note)
    question = study.question(phase)
    assert question is not None
    owner._question_hash(study, question)
    return json.loads(canonical(told[0]))


def told_by_the_page(page: Any, study: Study, phase: str) -> str:
    script = (
        "async ([text, phase]) => (await import('/static/same.js'))"
        ".questionText(JSON.parse(text), phase)"
    )
    return str(page.evaluate(script, [study.to_json(), phase]))


@pytest.mark.parametrize(
    ("study", "phase"),
    [
        (STUDY, "train"),
        (plan(SCHEMA, epsilon=2.0, classes=4, reduce="regroup"), "reduce"),
        (plan(SCHEMA, epsilon=2.0, classes=4, keep=1, reduce="rank"), "reduce"),
        (plan(SCHEMA, epsilon=2.0, attributes=["age"], trust=Trust(), test="answer"), "train"),
    ],
)
def test_a_question_is_the_same_where_python_says_so(
    blank_page: Any, study: Study, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = told_by_the_page(blank_page, study, phase)
    assert json.loads(text) == told_by_python(study, phase, monkeypatch)


def test_a_question_about_a_model_is_the_same_where_python_says_so(
    service: Any, visit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = service.open(plan(SCHEMA, epsilon=2.0, attributes=["age"], trust=Trust(), test="answer"))
    service.fill(name, 200)
    service.act(name, "train")
    service.act(name, "serve")
    page, study = visit(name).page, service.store.find(name).study
    told = told_by_python(study, "test", monkeypatch)
    assert told[-1] is not None, "the rule is a part of the question"
    assert json.loads(told_by_the_page(page, study, "test")) == told


def test_an_answer_is_kept_by_the_hash_of_its_question(
    service: Any, visit: Callable[..., Any]
) -> None:
    visited = visit(service.open(about("text")))
    drawn = answer(visited.page)
    text = told_by_the_page(visited.page, STUDY, "train")
    key = f"supm answer {hashlib.sha256(text.encode()).hexdigest()}"
    kept = json.loads(visited.page.evaluate("key => localStorage.getItem(key)", key))
    assert tuple(kept["symbols"]) == drawn.symbols


def test_the_questions_are_drawn_once(service: Any, visit: Callable[..., Any]) -> None:
    visited = visit(service.open(about("one")))
    asked = visited.page.locator("#fields label").all_inner_texts()
    for number in range(4):
        page = go(visited, service, service.open(about(f"another {number}")))
        assert page.locator("#fields label").all_inner_texts() == asked


def test_what_was_corrected_in_one_study_is_corrected_in_the_other(
    service: Any, visit: Callable[..., Any]
) -> None:
    """A report that another tab drew is not sent beside its correction."""
    clear = plan(SCHEMA, epsilon=40.0, classes=12, attributes=["age"])
    names = [service.open(about(f"tab {number}", clear)) for number in range(2)]
    first = visit(names[0])
    before = answer(first.page, "33")
    second = type(first)(
        page=first.page.context.new_page(), address=f"{service.url}/studies/{names[1]}"
    )
    second.listen()
    second.go()
    first.page.click("#correct")
    after = answer(first.page, "99")
    assert before.symbols != after.symbols
    second.page.click("#send")
    assert "corrected in another tab" in second.page.locator("#send-wrong").inner_text()
    send(second.page)
    assert sent(second)[0].symbols == after.symbols
    first.page.click("#correct")
    assert answer(first.page, "33").symbols == after.symbols
    assert first.page.locator("#correct").is_hidden()
    send(first.page)
    assert sent(first)[0].symbols == after.symbols
