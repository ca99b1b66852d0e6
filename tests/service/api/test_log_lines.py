"""What is logged of reports, accepted and refused: the line of each request, and nothing else."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from supm.service.received_reports import ARROW, JSON
from supm.service.store import Submission

Told = Callable[..., Submission]
CODE = "abcd-efgh-ijkl-mnop"
# The client's own lines, and those of its and the server's loops.
_OTHERS = ("asyncio", "httpcore", "httpx")
_LINE = re.compile(
    r"(GET|POST) /api/v1/studies/\{name\}"
    r"(/reports|/reports/batch|/predict|/train|/serve|/document) \d{3} \d+\.\d ms"
)


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """Return a function that returns all lines but the client's, of every level."""
    with caplog.at_level(logging.DEBUG):
        yield lambda: [
            each.getMessage()
            for each in caplog.records
            if each.name.partition(".")[0] not in _OTHERS
        ]


def spoilt(given: Submission) -> Submission:
    """Return reports the first of which nobody could have told."""
    given.symbols[0, 0] = 99
    return given


def send_all(service: Any, given: Submission, wrong: Submission, path: str) -> list[int]:
    """Send reports that are accepted, some that are not, and what cannot be read."""
    bodies = [(service.json_batch(each), JSON) for each in (given, wrong)]
    bodies += [(service.arrow_batch(each), ARROW) for each in (given, wrong)]
    bodies += [(service.json_batch(given)[:-2], JSON), (service.arrow_batch(given)[:-9], ARROW)]
    return [service.post(path, *each).status_code for each in bodies]


def check(lines: list[str], count: int, *secrets: str) -> None:
    assert len(lines) == count
    for line in lines:
        assert _LINE.fullmatch(line), "a line that is not known"
        assert "[" not in line
        assert not re.search(r"[0-9a-f]{16}", line)
        assert not [each for each in secrets if each in line]


def test_reports_leave_no_line_but_that_of_their_request(
    service: Any, told: Told, lines: Callable[[], list[str]]
) -> None:
    given, wrong = told(service.opened, 5, 1), spoilt(told(service.opened, 5, 2))
    good, bad = told(service.opened, 1, 3), spoilt(told(service.opened, 1, 4))
    assert send_all(service, given, wrong, "/reports/batch") == [200, 200, 200, 200, 422, 422]
    for each, status in ((good, 201), (good, 200), (bad, 422)):
        assert service.post("/reports", one(service, each)).status_code == status
    check(lines(), 9, *secrets_of(service, given, wrong, good, bad))


def test_predictions_leave_no_line_but_that_of_their_request(
    service: Any, told: Told, lines: Callable[[], list[str]]
) -> None:
    service.begin_to_serve(told(service.opened, 200, 1))
    opened = service.store.find(service.opened.name)
    given, wrong = told(opened, 5, 2), spoilt(told(opened, 5, 3))
    assert send_all(service, given, wrong, "/predict") == [200, 422, 200, 422, 422, 422]
    kept = told(opened, 1, 4)
    for path, status in (("/predict", 200), ("/reports", 201), ("/reports", 200)):
        assert service.post(path, one(service, kept)).status_code == status
    check(lines(), 3 + 6 + 3, *secrets_of(service, given, wrong, kept))


def test_an_invitation_leaves_no_line(
    serve: Callable[..., Any], told: Told, lines: Callable[[], list[str]]
) -> None:
    service = serve(invitations=(CODE,))
    report = service.answer()
    for code, status in (("none-of-them", 403), (CODE, 201), (CODE, 200)):
        assert service.send(report, **{"x-invitation": code}).status_code == status
    given = told(service.opened, 5, 1)
    assert service.post("/reports/batch", service.json_batch(given)).status_code == 403
    check(lines(), 4, CODE, "none-of-them", report.id, *secrets_of(service, given))


def one(service: Any, given: Submission) -> bytes:
    """Return the body of a single report."""
    body: bytes = service.json_batch(given)
    return re.sub(rb'"reports": \[\{(.*)\}\]', rb"\1", body)


def secrets_of(service: Any, *given: Submission) -> list[str]:
    ids = [each.tobytes().hex() for reports in given for each in reports.ids]
    rows = [str(row) for reports in given for row in np.atleast_2d(reports.symbols).tolist()]
    study = service.opened
    return [*ids, *rows, service.token, study.name, study.study.hash, "127.0.0.1"]
