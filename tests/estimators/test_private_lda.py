"""How many directions are published, and with which counts beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from supm import ParameterError, simulation
from supm.estimators import PrivateLDA, PrivateLogisticRegression, PrivatePCA, PrivateSVC

LABELS = tuple("abcd")
# Four corners that no two directions tell apart as well as three do.
CORNERS = 0.45 * np.array([[1, 1, 1, 0], [1, -1, -1, 0], [-1, 1, -1, 0], [-1, -1, 1, 0]])


def four_labels(size: int = 8000) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    source = simulation(5)
    drawn = ndtri((source.words(4 * size).astype(np.float64) + 0.5) / 2.0**64).reshape(size, 4)
    numbers = source.below(4, size).astype(np.int64)
    return CORNERS[numbers] + 0.3 * drawn, np.array(LABELS)[numbers]


def fitted(**options: Any) -> tuple[PrivateLDA, float]:
    table, labels = four_labels()
    model = PrivateLDA(epsilon=2.0, labels=LABELS, random_state=1, **options).fit(table, labels)
    return model, float((model.predict(table) == labels).mean())


def test_three_directions_tell_four_labels_apart_where_two_cannot() -> None:
    table, labels = four_labels()
    clear = float(LinearDiscriminantAnalysis().fit(table, labels).score(table, labels))
    three, accuracy = fitted(histogram=False)
    assert three.transform(table).shape == (8000, 3)
    assert three.get_feature_names_out().tolist() == [f"privatelda{n}" for n in range(3)]
    assert accuracy > clear - 0.02
    two, by_two = fitted(n_components=2, histogram=False)
    assert two.transform(table).shape == (8000, 2)
    assert by_two < accuracy - 0.1


def test_without_a_histogram_the_moments_spend_all_of_the_budget() -> None:
    without, _ = fitted(histogram=False)
    assert [part.name for part in without.statement_.parts] == ["moments"]
    assert without.outcome_.histogram is None
    usual, _ = fitted()
    assert [part.name for part in usual.statement_.parts] == ["moments", "histogram"]
    for model in (without, usual):
        assert 1.999 < model.statement_.total.epsilon <= 2.0  # type: ignore[attr-defined]  # it has one
    assert usual.outcome_.directions.shape == (2, 4)
    one, _ = fitted(n_components=1)
    assert one.outcome_.directions.shape == (1, 4)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_components": 3}, "^n_components must be 1 or 2 with a histogram, got 3"),
        ({"n_components": 4, "histogram": False}, "^n_components must be .* 3.* one fewer"),
        ({"n_components": 0}, "^n_components must be"),
        ({"n_components": 1.5, "histogram": False}, "^n_components must be"),
        ({"histogram": "no"}, "^histogram must be True or False, got 'no'"),
        ({"histogram": 1}, "^histogram must be True or False, got 1"),
        ({"histogram": None}, "^histogram must be True or False"),
        ({"histogram": np.array([True, False])}, "^histogram must be True or False"),
    ],
)
def test_directions_that_cannot_be_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        fitted(**options)


def test_a_bool_of_numpy_is_one_too() -> None:
    model, _ = fitted(histogram=np.False_)
    assert model.outcome_.histogram is None


@pytest.mark.parametrize("estimator", [PrivatePCA, PrivateSVC, PrivateLogisticRegression])
def test_components_that_cannot_be_are_refused_as_the_caller_spells_them(estimator: Any) -> None:
    table, labels = four_labels(50)
    with pytest.raises(ParameterError, match=r"^n_components must be at most the width"):
        estimator(n_components=5, random_state=1).fit(table, labels)
    with pytest.raises(ParameterError, match=r"^n_components must be a whole number"):
        estimator(n_components=0, random_state=1).fit(table, labels)
