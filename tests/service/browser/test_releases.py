"""The pages of releases in a real browser: read, downloaded, verified; by keyboard, on a phone."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from supm.publication.proof import Proof, verify_file
from supm.publication.signing import VerifierKey
from supm.service.app import make_app
from supm.service.serving import running
from supm.service.store import Store

NASTY = "<img src=x onerror=alert(1)>" + "a-very-long-name" * 8
LOOKS = pytest.mark.parametrize(("width", "look"), [(1200, "light"), (360, "dark")])


@pytest.fixture
def url(tmp_path: Path, publisher: Any) -> Iterator[str]:
    for number in range(51):
        publisher.publish(f"old-{number}.json", bytes([number]))
    publisher.publish(NASTY, b"nasty")
    publisher.publish_together("the release.json", b'{"numbers":[1,2,3]}')
    store = Store.open(f"sqlite:///{tmp_path}/store.db")
    with running(make_app(store, log=publisher.log)) as address:
        yield address
    store.close()


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture
def page(browser: Any, url: str, complaints: list[str], width: int, look: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=look)
    opened = context.new_page()
    opened.set_default_timeout(20_000)
    opened.on("console", lambda line: complaints.append(line.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: complaints.append(dialog.message))
    opened.on(
        "request", lambda asked: None if asked.url.startswith(url) else complaints.append(asked.url)
    )
    opened.goto(url)
    yield opened
    context.close()


def follow(page: Any, name: str) -> None:
    """Click on a link, and wait until its page has loaded: before its style has, nothing fits."""
    before = page.url
    page.get_by_role("link", name=name).click()
    page.wait_for_url(lambda now: now != before)


def fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def downloaded(page: Any, name: str) -> Any:
    with page.expect_download() as download:
        page.get_by_role("link", name=name).click()
    return download.value


@LOOKS
def test_a_visitor_finds_a_release_gets_it_and_verifies_it(
    page: Any, complaints: list[str], tmp_path: Path
) -> None:
    follow(page, "Releases")
    assert fits(page)
    follow(page, "the release.json")
    assert fits(page)
    file, proof = downloaded(page, "Download the file"), downloaded(page, "Download the proof")
    command = shlex.split(page.get_by_role("group", name="Command").inner_text())
    named = [file.suggested_filename, "--proof", proof.suggested_filename]
    assert command[:5] == ["supm", "verify", *named]
    for each in (file, proof):
        each.save_as(tmp_path / each.suggested_filename)
    held = (tmp_path / command[2]).read_bytes()
    read = Proof.from_json((tmp_path / command[4]).read_text())
    assert len(list(verify_file(held, read, VerifierKey.parse(command[6])))) == 3
    assert complaints == []


@LOOKS
def test_the_picture_is_drawn_in_the_colours_of_the_page(page: Any, complaints: list[str]) -> None:
    follow(page, "Releases")
    follow(page, "the release.json")
    picture = page.get_by_role("img", name="leads to the root of 55 entries")
    assert picture.locator("rect").count() == 1 + 2 * picture.locator(".beside").count()
    filled = "(each) => getComputedStyle(each).fill"
    colours = {
        picture.locator(f".{role} rect").first.evaluate(filled)
        for role in ("entry", "beside", "between", "root")
    }
    assert len(colours) == 4
    assert "rgb(0, 0, 0)" not in colours
    box = picture.bounding_box()
    for each in picture.locator("text").all():
        held = each.bounding_box()
        assert box["x"] <= held["x"]
        assert held["x"] + held["width"] <= box["x"] + box["width"]
    assert complaints == []


@LOOKS
def test_a_nasty_name_is_only_shown(page: Any, complaints: list[str]) -> None:
    follow(page, "Releases")
    follow(page, NASTY)
    assert page.get_by_role("heading", level=1).inner_text() == NASTY
    assert page.locator("img").count() == 0
    assert fits(page)
    file = downloaded(page, "Download the file").suggested_filename
    assert file.startswith("img src=x onerror=alert(1)_a-very-long-name")
    assert complaints == []


@pytest.mark.parametrize(("width", "look"), [(1200, "light")])
def test_the_way_is_open_by_keyboard_alone(page: Any, complaints: list[str]) -> None:
    press_to(page, "a[href='/releases']")
    press_to(page, "a[rel=next]")
    assert "page 2 of 2" in page.get_by_role("main").inner_text()
    press_to(page, ".releases a")
    press_to(page, "summary")
    assert page.locator("details[open]").count() == 1
    assert page.get_by_text("in total", exact=False).is_visible()
    assert complaints == []


def press_to(page: Any, selector: str) -> None:
    """Go with the Tab key to what is wanted, and press Enter."""
    before = page.url
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate(f'document.activeElement.matches("{selector}")'):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid"
            page.keyboard.press("Enter")
            if selector != "summary":
                page.wait_for_url(lambda now: now != before)
            return
    pytest.fail(f"{selector} is not reached with the Tab key")
