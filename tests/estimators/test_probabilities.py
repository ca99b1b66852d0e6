"""What predict_proba says: within what is seen, in the sense of the weights, and about right."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import SVC

from supm import ParameterError, simulation
from supm.collection import answer_on_device
from supm.estimators import SUPMClassifier
from supm.estimators._study import label_chances, tells_probabilities
from supm.estimators._targets import label_order
from supm.messages import CellAnswers, Scorecard
from supm.owner import interview

PEOPLE = 20_000
COLUMNS = 6
GRID = 1 << 20
LINE = np.column_stack((np.linspace(-1.0, 1.0, 400), np.tile([0.3, -0.3], 200)))
SIDE = (LINE[:, 0] > 0).astype(int)


def uniform(seed: int, size: int) -> NDArray[np.float64]:
    return simulation(seed).below(GRID, size) / GRID


def rare_kind(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return people of whom about one in eight is of the rare kind, by a known probability."""
    table = 2 * uniform(seed, PEOPLE * COLUMNS).reshape(PEOPLE, COLUMNS) - 1
    score = table @ np.array([2.0, -1.5, 1.0, 0.5, 0.0, 0.0]) - 2.6
    return table, (uniform(seed + 1, PEOPLE) < 1 / (1 + np.exp(-score))).astype(np.int64)


def gaps(chances: NDArray[np.float64], truth: NDArray[np.int64]) -> list[float]:
    """Return mean probability minus observed share in each tenth that holds 1 in 100 people."""
    tenth = np.minimum((10 * chances).astype(int), 9)
    held = [tenth == place for place in range(10)]
    return [float(chances[each].mean() - truth[each].mean()) for each in held if each.mean() > 0.01]


@pytest.fixture(scope="module")
def people() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return rare_kind(1)


@pytest.mark.parametrize(("trust", "most"), [("u,u,d", 0.12), ("u,u,u", 0.2)])
def test_probabilities_of_a_rare_label_are_about_right(
    people: Any, trust: str, most: float
) -> None:
    table, label = people
    fresh, truth = rare_kind(3)
    study = SUPMClassifier(epsilon=4.0, trust=trust, random_state=1).fit(table, label)
    found = gaps(study.predict_proba(fresh)[:, 1], truth)
    assert 0.08 < label.mean() < 0.2
    assert len(found) >= 2
    assert max(map(abs, found)) < most


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"trust": "u,u,d"}, Scorecard),
        ({"trust": "u,u,u"}, Scorecard),
        ({"trust": "u,u,u", "test": "sample"}, Scorecard),
        ({"trust": "u,u,d", "epsilon": 8.0, "train": "joint"}, CellAnswers),
        ({"trust": "u,u,u", "epsilon": 8.0, "train": "joint", "test": "answer"}, CellAnswers),
        ({"trust": "t,t,t", "mode": "faithful"}, CellAnswers),
    ],
    ids=repr,
)
def test_the_most_probable_label_is_the_prediction(parameters: Any, rule: type) -> None:
    study = SUPMClassifier(random_state=2, **parameters).fit(LINE, SIDE)
    chances = study.predict_proba(LINE)
    assert isinstance(study.model_.rule, rule)
    assert chances.shape == (400, 2)
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert (chances >= 0).all()
    assert np.array_equal(study.classes_[chances.argmax(axis=1)], study.predict(LINE))


def test_on_the_device_they_are_those_of_the_published_model() -> None:
    study = SUPMClassifier(trust="u,u,d", random_state=2).fit(LINE, SIDE)
    records = study.study_.schema.read({"x0": LINE[:, 0], "x1": LINE[:, 1]}, labelled=False)
    assert np.array_equal(study.predict_proba(LINE), study.model_.probabilities(records))


def test_where_an_answer_leaves_they_tell_no_more_than_the_answer() -> None:
    study = SUPMClassifier(epsilon=1.0, random_state=2).fit(LINE, SIDE)
    assert len(np.unique(study.predict_proba(LINE), axis=0)) <= 2


@pytest.mark.parametrize(
    "parameters",
    [
        {"mode": "faithful"},
        {"mode": "faithful", "trust": "t,u,d"},
        {"train": "joint", "test": "joint", "epsilon": 8.0},
        {"trust": "u,u,u", "test": "odp"},
        {"trust": "t,t,t", "mode": "faithful", "train": "raw", "test": "raw"},
    ],
    ids=repr,
)
def test_a_study_that_only_answers_offers_none(parameters: Any) -> None:
    study = SUPMClassifier(random_state=2, **parameters).fit(LINE, SIDE)
    assert not hasattr(study, "predict_proba")
    assert not tells_probabilities(study.trained_)
    assert study.predict(LINE).shape == (400,)


def test_a_form_without_probabilities_is_refused() -> None:
    study = SUPMClassifier(train="joint", test="joint", epsilon=8.0, random_state=2).fit(LINE, SIDE)
    records = study.study_.schema.read({"x0": LINE[:, 0], "x1": LINE[:, 1]}, labelled=False)
    with pytest.raises(ParameterError, match="test must be a form that tells probabilities"):
        label_chances(study.trained_, records, simulation(1))


def test_before_fit_a_call_says_that_it_is_too_early() -> None:
    with pytest.raises(NotFittedError):
        SUPMClassifier().predict_proba(LINE)


def test_a_cell_that_nobody_told_has_probabilities_too() -> None:
    alone = np.array([[-0.9, -0.9], [0.9, 0.9]] * 200)
    study = SUPMClassifier(trust="u,u,d", train="joint", epsilon=12.0, random_state=1)
    chances = study.fit(alone, np.tile([0, 1], 200)).predict_proba([[-0.9, 0.9], [0.9, -0.9]])
    assert np.allclose(chances.sum(axis=1), 1.0)


def test_balanced_weights_find_the_rare_label(people: Any) -> None:
    table, label = people
    scores = [
        balanced_accuracy_score(
            label,
            SUPMClassifier(trust="u,u,d", class_weight=weight, random_state=1)
            .fit(table, label)
            .predict(table),
        )
        for weight in (None, "balanced", {1: float(1 / label.mean() - 1)})
    ]
    assert scores[1] > scores[0] + 0.05
    assert math.isclose(scores[1], scores[2], abs_tol=0.03)


def test_weights_of_cells_count_too(people: Any) -> None:
    table, label = people[0][:, :2], people[1]
    plain, weighted = (
        SUPMClassifier(train="joint", trust="u,u,d", class_weight=weight, random_state=1)
        .fit(table, label)
        .predict_proba(table)[:, 1]
        for weight in (None, {0: 1.0, 1: 4.0})
    )
    assert np.allclose(weighted, 4 * plain / (1 + 3 * plain), atol=0.01)


def test_weights_come_in_the_order_of_the_labels() -> None:
    labels = np.array(["b", "a"])
    assert label_order(None, labels) is None
    assert label_order("balanced", labels) == "balanced"
    assert label_order({"a": 2.0}, labels) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("heavy", "class_weight must be None"),
        ([1.0, 2.0], "class_weight must be None"),
        ({"hunter2": 1.0}, "class_weight must be about the possible labels, got '1 other'"),
        ({0: 0.0}, "a label's weight must be"),
    ],
)
def test_other_weights_are_refused(wrong: Any, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        SUPMClassifier(class_weight=wrong, random_state=1).fit(LINE, SIDE)


def test_weights_leave_the_promise_as_it_is() -> None:
    plain, weighted = (
        SUPMClassifier(class_weight=weight, random_state=1).fit(LINE, SIDE)
        for weight in (None, "balanced")
    )
    assert plain.account_ == weighted.account_
    asked = [interview(study.study_, "train") for study in (plain, weighted)]
    assert asked[0] == asked[1]


def test_a_classifier_of_cells_learns_with_weights() -> None:
    study = SUPMClassifier(
        train="joint", trust="u,u,d", classifier=SVC(), class_weight={1: 3.0}, random_state=1
    ).fit(LINE, SIDE)
    records = study.study_.schema.read({"x0": LINE[:, 0], "x1": LINE[:, 1]}, labelled=False)
    assert np.array_equal(study.predict(LINE), answer_on_device(study.trained_, records))
