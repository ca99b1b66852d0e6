"""The distribution of a column through noise: spikes at a bound, and none where there are none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import laplace

from supm import simulation
from supm.mechanisms import ContinuousLaplace, GeneralizedRandomizedResponse
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn
from supm.synthesis.columns_learning import learn_margins, pulled_mean, read_functions
from supm.synthesis.moments import ColumnRoles
from supm.synthesis.tables import ALONE, reconstruct_table

Floats = NDArray[np.float64]

ROWS = 20_000
EVEN: Floats = (np.arange(ROWS) + 0.5) / ROWS


def shares(held: Floats, epsilon: float, seed: int = 1) -> Floats:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    archive = Archive.noised(
        {"x": held}, ArchiveSchema(columns=(NumberColumn("x", law),)), simulation(seed)
    )
    found: Floats = learn_margins(archive, ColumnRoles(archive.schema), bins=100).scaled[0][0]
    return found


def spiked(low: float, high: float) -> Floats:
    """Return values of which some are at the low end, some at the high one, the rest between."""
    held = EVEN.copy()
    held[: int(low * ROWS)] = 0.0
    held[ROWS - int(high * ROWS) :] = 1.0
    return held


@pytest.mark.parametrize(("low", "high"), [(0.9, 0.0), (0.0, 0.9), (0.45, 0.45)])
@pytest.mark.parametrize("epsilon", [2.0, 5.0])
def test_a_spike_at_a_bound_is_not_smeared(low: float, high: float, epsilon: float) -> None:
    found = shares(spiked(low, high), epsilon)
    for end, share in ((0, low), (-1, high)):
        if share:
            assert found[end] > 0.85 * share


def test_a_spike_is_not_made_up_where_there_is_none() -> None:
    for seed in range(10):
        for epsilon in (0.1, 1.0, 5.0):
            found = shares(0.3 + 0.4 * EVEN[::10], epsilon, seed)
            assert max(found[0], found[-1]) < 0.05, (seed, epsilon)


def test_classes_are_climbed_to_from_an_even_start_only() -> None:
    law = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=0.01)
    schema = ArchiveSchema(columns=(ClassColumn("x", ("a", "b", "c"), law, ordered=True),))
    archive = Archive.noised({"x": ["a", "b", "c"] * 20}, schema, simulation(1))
    found = learn_margins(archive, ColumnRoles(schema), bins=100).scaled[0][0]
    assert found == pytest.approx(np.full(3, 1 / 3), abs=0.1)


def reached(held: Floats, epsilon: float, seed: int) -> tuple[Floats, Floats, Floats]:
    """Return distribution functions: from counts in cells, from each report itself, and true."""
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    reports, edges = law.randomize(held, simulation(seed)), law.edges(20)
    cells = law.report_cells(edges)
    counted = reconstruct_table(
        np.histogram(reports, cells)[0], [law.transition(edges, cells)], stop=ALONE
    )
    # The mean density of each report over a bin, by the Laplace law itself.
    below = [laplace.cdf(reports, loc=edge, scale=law.scale) for edge in edges]
    densities = -20 * np.diff(below, axis=0)
    exact = reconstruct_table(np.ones(reports.size), [densities], stop=ALONE)
    true = np.searchsorted(held, edges[1:], side="right") / held.size
    return np.cumsum(counted), np.cumsum(exact), true


@pytest.mark.parametrize("epsilon", [1.0, 5.0, 20.0, 50.0])
def test_cells_of_half_a_bin_lose_little_to_the_exact_likelihood(epsilon: float) -> None:
    """Counting makes EM independent of the records; what it costs is far below the noise."""
    held = EVEN[:: ROWS // 300] ** 2
    found = np.array([reached(held, epsilon, seed) for seed in range(8)])
    counted, exact, true = found.swapaxes(0, 1)
    lost, noise = np.abs(counted - exact).mean(), np.abs(exact - true).mean()
    assert lost < 0.4 * noise
    assert np.abs(counted - true).mean() < 1.15 * noise


def two_numbers(target: str | None, rows: int) -> Archive:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=3.0)
    schema = ArchiveSchema(columns=(NumberColumn("x", law), NumberColumn("y", law)), target=target)
    held = {"x": EVEN[:: ROWS // rows] ** 2, "y": EVEN[:: ROWS // rows] ** 4}
    return Archive.noised(held, schema, simulation(1))


def told_with(target: str | None, rows: int) -> list[Floats]:
    archive = two_numbers(target, rows)
    return learn_margins(archive, ColumnRoles(archive.schema), bins=50).scaled


def test_the_target_has_its_known_mean_and_other_numbers_stay_as_they_are() -> None:
    (x, y), (alone, plain) = told_with("y", 2000), told_with(None, 2000)
    assert (x == alone).all()
    archive = two_numbers("y", 2000)
    channel = archive.schema.numbers[1].channel()
    cells = channel.cells(archive.reports["y"])
    known, _ = pulled_mean(read_functions(channel, cells, limit=1), cells)
    places = (np.arange(50) + 0.5) / 50
    assert float(y[0] @ places) == pytest.approx(known, abs=1e-9)
    assert float(plain[0] @ places) != pytest.approx(known, abs=1e-4)


def test_one_report_of_a_target_does_not_show_its_mean() -> None:
    assert (told_with("y", 1)[1] == told_with(None, 1)[1]).all()
    assert (told_with("y", 2)[1] != told_with(None, 2)[1]).any()
