"""A whole study over HTTP at the real aggregator, with every byte that it receives kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from supm.collection import plan
from supm.datasets import Dataset, load_wdbc
from supm.messages import Study
from supm.owner import Contribution, Wallet, contribute, send_together
from supm.owner.http import Remote
from supm.service.app import make_app
from supm.service.security import hash_token
from supm.service.serving import running
from supm.service.store import Store

OWNERS = 240
TOKEN = "of the analyst"  # noqa: S105  made for this test


class Recording:
    """Keeps what an application receives: paths, queries, headers and bodies."""

    def __init__(self, app: ASGIApp, kept: bytearray) -> None:
        self._app, self._kept = app, kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def recorded() -> Message:
            message = await receive()
            self._kept.extend(message.get("body", b""))
            return message

        parts = [scope.get("raw_path", b""), scope.get("query_string", b"")]
        for part in (*parts, *(each for pair in scope.get("headers", ()) for each in pair)):
            self._kept.extend(part + b"\n")
        await self._app(scope, recorded, send)


class Aggregator:
    """A real one with one study, and its analyst."""

    def __init__(self, base: str, name: str, received: bytearray) -> None:
        self.url, self.received = f"{base}/studies/{name}", received
        self._remote = Remote(base, token=TOKEN, attempts=1)
        self._path = f"/api/v1/studies/{name}"

    def step(self, verb: str) -> dict[str, Any]:
        code, form = self._remote.post_json(f"{self._path}/{verb}", "{}")
        assert code == 200, form
        return form


@pytest.fixture(scope="module")
def data() -> Dataset:
    return load_wdbc()


@pytest.fixture
def study(data: Dataset) -> Study:
    return plan(data.schema, epsilon=8.0, owners=OWNERS, reduce="rank", keep=3)


@pytest.fixture
def aggregator(tmp_path: Path, study: Study) -> Iterator[Aggregator]:
    store = Store.open(f"sqlite:///{tmp_path}/store.db")
    token = hash_token(TOKEN)
    opened = store.create(study, token_hash=token, minimums={}, deadlines={})
    app, received = make_app(store), bytearray()
    app.add_middleware(Recording, kept=received)
    with running(app) as base:
        yield Aggregator(base, opened.name, received)
    store.close()


def test_owners_reduce_train_and_ask_and_no_value_arrives(
    aggregator: Aggregator, data: Dataset, wallet: Wallet
) -> None:
    rows = zip(*data.columns.values(), strict=True)
    people = [dict(zip(data.columns, row, strict=True)) for row in rows]
    owners = [(wallet.section(str(n)), people[n]) for n in range(OWNERS)]
    counts = {}
    for phase, verbs in (("reduce", ("reduce", "open")), ("train", ("train", "serve"))):
        contribution = Contribution(aggregator.url, phase=phase)
        sent = send_together(contribution, owners)
        assert (sent.sent_before, sent.refused) == (0, ())
        assert sent.accepted + sent.elsewhere == OWNERS
        for verb in verbs:
            counts = aggregator.step(verb)["reports"]
        assert counts[phase] == sent.accepted > 0
    receipt = contribute(aggregator.url, people[-1], wallet=wallet)
    assert (receipt.verdict, receipt.phase) == ("accepted", "test")
    assert receipt.answer in data.schema.target.values  # type: ignore[union-attr]  # a list of labels
    assert all(own.spent() <= 8.0 for own, _ in owners)
    assert_no_value_arrived(aggregator.received, [*people[:OWNERS], people[-1]])


def assert_no_value_arrived(received: bytearray, people: list[dict[str, Any]]) -> None:
    """Look for every number of four digits or more as it would be written, and for every label."""
    text = received.decode()
    assert text.count('"symbols"') > OWNERS
    numbers = {str(each) for one in people for each in one.values() if not isinstance(each, str)}
    telling = {number for number in numbers if len(number) > 4}
    assert len(telling) > 1000
    assert [word for word in (*telling, "malignant", "benign") if word in text] == []
