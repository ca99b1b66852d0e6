"""Tests that read the papers' data are skipped where nobody says where they are."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = "SUPM_DATA does not name the folder of the data sets"
    for item in items:
        if item.get_closest_marker("data") and not os.environ.get("SUPM_DATA"):
            item.add_marker(pytest.mark.skip(reason=reason))
