from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import simulation
from supm.mechanisms import (
    ContinuousGaussian,
    ContinuousLaplace,
    ContinuousPiecewise,
    ContinuousSquareWave,
    GeneralizedRandomizedResponse,
)
from supm.synthesis import ClassColumn, NumberColumn
from supm.synthesis.columns import Column
from supm.synthesis.columns_learning import read_functions
from supm.synthesis.distributions import Channel
from supm.synthesis.noise_aware_moments import repair, take_moments

COLUMNS: list[Column] = [
    NumberColumn("laplace", ContinuousLaplace.for_epsilon(low=-3, high=5, epsilon=0.5)),
    NumberColumn("laplace", ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=8.0)),
    NumberColumn(
        "gaussian", ContinuousGaussian.for_epsilon(low=0, high=2, epsilon=4.0, delta=1e-5)
    ),
    NumberColumn("piecewise", ContinuousPiecewise.for_epsilon(low=0, high=1, epsilon=3.0)),
    NumberColumn("square", ContinuousSquareWave.for_epsilon(low=0, high=1, epsilon=3.0)),
    ClassColumn(
        "response", ("a", "b", "c"), GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)
    ),
    ClassColumn(
        "ordered",
        (1, 2, 3, 4),
        GeneralizedRandomizedResponse.for_epsilon(size=4, epsilon=2.0),
        ordered=True,
    ),
]


def reports_of(column: Column, rows: int = 2000, seed: int = 1) -> NDArray[Any]:
    """Return reports of values that lean to the low end."""
    if isinstance(column, NumberColumn):
        values = column.mechanism.low + column.mechanism.span * np.linspace(0, 1, rows) ** 3
        return column.mechanism.randomize(values, simulation(seed))
    codes = (np.arange(rows) % (len(column.values) + 2)) % len(column.values)
    return column.mechanism.randomize(codes, simulation(seed)).symbols


@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: c.name)
def test_a_reading_means_the_function_whatever_the_true_value_is(column: Column) -> None:
    channel = column.channel()
    reading = read_functions(channel, channel.cells(reports_of(column)), limit=4)
    assert np.allclose(channel.matrix @ reading.readings, reading.functions, atol=1e-9)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: c.name)
def test_functions_are_orthonormal_and_readings_uncorrelated(column: Column) -> None:
    channel = column.channel()
    reading = read_functions(channel, channel.cells(reports_of(column)), limit=4)
    gram = (reading.functions * reading.shares[:, np.newaxis]).T @ reading.functions
    assert np.allclose(gram, np.eye(len(gram)), atol=1e-8)
    assert np.allclose(reading.shares @ reading.functions, 0, atol=1e-8)
    told = reading.shares @ channel.matrix
    noisy = (reading.readings * told[:, np.newaxis]).T @ reading.readings
    scale = np.sqrt(np.diag(noisy))
    assert np.allclose(noisy / np.outer(scale, scale), np.eye(len(noisy)), atol=1e-8)


def test_a_laplace_report_is_read_with_less_noise_than_it_has() -> None:
    """Beyond the bounds a report says only on which side it lies: so half of its noise is shed."""
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=0.2)
    channel = NumberColumn("x", law).channel()
    true = np.full(20_000, 0.3)
    cells = channel.cells(law.randomize(true, simulation(3)))
    reading = read_functions(channel, cells, limit=8)
    told = (reading.mean + reading.spread * reading.readings @ reading.line)[cells]
    assert abs(told.mean() - 0.3) < 4 * told.std() / np.sqrt(true.size)
    assert told.var() < 0.6 * law.noise_variance(0.3, 0.0)


def test_the_line_is_the_value_itself() -> None:
    column = COLUMNS[1]
    channel = column.channel()
    reading = read_functions(channel, channel.cells(reports_of(column)), limit=2)
    values = np.linspace(0, 1, 11)
    line = reading.mean + reading.spread * reading.evaluate(values) @ reading.line
    assert np.abs(line - values).max() < 0.02


def test_more_noise_leaves_fewer_functions() -> None:
    widths = []
    for epsilon in (0.5, 2.0, 10.0):
        column = NumberColumn("x", ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon))
        channel = column.channel()
        widths.append(
            read_functions(channel, channel.cells(reports_of(column)), limit=20).line.size
        )
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_values_at_the_bounds_are_places_of_their_own() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=6.0)
    channel = NumberColumn("x", law).channel()
    ends = np.repeat([0.0, 1.0], 5000)
    reading = read_functions(channel, channel.cells(law.randomize(ends, simulation(2))), limit=8)
    assert channel.places[[0, -1]].tolist() == [0.0, 1.0]
    assert reading.shares[:2].sum() > 0.4
    assert reading.shares[-2:].sum() > 0.4


def test_a_class_is_looked_up_and_a_number_is_interpolated() -> None:
    kinds: list[Column] = [COLUMNS[5], COLUMNS[1]]
    readings = []
    for column in kinds:
        channel = column.channel()
        readings.append(read_functions(channel, channel.cells(reports_of(column)), limit=4))
    assert np.array_equal(readings[0].evaluate([2, 0]), readings[0].functions[[2, 0]])
    between = readings[1].evaluate([0.5 * sum(readings[1].channel.places[7:9])])
    assert np.allclose(between, readings[1].functions[7:9].mean(axis=0))


def test_absent_reports_are_left_out() -> None:
    column = COLUMNS[1]
    channel = column.channel()
    reports = reports_of(column)
    holes = np.concatenate((reports, np.full(500, np.nan)))
    cells, all_cells = channel.cells(reports), channel.cells(holes)
    full, part = (read_functions(channel, each, limit=3) for each in (cells, all_cells))
    assert np.allclose(full.readings, part.readings)
    assert (part.tell(all_cells)[-500:] == 0).all()


def test_products_of_readings_are_products_of_functions() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=4.0)
    channel = NumberColumn("x", law).channel()
    first = np.linspace(0, 1, 4000)
    true = first, first**2
    found: list[NDArray[np.float64]] = []
    for seed in range(20):
        source = simulation(seed)
        cells = [channel.cells(law.randomize(each, source)) for each in true]
        if not found:
            columns = [read_functions(channel, each, limit=1) for each in cells]
        moments = take_moments(columns, cells, np.zeros((first.size, 1)), np.ones(first.size))
        found.append(moments.products / moments.pairs)
    functions = np.hstack([c.evaluate(t) for c, t in zip(columns, true, strict=True)])
    functions = functions - functions.mean(axis=0)
    wanted = functions.T @ functions / first.size
    across = ~moments.within
    error = np.std(found, axis=0) / np.sqrt(20)
    assert (np.abs(np.mean(found, axis=0) - wanted) < 5 * error + 1e-3)[across].all()


def test_clean_classes_are_read_as_they_are() -> None:
    channel = Channel.of_classes("unordered", np.eye(3))
    reading = read_functions(channel, np.array([0, 1, 2, 2] * 5), limit=24)
    assert np.allclose(reading.readings, reading.functions)
    assert reading.functions.shape == (3, 2)
    assert np.allclose(reading.shares @ reading.functions, 0)


def test_a_repaired_matrix_is_positive_definite() -> None:
    broken = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    assert np.linalg.eigvalsh(broken).min() < 0
    mended = repair(broken)
    assert np.linalg.eigvalsh(mended).min() > 0
    assert np.allclose(np.diag(mended), 1)


@pytest.mark.parametrize("rows", [60, 60_000])
def test_all_noise_is_counted_for_few_records_and_less_for_many(rows: int) -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=2.0)
    channel = NumberColumn("x", law).channel()
    true = np.linspace(0, 1, rows)
    cells = [channel.cells(law.randomize(true, simulation(seed))) for seed in range(2)]
    columns = [read_functions(channel, each, limit=8) for each in cells]
    moments = take_moments(columns, cells, np.zeros((rows, 1)), np.ones(rows))
    whole = np.diag(moments.seen) / rows
    counted = np.diag(moments.told(moments.gram(), float(rows)))
    if rows == 60:
        assert np.allclose(counted, whole)
    else:
        assert (counted[whole > 1.5] < whole[whole > 1.5]).all()
        assert (counted > 0.99).all()
