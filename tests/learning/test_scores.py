from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from supm import ParameterError, simulation
from supm.learning import score


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_scores_agree_with_scikit_learn(classes: int) -> None:
    source = simulation(classes)
    truth = source.below(classes, 500).astype(np.int64)
    told = np.where(source.below(3, 500) == 0, source.below(classes, 500).astype(np.int64), truth)
    found = score(truth, told)
    assert found.accuracy == pytest.approx(accuracy_score(truth, told))
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, told))
    assert found.majority == np.bincount(truth).max() / 500


def test_a_class_that_occurs_only_in_the_predictions_has_no_share_in_the_balance() -> None:
    assert score([0, 0, 1, 1], [0, 5, 1, 1]).balanced_accuracy == 0.75


def test_a_class_that_nobody_has_has_no_share_in_the_balance() -> None:
    assert score([0, 2, 2], [0, 2, 1]).balanced_accuracy == 0.75
    assert score([3, 3], [3, 3]).balanced_accuracy == 1.0


@pytest.mark.parametrize("bad", [[], [0.5], [[0]], ["a"], [-1]])
def test_what_is_not_a_list_of_classes_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError):
        score(bad, bad)


def test_lengths_must_agree() -> None:
    with pytest.raises(ParameterError, match="of length 2"):
        score([0, 1], [0])
