"""The studies that are filled, and the process that fills them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hosts import Host

from supm.collection import plan
from supm.messages import Study
from supm.schema import Categorical, Continuous, Schema
from supm.service.security import hash_token
from supm.service.store import Opened, Store

__all__ = ["TOKEN", "create", "run_load", "study_of"]

TOKEN = "the token of the benchmark"  # noqa: S105  of a study that is thrown away

_LOAD = Path(__file__).resolve().parent / "load.py"
_ATTRIBUTES, _EPSILON = 30, 4.0


def study_of(reduction: str | None = None, owners: int | None = None) -> Study:
    """Return a study of 30 numbers and two labels, like WDBC, as planned by default."""
    names = [f"measurement {number}" for number in range(1, _ATTRIBUTES + 1)]
    schema = Schema(
        attributes=tuple(Continuous(name, low=0, high=1) for name in names),
        target=Categorical("diagnosis", values=("benign", "malignant")),
    )
    return plan(schema, epsilon=_EPSILON, reduce=reduction, owners=owners)


def create(store: Store, study: Study) -> Opened:
    """Put a study into a database."""
    return store.create(study, token_hash=hash_token(TOKEN), minimums={}, deadlines={})


def run_load(
    what: str, host: Host, opened: Opened, phase: str, wish: dict[str, Any]
) -> dict[str, float]:
    """Send reports from a process of its own."""
    single = what in ("one", "paced")
    path = f"/api/v1/studies/{opened.name}/reports" + ("" if single else "/batch")
    document = opened.study.to_json()
    full = {"path": path, "url": host.url, "document": document, "phase": phase, **wish}
    found = subprocess.run(  # noqa: S603  our own words
        [sys.executable, str(_LOAD), what],
        input=json.dumps(full),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer: dict[str, float] = json.loads(found.stdout)
    return answer
