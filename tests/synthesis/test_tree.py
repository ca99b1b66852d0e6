"""Trees of classes: whatever order they are joined in, and only where noise does not explain it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import simulation
from supm.mechanisms import GeneralizedRandomizedResponse
from supm.synthesis.tables import CellReports, ClassTree, beyond_noise, learn_tree

Codes = NDArray[np.int64]


def learned(columns: list[Codes], sizes: tuple[int, ...], epsilon: float, seed: int) -> ClassTree:
    source, count = simulation(seed), columns[0].size
    told, given = [], []
    for codes, size in zip(columns, sizes, strict=True):
        law = GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=epsilon)
        told.append(CellReports(law.randomize(codes, source).symbols, law.channel()))
        given.append(np.bincount(codes, minlength=size)[np.newaxis] / count)
    root = CellReports(np.zeros(count, dtype=np.int64), np.ones((1, 1)))
    return learn_tree(told, root, given)


def test_a_parent_that_comes_later_than_its_child_is_read_the_right_way_round() -> None:
    count, source = 40_000, simulation(1)
    late = source.below(4, count).astype(np.int64)
    first = np.where(source.below(5, count) == 0, source.below(4, count).astype(np.int64), late)
    odds = np.array([0, 3, 6, 9])[late]
    middle = (source.below(10, count).astype(np.int64) < odds).astype(np.int64)
    tree = learned([first, middle, late], (4, 2, 4), 3.0, 2)
    assert {each.column: each.parent for each in tree.branches}[1] == 2
    drawn = tree.draw(np.zeros(count, dtype=np.int64), simulation(3))
    for place in range(4):
        wanted = np.mean(middle[late == place])
        assert np.mean(drawn[1][drawn[2] == place]) == pytest.approx(wanted, abs=0.04)


def test_independent_classes_are_often_not_joined() -> None:
    """About one time in two chance does more than the noise that it is compared with."""
    joined = 0
    for seed in range(30):
        source = simulation(seed)
        columns = [source.below(size, 3000).astype(np.int64) for size in (3, 4)]
        tree = learned(columns, (3, 4), 1.0, seed + 100)
        joined += sum(each.parent is not None for each in tree.branches)
    assert joined < 24


def test_a_table_that_noise_explains_becomes_the_independent_one() -> None:
    channel = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0).channel()
    apart = np.outer([0.5, 0.3, 0.2], [0.2, 0.2, 0.6])
    expected = 3000 * channel.T @ apart @ channel
    counts = np.round(expected + 5 * np.array([[1, -1, 0], [-1, 1, 0], [0, 0, 0]]))
    found = beyond_noise(counts, [channel, channel], apart)
    assert np.abs(found.found - apart).max() > 1e-4
    assert found.table.tolist() == apart.tolist()
