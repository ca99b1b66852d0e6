"""How many directions are published, and with which counts beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from supm import ParameterError, simulation
from supm.estimators import PrivateLDA

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
        ({"n_components": 3}, "directions must be 1 or 2 with a histogram, got 3"),
        ({"n_components": 4, "histogram": False}, "directions must be .* 3"),
        ({"n_components": 0}, "directions must be"),
        ({"n_components": 1.5, "histogram": False}, "directions must be"),
    ],
)
def test_directions_that_cannot_be_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        fitted(**options)
