from __future__ import annotations

import numpy as np

from supm._random import simulation
from supm.audit.subjects import count_inputs, some_inputs, values_of
from supm.mechanisms import IndependentReports, LocalHashing, Piecewise


def test_a_huge_alphabet_is_not_listed() -> None:
    hashing = LocalHashing.for_epsilon(size=1 << 40, epsilon=1.0)
    chosen = some_inputs(hashing, 100, simulation(1))
    assert count_inputs(hashing) == 1 << 40
    assert chosen.size <= 100
    assert {0, (1 << 40) - 1} <= set(chosen.tolist())


def test_values_are_those_that_the_mechanism_lists() -> None:
    numbers = np.array([0, 5])
    split = IndependentReports.for_epsilon(sizes=(2, 3), epsilon=1.0)
    meter = Piecewise.for_epsilon(low=-1, high=1, epsilon=1.0, steps=8)
    for mechanism in (split, meter):
        assert np.array_equal(values_of(mechanism, numbers), mechanism.inputs()[numbers])
