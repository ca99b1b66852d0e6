from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.service.conftest import GUARD

from supm.collection import plan
from supm.messages import Model, Report, Study, Trust
from supm.owner import Owner
from supm.schema import Schema
from supm.service import actions
from supm.service.app import make_app
from supm.service.received_reports import ARROW, JSON
from supm.service.security import cookie_name, hash_token
from supm.service.serving import running
from supm.service.store import Store, Submission

Told = Callable[..., Submission]
AS_JSON = {"content-type": JSON}
CODES = ("abcd-efgh-ijkl-mnop", "bcde-fghi-jklm-nopq")


def test_the_whole_story_goes_over_http(service: Any, told: Told) -> None:
    assert service.get("/model").status_code == 401
    study = service.begin_to_serve(told(service.opened, 200, 1))
    model = Model.from_json(service.get("/model").text)
    assert study.rule == model.rule
    report = service.answer(study, "test")
    kept = service.send(report).json()
    assert kept["verdict"] == "accepted"
    asked = service.send(report, "/predict").json()
    assert asked == {"answers": [{key: kept[key] for key in ("answer", "probability")}]}
    assert kept["answer"] in ("no", "yes")
    many = told(service.store.find(service.opened.name), 5, 2)
    assert len(service.post("/predict", service.json_batch(many)).json()["answers"]) == 5
    assert service.post("/predict", service.arrow_batch(many), ARROW).status_code == 200
    assert service.get().json()["reports"] == {"train": 200, "test": 1}
    assert service.step("close").json()["state"] == "closed"
    assert service.send(service.answer(study, "test")).status_code == 409
    # What was stored is acknowledged again, and answered no more.
    assert service.send(report).json() == {"verdict": "sent before", "id": report.id}
    assert service.get("/question").status_code == 409


def test_a_study_is_reduced_and_opened_over_http(serve: Callable[..., Any], told: Told) -> None:
    service = serve(attributes=None, keep=2, reduce="rank")
    service.store.add([told(service.opened, 50, 1)])
    old = answer_as(service, 0)
    assert service.step("reduce").json()["state"] == "reduced"
    assert service.send(old).status_code == 409
    opened = service.step("open").json()
    assert (opened["state"], opened["group"]) == ("collecting to train", 1)
    assert service.send(answer_as(service, 1)).status_code == 201
    late = service.send(old)
    assert (late.status_code, "another document" in late.text) == (409, True)


def answer_as(service: Any, group: int) -> Report:
    """Let an owner who drew a group answer the current document."""
    study = Study.from_json(service.get("/document").text)
    phase = service.get().json()["open_phase"]
    while True:
        owner = Owner()
        if owner.group(study) == group:
            return owner.answer(study, phase, service.record)


def test_a_model_of_sampled_answers_is_for_the_analyst_alone(
    serve: Callable[..., Any], told: Told
) -> None:
    service = serve(test="sample")
    study = service.begin_to_serve(told(service.opened, 200, 1))
    assert service.get().json()["model_public"] is False
    assert service.get("/model").status_code == 401
    bearer = {"authorization": f"Bearer {service.token}"}
    assert service.get("/model", headers=bearer).status_code == 200
    assert service.send(service.answer(study, "test"), "/predict").json()["answers"][0][
        "probability"
    ]


def test_a_study_tested_on_the_device_takes_no_test_reports(
    serve: Callable[..., Any], told: Told
) -> None:
    service = serve(trust=Trust(test="device"))
    old = service.answer()
    service.begin_to_serve(told(service.opened, 200, 1))
    assert service.get().json()["open_phase"] is None
    assert service.get("/model").status_code == 200
    assert service.send(old, "/predict").status_code == 409


@pytest.mark.parametrize("step", ["reduce", "open", "train", "serve", "close"])
def test_a_step_needs_the_token_and_a_request_that_was_meant(service: Any, step: str) -> None:
    path = f"{service.at}/{step}"
    cookie = {"cookie": f"{cookie_name(service.opened.name)}={service.token.replace(' ', '_')}"}
    assert service.client.post(path).status_code == 401
    wrong = {"authorization": "Bearer wrong"}
    assert service.client.post(path, headers=wrong).status_code == 403
    assert service.client.post(path, headers=cookie).status_code == 403
    elsewhere = {"authorization": f"Bearer {service.token}", "origin": "https://elsewhere.example"}
    assert service.client.post(path, headers=elsewhere).status_code == 403
    assert service.get().json()["state"] == "collecting to train"


def test_the_cookie_acts_only_with_the_header_of_the_own_script(
    folder: Store, schema: Schema
) -> None:
    study = plan(schema, epsilon=4.0, attributes=["age"])
    opened = folder.create(study, token_hash=hash_token("abc"), minimums={}, deadlines={})
    with running(make_app(folder)) as url:
        cookies = {cookie_name(opened.name): "abc"}
        with httpx.Client(base_url=url, cookies=cookies, trust_env=False, timeout=GUARD) as client:
            at = f"/api/v1/studies/{opened.name}"
            assert client.get(f"{at}/estimates").status_code == 200
            assert client.post(f"{at}/close").status_code == 403
            assert client.post(f"{at}/close", headers={"x-supm": "1"}).status_code == 200


def test_steps_say_what_is_missing(service: Any) -> None:
    found = service.step("train")
    assert (found.status_code, "needs 3" in found.json()["error"]) == (409, True)
    assert service.step("serve").status_code == 409
    for body in (b"[]", b'{"weights": "heavy"}', b"{", b'{"more": 1}', b"[" * 4000):
        assert service.step("train", content=body).status_code == 422
    assert service.step("train", content=b" " * 5000).status_code == 413


def test_a_step_that_another_server_took_is_seen_at_once(service: Any, told: Told) -> None:
    old = service.answer()
    assert service.send(old).status_code == 201
    service.store.add([told(service.opened, 100, 1)])
    actions.train_stored(service.store, service.opened.name)
    served = actions.serve_model(service.store, service.opened.name)
    assert service.send(service.answer(served.study, "test")).status_code == 201
    assert service.send(service.answer()).status_code == 409


def test_nothing_is_answered_after_the_deadline_of_the_test_phase(
    serve: Callable[..., Any], told: Told
) -> None:
    service = serve(deadlines={"test": 1.0})
    study = service.begin_to_serve(told(service.opened, 50, 1))
    report = service.answer(study, "test")
    for path in ("/predict", "/reports"):
        found = service.send(report, path)
        assert (found.status_code, list(found.json())) == (409, ["error"])
        assert "deadline of the test phase" in found.json()["error"]
    assert service.get().json()["reports"]["test"] == 0
