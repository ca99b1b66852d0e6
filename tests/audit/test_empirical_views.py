from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._random import simulation
from supm.audit.empirical import views_of

WORDS = simulation(1).words(6000)
SAMPLES = {
    "few whole numbers": (WORDS % 7).astype(np.int64) - 3,
    "many whole numbers": (WORDS >> np.uint64(8)).astype(np.int64),
    "truth values": WORDS % 2 == 0,
    "floats": WORDS * 2.0**-64,
    "short floats": (WORDS * 2.0**-64).astype(np.float32),
    "floats with gaps": np.where(WORDS % 5 == 0, np.nan, np.where(WORDS % 7 == 0, np.inf, 1.0)),
    "rows": np.stack((WORDS % 3, WORDS % 5), axis=1),
    "rows of floats": np.stack((WORDS * 2.0**-64, WORDS % 5), axis=1),
}


@pytest.mark.parametrize("samples", SAMPLES.values(), ids=SAMPLES)
def test_every_view_gives_codes_in_its_range_also_for_samples_it_has_not_seen(
    samples: NDArray[np.generic],
) -> None:
    left, right, later = np.split(samples, 3)
    views = list(views_of(left, right))
    assert views
    for view in views:
        for part in (left, right, later):
            codes = view.encode(part)
            assert codes.shape == (2000,)
            assert codes.min() >= 0
            assert codes.max() < view.codes


def test_negative_and_positive_numbers_are_not_confused() -> None:
    (view,) = views_of(np.array([-1, -1, 1, 1]), np.array([-1, 1, 1, 1]))
    minus, plus = view.encode(np.array([-1, 1]))
    assert minus != plus


def test_rows_that_differ_in_one_column_get_different_codes() -> None:
    rows = np.array([[1, 2], [2, 1], [1, 1]]).repeat(2, axis=0)
    whole = next(iter(views_of(rows, rows)))
    assert len(set(whole.encode(rows).tolist())) == 3
