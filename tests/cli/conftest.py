from __future__ import annotations

import csv
from pathlib import Path

import pytest

from supm.datasets import load_wdbc


@pytest.fixture
def wdbc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder that holds WDBC as wdbc.csv and its schema as wdbc.json."""
    monkeypatch.chdir(tmp_path)
    data = load_wdbc()
    with Path("wdbc.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data.columns)
        writer.writerows(zip(*data.columns.values(), strict=True))
    Path("wdbc.json").write_text(data.schema.to_json())
    return Path("wdbc.csv")
