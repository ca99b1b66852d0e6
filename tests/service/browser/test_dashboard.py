"""The analyst's page in a real browser: token, live counts, steps, keyboard, nothing outside."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from tests.service.conftest import GUARD

from supm import simulation
from supm.collection import plan
from supm.collection.forecasting import made_up_people
from supm.owner import interview
from supm.schema import Categorical, Continuous, Ordinal, Schema
from supm.service.app import make_app
from supm.service.security import hash_token
from supm.service.store import Opened, Store

TOKEN = "not-a-real-token"  # noqa: S105  made up for the tests
ENOUGH = 40
SCHEMA = Schema(
    attributes=(
        Ordinal("pain", values=("none", "some", "much")),
        Continuous("age", low=0, high=90),
    ),
    target=Categorical("ill", values=("no", "yes")),
)


@dataclass(frozen=True, kw_only=True)
class Site:
    """A running service with one study."""

    url: str
    opened: Opened

    @property
    def dashboard(self) -> str:
        return f"{self.url}/studies/{self.opened.name}/dashboard"

    def post(self, rows: int, seed: int) -> None:
        """Send reports of made-up people as a batch."""
        source, study = simulation(seed), self.opened.study
        asked = interview(study, "train")
        people = made_up_people(SCHEMA, rows, source)
        told = asked.randomize(asked.encode(people), source).symbols.tolist()
        ids = source.words(2 * rows).reshape(rows, 2)
        body = {
            "version": 1,
            "study": study.hash,
            "phase": "train",
            "group": 0,
            "reports": [
                {"id": f"{high:016x}{low:016x}", "symbols": symbols}
                for (high, low), symbols in zip(ids.tolist(), told, strict=True)
            ],
        }
        path = f"{self.url}/api/v1/studies/{self.opened.name}/reports/batch"
        assert httpx.post(path, json=body, timeout=GUARD).json()["accepted"] == rows


@dataclass(kw_only=True)
class Watched:
    """A page with all that it complained about and asked for."""

    page: Any
    host: str
    complaints: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.on("console", lambda line: self._complain(line.type, line.text))
        self.page.on("pageerror", lambda error: self._complain("error", str(error)))
        self.page.on("request", lambda request: self._ask(request.url))

    def _complain(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def _ask(self, url: str) -> None:
        if not url.startswith((self.host, "data:", "blob:")):
            self.outside.append(url)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    store = Store.open(f"sqlite:///{tmp_path}/dashboard.db")
    study = plan(SCHEMA, epsilon=4.0, purpose="Shorter waits", trust="u,u,d")
    opened = store.create(
        study, token_hash=hash_token(TOKEN), minimums={"train": ENOUGH}, deadlines={}
    )
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        make_app(store), log_level="error", access_log=False, ws="none", timeout_graceful_shutdown=3
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield Site(url=f"http://127.0.0.1:{listening.getsockname()[1]}", opened=opened)
    server.should_exit = True
    thread.join()
    listening.close()
    store.close()


LOOKS = pytest.mark.parametrize(
    "look", [(1200, "light"), (390, "dark")], ids=["wide", "phone"], indirect=True
)


@pytest.fixture
def look(request: pytest.FixtureRequest) -> tuple[int, str]:
    """Return the width of the window and the look that is preferred."""
    return getattr(request, "param", (1200, "light"))


@pytest.fixture
def watched(browser: Any, site: Site, look: tuple[int, str]) -> Iterator[Watched]:
    width, scheme = look
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    opened = Watched(page=context.new_page(), host=site.url)
    opened.page.set_default_timeout(20_000)
    opened.listen()
    yield opened
    context.close()


def enter(watched: Watched, site: Site) -> Any:
    page = watched.page
    page.goto(site.dashboard)
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Open the dashboard").click()
    page.get_by_text("live", exact=True).wait_for()
    return page


def test_a_wrong_token_is_refused(watched: Watched, site: Site) -> None:
    page = watched.page
    page.goto(site.dashboard)
    page.get_by_label("Token").fill("another")
    page.get_by_role("button", name="Open the dashboard").click()
    page.get_by_role("alert").wait_for()
    # The browser itself notes the refusal.
    assert all("403" in each for each in watched.complaints)


def test_who_mistyped_may_enter_and_leave(watched: Watched, site: Site) -> None:
    page = watched.page
    page.goto(site.dashboard)
    page.get_by_label("Token").fill("another")
    page.get_by_role("button", name="Open the dashboard").click()
    page.get_by_role("alert").wait_for()
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Open the dashboard").click()
    page.get_by_role("button", name="Leave the dashboard").click()
    page.get_by_label("Token").wait_for()
    page.goto(site.dashboard)
    assert page.url.endswith("/enter"), "who left needs the token again"


@LOOKS
def test_counts_and_charts_are_live(watched: Watched, site: Site) -> None:
    page = enter(watched, site)
    assert page.locator("[data-count=train]").first.inner_text() == "0"
    assert page.locator("[data-left=train]").inner_text() == str(ENOUGH)
    assert page.get_by_role("button", name="Train the model").is_disabled()
    site.post(300, seed=1)
    page.locator("[data-count=train]", has_text=re.compile("^300$")).nth(1).wait_for()
    assert page.locator("[data-left=train]").inner_text() == "0"
    page.locator("#series .scatterlayer .trace").wait_for()
    bars = page.locator("#histogram .barlayer .point")
    bars.nth(1).wait_for()
    assert (bars.count(), page.locator("#histogram .errorbar").count()) == (2, 2)
    page.get_by_label("Attribute", exact=True).select_option("pain")
    bars.nth(2).wait_for()
    assert page.locator("#histogram-rows tr").count() == 3
    page.locator("#forecast .scatterlayer .trace").first.wait_for()
    assert page.locator("#forecast-rows tr").count() == 5
    assert "Commonest label" in page.locator("#forecast-table").inner_text()
    assert is_within(page)
    assert (watched.complaints, watched.outside) == ([], [])


@LOOKS
def test_the_next_steps_are_taken_after_a_question(watched: Watched, site: Site) -> None:
    site.post(300, seed=1)
    page = enter(watched, site)
    page.get_by_role("button", name="Train the model").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert page.locator("dialog[open]").count() == 0
    page.get_by_role("button", name="Train the model").click()
    page.get_by_label("How labels count").select_option("balanced")
    page.get_by_role("dialog").get_by_role("button", name="Train the model").click()
    page.get_by_role("heading", name="The model", exact=True).wait_for()
    assert "weighted (balanced)" in page.locator("main").inner_text()
    with page.expect_download() as download:
        page.get_by_role("link", name="Model", exact=True).click()
    assert download.value.suggested_filename == "model.json"
    page.get_by_role("button", name="Publish and serve").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish and serve").click()
    page.locator(".badge[data-state=serving]").wait_for()
    assert is_within(page)
    assert (watched.complaints, watched.outside) == ([], [])


def is_within(page: Any) -> bool:
    """Say whether the page fits its window, and no style of Plotly is missing."""
    page.wait_for_load_state()
    fits = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    placed = "[...document.querySelectorAll('.main-svg')].every((each) => "
    placed += "getComputedStyle(each).position === 'absolute')"
    return bool(fits and page.evaluate(placed))


@pytest.mark.parametrize("look", [(390, "light")], ids=["phone"], indirect=True)
def test_a_phone_shows_all_of_what_is_promised(watched: Watched, site: Site) -> None:
    site.post(1, seed=1)
    page = enter(watched, site)
    boxes = page.get_by_role("table").first.get_by_role("cell")
    assert boxes.count() == 3
    for each in boxes.all():
        place = each.bounding_box()
        assert place["x"] + place["width"] <= 390
    label = "getComputedStyle(document.querySelector('.stacked td'), '::before').content"
    assert page.evaluate(label) == '"ε at most"'
    page.locator("#estimate-note", has_text="From 1 report to train.").wait_for()
    assert watched.complaints == []


def test_few_reports_are_counted_in_whole_numbers(watched: Watched, site: Site) -> None:
    site.post(1, seed=1)
    page = enter(watched, site)
    page.locator("#series .ytick text").nth(1).wait_for()
    assert page.locator("#series .ytick text").all_text_contents() == ["0", "1"]
    shown = "document.getElementById('series')._fullLayout.xaxis.range.map((t) => Date.parse(t))"
    first, last = page.evaluate(shown)
    assert (last - first) / 60_000 <= 4


def test_a_small_studys_forecast_comes_by_itself(watched: Watched, site: Site) -> None:
    page = enter(watched, site)
    assert page.get_by_role("button", name="Work out a forecast").is_hidden()
    page.locator("#forecast-kind").wait_for()
    words = page.locator("#forecast-kind").inner_text()
    assert "A schema does not say how real data hang together" in words
    assert "Commonest label" in page.locator("#forecast-table").inner_text()


def test_a_larger_studys_forecast_waits_to_be_asked(watched: Watched, site: Site) -> None:
    def larger(route: Any) -> None:
        answer = route.fetch()
        text = re.sub('data-forecast="[a-z]+"', 'data-forecast="asked"', answer.text())
        text = text.replace('id="ask-forecast" hidden', 'id="ask-forecast"')
        route.fulfill(response=answer, body=text)

    page = enter(watched, site)
    page.route(site.dashboard, larger)
    page.reload()
    card = page.locator(".forecast").bounding_box()
    assert card["height"] < 250, "without a chart the card is compact"
    assert page.locator("#forecast-kind").is_hidden()
    page.get_by_role("button", name="Work out a forecast").click()
    page.locator("#forecast-kind").wait_for()


def test_every_box_that_scrolls_is_reached_by_keyboard(watched: Watched, site: Site) -> None:
    page = enter(watched, site)
    boxes = page.locator(".scroll").all()
    assert len(boxes) >= 3
    assert {each.get_attribute("tabindex") for each in boxes} == {"0"}
    assert {each.get_attribute("role") for each in boxes} == {"group"}


def test_another_window_learns_that_the_study_moved_on(watched: Watched, site: Site) -> None:
    page = enter(watched, site)
    assert page.locator("#moved").is_hidden()
    path = f"{site.url}/api/v1/studies/{site.opened.name}/close"
    answer = httpx.post(path, json={}, headers={"authorization": f"Bearer {TOKEN}"}, timeout=GUARD)
    assert answer.status_code == 200
    page.locator("#moved").wait_for()
    page.get_by_role("link", name="Load this page again").click()
    page.get_by_text("The study is closed.").wait_for()
    assert watched.complaints == []


def test_a_step_that_is_refused_says_why_and_changes_nothing(watched: Watched, site: Site) -> None:
    page = enter(watched, site)
    # As if reports had been enough when the page was drawn.
    page.evaluate("document.getElementById('dialog-train').showModal()")
    page.get_by_role("dialog").get_by_role("button", name="Train the model").click()
    page.locator("#dialog-train [data-refused]:not(:empty)").wait_for()
    assert str(ENOUGH) in page.locator("#dialog-train [data-refused]").inner_text()
    assert page.locator("#dialog-train").is_visible()


def test_everything_is_reached_by_keyboard_alone(watched: Watched, site: Site) -> None:
    page = watched.page
    site.post(ENOUGH, seed=2)
    page.goto(site.dashboard)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "token"
    page.keyboard.type(TOKEN)
    page.keyboard.press("Enter")
    page.get_by_text("live", exact=True).wait_for()
    page.locator("[data-move=train]:not([disabled])").wait_for()

    tab_to(page, "[data-move=train]")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.locator("dialog[open]").wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.move") == "train"
    page.locator("#attribute").wait_for()
    tab_to(page, "#attribute")
    page.keyboard.press("ArrowDown")
    page.locator("#histogram-rows tr").nth(2).wait_for()
    page.keyboard.press("Shift+Tab")
    tab_to(page, "[data-move=train]", backwards=True)
    page.keyboard.press("Enter")
    tab_to(page, "[data-confirm=train]")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="The model", exact=True).wait_for()
    assert watched.complaints == []


def tab_to(page: Any, selector: str, *, backwards: bool = False) -> None:
    for _ in range(60):
        if page.evaluate(f"document.activeElement.matches('{selector}')"):
            return
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
    pytest.fail(f"{selector} is not reached with the Tab key")


@LOOKS
def test_texts_have_enough_contrast(watched: Watched, site: Site) -> None:
    page = watched.page
    page.goto(site.url)
    pairs = [("ink", "paper"), ("muted", "paper"), ("muted", "surface"), ("accent", "surface")]
    pairs += [("on-accent", "accent"), ("second", "second-soft"), ("good", "good-soft")]
    pairs += [("bad", "bad-soft"), ("bad", "surface"), ("accent", "accent-soft")]
    pairs += [("muted", "sunken"), ("ink", "accent-soft"), ("accent", "paper")]
    for text, ground in pairs:
        assert contrast(colour(page, text), colour(page, ground)) >= 4.5, (text, ground)
    assert contrast(colour(page, "control"), colour(page, "surface")) >= 3.0


def colour(page: Any, name: str) -> list[float]:
    script = f"getComputedStyle(document.documentElement).getPropertyValue('--{name}')"
    digits = re.findall("[0-9a-f]{2}", page.evaluate(script).strip().lower())
    return [int(each, 16) / 255 for each in digits]


def contrast(one: list[float], two: list[float]) -> float:
    """Return the contrast ratio of the Web Content Accessibility Guidelines."""
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colours: list[float]) -> float:
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in colours
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
