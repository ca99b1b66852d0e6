from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from supm.messages import Statement, Study
from supm.service.app import Settings
from supm.service.received_reports import JSON
from supm.service.store import Submission

Told = Callable[..., Submission]
AS_JSON = {"content-type": JSON}
CODES = ("abcd-efgh-ijkl-mnop", "bcde-fghi-jklm-nopq")


def test_a_study_shows_its_status_documents_and_question(service: Any) -> None:
    shown = service.get().json()
    study = service.opened.study
    assert shown["name"] == service.opened.name
    assert (shown["open_phase"], shown["group"], shown["document"]) == ("train", 0, study.hash)
    assert shown["guarantee"].startswith("If the owner held any other record")
    assert service.client.get("/api/v1/studies").json() == {"studies": [shown]}
    document = service.get("/document")
    assert Study.from_json(document.text) == study
    unchanged = service.get("/document", headers={"if-none-match": document.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    old = service.get(f"/documents/{study.hash}")
    assert old.text == document.text
    assert "immutable" in old.headers["cache-control"]
    assert service.get(f"/documents/{'0' * 64}").status_code == 404
    assert service.get("/question").json()["phase"] == "train"
    assert Statement.from_json(service.get("/statement").text).study == study.hash


@pytest.mark.parametrize("name", ["x", "%00", "..%2F..", "a" * 5000, "%F0%9F%98%80", "a'--"])
def test_a_name_that_no_study_has_is_not_found(service: Any, name: str) -> None:
    for path in ("", "/document", "/progress", "/model"):
        found = service.client.get(f"/api/v1/studies/{name}{path}")
        assert (found.status_code, list(found.json())) == (404, ["error"])


def test_progress_is_told_once_and_as_events(service: Any) -> None:
    service.send(service.answer())
    now = service.get("/progress").json()
    assert now["reports"] == {"train": 1}
    assert [count for _, count in now["series"]["train"]] == [1]
    with service.client.stream("GET", f"{service.at}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        assert json.loads(next(lines).removeprefix("data: ")) == now
        service.send(service.answer())
        later = next(line for line in lines if line.startswith("data: "))
        assert json.loads(later.removeprefix("data: "))["reports"] == {"train": 2}


def test_too_many_who_watch_are_sent_away(serve: Callable[..., Any]) -> None:
    service = serve(settings=Settings(most_streams=1))
    with service.client.stream("GET", f"{service.at}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines)
        found = service.get("/events")
    assert (found.status_code, found.headers["retry-after"]) == (503, "10")


def test_health_and_metrics_are_plain(service: Any) -> None:
    assert service.client.get("/api/v1/health").json() == {"status": "ok"}
    service.send(service.answer())
    text = service.client.get("/api/v1/metrics").text
    route = "/api/v1/studies/{name}/reports"
    assert f'supm_requests_total{{method="POST",route="{route}",status="201"}} 1' in text
    assert 'supm_reports_total{verdict="accepted"} 1' in text
    assert service.opened.name not in text


def test_estimates_are_for_the_analyst_alone(service: Any) -> None:
    bearers: list[dict[str, str]] = [{}]
    bearers += [{"authorization": f"Bearer {each}"} for each in ("wrong", service.token)]
    found = [service.get("/estimates", headers=each) for each in bearers]
    assert [each.status_code for each in found] == [401, 403, 200]
    assert [list(each.json()) for each in found[:2]] == [["error"]] * 2
