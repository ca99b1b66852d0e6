"""A service on this machine with one study, and what owners send to it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pyarrow as pa
import pytest
from tests.service.conftest import GUARD

from supm.collection import plan
from supm.messages import Report, Study
from supm.owner import Owner
from supm.schema import Schema
from supm.service.app import Settings, make_app
from supm.service.received_reports import JSON
from supm.service.security import hash_invitation, hash_token
from supm.service.serving import running
from supm.service.store import Opened, Store, Submission


@dataclass(frozen=True)
class Service:
    url: str
    store: Store
    opened: Opened
    client: httpx.Client
    token: ClassVar[str] = "an analyst's token of the tests"  # noqa: S105  of the tests
    record: ClassVar[dict[str, object]] = {
        "age": 61.803398,
        "stage": "II",
        "ward": "south",
        "ill": "yes",
    }

    @property
    def at(self) -> str:
        return f"/api/v1/studies/{self.opened.name}"

    def get(self, path: str = "", **more: Any) -> httpx.Response:
        return self.client.get(self.at + path, **more)

    def step(self, name: str, **more: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}"}
        return self.client.post(f"{self.at}/{name}", headers=headers, **more)

    def send(self, report: Report, path: str = "/reports", **headers: str) -> httpx.Response:
        body = report.to_json()
        return self.client.post(
            self.at + path, content=body, headers={"content-type": JSON, **headers}
        )

    def post(self, path: str, body: bytes, media_type: str = JSON) -> httpx.Response:
        return self.client.post(self.at + path, content=body, headers={"content-type": media_type})

    def answer(self, study: Study | None = None, phase: str = "train") -> Report:
        return Owner().answer(study or self.opened.study, phase, self.record)

    def begin_to_serve(self, reports: Submission) -> Study:
        self.store.add([reports])
        assert self.step("train", json={"weights": None}).json()["state"] == "trained"
        assert self.step("serve").json()["state"] == "serving"
        return Study.from_json(self.get("/document").text)

    def json_batch(self, given: Submission) -> bytes:
        ids, symbols = [each.tobytes().hex() for each in given.ids], given.symbols.tolist()
        reports = [{"id": one, "symbols": told} for one, told in zip(ids, symbols, strict=True)]
        head = {"version": 1, "study": given.document, "phase": given.phase, "group": 0}
        return json.dumps({**head, "reports": reports}).encode()

    def arrow_batch(self, given: Submission) -> bytes:
        ids = pa.array([each.tobytes() for each in given.ids], pa.binary(16))
        flat = pa.array(given.symbols.ravel())
        symbols = pa.FixedSizeListArray.from_arrays(flat, given.symbols.shape[1])
        head = {"version": "1", "study": given.document, "phase": given.phase, "group": "0"}
        made = pa.record_batch([ids, symbols], names=["id", "symbols"])
        made = made.replace_schema_metadata(head)
        file = io.BytesIO()
        with pa.ipc.new_stream(file, made.schema) as writer:
            writer.write_batch(made)
        return file.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Store]:
    store = Store.open(f"sqlite:///{tmp_path}/app.db")
    yield store
    store.close()


@pytest.fixture
def serve(folder: Store, schema: Schema) -> Iterator[Callable[..., Service]]:
    """Return a function that runs a service with one study."""
    ends: list[Any] = []

    def begin(
        *,
        settings: Settings | None = None,
        deadlines: dict[str, float] | None = None,
        invitations: tuple[str, ...] = (),
        **wishes: Any,
    ) -> Service:
        given = {"epsilon": 4.0, "attributes": ["age", "stage", "ward"], **wishes}
        opened = folder.create(
            plan(schema, **given),
            token_hash=hash_token(Service.token),
            minimums={"train": 3},
            deadlines=deadlines or {},
            invitations=[hash_invitation(code) for code in invitations],
        )
        server = running(make_app(folder, settings=settings))
        url = server.__enter__()
        client = httpx.Client(base_url=url, trust_env=False, timeout=GUARD)
        ends.extend([lambda: server.__exit__(None, None, None), client.close])
        return Service(url=url, store=folder, opened=opened, client=client)

    yield begin
    for end in reversed(ends):
        end()


@pytest.fixture
def service(serve: Callable[..., Service]) -> Service:
    return serve()
