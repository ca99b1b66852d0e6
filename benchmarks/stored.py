"""A study with very many stored reports: how long steps, pages and figures take."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from hosts import Host, aggregator
from ingest_studies import TOKEN, create, run_load, study_of
from tables import Goal, Row, Table
from timing import Step

from supm.service.store import Opened, Store

__all__ = ["Stored"]

_BATCH = 10_000
_ASKED = 60
_STEP_SECONDS, _PAGE_SECONDS = 10.0, 0.3


class Stored:
    """Half of the reports come to reduce, half to train."""

    def __init__(self, reports: int) -> None:
        self._reports = reports
        self._rows: list[Row] = []
        self._steps = 0.0
        self._slowest = 0.0

    def measure(self, folder: Path, step: Step) -> None:
        """Fill a study, take its steps, and look at it meanwhile."""
        database = f"sqlite:///{folder}/stored.db"
        store = Store.open(database)
        opened = create(store, study_of("regroup", self._reports))
        step("filling the reduce phase")
        with aggregator(database, folder) as host:
            self._fill(host, opened, "reduce")
            self._take_step(host, opened, "reduce", step)
            self._ask(host, opened, "open")
            step("filling the train phase")
            self._fill(host, store.find(opened.name), "train")
            self._look(host, opened, step)
            self._take_step(host, opened, "train", step)
            self._note("the server's memory at most, in MB", host.megabytes(), None)
        with aggregator(database, folder) as host:
            begun = time.perf_counter()
            self._look(host, opened, step, "after a restart: ")
            self._note("after a restart: all pages, seconds", time.perf_counter() - begun, None)
        store.close()

    def table(self) -> Table:
        """Return what was found."""
        return Table(f"A study with {self._reports:,} stored reports, SQLite", self._rows)

    def goals(self) -> list[Goal]:
        """Return the goals."""
        return [
            Goal(name="reduce and train, seconds", measured=self._steps, limit=_STEP_SECONDS),
            Goal(
                name="dashboard, progress and estimates: slowest answer, seconds",
                measured=self._slowest,
                limit=_PAGE_SECONDS,
            ),
        ]

    def _fill(self, host: Host, opened: Opened, phase: str) -> None:
        wish = {"count": max(self._reports // 2 // _BATCH, 1), "lines": 3, "arrow": True}
        found = run_load("fill", host, opened, phase, wish)
        rate = found["reports"] / found["seconds"]
        self._note(f"batches of {_BATCH:,} to {phase}: reports a second", rate, None)

    def _take_step(self, host: Host, opened: Opened, name: str, step: Step) -> None:
        step(name)
        seconds = _seconds(lambda: self._ask(host, opened, name))
        self._steps += seconds
        self._note(f"{name}, seconds", seconds, None)

    def _look(self, host: Host, opened: Opened, step: Step, when: str = "") -> None:
        for path in (f"/studies/{opened.name}/dashboard", "progress", "estimates"):
            step(f"looking at {path.rsplit('/', 1)[-1]}")
            seconds = [
                _seconds(lambda path=path: _request(host, opened, "GET", path))  # type: ignore[misc]  # bound now
                for _ in range(_ASKED)
            ]
            middle, slow = float(np.median(seconds)), max(seconds)
            self._slowest = max(self._slowest, slow)
            self._note(f"{when}{path.rsplit('/', 1)[-1]}, seconds", middle, slow)

    def _ask(self, host: Host, opened: Opened, name: str) -> None:
        _request(host, opened, "POST", name)

    def _note(self, what: str, measured: float, slow: float | None) -> None:
        self._rows.append({"what": what, "measured": measured, f"slowest_of_{_ASKED}": slow})


def _request(host: Host, opened: Opened, method: str, path: str) -> None:
    """Ask for a page or, by its last name only, for something of the interface."""
    where = path if path.startswith("/") else f"/api/v1/studies/{opened.name}/{path}"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    line = http.client.HTTPConnection(urlsplit(host.url).netloc, timeout=600)
    try:
        line.request(method, where, headers=headers)
        answer: Any = line.getresponse()
        told = answer.read()
    finally:
        line.close()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status} for {path}: {told[:200]!r}")


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
