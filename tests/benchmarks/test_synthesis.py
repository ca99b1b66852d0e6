"""The benchmarks of synthesis run at a small size; only what is learned on Adult is judged."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def path() -> Iterator[None]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def bench(path: None) -> Any:  # noqa: ARG001  it makes the module importable
    return importlib.import_module("synthesis")


def test_the_made_table_has_the_shapes_and_the_dependence_that_it_says(bench: Any) -> None:
    table = bench.clean_table(20_000)
    assert len(table) == bench.COLUMNS
    for place, column in enumerate(table.values()):
        assert kstest(column ** (1 / (1 + place % 4)), "uniform").pvalue > 1e-6
    ranks = [np.argsort(np.argsort(table[name])) for name in ("c0", "c1", "c2")]
    together = np.asarray(np.corrcoef(ranks))
    latent = 2 * np.sin(np.pi * together[np.triu_indices(3, 1)] / 6)
    assert latent == pytest.approx([0.5] * 3, abs=0.03)


def test_one_run_tells_seconds_and_memory(bench: Any) -> None:
    found = bench.once(500)
    assert found["total"] == pytest.approx(found["read"] + found["learn"] + found["sample"])
    assert found["process"] >= found["input"] > 0


def test_the_noise_of_the_input_is_that_of_the_law(bench: Any) -> None:
    clean, noisy = bench.clean_table(20_000), bench.noised_table(20_000)
    noise = noisy["c3"] - clean["c3"]
    assert kstest(noise, "laplace").pvalue > 1e-6


def test_the_other_package_is_a_row_even_if_it_cannot_be_had(
    bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.modules["environments"], "_ENVIRONMENTS", tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))
    rows, complete = bench._copulas(bench.QUICK, 1.0)
    assert not complete
    assert [row["who"] for row in rows] == ["SUPM", "copulas"]
    assert rows[1]["how"].startswith("not measured")


@pytest.mark.data
def test_a_classifier_from_a_noised_adult_is_within_three_points_of_a_clean_one(path: None) -> None:  # noqa: ARG001  it makes the module importable
    adult = importlib.import_module("synthesis_adult")
    (table,), (goal,) = adult.benchmark(adult.QUICK)
    assert goal.verdict == "met"
    assert table.rows[0]["clean"] > 0.8
    assert table.rows[0]["synthetic_worst"] > 0.78
