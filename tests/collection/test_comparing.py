from __future__ import annotations

import numpy as np
import pytest

from supm._errors import ParameterError, RecordError
from supm.collection import compare
from supm.mechanisms import GeneralizedRandomizedResponse, Hybrid
from supm.schema import Categorical, Continuous, Schema

SCHEMA = Schema(
    attributes=(Continuous("age", low=0, high=100, missing="class"),),
    target=Categorical("ill", values=("no", "yes")),
)
TABLE = {"age": [20.0, 50.0, 80.0, None] * 100, "ill": ["no", "no", "no", "yes"] * 100}


class Mine(GeneralizedRandomizedResponse):
    pass


def test_errors_are_those_of_the_channel() -> None:
    found = compare(
        TABLE, schema=SCHEMA, mechanisms=[Mine, "hybrid"], epsilon=2, repeats=300, seed=1
    )
    errors = {(each.column, each.mechanism): each.error for each in found.measured}
    assert set(errors) == {("age", "Mine"), ("age", "hybrid"), ("ill", "Mine")}
    two = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=2)
    assert errors["ill", "Mine"] == pytest.approx(two.variance(0.25, 400) ** 0.5, rel=0.15)
    hybrid = Hybrid.for_epsilon(low=0, high=100, epsilon=2)
    spread = np.mean([hybrid.variance(age) for age in (20, 50, 80)]) / 300
    assert errors["age", "hybrid"] == pytest.approx(spread**0.5 / 100, rel=0.15)


def test_a_comparison_is_a_frame_and_a_seed_repeats_it() -> None:
    once, again = (
        compare(TABLE, schema=SCHEMA, epsilon=[1, 4], repeats=2, seed=3) for _ in range(2)
    )
    assert once.measured == again.measured
    assert once.to_frame().shape == (2 * (6 + 5 + 6), 6)
    assert [table.title for table in once.tables()] == [
        "Error of the shares of classes",
        "Error of the mean",
    ]


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(RecordError, match="no records"):
        compare({"age": [], "ill": []}, schema=SCHEMA)
    with pytest.raises(ParameterError, match="columns must be names of columns, got 'sex'"):
        compare(TABLE, schema=SCHEMA, columns=["sex"])
    with pytest.raises(ParameterError, match="mechanisms must be such that one of them"):
        compare(TABLE, schema=SCHEMA, columns=["ill"], mechanisms=["duchi"])
