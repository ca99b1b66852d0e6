"""Two groups of classes: planted ones are found, and noise is not taken for one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from supm import simulation
from supm.learning import best_split

Floats = NDArray[np.float64]
NOISE = 0.004


def _noise(shape: tuple[int, int], seed: int) -> Floats:
    """Return normal deviates in a random order."""
    words = simulation(seed).below(1 << 30, shape[0] * shape[1]).astype(np.float64)
    deviates: Floats = norm.ppf((words + 0.5) / (1 << 30)).reshape(shape)
    return deviates


def _planted(groups: list[int], labels: int = 2, lean: float = 0.7) -> Floats:
    """Return even shares of classes of which the upper group leans to the last label."""
    table = np.full((len(groups), labels), (1.0 - lean) / (labels - 1))
    high = np.array(groups) > 0
    table[high, -1] = lean
    table[~high, 0] = lean
    table[~high, 1:] = (1.0 - lean) / (labels - 1)
    shares: Floats = table / table.sum()
    return shares


@pytest.mark.parametrize("cut", range(1, 6))
@pytest.mark.parametrize("labels", [2, 3])
def test_a_planted_cut_of_ordered_classes_is_found(cut: int, labels: int) -> None:
    groups = [int(place >= cut) for place in range(6)]
    for seed in range(5):
        table = _planted(groups, labels) + NOISE * _noise((6, labels), seed)
        split = best_split(table, NOISE, ordered=6)
        assert split.groups == tuple(groups)
        assert split.strength > 0.05


@pytest.mark.parametrize("groups", [[0, 1, 0, 1, 1], [0, 0, 1, 0, 0], [1, 0, 0, 0, 1]])
def test_planted_groups_of_classes_without_an_order_are_found(groups: list[int]) -> None:
    for seed in range(5):
        table = _planted(groups) + NOISE * _noise((5, 2), seed)
        found = np.array(best_split(table, NOISE, ordered=0).groups)
        same = found == np.array(groups)
        assert same.all() or not same.any(), "which group is called the upper one is no matter"


def test_groups_of_ordered_classes_are_runs_whatever_was_counted() -> None:
    for seed in range(50):
        table = 0.1 + 0.05 * _noise((6, 2), seed)
        steps = np.diff(best_split(table, 0.01, ordered=6).groups)
        assert sorted(steps.tolist()) == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("side", [0, 1])
def test_missing_values_go_to_the_side_that_they_resemble(side: int) -> None:
    split = best_split(_planted([0, 0, 1, 1, side]), NOISE, ordered=4)
    assert split.groups == (0, 0, 1, 1, side)


def test_two_groups_are_never_empty() -> None:
    for seed in range(30):
        for size in (2, 3, 7):
            for ordered in {0, size, size - 1}:
                table = 0.3 * _noise((size, 3), seed)
                found = best_split(table, 0.3, ordered).groups
                assert set(found) == {0, 1}
                assert len(found) == size


def test_noise_alone_is_no_strength_and_what_is_there_is() -> None:
    even = np.full((4, 2), 1 / 8)
    alone = [best_split(even + NOISE * _noise((4, 2), n), NOISE, 4).strength for n in range(200)]
    there = best_split(_planted([0, 0, 1, 1], lean=0.6), NOISE, 4).strength
    # The best of three cuts is a little above the average, which is zero.
    assert abs(np.mean(alone)) < 0.05 * there
    one = [
        best_split(even[:2] * 2 + NOISE * _noise((2, 2), n), NOISE, 2).strength for n in range(400)
    ]
    assert np.mean(one) < 0
    assert np.mean(np.array(one) < 0) > 0.5


def test_the_strength_is_the_squared_association_where_nothing_is_noisy() -> None:
    table = _planted([0, 1], lean=0.8)
    assert best_split(table, 0.0, ordered=2).strength == pytest.approx(0.6**2)
    independent = np.outer([0.3, 0.2, 0.5], [0.7, 0.3])
    assert best_split(independent, 0.0, ordered=3).strength == pytest.approx(0.0, abs=1e-12)
    assert best_split(table, 0.05, ordered=2).strength < 0.6**2


def test_the_same_counts_make_the_same_groups() -> None:
    table = _planted([0, 1, 1, 0]) + NOISE * _noise((4, 2), 3)
    assert best_split(table, NOISE, 0) == best_split(table.copy(), NOISE, 0)
    nothing = best_split(np.zeros((3, 2)), 1.0, 0)
    assert nothing == best_split(np.zeros((3, 2)), 1.0, 0)
    assert nothing.strength < 0
