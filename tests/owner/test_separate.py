"""The interview of separate columns: what is drawn, what is told, and in which order."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from supm import secure, simulation
from supm._errors import ParameterError
from supm.audit import exact_epsilon
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import GeneralizedRandomizedResponse, Piecewise
from supm.owner import SeparateInterview
from supm.owner.columns import Classes, Labels, Numbers, Signs, Unchanged
from supm.schema import Categorical, Continuous, Ordinal, Schema, discretize

ATTRIBUTES = (
    Continuous("a", low=0, high=1),
    Ordinal("b", values=(1, 2, 3)),
    Categorical("c", values=("x", "y"), missing="class"),
    Continuous("d", low=-1, high=1),
)
SCHEMA = Schema(attributes=ATTRIBUTES, target=Categorical("ill", values=("no", "yes")))
ALARM = 1e-9


def respond(size: int, epsilon: float) -> GeneralizedRandomizedResponse:
    return GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=epsilon)


def classes(*epsilons: float, sampled: int | None = None, label: float = 0.5) -> SeparateInterview:
    """Return an interview whose columns cost what is said, each with 2 or 3 classes."""
    cuts = [discretize(each, 2) for each in ATTRIBUTES[: len(epsilons)]]
    columns = [
        Classes(discretizer=cut, randomizer=respond(cut.size, epsilon))
        for cut, epsilon in zip(cuts, epsilons, strict=True)
    ]
    return SeparateInterview(
        columns=tuple(columns), label=Labels(randomizer=respond(2, label)), sampled=sampled
    )


@pytest.mark.parametrize("sampled", [None, 1, 2, 3])
def test_the_costliest_attributes_that_may_be_drawn_are_paid_for(sampled: int | None) -> None:
    asked = classes(0.25, 1.0, 2.0, sampled=sampled)
    expected = {None: 3.75, 1: 2.5, 2: 3.5, 3: 3.75}[sampled]
    exact = exact_epsilon(asked.exact_channel())
    assert exact <= asked.epsilon
    assert asked.epsilon == pytest.approx(expected, rel=1e-12) == exact


def test_one_column_that_is_not_randomised_leaves_no_promise() -> None:
    columns = (*classes(1.0).columns, Numbers(attribute=ATTRIBUTES[3], randomizer=Unchanged(3)))
    for sampled in (None, 1):
        asked = SeparateInterview(columns=columns, sampled=sampled)
        assert asked.epsilon == math.inf == exact_epsilon(asked.exact_channel())


@pytest.mark.parametrize("sampled", [1, 2, 3, 4])
def test_every_set_of_places_is_drawn_equally_often_whatever_is_held(sampled: int) -> None:
    asked = classes(1.0, 1.0, 1.0, 1.0, sampled=sampled)
    sets = list(combinations(range(4), sampled))
    for held in (asked.inputs()[0], asked.inputs()[-1]):
        inputs = np.repeat(held[np.newaxis], 60_000, axis=0)
        told = asked.randomize(inputs, simulation(7)).symbols[:, :sampled]
        seen = Counter(map(tuple, told.tolist()))
        assert set(seen) == set(sets)
        counts = np.array([seen[each] for each in sets])
        assert goodness_of_fit(counts, np.full(len(sets), 1 / len(sets))) > ALARM


def test_places_are_told_first_then_their_symbols_then_the_label() -> None:
    """With hardly any noise the symbols are what was held."""
    asked = classes(40.0, 40.0, 40.0, sampled=2, label=40.0)
    inputs = asked.inputs()
    told = asked.randomize(inputs, simulation(1)).symbols
    assert told.shape == (len(inputs), asked.width) == (len(inputs), 5)
    for row, held in zip(told, inputs, strict=True):
        assert row[2:4].tolist() == [held[row[0]], held[row[1]]]
        assert row[4] == held[-1]


def test_numbers_and_classes_stand_side_by_side() -> None:
    number = Piecewise.for_epsilon(low=-1, high=1, epsilon=1.0, steps=2)
    asked = SeparateInterview(
        columns=(*classes(1.0, 1.0).columns, Numbers(attribute=ATTRIBUTES[3], randomizer=number)),
        label=Signs(randomizer=number),
    )
    table: dict[str, list[Any]] = {"a": [1.0], "b": [3], "c": ["x"], "d": [-1.0], "ill": ["yes"]}
    assert asked.encode(SCHEMA.read(table)).tolist() == [[1, 1, -1, 1]]
    exact = exact_epsilon(asked.exact_channel())
    assert exact <= asked.epsilon == pytest.approx(4.0, rel=1e-12)
    assert exact == pytest.approx(4.0, rel=1e-12)


def test_many_columns_cost_the_sum_and_the_sum_is_not_below_what_is_exact() -> None:
    """The stated sum is rounded up; a product of rounded parts may not slip under it."""
    for parts in (3, 7, 13, 31):
        for epsilon in (0.1, 0.3, 1.0, 2.7):
            response = respond(2, epsilon)
            asked = SeparateInterview(columns=(Labels(randomizer=response),) * parts)
            ratio = (response.hit / response.miss) ** parts
            most, least = ratio / (1 + ratio), 1 / (1 + ratio)
            exact = exact_epsilon([[most, least], [least, most]])
            assert exact <= asked.epsilon <= parts * epsilon * (1 + 1e-12)


def test_a_crowd_of_several_chunks_is_answered_row_by_row() -> None:
    asked = classes(40.0, 40.0, label=40.0)
    inputs = np.tile(asked.inputs(), (9000, 1))
    told = asked.randomize(inputs, simulation(3))
    assert (told.symbols == inputs).all()


def test_reports_say_whether_their_randomness_came_from_a_seed() -> None:
    asked = classes(1.0)
    assert asked.randomize(asked.inputs(), simulation(1)).simulation
    assert not asked.randomize(asked.inputs(), secure()).simulation


def test_a_seed_in_place_of_a_source_is_refused() -> None:
    asked = classes(1.0)
    with pytest.raises(ParameterError, match="source"):
        asked.randomize(asked.inputs(), 7)  # type: ignore[arg-type]


def test_a_channel_that_is_too_large_is_refused_with_a_hint() -> None:
    number = Piecewise.for_epsilon(low=-1, high=1, epsilon=1.0, steps=1024)
    column = Numbers(attribute=ATTRIBUTES[0], randomizer=number)
    asked = SeparateInterview(columns=(column, column))
    with pytest.raises(ParameterError, match="fewer attributes and classes"):
        asked.exact_channel()
