"""The page for owners from another host over plain HTTP, where browsers hash nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from supm.collection import plan
from supm.messages import Report
from supm.schema import Categorical, Continuous, Schema

SCHEMA: Final = Schema(
    attributes=(Continuous("age", low=0, high=110),),
    target=Categorical("ill", values=("never", "sometimes")),
)
STUDY: Final = plan(SCHEMA, epsilon=1.0)
HOST: Final = "study.example"


@pytest.fixture(scope="module")
def elsewhere(launch: Callable[..., Any]) -> Any:
    """Return a browser that takes this machine for another host."""
    return launch(f"--host-resolver-rules=MAP {HOST} 127.0.0.1")


@pytest.fixture
def page(service: Any, elsewhere: Any) -> Iterator[Any]:
    context = elsewhere.new_context()
    opened = context.new_page()
    opened.set_default_timeout(20_000)
    name = service.open(STUDY)
    opened.name_of_study = name
    opened.address = service.url.replace("127.0.0.1", HOST) + f"/studies/{name}"
    yield opened
    context.close()


def go(page: Any) -> None:
    page.goto(page.address)
    page.wait_for_selector("#part:not([hidden]), #notice:not([hidden])")


def test_the_page_says_that_it_cannot_hash_and_works(service: Any, page: Any) -> None:
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text))
    go(page)
    assert page.evaluate("[isSecureContext, typeof crypto.subtle]") == [False, "undefined"]
    told = page.locator("#checked").text_content()
    assert told == (
        f"The question agrees with the document {STUDY.hash}. Its hash can be checked over HTTPS."
    )
    page.locator("#fields input[inputmode=decimal]").fill("47")
    page.locator("#fields select").select_option(index=1)
    page.click("#show")
    page.wait_for_selector("#preview:not([hidden])")
    shown = Report.from_json(page.locator("#report").text_content())
    page.click("#send")
    page.wait_for_selector("#done:not([hidden])")
    assert shown.study == STUDY.hash
    assert service.store.reports(page.name_of_study) == {"train": 1}
    go(page)
    assert page.locator("#asking").is_hidden(), "it remembers, hash or not"
    # The browser says by itself which header it heeds over HTTPS only.
    assert [each for each in complaints if "Cross-Origin-Opener-Policy" not in each] == []


def test_without_a_hash_a_contradiction_is_still_refused(page: Any) -> None:
    def lower(route: Any) -> None:
        stated = STUDY.to_json().replace('"epsilon":1,', '"epsilon":0.5,')
        route.fulfill(content_type="application/json", body=stated)

    page.route("**/documents/*", lower)
    go(page)
    assert "not what the study's document states" in page.locator("#notice").inner_text()
    assert page.locator("#part").is_hidden()
