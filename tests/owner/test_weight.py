"""What a device loads to answer, spend and send, measured in a fresh process of its own."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
MOST_MODULES = 60
MOST_FILES = 45


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module
    for name in ("owner", "flows"):
        sys.modules.pop(name, None)


def test_a_device_loads_few_modules_and_no_heavy_package(benchmarks: Any) -> None:
    held = benchmarks("owner").measured()["owner"]
    assert held["heavy"] == []
    assert len(held["ours"]) <= MOST_MODULES, held["ours"]


def test_an_answer_passes_through_few_files(benchmarks: Any) -> None:
    walk = benchmarks("flows").FLOWS["contribute"]()
    assert len(walk.files) <= MOST_FILES, sorted(walk.files)
