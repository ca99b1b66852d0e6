"""Columns of an archive: read from what a file says, and read without bias."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from supm._errors import ParameterError, SchemaError
from supm._random import simulation
from supm.mechanisms import GeneralizedRandomizedResponse
from supm.synthesis import ClassColumn
from supm.synthesis.archive import column_from_form

SEX = {"name": "sex", "kind": "class", "values": ["f", "m"]}


def test_a_response_is_debiased_exactly() -> None:
    law = GeneralizedRandomizedResponse.for_epsilon(size=4, epsilon=1.0)
    column = ClassColumn("x", (0, 1, 2, 3), law)
    channel = column.matrix()
    assert channel == pytest.approx(law.channel(), rel=1e-15)
    assert channel.sum(axis=1) == pytest.approx(np.ones(4))
    assert channel @ column.unbiased(np.arange(4)) == pytest.approx(np.eye(4))
    codes = np.repeat(np.arange(4), [5000, 3000, 1500, 500])
    told = law.randomize(codes, simulation(3)).symbols
    assert column.counts(told) == pytest.approx(column.unbiased(told).sum(axis=0))
    errors = column.counts(told) - [5000, 3000, 1500, 500]
    assert np.abs(errors).max() < 5 * math.sqrt(10_000) / column.gap


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"low": 0, "high": 1, "epsilon": 1.0}, "its mechanism is not given"),
        ({"mechanism": "uniform", "low": 0, "high": 1}, "mechanism 'uniform' is not known"),
        ({"mechanism": "laplace", "low": 0, "high": 1}, "state epsilon or scale"),
        ({"mechanism": "laplace", "low": 0, "epsilon": 1.0}, "high is missing"),
        ({"mechanism": "laplace", "low": 0, "high": 1, "epsilon": 1.0, "scale": 1.0}, "keep one"),
        ({"mechanism": "gaussian", "low": 0, "high": 1, "epsilon": 1.0}, "delta is missing"),
        ({"mechanism": "gaussian", "low": 0, "high": 1, "sigma": 1.0}, "delta is missing"),
        ({"mechanism": "laplace", "low": 1, "high": 0, "epsilon": 1.0}, "high must be above"),
        ({"mechanism": "laplace", "low": 0, "high": 1, "scale": "1"}, "scale must be a number"),
        ({"mechanism": "piecewise", "low": 0, "high": 1, "width": 0.5}, "outside is missing"),
    ],
)
def test_a_form_that_does_not_say_everything_is_refused(form: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        column_from_form({"name": "age", "kind": "number", **form}, 0)


def test_a_response_must_say_its_mechanism_and_tell_something() -> None:
    with pytest.raises(SchemaError, match="mechanism is not given"):
        column_from_form({**SEX, "epsilon": 1.0}, 0)
    with pytest.raises(SchemaError, match="above 1 / 2"):
        column_from_form({**SEX, "mechanism": "randomized_response", "keep": 0.5}, 0)


@pytest.mark.parametrize("epsilon", np.linspace(0.05, 9.95, 100).tolist())
def test_no_less_is_stated_than_was_spent(epsilon: float) -> None:
    exact = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=epsilon)
    column = ClassColumn("x", ("a", "b", "c"), exact)
    assert column.epsilon >= exact.epsilon
    assert column_from_form(column.to_form(), 0) == column
    wanted = {"name": "x", "kind": "class", "values": ["a", "b", "c"], "epsilon": epsilon}
    stated = column_from_form({**wanted, "mechanism": "randomized_response"}, 0)
    assert stated.epsilon <= epsilon
    assert column_from_form(stated.to_form(), 0) == stated


def test_values_of_several_kinds_stay_what_they_are() -> None:
    coin = GeneralizedRandomizedResponse.with_keep(size=2, keep=0.75)
    assert ClassColumn("x", (1, "a"), coin).named(np.array([0, 1, 0])).tolist() == [1, "a", 1]


def test_whether_classes_have_an_order_is_true_or_false() -> None:
    with pytest.raises(SchemaError, match="ordered must be true or false"):
        column_from_form({**SEX, "ordered": "yes"}, 0)


def test_a_response_that_no_float_can_state_is_refused() -> None:
    exact = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=43.0)
    with pytest.raises(ParameterError, match="keep"):
        ClassColumn("x", ("a", "b"), exact)
