"""A study from its opening to a prediction, with forty people and an analyst in a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from supm import simulation
from supm.messages import Model, Statement
from supm.schema import Categorical, Continuous, Schema

PEOPLE: Final = 40
PURPOSE: Final = "Who falls ill?"
NAMES: Final = ("pulse", "weight", "height")
FILL: Final = """record => {
  for (const label of document.querySelectorAll("#fields label")) {
    const field = label.control;
    const value = record[label.textContent.trim()];
    const chosen = [...(field.options ?? [])].find((option) => option.text === value);
    field.value = chosen ? chosen.value : value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
}"""
LABELS: Final = ("never", "sometimes")
SCHEMA: Final = Schema(
    attributes=tuple(Continuous(name, low=0, high=1000) for name in NAMES),
    target=Categorical("ill", values=LABELS),
)


def record_of(person: int) -> dict[str, str]:
    """Return values that cannot be taken for anything else; a high pulse goes with illness."""
    draw = simulation(person)
    ill = int(draw.below(2, 1)[0])
    held = {name: f"{int(draw.below(1000, 1)[0])}.{90_000 + person}" for name in NAMES}
    held["pulse"] = f"{500 * ill + int(draw.below(500, 1)[0])}.{90_000 + person}"
    return held | {"ill": LABELS[ill]}


class Person:
    """Somebody with a record and a browser that remembers."""

    def __init__(self, number: int) -> None:
        self.record = record_of(number)
        self.memory: dict[str, str] = {}

    def visit(self, page: Any) -> bool:
        """Open the page with this person's memory, and say whether a report was sent."""
        fresh = "memory => { localStorage.clear(); Object.assign(localStorage, memory); }"
        page.evaluate(fresh, self.memory)
        page.reload(wait_until="domcontentloaded")
        page.wait_for_selector("#part:not([hidden]), #notice:not([hidden])")
        asked = page.locator("#fields").is_visible()
        if asked:
            self._answer(page)
        self.memory = page.evaluate("({ ...localStorage })")
        return bool(asked)

    def _answer(self, page: Any) -> None:
        # In one step: that the fields work with a keyboard is tried elsewhere.
        page.evaluate(FILL, self.record)
        page.click("#show")
        page.click("#send")
        page.wait_for_selector("#done")


class Recorder:
    """What a page sends, where to, and what it complains about; headers are looked at elsewhere."""

    def __init__(self, page: Any) -> None:
        self.sent: list[str] = []
        self.bodies: list[str] = []
        self.hosts: set[str] = set()
        self.complaints: list[str] = []
        self.close = page.context.close
        page.on("request", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda line: self.complaints.append(line.text))

    def _note(self, request: Any) -> None:
        self.sent.append(f"{request.url} {request.post_data}")
        self.hosts.add(request.url.split("/")[2])
        if request.method == "POST":
            self.bodies.append(request.post_data)


def create(service: Any, folder: Path) -> dict[str, Any]:
    """Open a study as an analyst does, and return what the command tells."""
    (folder / "schema.json").write_text(SCHEMA.to_json())
    options = {"db": service.database, "schema": folder / "schema.json", "purpose": PURPOSE}
    options |= {"epsilon": 8, "reduce": "rank", "keep": 2, "classes": 2, "sampled": 2, "json": "-"}
    words = [f"--{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "supm", "study", "create", *words]
    told = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  our own words
    made: dict[str, Any] = json.loads(told.stdout)
    return made


def statement_of(desk: Any) -> Statement:
    """Click on the download of the statement, and read it."""
    with desk.expect_download() as download:
        desk.get_by_role("link", name="Statement", exact=True).click()
    assert download.value.suggested_filename == "statement.json"
    return Statement.from_json(Path(download.value.path()).read_text())


def press(page: Any, step: str, then: str) -> None:
    """Take a step of the dashboard, and wait for the state that it leads to."""
    page.get_by_role("button", name=step).click()
    page.get_by_role("dialog").get_by_role("button", name=step).click()
    page.locator(f".badge[data-state='{then}']").wait_for()


def test_forty_people_train_a_model_in_their_browsers(
    service: Any, browser: Any, tmp_path: Path, pictures: Path
) -> None:
    made = create(service, tmp_path)
    name = made["name"]
    page, desk = (browser.new_context().new_page() for _ in range(2))
    wires = Recorder(page), Recorder(desk)
    page.goto(f"{service.url}/studies/{name}")
    desk.goto(f"{service.url}/studies/{name}/dashboard")
    desk.fill("input[name=token]", made["token"])
    desk.keyboard.press("Enter")
    people = [Person(number) for number in range(PEOPLE)]
    asked = [person.visit(page) for person in people]
    press(desk, "Choose what to ask", "reduced")
    press(desk, "Open for training reports", "collecting to train")
    waited = [person for person, was in zip(people, asked, strict=True) if not was]
    assert all(person.visit(page) for person in waited)
    assert not people[asked.index(True)].visit(page), "nobody is asked twice"
    assert service.store.reports(name) == {"reduce": sum(asked), "train": len(waited)}
    press(desk, "Train the model", "trained")
    press(desk, "Publish and serve", "serving")
    desk.screenshot(path=pictures / "dashboard.png", full_page=True)
    assert statement_of(desk) == Model.from_json(service.store.find(name).model).statement
    chosen = Model.from_json(service.store.find(name).model).study.attributes or ()
    # Which two is left to the noise, that nobody can repeat.
    assert len(set(chosen) & set(NAMES)) == len(chosen) == 2
    assert Person(PEOPLE).visit(page), "a new person is tested"
    assert page.locator("#receipt").inner_text()
    page.screenshot(path=pictures / "receipt.png", full_page=True)
    check_wire(wires[0], [*people, Person(PEOPLE)])
    for each in wires:
        assert each.complaints == []
        assert each.hosts == {service.url.removeprefix("http://")}
        each.close()
    for picture in ("dashboard.png", "receipt.png"):
        assert (pictures / picture).stat().st_size > 10_000


def check_wire(wire: Recorder, people: list[Person]) -> None:
    """No request and no memory has what somebody typed."""
    assert len(wire.bodies) == PEOPLE + 1
    everything = " ".join(wire.sent) + "".join(str(person.memory) for person in people)
    typed = {person.record[each] for person in people for each in NAMES}
    assert len(typed) == 3 * (PEOPLE + 1)
    assert not [value for value in typed if value in everything]
    assert not [word for word in LABELS if word in everything]
