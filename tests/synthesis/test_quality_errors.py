"""Standard errors of a quality report against what many archives of the same records do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import simulation
from supm.mechanisms import (
    ContinuousLaplace,
    ContinuousPiecewise,
    ContinuousSquareWave,
    GeneralizedRandomizedResponse,
)
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn
from supm.synthesis.quality_columns import FigureComparison, compare_columns
from supm.synthesis.quality_dependence import dependence, plain_table, spread_of, unbiased_readings

ARCHIVES = 60
EVEN = (np.arange(3000) + 0.5) / 3000


def figures(held: dict[str, Any], schema: ArchiveSchema, place: int) -> list[FigureComparison]:
    """Return one figure of the first column, from many archives of the same records."""
    rows = plain_table(held, schema, "synthetic")
    archives = (Archive.noised(held, schema, simulation(seed)) for seed in range(ARCHIVES))
    return [compare_columns(each, rows, None)[0].figures[place] for each in archives]


def stated_and_seen(found: list[FigureComparison]) -> tuple[float, float]:
    stated = math.sqrt(np.mean([each.error**2 for each in found]))
    return stated, float(np.std([each.estimate for each in found]))


@pytest.mark.parametrize("kind", [ContinuousLaplace, ContinuousPiecewise, ContinuousSquareWave])
@pytest.mark.parametrize("power", [1, 6], ids=["even", "skewed"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_error_of_a_standard_deviation_is_about_what_it_is(
    kind: Any, power: int, epsilon: float
) -> None:
    law = kind.for_epsilon(low=0, high=1, epsilon=epsilon)
    schema = ArchiveSchema(columns=(NumberColumn("x", law),))
    stated, seen = stated_and_seen(figures({"x": EVEN**power}, schema, 1))
    # Laplace noise of this epsilon hides all of the variance: what is left is cut off at zero.
    most = 3.5 if kind is ContinuousLaplace and epsilon < 1 else 1.6
    assert 0.7 * seen < stated < most * seen


@pytest.mark.parametrize("kind", [ContinuousPiecewise, ContinuousSquareWave])
def test_two_alike_records_do_not_tell_a_variance(kind: Any) -> None:
    law = kind.for_epsilon(low=0, high=1, epsilon=2.0)
    found, error = spread_of(NumberColumn("x", law), np.array([0.4, 0.6]))
    assert error > 0.5 * found
    assert error > 0.5 * law.noise_variance(0.5, 0.0) / math.sqrt(2) / (1 + law.noise_terms[1])


@pytest.mark.parametrize("size", [3, 8])
def test_the_error_of_a_share_is_what_it_is(size: int) -> None:
    law = GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=1.0)
    names = tuple(f"v{place}" for place in range(size))
    schema = ArchiveSchema(columns=(ClassColumn("x", names, law),))
    held = np.array(names)[np.arange(3000) % size]
    stated, seen = stated_and_seen(figures({"x": held}, schema, 0))
    assert stated == pytest.approx(seen, rel=0.3)


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_few_records_do_not_make_independent_classes_known(rows: int) -> None:
    law = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=8.0)
    columns = tuple(ClassColumn(name, ("p", "q", "r"), law) for name in "ab")
    schema, calls = ArchiveSchema(columns=columns), 0
    for seed in range(60):
        source = simulation(seed)
        table: dict[str, NDArray[np.str_]] = {
            name: np.array(["p", "q", "r"])[source.below(3, rows).astype(int)] for name in "ab"
        }
        found = dependence(unbiased_readings(Archive.noised(table, schema, source)))
        calls += int(found.known[0, 1])
        assert found.error[0, 1] >= 2 / rows
    assert calls <= 3
