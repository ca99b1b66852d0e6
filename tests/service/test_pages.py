"""Pages over HTTP: what they show, who may see them, and what they never load."""

from __future__ import annotations

import gzip
import re
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn
from numpy.typing import NDArray
from tests.service.conftest import GUARD

from supm import simulation
from supm._random import RandomSource
from supm.collection import make_statement, plan
from supm.messages import Model, PairPoints, Scorecard, Study
from supm.owner import interview
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Records, Schema
from supm.service import actions
from supm.service.app import make_app
from supm.service.pages.model_tables import rule_view
from supm.service.security import cookie_name, hash_token
from supm.service.store import Opened, Store, Submission

TOKEN = "not-a-real-token"  # noqa: S105  made up for the tests
SCHEMA = Schema(
    attributes=(
        Ordinal("pain", values=("none", "some", "much")),
        Categorical("ward", values=("north", "<b>east</b>")),
        Continuous("age", low=0, high=90),
    ),
    target=Categorical("ill", values=("no", "yes")),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(f"sqlite:///{tmp_path}/pages.db")
    yield opened
    opened.close()


@pytest.fixture
def client(store: Store) -> Iterator[httpx.Client]:
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        make_app(store), log_level="error", access_log=False, ws="none", timeout_graceful_shutdown=3
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    with httpx.Client(
        base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=GUARD
    ) as opened:
        yield opened
    server.should_exit = True
    thread.join()
    listening.close()


def created(store: Store, minimum: int = 10, **wishes: Any) -> Opened:
    wished: dict[str, Any] = {"epsilon": 3.0, "purpose": "Fewer <i>waits</i>"} | wishes
    return create(store, plan(SCHEMA, **wished), minimum)


def create(store: Store, study: Study, minimum: int = 10) -> Opened:
    minimums = {each.phase: minimum for each in study.questions if each.phase != "test"}
    return store.create(study, token_hash=hash_token(TOKEN), minimums=minimums, deadlines={})


def report(store: Store, opened: Opened, rows: int) -> None:
    """Store reports of made-up people for the open phase."""
    source, phase = simulation(rows), opened.open_phase or "train"
    schema = opened.study.schema
    columns = {each.name: values(each, rows, source) for each in schema.attributes}
    target = values(schema.target, rows, source)
    people = Records(attributes=schema.attributes, columns=columns, target=target, rows=rows)
    asked = interview(opened.study, phase)
    submission = Submission(
        name=opened.name,
        phase=phase,
        document=opened.study.hash,
        ids=source.words(2 * rows).view(np.uint8).reshape(rows, 16),
        symbols=asked.randomize(asked.encode(people), source).symbols,
    )
    store.add([submission])


def values(attribute: Attribute, rows: int, source: RandomSource) -> NDArray[Any]:
    if isinstance(attribute, Continuous):
        return source.below(91, rows).astype(np.float64)
    return source.below(len(attribute.values), rows).astype(np.int64)


def trained(store: Store, opened: Opened) -> Opened:
    report(store, opened, 300)
    return actions.train_stored(store, opened.name)


def entered(client: httpx.Client, opened: Opened) -> httpx.Client:
    client.cookies.set(cookie_name(opened.name), TOKEN)
    return client


def text_of(client: httpx.Client, opened: Opened) -> str:
    answer = entered(client, opened).get(f"/studies/{opened.name}/dashboard")
    assert answer.status_code == 200
    return answer.text


def test_the_first_page_lists_studies_and_says_where_there_is_none(
    client: httpx.Client, store: Store
) -> None:
    assert "No study yet" in client.get("/").text
    opened = created(store)
    shown = client.get("/").text
    assert f"/studies/{opened.name}/dashboard" in shown
    assert "Fewer &lt;i&gt;waits&lt;/i&gt;" in shown
    assert "collecting to train" in shown


def test_a_card_says_which_study_it_is_and_when_its_time_has_passed(
    client: httpx.Client, store: Store
) -> None:
    study, when = plan(SCHEMA, epsilon=3.0), {"train": 1.0}
    opened = created(store)
    report(store, opened, 1)
    shown = client.get("/").text
    day = datetime.fromtimestamp(opened.created, UTC).strftime("%Y-%m-%d")
    assert f'<span class="mono">{opened.name}</span>, created {day}' in shown
    assert "3 attributes · 1 report<" in shown
    assert ("time has passed" in shown, "Take part" in shown) == (False, True)
    late = store.create(study, token_hash=hash_token(TOKEN), minimums={}, deadlines=when)
    card = client.get("/").text.split(f'href="/studies/{late.name}"')[1]
    assert ("time has passed" in card, "Take part" in card) == (True, False)


def test_a_study_that_does_not_randomise_says_so_on_the_first_page(
    client: httpx.Client, store: Store
) -> None:
    created(store, trust="t,t,d", mode="faithful")
    assert "not all is randomised" in client.get("/").text


def test_the_dashboard_asks_for_the_token_and_keeps_it_from_scripts(
    client: httpx.Client, store: Store
) -> None:
    opened = created(store)
    page = f"/studies/{opened.name}"
    assert client.get(f"{page}/dashboard").headers["location"] == f"{page}/enter"
    assert 'name="token"' in client.get(f"{page}/enter").text
    wrong = client.post(f"{page}/enter", data={"token": "guess"})
    assert wrong.status_code == 403
    assert "guess" not in wrong.text
    assert "set-cookie" not in wrong.headers
    right = client.post(f"{page}/enter", data={"token": f" {TOKEN} "})
    assert right.headers["location"] == f"{page}/dashboard"
    cookie = right.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get(f"{page}/dashboard").status_code == 200


def test_leaving_forgets_the_token(client: httpx.Client, store: Store) -> None:
    opened = created(store)
    client.post(f"/studies/{opened.name}/enter", data={"token": TOKEN})
    left = client.post(f"/studies/{opened.name}/leave")
    assert left.status_code == 303
    assert client.get(f"/studies/{opened.name}/dashboard").status_code == 303


def test_a_form_that_is_too_long_is_refused(client: httpx.Client, store: Store) -> None:
    opened = created(store)
    answer = client.post(f"/studies/{opened.name}/enter", data={"token": "x" * 5000})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/static/nothing.js",
        "/static/..%2fsecurity.py",
        "/studies/unknown",
        "/studies/%00",
        "/studies/na%C3%AFve",
        "/studies/" + "a" * 500,
        "/studies/unknown/dashboard",
        "/studies/unknown/enter",
        "/studies/a/b/c",
    ],
)
def test_what_is_not_there_gets_a_page_that_says_so(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "Not Found" in answer.text


def test_what_the_api_does_not_have_is_still_told_in_json(client: httpx.Client) -> None:
    assert "error" in client.get("/api/v1/nothing").json()
    assert "error" in client.get("/api/v1/studies/unknown").json()


def test_without_its_database_the_page_says_to_try_again(
    client: httpx.Client, store: Store
) -> None:
    opened = created(store)
    with store._database.writing() as connection:
        connection.exec_driver_sql("DROP TABLE studies")
    answer = client.get(f"/studies/{opened.name}/dashboard")
    assert answer.status_code == 503
    assert "Try again soon" in answer.text


def test_no_page_holds_a_script_or_style_of_its_own_or_loads_from_elsewhere(
    client: httpx.Client, store: Store
) -> None:
    opened = trained(store, created(store))
    paths = ["/", "/nothing", f"/studies/{opened.name}/enter", f"/studies/{opened.name}/dashboard"]
    for path in paths:
        shown = entered(client, opened).get(path).text
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", shown)
        for address in re.findall(r'(?:src|href|action)="([^"]*)"', shown):
            assert address == "" or address.startswith(("/", "#"))
            assert not address.startswith("//")
        assert '<html lang="en">' in shown
        assert 'class="skip"' in shown


def test_the_dashboard_shows_counts_the_promise_and_the_next_step(
    client: httpx.Client, store: Store
) -> None:
    opened = created(store, minimum=500)
    report(store, opened, 300)
    shown = text_of(client, opened)
    assert re.search(r'data-count="train">300<', shown)
    assert re.search(r'<progress[^>]*max="500" value="300"', shown)
    assert "local differential privacy, epsilon = 3.0" in shown
    assert 'data-move="train"' in shown
    assert 'data-move="close"' in shown
    assert "&lt;b&gt;east&lt;/b&gt;" in shown


def test_a_trained_study_shows_its_scorecard_and_downloads(
    client: httpx.Client, store: Store
) -> None:
    opened = trained(store, created(store))
    shown = text_of(client, opened)
    assert "A scorecard" in shown
    assert 'data-move="serve"' in shown
    for name in ("model", "statement"):
        path = f"/api/v1/studies/{opened.name}/{name}"
        assert path in shown
        assert client.get(path).json()["version"] > 0


def test_a_table_of_answers_is_shown_cell_by_cell(client: httpx.Client, store: Store) -> None:
    joint = created(store, attributes=["pain", "ward"], classes=2, train="joint")
    shown = text_of(client, trained(store, joint))
    assert "each combination of classes has an answer" in shown
    assert len(re.findall(r"<td><strong>(?:no|yes)</strong></td>", shown)) == 4


def test_points_of_pairs_are_shown_like_those_of_attributes() -> None:
    study = plan(SCHEMA, epsilon=3.0, classes=2)
    sizes = [each.size for each in study.discretizers("test")]
    pair = PairPoints(first=0, second=1, points=np.arange(8.0).reshape(2, 2, 2) ** 2)
    card = Scorecard(
        points=tuple(np.zeros((size, 2)) for size in sizes), offsets=np.zeros(2), pairs=(pair,)
    )
    statement = make_statement(study, simulation=True)
    shown = rule_view(Model(study=study, rule=card, statement=statement))
    first = shown.attributes[0]
    assert first.name == "pain with ward"
    assert [row.points[0] for row in first.classes] == [1.0, 5.0, 9.0, 13.0]
    assert first.classes[1].name.endswith("with <b>east</b>")


def test_a_number_has_points_in_its_own_unit(client: httpx.Client, store: Store) -> None:
    numeric = Schema(attributes=SCHEMA.attributes, target=Continuous("weight", low=0, high=100))
    opened = create(store, plan(numeric, epsilon=4.0))
    shown = text_of(client, trained(store, opened))
    assert "<strong>weight</strong>" in shown
    answer = client.get(f"/studies/{opened.name}/dashboard/forecast").json()
    assert "target is a number" in answer["note"]


def test_chosen_classes_are_shown_after_the_reduction(client: httpx.Client, store: Store) -> None:
    opened = created(store, reduce="regroup", epsilon=6.0, classes=3, owners=5000)
    assert 'data-move="reduce"' in text_of(client, opened)
    report(store, opened, 300)
    actions.reduce_stored(store, opened.name)
    shown = text_of(client, opened)
    assert "Chosen attributes and merged classes" in shown
    assert 'data-move="open"' in shown
    assert re.search(r'<li class="done"[^>]*>collecting to reduce', shown)


def test_a_random_choice_is_called_one(client: httpx.Client, store: Store) -> None:
    shown = text_of(client, created(store, mode="faithful", reduce="rand"))
    assert "Draw the attributes" in shown
    assert "no record has a say" in shown


def test_a_closed_study_offers_no_step(client: httpx.Client, store: Store) -> None:
    opened = created(store)
    actions.close_study(store, opened.name)
    shown = text_of(client, opened)
    assert "data-move" not in shown
    assert "The study is closed" in shown


def test_a_forecast_is_for_the_analyst_and_has_the_baseline(
    client: httpx.Client, store: Store
) -> None:
    opened = created(store, minimum=60)
    path = f"/studies/{opened.name}/dashboard/forecast"
    assert client.get(path).status_code == 403
    assert 'data-forecast="cheap"' in text_of(client, opened)
    told = client.get(path).json()
    assert [point["epsilon"] for point in told["points"]] == [0.75, 1.5, 3.0, 6.0, 12.0]
    assert all(0.4 < point["majority"] < 0.8 for point in told["points"])
    assert (told["owners"], told["repeats"]) == (60, 3)
    assert 'data-forecast="ready"' in text_of(client, opened)


def test_static_files_are_compressed_and_not_sent_twice(client: httpx.Client) -> None:
    first = client.get("/static/style.css")
    assert first.headers["content-type"].startswith("text/css")
    assert first.headers["content-encoding"] == "gzip"
    tag = first.headers["etag"]
    again = client.get("/static/style.css", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
    plain = client.get("/static/style.css", headers={"accept-encoding": "identity"})
    assert plain.content == first.content


def test_plotly_comes_from_the_installed_package_and_may_be_kept(
    client: httpx.Client, store: Store
) -> None:
    opened = created(store)
    found = re.search(r'src="(/static/plotly\.min\.js\?v=[^"]+)"', text_of(client, opened))
    assert found is not None
    with client.stream("GET", found[1]) as answer:
        packed = b"".join(answer.iter_raw())
    assert "immutable" in answer.headers["cache-control"]
    assert len(packed) < 2_000_000
    assert b"plotly.js v" in gzip.decompress(packed)[:200]


@pytest.mark.parametrize("way", ["enter", "leave"])
def test_another_site_cannot_sign_an_analyst_in_or_out(
    client: httpx.Client, store: Store, way: str
) -> None:
    path = f"/studies/{created(store).name}/{way}"
    answer = client.post(path, data={"token": TOKEN}, headers={"origin": "https://elsewhere"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_dashboard_of_a_simulation_says_so(client: httpx.Client, store: Store) -> None:
    study = plan(SCHEMA, epsilon=3.0)
    for simulated in (True, False):
        opened = store.create(
            study, token_hash=hash_token(TOKEN), minimums={}, deadlines={}, simulation=simulated
        )
        shown = entered(client, opened).get(f"/studies/{opened.name}/dashboard").text
        assert ("This is a simulation" in shown) is simulated


def test_a_page_that_is_not_there_says_what_to_check(client: httpx.Client) -> None:
    answer = client.get("/studies/nobody/nothing", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "The address may have been mistyped." in answer.text
