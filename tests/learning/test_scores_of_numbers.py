from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import mean_squared_error, r2_score

from supm import ParameterError
from supm.learning import Errors, measure

TRUTH = np.linspace(-3.0, 8.0, 23) ** 2
PREDICTED = np.linspace(5.0, 60.0, 23)


def test_errors_are_those_of_another_implementation() -> None:
    found = measure(TRUTH, PREDICTED)
    assert found.squared == pytest.approx(mean_squared_error(TRUTH, PREDICTED))
    assert found.constant == pytest.approx(mean_squared_error(TRUTH, np.full(23, TRUTH.mean())))
    assert found.explained == pytest.approx(r2_score(TRUTH, PREDICTED))


def test_the_truth_explains_all_and_the_mean_nothing() -> None:
    assert measure(TRUTH, TRUTH).explained == 1.0
    assert measure(TRUTH, np.full(23, TRUTH.mean())).explained == pytest.approx(0.0)
    assert measure(TRUTH, -TRUTH).explained < 0
    assert measure([2, 2], [1, 3]).explained == 0.0, "where nothing varies there is nothing"
    assert Errors(squared=1.0, constant=4.0).explained == 0.75


@pytest.mark.parametrize(
    ("truth", "predicted"), [([1.0], [1.0, 2.0]), ([], []), ([[1.0]], [[1.0]]), (1.0, 1.0)]
)
def test_lists_that_do_not_go_together_are_refused(truth: Any, predicted: Any) -> None:
    with pytest.raises(ParameterError, match="predicted must be of length"):
        measure(truth, predicted)
