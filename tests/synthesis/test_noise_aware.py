"""Models from noised records, on made-up tables whose truth is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from supm import simulation
from supm._errors import RecordError, SchemaError
from supm.mechanisms import ContinuousLaplace
from supm.mechanisms import GeneralizedRandomizedResponse as Response
from supm.synthesis import Archive, ArchiveSchema, NumberColumn, learn_model
from supm.synthesis.distributions import Channel
from supm.synthesis.noise_aware import (
    ClassModel,
    NoisyColumn,
    NumberModel,
    fit_classes,
    fit_number,
    leaf_size,
    worth_of,
)
from supm.synthesis.noise_aware_moments import Form

Floats = NDArray[np.float64]


def uniform(rows: int, count: int, seed: int) -> Floats:
    words = simulation(seed).words(rows * count).reshape(rows, count)
    return np.asarray((words + 0.5) / 2.0**64)


def laplace(epsilon: float) -> tuple[ContinuousLaplace, Channel]:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    return law, NumberColumn("x", law).channel()


def noised(values: Floats, epsilon: float, seed: int) -> NoisyColumn:
    law, channel = laplace(epsilon)
    return NoisyColumn(channel=channel, reports=law.randomize(values, simulation(seed)))


def fit(x: Floats, y: Floats, epsilon: float, *, form: Form = "auto", seed: int = 5) -> NumberModel:
    columns = [noised(each, epsilon, seed + place) for place, each in enumerate(x.T)]
    return fit_number(columns, noised(y, epsilon, seed + 100), form=form)


def error(model: NumberModel, x: Floats, y: Floats) -> float:
    return float(np.square(model.predict(list(x.T)) - y).mean())


def straight(x: Floats) -> Floats:
    return np.asarray(0.2 + 0.4 * x[:, 0] + 0.2 * x[:, 1])


def curved(x: Floats) -> Floats:
    return np.asarray(0.3 + 0.4 * np.cos(2 * np.pi * x[:, 0]) ** 2)


def test_a_line_is_found_through_noise_that_flattens_it_for_others() -> None:
    x = uniform(20_000, 2, 1)
    model = fit(x, straight(x), 3.0)
    ends = np.array([[0.1, 0.5], [0.9, 0.5], [0.5, 0.1], [0.5, 0.9]])
    assert np.abs(model.predict(list(ends.T)) - straight(ends)).max() < 0.03
    noisy = np.asarray(noised(x[:, 0], 3.0, 5).reports)
    told = np.asarray(noised(straight(x), 3.0, 105).reports)
    assert (
        np.cov(noisy, told)[0, 1] / noisy.var() < 0.2
    )  # least squares on the reports: 0.4 is true


def test_a_curve_is_found_where_the_noise_leaves_it() -> None:
    x = uniform(20_000, 2, 2)
    straight_error = error(fit(x, curved(x), 8.0, form="linear"), x, curved(x))
    curve_error = error(fit(x, curved(x), 8.0, form="additive"), x, curved(x))
    automatic = error(fit(x, curved(x), 8.0), x, curved(x))
    assert curve_error < 0.3 * straight_error
    assert automatic < 0.35 * straight_error


def test_the_choice_of_a_form_follows_the_reports() -> None:
    x = uniform(20_000, 2, 3)
    assert fit(x, straight(x), 8.0).coefficients.beliefs[0] > 0.2
    assert fit(x, curved(x), 8.0).coefficients.beliefs[0] < 0.01


def test_the_model_is_the_constant_where_noise_covers_all() -> None:
    x = uniform(400, 5, 4)
    y = straight(x)
    for epsilon in (0.01, 0.1):
        model = fit(x, y, epsilon)
        assert np.ptp(model.predict(list(x.T))) < 0.01


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.0])
def test_what_is_unrelated_costs_next_to_nothing(epsilon: float) -> None:
    """The same mean without the columns is the constant to compare with."""
    x, y = uniform(400, 6, 5), uniform(400, 1, 6)[:, 0]
    ratios = []
    for seed in range(20):
        model = fit(x, y, epsilon, seed=1000 * seed)
        ratios.append(error(model, x, y) / np.square(model.mean - y).mean())
    assert np.mean(ratios) < 1.02
    assert max(ratios) < 1.1


def test_more_budget_is_never_worse_for_long() -> None:
    x = uniform(1000, 3, 7)
    y = straight(x)
    budgets = (0.5, 2.0, 5.0, 20.0)
    errors = [
        float(np.mean([error(fit(x, y, epsilon, seed=10 * seed), x, y) for seed in range(4)]))
        for epsilon in budgets
    ]
    assert all(before > after for before, after in pairwise(errors))


def test_the_mean_is_pulled_to_the_middle_by_its_noise() -> None:
    y = np.full(400, 0.2)
    means = [fit(uniform(400, 1, 8), y, epsilon).mean for epsilon in (0.02, 2.0, 50.0)]
    assert abs(means[0] - 0.5) < 0.1
    assert means[2] == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("epsilon", [1.0, 3.0, 10.0])
def test_intervals_hold_what_they_say(epsilon: float) -> None:
    x = uniform(3000, 3, 9)
    noise = uniform(3000, 4, 10).sum(axis=1) / 4 - 0.5
    y = np.clip(straight(x) + 0.8 * noise, 0, 1)
    held = []
    for seed in range(6):
        model = fit(x[:600], y[:600], epsilon, seed=1000 * seed)
        values = list(x[600:].T)
        reach = 1.6449 * model.deviation(values)
        held.append(np.mean(np.abs(y[600:] - model.predict(values)) <= reach))
    assert 0.87 < np.mean(held) <= 1.0


def test_intervals_are_narrower_with_more_records_and_less_noise() -> None:
    x = uniform(20_000, 2, 11)
    y = straight(x)
    wide = fit(x[:300], y[:300], 1.0).deviation(list(x.T)).mean()
    narrow = fit(x, y, 8.0).deviation(list(x.T)).mean()
    assert narrow < 0.4 * wide


def test_intervals_are_wider_where_uncertain_coefficients_count_for_more() -> None:
    x = uniform(400, 1, 9)
    y = np.clip(0.3 + 0.4 * x[:, 0] + 0.05 * (uniform(400, 1, 10)[:, 0] - 0.5), 0, 1)
    model = fit(x, y, 3.0)
    middle, end = model.deviation([[0.5, 1.0]])
    assert end > 1.02 * middle


def test_owners_who_told_some_columns_only_count_for_those() -> None:
    x = uniform(30_000, 2, 12)
    columns = [noised(each, 6.0, place) for place, each in enumerate(x.T)]
    target = noised(straight(x), 6.0, 50)
    reports = [np.array(each.reports) for each in columns]
    reports[0][::2] = np.nan
    reports[1][1::2] = np.nan
    channel = columns[0].channel
    halves = [NoisyColumn(channel=channel, reports=each) for each in reports]
    model = fit_number(halves, target)
    ends = np.array([[0.1, 0.5], [0.9, 0.5], [0.5, 0.9]])
    assert np.abs(model.predict(list(ends.T)) - straight(ends)).max() < 0.05


def test_a_column_that_nobody_told_changes_nothing() -> None:
    x = uniform(5000, 1, 17)
    column, target = noised(x[:, 0], 5.0, 1), noised(0.2 + 0.6 * x[:, 0], 5.0, 2)
    empty = NoisyColumn(channel=column.channel, reports=np.full(5000, np.nan))
    model = fit_number([column, empty], target)
    asked = [0.2, 0.8, 0.2, 0.8], [0.1, 0.1, 0.9, 0.9]
    found = model.predict(asked)
    assert np.allclose(found[:2], found[2:])
    assert np.abs(found[:2] - [0.32, 0.68]).max() < 0.05


@pytest.mark.parametrize("epsilon", [1e-6, 1e4])
@pytest.mark.parametrize("rows", [2, 300])
def test_the_ends_of_what_can_be_asked(epsilon: float, rows: int) -> None:
    x = uniform(rows, 2, 18)
    model = fit(x, x[:, 0], epsilon)
    values = list(x.T)
    assert np.isfinite(model.predict(values)).all()
    assert np.isfinite(model.deviation(values)).all()


def test_a_target_that_hardly_anyone_told_is_refused() -> None:
    law, channel = laplace(1.0)
    target = NoisyColumn(channel=channel, reports=np.array([0.5, np.nan, np.nan]))
    column = NoisyColumn(channel=channel, reports=law.randomize(np.zeros(3), simulation(1)))
    with pytest.raises(RecordError, match="at least two records"):
        fit_number([column], target)


def classes(x: Floats, epsilon: float, label_epsilon: float | None, seed: int = 1) -> ClassModel:
    columns = [noised(each, epsilon, seed + place) for place, each in enumerate(x.T)]
    labels = (x[:, 0] > 0.7).astype(np.int64)
    if label_epsilon is None:
        return fit_classes(
            columns, NoisyColumn(channel=Channel.of_classes("unordered", np.eye(2)), reports=labels)
        )
    law = Response.for_epsilon(size=2, epsilon=label_epsilon)
    matrix = channel_of_labels(law)
    told = law.randomize(labels, simulation(seed + 50)).symbols
    return fit_classes(columns, NoisyColumn(channel=matrix, reports=told))


def channel_of_labels(law: Response) -> Channel:
    clean = Channel.of_classes("unordered", np.eye(law.size))
    return Channel(
        kind="unordered", places=clean.places, matrix=law.channel(), borders=clean.borders
    )


@pytest.mark.parametrize("label_epsilon", [None, 2.0])
def test_classes_are_told_apart(label_epsilon: float | None) -> None:
    x = uniform(20_000, 2, 13)
    model = classes(x, 5.0, label_epsilon)
    found = model.probabilities(list(x.T))
    assert np.allclose(found.sum(axis=1), 1)
    assert model.shares[1] == pytest.approx(0.3, abs=0.03)
    assert np.mean(found.argmax(axis=1) == (x[:, 0] > 0.7)) > 0.93


def test_classes_that_noise_hides_get_their_shares() -> None:
    x = uniform(500, 2, 14)
    found = classes(x, 0.05, 3.0).probabilities(list(x.T))
    assert np.ptp(found, axis=0).max() < 0.01
    assert (found.argmax(axis=1) == 0).all()


def table_of(rows: int, epsilon: float) -> Archive:
    law = laplace(epsilon)[0]
    names = "x", "y"
    schema = ArchiveSchema(columns=tuple(NumberColumn(n, law) for n in names), target="y")
    true = uniform(rows, 1, 15)[:, 0]
    return Archive.noised({"x": true, "y": 1 - true}, schema, simulation(1))


def test_leaves_grow_with_the_noise() -> None:
    sizes = [leaf_size(10_000, table_of(1000, epsilon)) for epsilon in (0.3, 3.0, 20.0)]
    # All of them: what is worth less than two clean records has nothing to split.
    assert sizes[0] == 10_000
    assert sizes[2] == 100
    assert sizes[0] > sizes[1] > sizes[2]
    # Else at most 30 %, which had less error than 10 % in ten of twelve settings.
    assert leaf_size(10_000, table_of(1000, 1.0)) == 3000


def test_an_archive_is_worth_fewer_clean_records_than_it_has() -> None:
    worths = [worth_of(table_of(2000, epsilon)) for epsilon in (1.0, 5.0, 100.0)]
    assert worths == sorted(worths)
    assert worths[0] < 100
    assert 1800 < worths[2] <= 2000


def test_an_archive_without_a_target_has_no_leaf_size() -> None:
    archive = table_of(100, 1.0)
    schema = ArchiveSchema(columns=archive.schema.columns)
    aimless = Archive(schema=schema, reports=archive.reports, rows=archive.rows)
    with pytest.raises(SchemaError, match="must name a target"):
        leaf_size(100, aimless)


@pytest.mark.parametrize("epsilon", [2.0, 5.0, 20.0])
def test_a_tree_on_synthetic_rows_is_better_with_such_leaves(epsilon: float) -> None:
    schema = table_of(2, epsilon).schema
    x, rest = uniform(2000, 2, 16).T
    clean = {"x": x, "y": 0.2 + 0.4 * x + 0.4 * rest}
    archive = Archive.noised(clean, schema, simulation(1))
    rows = learn_model(archive).sample(4000, simulation(3))
    inputs, targets = np.asarray(rows["x"])[:, np.newaxis], np.asarray(rows["y"])
    asked = np.linspace(0, 1, 101)
    errors = []
    for leaf in (1, leaf_size(4000, archive)):
        tree = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0).fit(inputs, targets)
        gaps = tree.predict(asked[:, np.newaxis]) - (0.4 + 0.4 * asked)
        errors.append(np.square(gaps).mean())
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0])
def test_a_tree_is_no_worse_than_a_constant_where_noise_covers_all(epsilon: float) -> None:
    schema = table_of(2, epsilon).schema
    errors = []
    for seed in range(40):
        x, rest = uniform(200, 2, seed).T
        clean = {"x": x, "y": 0.15 + 0.2 * x + 0.2 * rest}
        archive = Archive.noised(clean, schema, simulation(seed))
        rows = learn_model(archive).sample(1000, simulation(seed))
        leaf = leaf_size(1000, archive)
        tree = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0)
        answers = tree.fit(rows["x"][:, np.newaxis], rows["y"]).predict(x[:, np.newaxis])
        noisy = np.clip(archive.reports["y"].mean(), 0, 1)
        errors.append([np.square(clean["y"] - each).mean() for each in (answers, 0.5, noisy)])
    ours, middle, mean = np.mean(errors, axis=0)
    assert ours <= 1.02 * min(middle, mean)


def test_synthetic_targets_have_the_mean_that_models_fall_back_to() -> None:
    for epsilon in (0.05, 1.0, 20.0):
        archive = table_of(500, epsilon)
        column = NoisyColumn(channel=laplace(epsilon)[1], reports=archive.reports["y"])
        rows = learn_model(archive).sample(100_000, simulation(2))
        inputs = NoisyColumn(channel=laplace(epsilon)[1], reports=archive.reports["x"])
        assert rows["y"].mean() == pytest.approx(fit_number([inputs], column).mean, abs=0.005)
