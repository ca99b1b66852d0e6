"""EM over products of channels, correlation matrices, and trees of classes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import multivariate_normal, norm

from supm import simulation
from supm._errors import ParameterError
from supm.mechanisms import ContinuousLaplace, GeneralizedRandomizedResponse
from supm.mechanisms.noise import GaussianNoise
from supm.synthesis.distributions import BinnedMarginal, OrderedMarginal, noisy_polychoric
from supm.synthesis.moments import pull
from supm.synthesis.paper_model import paper_cells
from supm.synthesis.synthetic_model import FLOOR, nearest_correlation
from supm.synthesis.tables import (
    ALONE,
    PAPER,
    CellReports,
    Stop,
    count_together,
    draw_rows,
    learn_tree,
    reconstruct_table,
)

Floats = NDArray[np.float64]


def log_likelihood(counts: Floats, first: Floats, second: Floats, table: Floats) -> float:
    return float(np.sum(counts * np.log(first.T @ table @ second)))


def test_em_over_a_product_is_em_over_the_kronecker_channel() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=3.0)
    number = law.transition(law.edges(6), law.report_cells(law.edges(6)))
    response = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0).channel()
    counts = np.round(1e4 * response.T @ np.outer([0.5, 0.3, 0.2], np.arange(1, 7) / 21) @ number)
    stop = Stop(gain=0.0, steps=40)
    table = reconstruct_table(counts, [response, number], stop=stop)
    together: Floats = np.asarray(np.kron(response, number), dtype=np.float64)
    flat = reconstruct_table(counts.ravel(), [together], stop=stop)
    assert table.ravel() == pytest.approx(flat, abs=1e-12)


def test_em_climbs_and_finds_the_table_behind_many_reports() -> None:
    first = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=2.0).channel()
    second = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=2.0).channel()
    truth = np.array([[0.3, 0.1], [0.05, 0.25], [0.2, 0.1]])
    counts = 1e6 * first.T @ truth @ second
    found = [
        reconstruct_table(counts, [first, second], stop=Stop(gain=0.0, steps=steps))
        for steps in (1, 5, 50)
    ]
    heights = [log_likelihood(counts, first, second, table) for table in found]
    assert heights == sorted(heights)
    assert reconstruct_table(counts, [first, second]) == pytest.approx(truth, abs=1e-3)


def test_cells_that_were_never_reported_do_not_change_the_result() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=1.0)
    counts = np.zeros(law.report_cells(law.edges(10)).size - 1)
    counts[[0, 3, 7]] = [5, 9, 2]
    channel = law.transition(law.edges(10), law.report_cells(law.edges(10)))
    seen = counts > 0
    whole = reconstruct_table(counts, [channel])
    assert whole == pytest.approx(reconstruct_table(counts[seen], [channel[:, seen]]))


def test_the_papers_wide_output_domain_gives_the_same_steps_as_one_cell_on_either_side() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=2.0)
    reports = law.randomize(np.linspace(0, 1, 3000) ** 3, simulation(2))
    shares = []
    narrow = np.concatenate(([-np.inf], law.edges(20), [np.inf]))
    for cells in (paper_cells(law, 20), paper_cells(law, 20, 1e-6), narrow):
        counts = np.bincount(np.searchsorted(cells[1:-1], reports, side="right"))
        channel = law.transition(law.edges(20), cells)
        counts = np.pad(counts, (0, channel.shape[1] - counts.size))
        shares.append(reconstruct_table(counts, [channel], stop=Stop(gain=0.0, steps=50)))
    assert shares[0] == pytest.approx(shares[2], abs=1e-12)
    assert shares[1] == pytest.approx(shares[2], abs=1e-12)


def test_a_column_of_few_reports_takes_a_hundred_steps_though_they_gain_little() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=1.0)
    told = law.bin_reports(law.randomize(np.zeros(60), simulation(5)), law.edges(20))
    found = [
        reconstruct_table(told.counts, [told.channel], stop=stop)
        for stop in (ALONE, Stop(gain=0.0, steps=100))
    ]
    heights = [float(told.counts @ np.log(each @ told.channel + 1e-300)) for each in found]
    assert heights[0] >= heights[1] - 1e-9


def test_smoothing_helps_where_there_are_no_spikes() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=6.0)
    levels = (np.arange(2000) + 0.5) / 2000
    values = np.clip(0.5 + 0.15 * norm.ppf(levels), 0, 1)
    told = law.bin_reports(law.randomize(values, simulation(8)), law.edges(50))
    true = np.histogram(values, law.edges(50))[0] / 2000
    plain, smooth = (
        np.abs(reconstruct_table(told.counts, [told.channel], stop=ALONE, smooth=each) - true).sum()
        for each in (False, True)
    )
    assert smooth < 0.8 * plain


@pytest.mark.parametrize("counts", [[0, 0], [1, 2, 3], [[1, 2]]])
def test_counts_that_fit_no_channel_are_refused(counts: list[int]) -> None:
    with pytest.raises(ParameterError, match="counts must be"):
        reconstruct_table(counts, [np.eye(2)], stop=PAPER)


def test_a_pull_with_equal_errors_is_one_factor_for_all() -> None:
    entries, error = np.array([0.5, -0.2, 0.1, 0.3]), 0.15
    alpha = min(1.0, 4 * error**2 / np.sum(entries**2))
    assert pull(entries, np.full(4, error)) == pytest.approx((1 - alpha) * entries)


def test_a_pull_lowers_the_error_of_noisy_entries() -> None:
    drawn = GaussianNoise(1.0).draw(2000, simulation(1))
    truth = 0.2 * drawn[:1000]
    errors = np.where(np.arange(1000) % 2 == 0, 0.1, 1.0)
    seen = truth + errors * drawn[1000:]
    better = pull(seen, errors)
    for part in (slice(0, None, 2), slice(1, None, 2)):
        before, after = np.square(seen - truth)[part].mean(), np.square(better - truth)[part].mean()
        assert after < before
    assert np.square(better - truth).mean() < 0.03


def test_what_was_never_observed_becomes_the_goal() -> None:
    found = pull([0.3, 0.9, np.nan], [0.01, np.inf, np.inf], [0.0, 0.1, 0.2])
    assert found[1:].tolist() == [0.1, 0.2]
    assert pull([0.3], [np.inf]).tolist() == [0.0]


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_the_nearest_correlation_is_one(size: int) -> None:
    drawn = GaussianNoise(0.8).draw(size * size, simulation(size)).reshape(size, size)
    symmetric = np.clip((drawn + drawn.T) / 2, -1, 1)
    found = nearest_correlation(symmetric)
    assert np.diag(found).tolist() == [1.0] * size
    assert found == pytest.approx(found.T)
    assert np.linalg.eigvalsh(found)[0] > FLOOR / 2


def test_a_correlation_that_is_possible_is_left_alone() -> None:
    possible = np.array([[1, 0.3, 0.2], [0.3, 1, -0.4], [0.2, -0.4, 1]])
    assert nearest_correlation(possible) == pytest.approx(possible, abs=1e-9)


def test_quantiles_skip_empty_bins_and_lead_back() -> None:
    marginal = BinnedMarginal(0.0, 1.0, np.array([0.0, 0.4, 0.0, 0.0, 0.6, 0.0]))
    values = marginal.values(np.linspace(0, 1, 101))
    assert (np.diff(values) >= 0).all()
    inside = (values >= 1 / 6) & (values <= 2 / 6) | (values >= 4 / 6) & (values <= 5 / 6)
    assert inside.all()
    drawn = marginal.draw(np.linspace(0.001, 0.999, 10_000), simulation(1))
    assert np.histogram(drawn, np.linspace(0, 1, 7))[0] / 10_000 == pytest.approx(
        marginal.shares, abs=0.002
    )


def test_a_series_has_the_variance_of_its_distribution() -> None:
    levels = (np.arange(50) + 0.5) / 50
    for marginal in (
        BinnedMarginal(0.0, 1.0, levels / levels.sum()),
        OrderedMarginal(np.array([0.2, 0.5, 0.3])),
    ):
        kept = float(np.square(marginal.coefficients).sum())
        assert kept <= marginal.variance * (1 + 1e-4)
        assert kept > 0.9 * marginal.variance


def normal_cells(rho: float, first: Floats, second: Floats) -> Floats:
    """The table of two cut normals, from SciPy's bivariate distribution function."""
    law = multivariate_normal(cov=[[1, rho], [rho, 1]])
    cuts = [np.concatenate(([-9.0], norm.ppf(np.cumsum(m)[:-1]), [9.0])) for m in (first, second)]
    reached = np.array([[law.cdf([a, b]) for b in cuts[1]] for a in cuts[0]])
    return np.asarray(np.diff(np.diff(reached, axis=0), axis=1))


@pytest.mark.parametrize("rho", [-0.85, -0.2, 0.0, 0.6])
def test_a_polychoric_correlation_is_that_of_the_normals(rho: float) -> None:
    table = normal_cells(rho, np.array([0.1, 0.4, 0.5]), np.array([0.25, 0.25, 0.3, 0.2]))
    clean = [np.eye(1), *map(np.eye, table.shape)]
    one, other = table.sum(axis=1)[np.newaxis], table.sum(axis=0)[np.newaxis]
    found, _ = noisy_polychoric(table[np.newaxis], clean, one, other)
    assert found == pytest.approx(rho, abs=0.01)


def test_a_polychoric_correlation_is_found_through_noise_and_within_classes() -> None:
    margins = np.array([0.3, 0.4, 0.3]), np.array([0.5, 0.3, 0.2])
    inner = normal_cells(0.6, *margins)
    prior = np.array([0.7, 0.3])
    channels = [
        GeneralizedRandomizedResponse.for_epsilon(size=k, epsilon=1.0).channel() for k in (2, 3, 3)
    ]
    counts = prior[:, np.newaxis, np.newaxis] * inner
    for channel in channels:
        counts = np.tensordot(counts, channel, axes=(0, 0))
    given = [np.outer(prior, margin) for margin in margins]
    rho, error = noisy_polychoric(2e4 * counts, channels, *given)
    assert rho == pytest.approx(0.6, abs=0.01)
    assert 0.02 < error < 0.3


def told(codes: NDArray[np.int64], size: int, epsilon: float, seed: int) -> CellReports:
    law = GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=epsilon)
    return CellReports(law.randomize(codes, simulation(seed)).symbols, law.channel())


def test_the_tree_joins_what_hangs_together_and_nothing_else() -> None:
    count = 40_000
    source = simulation(1)
    top = source.below(3, count).astype(np.int64)
    flip = source.below(4, count) == 0
    middle = np.where(flip, source.below(3, count).astype(np.int64), top)
    flip = source.below(4, count) == 0
    low = np.where(flip, source.below(3, count).astype(np.int64), middle)
    alone = source.below(5, count).astype(np.int64)
    columns = [top, middle, low, alone]
    sizes = (3, 3, 3, 5)
    cells = [told(c, k, 2.0, 100 + i) for i, (c, k) in enumerate(zip(columns, sizes, strict=True))]
    root = CellReports(np.zeros(count, dtype=np.int64), np.ones((1, 1)))
    given = [
        np.bincount(c, minlength=k)[np.newaxis] / count for c, k in zip(columns, sizes, strict=True)
    ]
    tree = learn_tree(cells, root, given)
    edges = {frozenset((b.column, b.parent)) for b in tree.branches if b.parent is not None}
    assert frozenset((0, 1)) in edges
    assert frozenset((1, 2)) in edges
    assert frozenset((0, 2)) not in edges
    drawn = tree.draw(np.zeros(count, dtype=np.int64), simulation(2))
    assert np.mean(drawn[0] == drawn[1]) == pytest.approx(np.mean(top == middle), abs=0.03)
    assert np.mean(drawn[0] == drawn[2]) == pytest.approx(np.mean(top == low), abs=0.04)
    assert np.bincount(drawn[3]) / count == pytest.approx(np.full(5, 0.2), abs=0.02)


def test_rows_are_drawn_with_their_own_shares() -> None:
    shares = np.array([[[0.0, 1.0, 0.0], [0.25, 0.5, 0.25]]])
    rows = np.repeat([0, 1], 20_000)
    drawn = draw_rows(shares, rows, simulation(3))
    assert set(drawn[:20_000].tolist()) == {1}
    assert np.bincount(drawn[20_000:]) / 20_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.02)


def test_counts_leave_out_records_that_lack_a_cell() -> None:
    first = CellReports(np.array([0, 1, -1, 1]), np.eye(2))
    second = CellReports(np.array([0, 1, 1, -1]), np.eye(2))
    assert count_together((first, second)).tolist() == [[1, 0], [0, 1]]
    assert math.isclose(count_together((first,)).sum(), 3)
