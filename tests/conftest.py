"""Tests of the papers' data are skipped where nobody says where they are; seeds are printed.

A process computes with one thread: as many as there are cores wait for each other where several
processes run, and took ten times as long. What tests start inherits it, and who sets it otherwise
is left alone.

What is collected stays to the end. To look through it for garbage again and again took half of the
time of collecting, so it is left out of that.
"""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings
from tests.drawing import seed

# Read by NumPy when it is loaded, which is later.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# How long an example takes says how busy the machine is, and nothing about what is tested.
settings.register_profile("any pace", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any pace")

gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


def pytest_report_header() -> str:
    return f"entries of the audit's catalogue are drawn with SUPM_AUDIT_SEED={seed()}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = "SUPM_DATA does not name the folder of the data sets"
    for item in items:
        if item.get_closest_marker("data") and not os.environ.get("SUPM_DATA"):
            item.add_marker(pytest.mark.skip(reason=reason))
