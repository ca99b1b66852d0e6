from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_squared_error, r2_score

from supm import ParameterError, simulation
from supm.learning import Errors, folds, measure, score


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


@pytest.mark.parametrize("rows", [10, 11, 569])
@pytest.mark.parametrize("count", [2, 10])
def test_everyone_is_in_one_fold_and_sizes_differ_by_at_most_one(rows: int, count: int) -> None:
    parts = folds(rows, count, simulation(1))
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_equal_folds_leave_out_the_remainder_as_the_papers_do() -> None:
    parts = folds(569, 10, simulation(1), equal=True)
    assert {len(part) for part in parts} == {56}
    assert len(np.unique(np.concatenate(parts))) == 560


@pytest.mark.parametrize("count", [1, 0, 12, "3"])
def test_a_number_of_folds_that_makes_no_sense_is_refused(count: int) -> None:
    with pytest.raises(ParameterError, match="count must be"):
        folds(11, count, simulation(1))


def test_the_order_is_drawn_and_fixed_by_the_seed() -> None:
    first, again, other = (np.concatenate(folds(200, 4, simulation(seed))) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    assert first.tolist() != list(range(200))


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
