"""The widest bounds and the most noise that can be stated: numbers come out, and no float fails."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from supm import simulation
from supm.estimators import CopulaSynthesizer
from supm.mechanisms import (
    ContinuousGaussian,
    ContinuousLaplace,
    ContinuousPiecewise,
    ContinuousSquareWave,
)
from supm.synthesis import Archive, ArchiveSchema, NumberColumn
from supm.synthesis.paper_model import learn_paper_model
from supm.synthesis.quality import assess
from supm.synthesis.quality_dependence import noise_doubts
from supm.synthesis.synthetic_model import repaired_covariance

WIDEST: dict[str, Any] = {"low": -1e100, "high": 1e100}
LAWS: dict[str, Any] = {
    "laplace": ContinuousLaplace.for_epsilon(**WIDEST, epsilon=1.0),
    "laplace, most noise": ContinuousLaplace.for_epsilon(**WIDEST, epsilon=1e-6),
    "gaussian": ContinuousGaussian(**WIDEST, sigma=1e100, delta=1e-6),
    "gaussian, most noise": ContinuousGaussian(low=0, high=1, sigma=1e108, delta=1e-6),
    "piecewise": ContinuousPiecewise.for_epsilon(**WIDEST, epsilon=1.0),
    "square wave": ContinuousSquareWave.for_epsilon(**WIDEST, epsilon=1.0),
}
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


def noised(law: Any, seed: int = 1) -> Archive:
    schema = ArchiveSchema(columns=(NumberColumn("a", law), NumberColumn("b", law)))
    held = law.low + law.span * np.linspace(0, 1, 200)
    return Archive.noised({"a": held, "b": held[::-1]}, schema, simulation(seed))


@every_law
def test_noise_that_was_used_is_not_doubted_however_wide_the_bounds(law: Any) -> None:
    assert noise_doubts(noised(law)) == {}


def test_noise_that_was_not_used_is_still_doubted() -> None:
    archive = noised(LAWS["laplace"])
    weak = NumberColumn("a", ContinuousLaplace.for_epsilon(**WIDEST, epsilon=0.01))
    schema = ArchiveSchema(columns=(weak, archive.schema.numbers[1]))
    found = noise_doubts(Archive(schema=schema, reports=archive.reports, rows=archive.rows))
    assert set(found) == {"a"}
    assert "varies less than the noise" in found["a"]


@every_law
@pytest.mark.parametrize("mode", ["strict", "faithful"])
def test_rows_are_drawn_and_in_wide_bounds_also_judged(
    law: Any, mode: Literal["strict", "faithful"]
) -> None:
    archive = noised(law)
    made = CopulaSynthesizer(schema=archive.schema, mode=mode, random_state=1)
    rows = made.fit(archive.table()).sample(100)
    assert all(((law.low <= each) & (each <= law.high)).all() for each in rows.values())
    if law.high == 1e100:
        assert np.isfinite([each.figures[1].error for each in assess(archive, rows).columns]).all()


def test_covariances_that_are_noise_alone_leave_the_columns_of_the_paper_independent() -> None:
    covariance = np.array([[0.0, 1e11], [1e11, 0.0]])
    repaired = repaired_covariance(covariance)
    assert np.linalg.matrix_rank(repaired) == 1
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=1e-6)
    factors = [learn_paper_model(noised(law, seed)).copulas[0].factor for seed in range(20)]
    independent = [np.array_equal(each, np.eye(2)) for each in factors]
    assert any(independent)
    assert all(np.isfinite(each).all() for each in factors)
