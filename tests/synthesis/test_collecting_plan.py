from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from supm import ParameterError, simulation
from supm.mechanisms import GeneralizedRandomizedResponse as Response
from supm.schema import Attribute, Categorical, Continuous, Ordinal
from supm.synthesis.collecting import Collection
from supm.synthesis.collecting_plan import CollectionOption, inflation, plan_collection
from supm.synthesis.moments import ColumnRoles, learn_moments
from supm.synthesis.synthetic_model import learn_model


def numbers(count: int) -> list[Attribute]:
    return [Continuous(f"x{place}", low=0, high=1) for place in range(count)]


def option(count: int, asked: int, epsilon: float, owners: int, noise: Any) -> CollectionOption:
    made = Collection(attributes=tuple(numbers(count)), asked=asked, budget=epsilon, noise=noise)
    return CollectionOption(collection=made, owners=owners)


@pytest.mark.parametrize("count", [2, 3, 14])
def test_where_noise_is_all_that_matters_the_printed_formulas_hold(count: int) -> None:
    epsilon, owners, spread = 0.01, 10_000, 1 / 12
    pairs, everything = (option(count, asked, epsilon, owners, "laplace") for asked in (2, count))
    fourth = epsilon**4 * owners
    assert (pairs.correlation_error * spread) ** 2 == pytest.approx(
        32 * count * (count - 1) / fourth, rel=0.01
    )
    assert (everything.correlation_error * spread) ** 2 == pytest.approx(
        4 * count**4 / fourth, rel=0.01
    )
    second = epsilon**2 * owners
    assert pairs.mean_error**2 * spread == pytest.approx(4 * count / second, rel=0.01)
    assert everything.mean_error**2 * spread == pytest.approx(2 * count**2 / second, rel=0.01)


def test_with_fourteen_attributes_pairs_are_26_times_better() -> None:
    pairs, everything = (option(14, asked, 0.001, 10_000, "laplace") for asked in (2, 14))
    ratio = (everything.correlation_error / pairs.correlation_error) ** 2
    assert ratio == pytest.approx(26.4, abs=0.1)


@pytest.mark.parametrize("noise", ["laplace", "piecewise"])
@pytest.mark.parametrize("asked", [2, 3, 4])
def test_the_errors_are_those_of_simulated_owners(noise: Any, asked: int) -> None:
    owners, repeats = 3000, 60
    planned = option(4, asked, 8.0, owners, noise)
    source = simulation(asked)
    found, means = [], []
    for _ in range(repeats):
        held = source.words(owners * 4).reshape(owners, 4) / 2.0**64
        archive = planned.collection.archive(planned.collection.randomize(held, source))
        told = [archive.unbiased(name) - 0.5 for name in archive.schema.names]
        found += [np.nanmean(told[i] * told[j]) * 12 for i, j in ((0, 1), (2, 3))]
        means += [np.nanmean(each) * math.sqrt(12) for each in told]
    error = math.sqrt(np.mean(np.square(found)))
    assert error == pytest.approx(planned.correlation_error, rel=0.25)
    assert math.sqrt(np.mean(np.square(means))) == pytest.approx(planned.mean_error, rel=0.2)


def test_at_one_budget_pairs_tell_covariances_better_than_whole_records() -> None:
    owners, off = 4000, dict[int, list[float]]()
    for asked in (2, 8):
        planned = option(8, asked, 4.0, owners, "laplace").collection
        for seed in range(10):
            source = simulation(seed)
            held = source.words(owners * 8).reshape(owners, 8) / 2.0**64
            held[:, 1] = (held[:, 0] + held[:, 1]) / 2
            archive = planned.archive(planned.randomize(held, source))
            layout = ColumnRoles(archive.schema)
            found = learn_moments(archive, layout).covariance
            true = np.cov(held, rowvar=False)
            upper = np.triu_indices(8, 1)
            off.setdefault(asked, []).append(float(np.square(found - true)[upper].mean()))
    # By Theorem 3 the variances differ by a factor of 8^3 / (8 * 7), about 9.
    assert 4 < np.mean(off[8]) / np.mean(off[2]) < 14


def test_rows_can_be_made_from_pairs_alone() -> None:
    owners, source = 30_000, simulation(1)
    held = source.words(owners * 3).reshape(owners, 3) / 2.0**64
    held[:, 1] = 0.7 * held[:, 0] + 0.3 * held[:, 1]
    pairs = option(3, 2, 8.0, owners, "piecewise").collection
    model = learn_model(pairs.archive(pairs.randomize(held, source)))
    rows = np.column_stack(list(model.sample(20_000, simulation(2)).values()))
    assert np.abs(np.corrcoef(rows.T) - np.corrcoef(held.T)).max() < 0.08
    assert np.abs(rows.mean(axis=0) - held.mean(axis=0)).max() < 0.03


def test_the_inflation_of_classes_is_that_of_their_shares() -> None:
    part = Response.for_epsilon(size=3, epsilon=2.0)
    gap = float(part.hit - part.miss)
    told = 1 / 3 * (2 / 3)
    assert inflation(part) == pytest.approx(told / gap**2 / (1 / 3 * 2 / 3))


def test_small_budgets_make_pairs_and_large_ones_make_whole_records() -> None:
    assert plan_collection(numbers(14), epsilon=1.0, owners=1000).collection.asked == 2
    assert 2 < plan_collection(numbers(14), epsilon=14.0, owners=1000).collection.asked < 14
    assert plan_collection(numbers(14), epsilon=100.0, owners=1000).collection.asked == 14


def test_the_best_is_first_and_is_what_was_chosen() -> None:
    plan = plan_collection(numbers(5), epsilon=6.0, owners=1000)
    errors = [each.correlation_error for each in plan.options]
    assert errors == sorted(errors)
    assert len(errors) == 2 * 4
    assert plan.collection == plan.options[0].collection


@pytest.mark.parametrize(
    ("count", "epsilon", "words"),
    [
        (14, 1.0, "Each owner reports 2 of 14 attributes, drawn at random, with epsilon 0.5"),
        (14, 100.0, "Each owner reports all 14 attributes with epsilon 7.14"),
        (2, 1.0, "of two attributes, a pair is all"),
    ],
)
def test_the_reason_is_one_sentence(count: int, epsilon: float, words: str) -> None:
    reason = plan_collection(numbers(count), epsilon=epsilon, owners=1000).reason
    assert words in reason
    assert reason.endswith(".")
    assert ". " not in reason


def test_classes_alone_are_not_said_to_have_noise_of_numbers() -> None:
    classes = [Categorical(name, values=("no", "yes")) for name in "abc"]
    assert "noise" not in plan_collection(classes, epsilon=1.0, owners=100).reason
    mixed = [*classes, Ordinal("d", values=(1, 2, 3)), *numbers(1)]
    assert "piecewise noise" in plan_collection(mixed, epsilon=1.0, owners=100).reason


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"owners": 1}, "owners must be"),
        ({"epsilon": 0}, "epsilon must be"),
        ({"epsilon": 1e-5}, r"epsilon must be a number in \[3e-05, 10000\], got 1e-05"),
        ({"attributes": 7}, "attributes must be a sequence of Continuous, Ordinal or Categorical"),
        ({"attributes": ["age", "sex"]}, "attributes must be a sequence of Continuous"),
        ({"attributes": []}, "attributes must be at least two"),
        ({"attributes": numbers(1)}, "attributes must be at least two"),
    ],
)
def test_what_cannot_be_planned_is_refused(change: dict[str, Any], sentence: str) -> None:
    asked = {"attributes": numbers(3), "epsilon": 1.0, "owners": 100, **change}
    with pytest.raises(ParameterError, match=sentence):
        plan_collection(asked.pop("attributes"), **asked)


@pytest.mark.parametrize(("owners", "useless"), [(500, True), (2_000_000, False)])
def test_a_plan_that_tells_nothing_says_so(owners: int, useless: bool) -> None:  # noqa: FBT001  a parameter of the test
    plan = plan_collection(numbers(8), epsilon=2.0, owners=owners)
    assert ("next to nothing will be learnt" in plan.reason) == useless
    needed = option(8, 2, 2.0, 240_000, plan.collection.noise)
    assert needed.correlation_error < 0.2
    assert plan.reason.endswith(".")
