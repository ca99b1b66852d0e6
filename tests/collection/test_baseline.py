from __future__ import annotations

import numpy as np
import pytest

from supm import simulation
from supm.collection import baseline
from supm.collection.baseline import Baseline, without_privacy
from supm.learning import RadialSVM
from supm.schema import Categorical, Continuous, Ordinal, Schema


def test_each_kind_of_attribute_carries_what_it_knows() -> None:
    wards = Categorical("x", values=("a", "b", "c"), missing="class")
    levels = Ordinal("x", values=(1, 2, 3), missing="class")
    number = Continuous("x", low=0, high=10, missing="class")
    hot = baseline._features(wards, np.array([0, 2, 3]))
    assert hot.tolist() == [[1, -1, -1], [-1, -1, 1], [-1, -1, -1]]
    assert baseline._features(levels, np.array([0, 1, 2, 3])).tolist() == [[-1], [0], [1], [0]]
    read = baseline._features(number, np.array([0.0, 10.0, np.nan]))
    assert read.tolist() == [[-1], [1], [0]]


def test_what_can_be_learned_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema(
        attributes=(Categorical("ward", values=("a", "b", "c")),),
        target=Categorical("ill", values=("no", "yes")),
    )
    wards = ["a", "b", "c"] * 40
    records = schema.read({"ward": wards, "ill": ["yes" if w == "b" else "no" for w in wards]})
    steps: list[int] = []

    def measured() -> Baseline:
        return without_privacy(
            schema,
            records,
            RadialSVM(),
            simulation(1),
            split=4,
            repeats=2,
            progress=lambda: steps.append(1),
        )

    found = measured()
    assert (found.reached.headline, found.people, found.repeats) == (1.0, 120, 2)
    assert len(steps) == 8
    monkeypatch.setattr(baseline, "_MOST_PEOPLE", 60)
    monkeypatch.setattr(baseline, "_REPEATED", 30)
    fewer = measured()
    assert (fewer.people, fewer.repeats) == (60, 1)
    assert len(steps) == 12
