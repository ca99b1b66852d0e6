"""Requests made from the OpenAPI document, good and bad: none is answered with an error of ours.

SUPM_FUZZ says how many are sent; 700 by default.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.result import Ok

from supm import simulation
from supm.collection import plan
from supm.owner import interview
from supm.schema import Schema
from supm.service import actions
from supm.service.security import hash_token
from supm.service.store import Opened, Store, Submission
from supm.service.store.values import State

if TYPE_CHECKING:
    from tests.service.conftest import Publisher
    from tests.service.live.conftest import Nursery

REQUESTS = int(os.environ.get("SUPM_FUZZ", "700"))
TOKEN = "the token of fuzzed studies"  # noqa: S105  of the tests
EXAMPLES = 12
# These move a study on, so they come last, and the study is another one in the next round.
STEPS = ("reduce", "open", "train", "serve", "close")


@dataclass
class Fuzzer:
    """Sends cases, and counts what was answered."""

    url: str
    session: requests.Session
    studies: list[Opened]
    published: str

    def __post_init__(self) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self._source = simulation(11)

    def send(self, operation: Any, case: Any) -> None:
        """Send a case, often to a study that there is and with what it asks for now."""
        if "name" in (case.path_parameters or {}) and self._draw(8):
            opened = self.studies[self._draw(len(self.studies))]
            case.path_parameters["name"] = opened.name
            if isinstance(case.body, dict) and self._draw(4):
                ask_rightly(case.body, opened, good=bool(self._draw(2)))
        for asked in (case.path_parameters, case.query):
            if "content" in (asked or {}) and self._draw(2):
                asked["content"] = self.published
        if self._draw(4):
            case.headers["Authorization"] = f"Bearer {TOKEN}"
        wanted = case.as_transport_kwargs(base_url=self.url)
        with self.session.request(**wanted, stream=True, timeout=60) as answer:
            status = answer.status_code
            if not operation.path.endswith("/events"):
                assert isinstance(answer.content, bytes)
        self.answers[f"{operation.method.upper()} {operation.path}", status] += 1
        assert status < 500, f"{status} for {case.as_curl_command()}"

    def _draw(self, sides: int) -> int:
        return int(self._source.below(sides, 1)[0])


def ask_rightly(body: dict[str, Any], opened: Opened, *, good: bool) -> None:
    """Let a body be one for the open question, and where it shall be good, with an answer to it."""
    phase = opened.open_phase
    question = None if phase is None else opened.study.question(phase)
    if phase is None or question is None:
        return
    body |= {"study": opened.study.hash, "phase": phase}
    if good:
        told = [0] * interview(opened.study, phase).width
        many = body.get("reports")
        for each in many if isinstance(many, list) else [body]:
            if isinstance(each, dict) and "symbols" in each:
                each["symbols"] = told
        body["group"] = question.group


@pytest.fixture
def fuzzer(nursery: Nursery, tmp_path: Path, publisher: Publisher) -> Iterator[Fuzzer]:
    published = publisher.publish_together("release.json", b"a release")
    more = ("--log", str(publisher.path))
    server = nursery.start(f"sqlite:///{tmp_path}/fuzz.db", 0, *more)
    with requests.Session() as session:
        session.trust_env = False
        yield Fuzzer(server.url, session, [], published)
    server.kill()


def create_in_each_state(
    store: Store, schema: Schema, told: Callable[..., Submission]
) -> list[Opened]:
    """Return a study in each state, and one with a sampled test question."""

    def create(**wishes: Any) -> Opened:
        return store.create(
            plan(schema, epsilon=4.0, **wishes),
            token_hash=hash_token(TOKEN),
            minimums={"train": 3},
            deadlines={},
        )

    known = {"attributes": ["age", "stage"], "mode": "faithful"}
    made = [create(**known) for _ in range(4)] + [create(keep=1)]
    reduced = create(reduce="rand", keep=1)
    for opened in made:
        store.add([told(opened, 50, 1)])
    actions.reduce_stored(store, reduced.name)
    for opened in made[:2]:
        actions.train_stored(store, opened.name)
    actions.serve_model(store, made[0].name)
    actions.close_study(store, made[2].name)
    found = [store.find(each.name) for each in [*made, reduced]]
    assert {each.state for each in found} == set(State)
    return found


def operations(url: str) -> list[Any]:
    document = schemathesis.openapi.from_url(f"{url}/api/v1/openapi.json")
    found: list[Any] = [each.ok() for each in document.get_all_operations() if isinstance(each, Ok)]
    return sorted(found, key=lambda each: each.path.rsplit("/", 1)[-1] in STEPS)


def run_round(fuzzer: Fuzzer, operation: Any, mode: GenerationMode, number: int) -> None:
    quiet = settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    @seed(number)
    @quiet
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        fuzzer.send(operation, case)

    with suppress(Unsatisfiable):  # where nothing is sent, nothing can be wrong with it
        send()


def test_no_request_is_answered_with_an_error_of_the_server(
    fuzzer: Fuzzer, tmp_path: Path, schema: Schema, told: Callable[..., Submission]
) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/fuzz.db")
    known = operations(fuzzer.url)
    number = 0
    while fuzzer.answers.total() < REQUESTS:
        fuzzer.studies = create_in_each_state(store, schema, told)
        for operation in known:
            if not number or fuzzer.answers.total() < REQUESTS:
                for mode in GenerationMode:
                    run_round(fuzzer, operation, mode, number)
        number += 1
    store.close()
    lines = [f"{times:6} {status} {what}" for (what, status), times in fuzzer.answers.items()]
    sys.stdout.write("\n".join([*sorted(lines, key=lambda line: line[11:]), ""]))
    sys.stdout.write(f"{fuzzer.answers.total()} requests in {number} rounds\n")
    assert {what for what, _ in fuzzer.answers} == {
        f"{each.method.upper()} {each.path}" for each in known
    }
    assert fuzzer.answers["POST /api/v1/studies/{name}/reports", 201], "some are good"
    assert fuzzer.answers["GET /log/files/{content}", 200], "and some of the log's"
    health = fuzzer.session.get(f"{fuzzer.url}/api/v1/health", timeout=60)
    assert health.json() == {"status": "ok"}
