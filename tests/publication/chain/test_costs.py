"""The page about the chain shows what the benchmark counts."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_shows_what_the_benchmark_counts(tmp_path: Path) -> None:
    there = importlib.util.find_spec("eth_tester") is not None
    if not (there or os.environ.get("SUPM_REQUIRE_ALL")):
        pytest.skip("pip install 'supm[test]'")
    figures = tmp_path / "figures.json"
    # In a process of its own: py-evm raises the limit on recursion.
    command = [sys.executable, str(ROOT / "benchmarks/chain.py"), "--json", str(figures)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)  # noqa: S603  see above
    transactions, entries = json.loads(figures.read_text())["tables"]
    page = (ROOT / "docs/design/chain.md").read_text()
    for row in transactions["rows"]:
        assert f"| {row['transaction']} | {row['gas']:,} |" in page
    alone, hundred, many = (row["gas_per_entry"] for row in entries["rows"])
    assert f"an entry costs {alone:,.0f} gas if each is anchored by itself" in page
    assert f", {hundred:.0f} with 100\n" in page
    assert f"and {many:.2f} with 10,000" in page
