"""Duchi's mechanism against its printed form. Proof: docs/proofs/duchi.md."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure
from supm.mechanisms.randomizers.duchi import KEEP_WORDS, Duchi
from supm.mechanisms.randomizers.numeric import PublicGrid
from supm.mechanisms.randomizers.randomizer import Reports
from supm.mechanisms.thresholds import WORDS


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("value", [-1.0, -0.3, 0.0, 0.8, 1.0])
def test_the_rounding_and_the_coin_together_are_the_printed_form(
    epsilon: float, value: float
) -> None:
    mechanism = Duchi.for_epsilon(low=-1, high=1, epsilon=epsilon)
    below, above = (row[1] for row in mechanism.exact_channel())
    up = Fraction(value + 1) / 2
    ours = (1 - up) * below + up * above
    printed = math.expm1(epsilon) / (2 * math.exp(epsilon) + 2) * value + 0.5
    assert float(ours) == pytest.approx(printed, rel=1e-14)


def test_the_sampler_draws_the_printed_form() -> None:
    mechanism = Duchi.for_epsilon(low=-1, high=1, epsilon=2.0)
    ups = int(mechanism.randomize(np.full(400_000, 0.37), secure()).symbols.sum())
    chance = math.expm1(2) / (2 * math.exp(2) + 2) * 0.37 + 0.5
    assert stats.binomtest(ups, 400_000, chance).pvalue > 1e-11


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_a_report_is_read_as_plus_or_minus_the_bound(epsilon: float) -> None:
    mechanism = Duchi.for_epsilon(low=-1, high=1, epsilon=epsilon)
    bound = (math.exp(epsilon) + 1) / math.expm1(epsilon)
    reports = Reports(symbols=np.array([0, 1]), simulation=True)
    np.testing.assert_allclose(mechanism.decode(reports), [-bound, bound], rtol=1e-14)
    for value in (-1.0, 0.25, 1.0):
        assert mechanism.variance(value) == pytest.approx(bound**2 - value**2, rel=1e-12)


def test_the_bounds_may_be_any() -> None:
    mechanism = Duchi.for_epsilon(low=10, high=14, epsilon=math.log(3))
    reports = Reports(symbols=np.array([0, 1]), simulation=True)
    np.testing.assert_allclose(mechanism.decode(reports), [12 - 4, 12 + 4], rtol=1e-14)
    assert mechanism.inputs().tolist() == [10, 14]
    assert (mechanism.report_bits, mechanism.report_bytes) == (1, 1)


@pytest.mark.parametrize("bad", [*KEEP_WORDS.violations(), WORDS // 2, WORDS])
def test_a_coin_that_says_nothing_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="keep_words must be"):
        Duchi(grid=PublicGrid(low=0, high=1, steps=1), keep_words=bad)


def test_a_grid_of_more_than_one_step_is_refused() -> None:
    with pytest.raises(ParameterError, match="steps must be 1"):
        Duchi(grid=PublicGrid(low=0, high=1, steps=2), keep_words=WORDS - 1)
