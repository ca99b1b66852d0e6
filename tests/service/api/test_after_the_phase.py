"""A report whose acknowledgement was lost is acknowledged also after its phase; others are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from supm.service.kept import OpenQuestions
from supm.service.received_reports import ARROW, JSON
from supm.service.store import Opened, Store, Submission
from supm.service.store._tables import phases, studies

Told = Callable[..., Submission]


@pytest.fixture
def folder(store: Store) -> Store:
    """Serve a database of each kind."""
    return store


def train(service: Any) -> None:
    assert service.step("train", json={"weights": None}).json()["state"] == "trained"


def reports(service: Any) -> dict[str, int]:
    held: dict[str, int] = service.get().json()["reports"]
    return held


@pytest.mark.parametrize("steps", [["train"], ["train", "serve"], ["close"]])
def test_a_stored_report_is_acknowledged_again_after_its_phase(
    service: Any, told: Told, steps: list[str]
) -> None:
    service.store.add([told(service.opened, 200, 1)])
    stored, fresh = service.answer(), service.answer()
    assert service.send(stored).status_code == 201
    for step in steps:
        assert service.step(step, json={"weights": None}).status_code == 200
    for _ in range(2):
        found = service.send(stored)
        assert found.status_code == 200
        assert found.json() == {"verdict": "sent before", "id": stored.id}
        assert service.send(fresh).status_code == 409
    assert reports(service)["train"] == 201
    metrics = service.client.get("/api/v1/metrics").text
    assert 'supm_reports_total{verdict="sent_before"} 2' in metrics
    assert 'supm_reports_total{verdict="refused"} 2' in metrics


def test_a_stored_report_is_acknowledged_again_after_the_deadline(service: Any) -> None:
    stored, fresh = service.answer(), service.answer()
    assert service.send(stored).status_code == 201
    with service.store._database.writing() as connection:
        connection.execute(sa.update(phases).values(deadline=1.0))
        connection.execute(sa.update(studies).values(deadlines='{"train": 1.0}'))
    # First the store alone knows, then it is seen at once.
    for _ in range(2):
        refused = service.send(fresh)
        assert (refused.status_code, "deadline" in refused.json()["error"]) == (409, True)
        assert service.send(stored).json() == {"verdict": "sent before", "id": stored.id}
    assert reports(service) == {"train": 1}


@pytest.mark.parametrize("media_type", [JSON, ARROW])
def test_a_batch_after_the_phase_tells_what_was_stored(
    service: Any, told: Told, media_type: str
) -> None:
    encode = service.arrow_batch if media_type == ARROW else service.json_batch
    stored, fresh = told(service.opened, 30, 1), told(service.opened, 30, 2)
    assert service.post("/reports/batch", encode(stored), media_type).json()["accepted"] == 30
    train(service)
    again = service.post("/reports/batch", encode(stored), media_type)
    assert again.status_code == 200
    assert again.json() == {"accepted": 0, "sent_before": 30, "refused": []}
    assert service.post("/reports/batch", encode(fresh), media_type).status_code == 409
    mixed = replace(stored, ids=np.vstack((stored.ids[:28], fresh.ids[:2])))
    mixed.symbols[3, 0] = 99
    told_apart = service.post("/reports/batch", encode(mixed), media_type)
    over = [{"place": place, "reason": "phase is over"} for place in (28, 29)]
    outside = {"place": 3, "reason": "outside the alphabet"}
    expected = {"accepted": 0, "sent_before": 27, "refused": [outside, *over]}
    assert told_apart.json() == expected
    mixed.symbols[:] = 99
    assert service.post("/reports/batch", encode(mixed), media_type).status_code == 409
    assert reports(service) == {"train": 30}


def test_a_report_of_the_phase_before_is_acknowledged_while_another_is_open(
    serve: Callable[..., Any], told: Told
) -> None:
    service = serve(attributes=None, keep=2, reduce="waldp", mode="faithful")
    stored = service.answer(phase="reduce")
    service.store.add([told(service.opened, 50, 1)])
    assert service.send(stored).status_code == 201
    for step in ("reduce", "open"):
        assert service.step(step).status_code == 200
    assert service.get().json()["open_phase"] == "train"
    assert service.send(stored).json() == {"verdict": "sent before", "id": stored.id}
    assert service.send(service.answer(phase="reduce")).status_code == 409
    assert reports(service) == {"reduce": 51, "train": 0}


def test_after_the_phase_a_stranger_learns_no_more_than_before(service: Any, told: Told) -> None:
    service.store.add([told(service.opened, 200, 1)])
    stored = service.answer()
    assert service.send(stored).status_code == 201
    train(service)
    unknown = service.send(service.answer())
    form = json.loads(stored.to_json())
    for changed in ({"study": "0" * 64}, {"phase": "test"}, {"phase": "reduce"}, {"group": 1}):
        found = service.post("/reports", json.dumps(form | changed).encode())
        assert (found.status_code, found.json()) == (unknown.status_code, unknown.json())
    outside = form | {"symbols": [99] * len(form["symbols"])}
    for each in (outside, outside | {"id": "0" * 32}):
        found = service.post("/reports", json.dumps(each).encode())
        assert (found.status_code, found.json()) == (unknown.status_code, unknown.json())


def test_a_model_that_is_closed_answers_nobody_who_asks_again(service: Any, told: Told) -> None:
    study = service.begin_to_serve(told(service.opened, 200, 1))
    asked = service.answer(study, "test")
    assert "answer" in service.send(asked).json()
    assert "answer" in service.send(asked).json()
    assert service.step("close").status_code == 200
    found = service.send(asked)
    assert (found.status_code, found.json()) == (200, {"verdict": "sent before", "id": asked.id})
    assert service.post("/predict", asked.to_json().encode()).status_code == 409


def test_an_invitation_is_asked_for_after_the_phase_too(
    serve: Callable[..., Any], told: Told
) -> None:
    codes = ["abcd-efgh-ijkl-mnop", *(f"code-{place}" for place in range(9))]
    service = serve(invitations=tuple(codes))
    stored = service.answer()
    for report, code in zip([stored, *(service.answer() for _ in range(9))], codes, strict=True):
        assert service.send(report, **{"x-invitation": code}).status_code == 201
    train(service)
    assert service.send(stored).status_code == 401
    assert service.send(stored, **{"x-invitation": codes[0]}).status_code == 200
    assert service.send(service.answer(), **{"x-invitation": codes[0]}).status_code == 409
    batch = service.json_batch(told(service.opened, 2, 1))
    assert service.post("/reports/batch", batch).status_code == 403


def test_a_phase_that_ends_between_two_looks_acknowledges_what_it_has(
    service: Any, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.store.add([told(service.opened, 200, 1)])
    stored, fresh = service.answer(), service.answer()
    assert service.send(stored).status_code == 201

    async def look(*_: object) -> Opened:
        return opened

    # Another server takes the step; this one has not heard of it.
    opened: Opened = service.store.find(service.opened.name)
    monkeypatch.setattr(OpenQuestions, "_find", look)
    train(service)
    assert service.send(stored).status_code == 200
    refused = service.send(fresh)
    assert (refused.status_code, refused.json()["error"]) == (409, "refused: phase is over.")
