"""The hybrid mechanism: its switch, its mixture and variance. Proof: docs/proofs/hybrid.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from supm._errors import ParameterError
from supm._random import simulation
from supm.mechanisms.randomizers import hybrid
from supm.mechanisms.randomizers.duchi import KEEP_WORDS, Duchi
from supm.mechanisms.randomizers.hybrid import SWITCH, Hybrid
from supm.mechanisms.randomizers.numeric import NumericRandomizer
from supm.mechanisms.randomizers.piecewise import Piecewise
from supm.mechanisms.randomizers.randomizer import Reports
from supm.mechanisms.thresholds import WORDS

VALUES = np.linspace(-1, 1, 65)


def make(epsilon: float) -> Hybrid:
    return Hybrid.for_epsilon(low=-1, high=1, epsilon=epsilon)


def worst(mechanism: NumericRandomizer) -> float:
    return max(mechanism.variance(value) for value in VALUES)


def test_the_switch_is_the_closed_form_of_the_paper() -> None:
    root = math.sqrt(241)
    roots = np.cbrt(6353 - 405 * root) + np.cbrt(6353 + 405 * root)
    assert pytest.approx(math.log((2 * roots - 5) / 27), rel=1e-14) == SWITCH


def test_the_switch_is_where_the_two_mechanisms_are_alike_at_zero() -> None:
    def gap(epsilon: float) -> float:
        root = math.exp(epsilon / 2)
        duchi = ((root**2 + 1) / (root**2 - 1)) ** 2
        return float((root + 3) / (3 * (root - 1) ** 2) - duchi)

    assert optimize.brentq(gap, 0.1, 2.0, xtol=1e-14) == pytest.approx(SWITCH, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, SWITCH])
def test_up_to_the_switch_it_is_duchis_mechanism(epsilon: float) -> None:
    mechanism, duchi = make(epsilon), Duchi.for_epsilon(low=-1, high=1, epsilon=epsilon)
    assert mechanism.piecewise_words == 0
    assert mechanism.outcomes == 2
    assert mechanism.epsilon == duchi.epsilon
    rows = mechanism.exact_channel()
    assert [rows[0], rows[-1]] == duchi.exact_channel()
    assert mechanism.variance(0.3) == pytest.approx(duchi.variance(0.3), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.62, 1.0, 2.0, 5.0])
def test_above_the_switch_the_share_is_that_of_the_paper(epsilon: float) -> None:
    share = make(epsilon).piecewise_words / WORDS
    assert share == pytest.approx(1 - math.exp(-epsilon / 2), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.7, 1.0, 2.0, 4.0])
def test_all_values_have_nearly_one_variance_below_those_of_the_parts(epsilon: float) -> None:
    mechanism = make(epsilon)
    variances = [mechanism.variance(value) for value in VALUES]
    assert max(variances) == pytest.approx(min(variances), rel=2e-3)
    assert max(variances) < worst(mechanism.piecewise)
    assert max(variances) < worst(mechanism.duchi)
    root = math.exp(epsilon / 2)
    limit = (root + 3) / (3 * root * (root - 1)) + (root**2 + 1) ** 2 / (root * (root**2 - 1) ** 2)
    assert mechanism.variance(0.0) == pytest.approx(limit, rel=5e-3)


@pytest.mark.parametrize("epsilon", [0.3, 0.62, 1.0, 2.0, 4.0, 10.0, 20.0])
def test_the_optimised_mixture_is_never_worse(epsilon: float) -> None:
    best = Hybrid.optimised(low=-1, high=1, epsilon=epsilon)
    assert worst(best) <= worst(make(epsilon)) * (1 + 1e-9)
    assert worst(best) <= worst(best.duchi) * (1 + 1e-9)
    alone = Piecewise.optimised(low=-1, high=1, epsilon=epsilon)
    assert worst(best) <= worst(alone) * (1 + 1e-3)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_optimised_window_is_the_best_of_all(epsilon: float) -> None:
    best = Hybrid.optimised(low=-1, high=1, epsilon=epsilon, steps=40)
    others = [
        Hybrid._mixed(piecewise, best.duchi, piecewise.slope)
        for piecewise in (
            Piecewise.with_window(best.grid, width, epsilon) for width in range(1, 41)
        )
    ]
    points = best.inputs()
    largest = [max(map(mechanism.variance, points)) for mechanism in [best, *others]]
    assert largest[0] == pytest.approx(min(largest), rel=1e-6)


def test_the_branches_are_chosen_as_often_as_stated() -> None:
    mechanism = make(1.0)
    reports = mechanism.randomize(np.full(100_000, 0.2), simulation(9))
    share = float((reports.symbols >= 2).mean())
    assert share == pytest.approx(1 - math.exp(-0.5), abs=5 * math.sqrt(0.25 / 100_000))


def test_reports_are_read_by_the_mechanism_that_made_them() -> None:
    mechanism = make(1.0)
    bits = Reports(symbols=np.array([0, 1]), simulation=True)
    cells = Reports(symbols=np.array([0, mechanism.piecewise.outcomes - 1]), simulation=True)
    shifted = Reports(symbols=cells.symbols + 2, simulation=True)
    np.testing.assert_allclose(mechanism.decode(bits), mechanism.duchi.decode(bits), rtol=1e-14)
    np.testing.assert_array_equal(mechanism.decode(shifted), mechanism.piecewise.decode(cells))


def test_epsilon_is_the_larger_one_of_the_mechanisms_that_can_be_chosen() -> None:
    assert _with(keep_words=WORDS - 1).epsilon == pytest.approx(64 * math.log(2))
    wide = Piecewise.for_epsilon(low=-1, high=1, epsilon=3.0)
    loose = _with(window=wide.window, threshold=wide.threshold)
    assert loose.epsilon == wide.epsilon
    assert _with(window=wide.window, threshold=wide.threshold, piecewise_words=0).epsilon <= 1


def test_cells_are_refused_where_the_piecewise_mechanism_is_never_chosen() -> None:
    with pytest.raises(ParameterError, match="reports must be"):
        make(0.5).tally(Reports(symbols=np.array([2]), simulation=True))


@pytest.mark.parametrize("bad", hybrid._PIECEWISE_WORDS.violations())
def test_a_bad_share_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="piecewise_words must be"):
        _with(piecewise_words=bad)


@pytest.mark.parametrize("bad", KEEP_WORDS.violations())
def test_a_bad_coin_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="keep_words must be"):
        _with(keep_words=bad)


@pytest.mark.parametrize("bad", [0, 1025, 2.5, None, True])
def test_a_bad_window_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="window must be"):
        _with(window=bad)


def _with(**change: Any) -> Hybrid:
    good = make(1.0)
    names = ("grid", "window", "threshold", "keep_words", "piecewise_words")
    fields: dict[str, Any] = {name: getattr(good, name) for name in names}
    return Hybrid(**(fields | change))
