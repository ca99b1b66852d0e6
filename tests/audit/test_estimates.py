from __future__ import annotations

import numpy as np
import pytest

from supm._errors import ParameterError
from supm._random import simulation
from supm.audit import check_estimates, check_unbiased, check_variance
from supm.audit.estimates import read
from supm.mechanisms import (
    Estimate,
    GeneralizedRandomizedResponse,
    IndependentReports,
    JointReport,
    LocalHashing,
    Tally,
    UnaryEncoding,
)
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.piecewise import Piecewise


class Shrunk(LocalHashing):
    """Estimates that are drawn toward zero by one part in ten."""

    def estimate(self, tally: Tally) -> Estimate:
        found = super().estimate(tally)
        return Estimate(
            values=found.values * 0.9,
            standard_error=found.standard_error,
            simulation=found.simulation,
        )


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 8.0, 1e4])
def test_estimators_invert_their_channels_at_every_epsilon(epsilon: float) -> None:
    source = simulation(1)
    symbols = GeneralizedRandomizedResponse.for_epsilon(size=4, epsilon=epsilon)
    bits = UnaryEncoding.symmetric(size=4, epsilon=epsilon)
    number = Piecewise.for_epsilon(low=-3, high=5, steps=8, epsilon=epsilon)
    for mechanism in (symbols, bits, number):
        assert check_unbiased(mechanism, source).passed
        assert check_variance(mechanism, source).passed


def test_records_are_read_attribute_by_attribute_or_cell_by_cell() -> None:
    source = simulation(1)
    assert check_unbiased(IndependentReports.for_epsilon(sizes=(2, 3), epsilon=1.0), source).passed
    assert check_unbiased(JointReport.for_epsilon(sizes=(2, 3), epsilon=1.0), source).passed


def test_the_exact_expectation_of_a_biased_estimator_is_off() -> None:
    biased = Shrunk.for_epsilon(size=5, epsilon=1.0)
    assert not check_unbiased(biased, simulation(1)).passed


def test_a_crowd_shows_a_bias_where_the_channel_is_too_large() -> None:
    honest = LocalHashing.for_epsilon(size=200, epsilon=2.0)
    biased = Shrunk.for_epsilon(size=200, epsilon=2.0)
    assert check_estimates(honest, simulation(1), draws=1 << 14).passed
    assert not check_estimates(biased, simulation(1), draws=1 << 14).passed


def test_a_crowd_of_rare_supports_is_not_accused() -> None:
    """With a handful of supports per symbol a normal test would cry wolf."""
    coin = GeneralizedRandomizedResponse.for_epsilon(size=4096, epsilon=6.0)
    for seed in range(20):
        assert check_estimates(coin, simulation(seed), draws=4096, error=0.01).passed


def test_readings_hold_what_one_report_tells() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
    readings = read(coin, simulation(1))
    assert readings.seen == 2
    np.testing.assert_allclose(readings.unseen, 0.0, atol=1e-15)
    np.testing.assert_allclose(readings.values.sum(axis=1), 1.0)


def test_what_was_not_seen_is_allowed_for() -> None:
    bits = UnaryEncoding.symmetric(size=8, epsilon=12.0)
    readings = read(bits, simulation(1))
    assert readings.seen < bits.outcomes
    assert readings.unseen.max() > 0.0
    assert check_unbiased(bits, simulation(1)).passed


def test_an_alphabet_too_large_to_be_listed_is_refused() -> None:
    with pytest.raises(ParameterError, match="alphabet"):
        check_unbiased(Laplace.for_epsilon(low=0, high=1, epsilon=1e-3), simulation(1))
