from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.service.conftest import GUARD

from supm._errors import ParameterError
from supm.service.app import Settings, make_app
from supm.service.received_reports import JSON
from supm.service.serving import running
from supm.service.store import Store, Submission

Told = Callable[..., Submission]
AS_JSON = {"content-type": JSON}
CODES = ("abcd-efgh-ijkl-mnop", "bcde-fghi-jklm-nopq")


def test_every_answer_has_the_headers_that_protect(service: Any) -> None:
    for path in ("/", "/api/v1/studies", "/api/v1/nothing", service.at):
        headers = service.client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe-inline' script" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_every_endpoint_is_described_with_an_example(service: Any) -> None:
    described = service.client.get("/api/v1/openapi.json").json()
    assert len(described["paths"]) == 20
    for path, methods in described["paths"].items():
        for operation in methods.values():
            good = next(each for code, each in operation["responses"].items() if code < "300")
            assert all("example" in held for held in good["content"].values()), path
            for held in operation.get("requestBody", {}).get("content", {}).values():
                assert {"example", "examples"} & set(held), path


def test_an_error_of_the_service_tells_nothing(
    folder: Store, caplog: pytest.LogCaptureFixture
) -> None:
    app = make_app(folder)

    @app.get("/api/v1/fails")
    def fails() -> None:
        message = "a secret"
        raise RuntimeError(message)

    with caplog.at_level(logging.INFO), running(app) as url:
        found = httpx.get(f"{url}/api/v1/fails", trust_env=False, timeout=GUARD)
    assert found.status_code == 500
    assert "secret" not in found.text + caplog.text
    assert "RuntimeError in test_application.py" in caplog.text


def test_the_log_has_no_address_token_name_or_value(
    service: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    transport = httpx.HTTPTransport(local_address="127.0.0.77")
    headers = {"authorization": f"Bearer {service.token}", "x-invitation": "a-code"}
    with httpx.Client(
        base_url=service.url, transport=transport, headers=headers, timeout=GUARD
    ) as client:
        client.get(f"{service.at}?token={service.token}")
        client.post(f"{service.at}/reports", content='{"age": 61.803398}', headers=AS_JSON)
        client.post(f"{service.at}/close")
        client.get("/61.803398")
    ours = [each.getMessage() for each in caplog.records if not each.name.startswith("http")]
    assert [line for line in ours if line.startswith("POST /api/v1/studies/{name}/close 200")]
    for secret in ("127.0.0", service.token, "token=", "a-code", "61.8", service.opened.name):
        assert not [line for line in ours if secret in line]


@pytest.mark.parametrize("name", ["rate", "burst", "most_waiting", "largest_batch"])
def test_settings_are_checked(name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        Settings(**{name: -1})
