"""Bounds are public: none was read off the data, and what they clip is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from supm.datasets import (
    Bound,
    Dataset,
    load_adult,
    load_boston,
    load_diabetes,
    load_howell1,
    load_ionosphere,
    load_musk2,
    load_nltcs,
    load_wdbc,
)
from supm.schema import Continuous

SHIPPED = [load_wdbc, load_diabetes]
PUBLISHED = [load_ionosphere, load_musk2, load_adult, load_nltcs, load_boston, load_howell1]
LOADERS = [*SHIPPED, *(pytest.param(load, marks=pytest.mark.data) for load in PUBLISHED)]
# How many values of each attribute lie beyond the bounds. All others clip none.
CLIPPED = {"musk2": {"f161": 69, "f163": 125, "f165": 27, "f166": 25}}


@cache
def loaded(load: Callable[[], Dataset]) -> Dataset:
    return load()


@pytest.mark.parametrize("load", LOADERS)
def test_every_continuous_attribute_has_a_bound_with_its_reason(
    load: Callable[[], Dataset],
) -> None:
    data = loaded(load)
    described = [*data.schema.attributes, data.schema.target]
    continuous = [each for each in described if isinstance(each, Continuous)]
    assert {each.name for each in continuous} == set(data.bounds)
    for attribute in continuous:
        bound = data.bounds[attribute.name]
        assert (attribute.low, attribute.high) == (bound.low, bound.high)
        assert len(bound.why) > 10


@pytest.mark.parametrize("load", LOADERS)
def test_no_bound_is_an_extreme_of_the_data_unless_it_holds_by_definition(
    load: Callable[[], Dataset],
) -> None:
    data = loaded(load)
    for name, bound in data.bounds.items():
        values = data.columns[name]
        assert bound.low != values.min() or bound.by_definition in {"low", "both"}, name
        assert bound.high != values.max() or bound.by_definition in {"high", "both"}, name


@pytest.mark.parametrize("load", LOADERS)
def test_a_bound_by_definition_is_never_passed(load: Callable[[], Dataset]) -> None:
    data = loaded(load)
    for name, bound in data.bounds.items():
        values = data.columns[name]
        assert values.min() >= bound.low or bound.by_definition not in {"low", "both"}, name
        assert values.max() <= bound.high or bound.by_definition not in {"high", "both"}, name


@pytest.mark.parametrize("load", LOADERS)
def test_what_the_bounds_clip_is_as_documented(load: Callable[[], Dataset]) -> None:
    data = loaded(load)
    beyond = {
        name: int(((data.columns[name] < bound.low) | (data.columns[name] > bound.high)).sum())
        for name, bound in data.bounds.items()
    }
    assert {name: count for name, count in beyond.items() if count} == CLIPPED.get(data.name, {})


@pytest.mark.data
def test_the_share_that_musk2_clips_is_the_one_in_its_notes() -> None:
    data = loaded(load_musk2)
    share = sum(CLIPPED["musk2"].values()) / (data.rows * 166)
    assert f"{share:.2%}".replace("%", " %") in data.notes[0]
    assert str(sum(CLIPPED["musk2"].values())) in data.notes[0]


def test_a_bound_makes_its_attribute() -> None:
    attribute = Bound(low=0, high=1, why="a share", by_definition="both").attribute("x")
    assert attribute == Continuous("x", low=0, high=1)
    assert np.isfinite(attribute.high)
