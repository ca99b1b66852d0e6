"""The arithmetic of the audit: p-values, shares of the error, tolerances and halves of samples.

A p-value that is a thousand times too large, or a confidence that is not shared among the events
looked at, changes no verdict on a blatant defect. So each figure is compared with what it must be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from supm._random import RandomSource, simulation
from supm.audit import (
    FAMILY_ERROR,
    Finding,
    audit,
    audit_all,
    check_unbiased,
    check_variance,
    entry,
    epsilon_lower_bound,
    kinds,
    suite,
)
from supm.audit.attacks import check_attack
from supm.audit.estimates import Readings, read
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import Estimate, FrequencyRandomizer, Tally, UnaryEncoding
from supm.mechanisms.randomizers.numeric import NumericRandomizer
from supm.mechanisms.randomizers.piecewise import Piecewise

BITS = 12.0
SIZE = 8


class Shifted(UnaryEncoding):
    """Every estimate, and every stated variance, is too large by the same small amount."""

    amount: float

    def estimate(self, tally: Tally) -> Estimate:
        found = super().estimate(tally)
        return Estimate(
            values=found.values + self.amount,
            standard_error=found.standard_error,
            simulation=found.simulation,
        )

    def variance(self, frequency: float, reports: int = 1) -> float:
        return super().variance(frequency, reports) + self.amount


class ShrunkNumber(Piecewise):
    """Estimates that are drawn toward zero by one part in ten."""

    def estimate(self, tally: Tally) -> Estimate:
        found = super().estimate(tally)
        return Estimate(
            values=found.values * 0.9,
            standard_error=found.standard_error,
            simulation=found.simulation,
        )


def shifted(*, size: int, epsilon: float, amount: float) -> Shifted:
    mechanism = Shifted.symmetric(size=size, epsilon=epsilon)
    object.__setattr__(mechanism, "amount", amount)
    return mechanism


def uniform_noise(source: RandomSource, _: object, count: int) -> NDArray[np.uint64]:
    return source.below(1000, count)


def hidden(readings: Readings, power: int) -> float:
    return float(2 * readings.unseen.max() * readings.largest**power)


class TestGoodness:
    @pytest.mark.parametrize("count", [20, 30, 38, 45, 62, 80])
    def test_few_counts_are_tested_by_the_exact_binomial(self, count: int) -> None:
        exact = stats.binomtest(count, 100, 0.5).pvalue
        found = goodness_of_fit(np.array([count, 100 - count]), np.array([0.5, 0.5]))
        # Two cells, and the test of all together: three tests.
        assert found == pytest.approx(min(1.0, 3 * exact), rel=1e-9)

    @pytest.mark.parametrize("count", [49_000, 49_600, 50_300, 51_000])
    def test_many_counts_are_tested_by_chi_square(self, count: int) -> None:
        exact = stats.binomtest(count, 100_000, 0.5).pvalue
        found = goodness_of_fit(np.array([count, 100_000 - count]), np.array([0.5, 0.5]))
        assert found == pytest.approx(exact, rel=0.05)

    @pytest.mark.parametrize("count", [0, 3, 25, 60])
    def test_a_rare_cell_is_tested_by_itself(self, count: int) -> None:
        chances = np.array([0.4999, 0.4999, 0.0002])
        rest = 100_000 - count
        exact = 2 * min(
            stats.binom.cdf(count, 100_000, 0.0002), stats.binom.sf(count - 1, 100_000, 0.0002)
        )
        found = goodness_of_fit(np.array([rest // 2, rest - rest // 2, count]), chances)
        assert found == pytest.approx(min(1.0, 2 * exact), rel=1e-6)

    def test_the_p_value_is_at_least_that_of_the_exact_multinomial(self) -> None:
        chances = np.array([0.2, 0.3, 0.5])
        exact = stats.multinomial(12, chances)
        tables = np.array([(a, b, 12 - a - b) for a in range(13) for b in range(13 - a)])
        found = np.array([goodness_of_fit(table, chances) for table in tables])
        weights = exact.pmf(tables)
        for level in (0.001, 0.01, 0.05, 0.2):
            held = float(weights[found <= level].sum())
            assert held <= level
        assert float(weights[found <= 0.2].sum()) > 0.02


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """Record the name and the error of each statistical check instead of running it."""
    record: list[tuple[str, float]] = []

    def recorded(check: Callable[..., Finding]) -> Callable[..., Finding]:
        @wraps(check)
        def run(*_: Any, error: float, **__: Any) -> Finding:
            record.append((check.__name__, error))
            return Finding(check=check.__name__, passed=True, detail="", statistic=0.0)

        return run

    rules = tuple(rule._replace(check=recorded(rule.check)) for rule in suite._BY_CHANCE)
    monkeypatch.setattr(suite, "_BY_CHANCE", rules)
    monkeypatch.setattr(suite, "check_attack", recorded(check_attack))
    return record


class TestSuite:
    @pytest.mark.parametrize("name", kinds())
    def test_the_checks_share_the_error(self, name: str, given: list[tuple[str, float]]) -> None:
        audit(entry(name).mechanism, simulation(1), error=1e-3)
        errors = [error for _, error in given]
        assert len(errors) >= 3
        assert min(errors) > 0
        assert 0.5e-3 < math.fsum(errors) <= 1e-3 * (1 + 1e-12)

    @pytest.mark.parametrize("name", kinds())
    def test_every_estimator_is_checked_on_crowds(
        self, name: str, given: list[tuple[str, float]]
    ) -> None:
        mechanism = entry(name).mechanism
        audit(mechanism, simulation(1))
        estimates = isinstance(mechanism, FrequencyRandomizer | NumericRandomizer)
        assert [check for check, _ in given].count("check_estimates") == int(estimates)

    def test_all_mechanisms_together_share_one_error(self, given: list[tuple[str, float]]) -> None:
        lines = [entry("duchi"), entry("binary-response"), entry("laplace"), entry("joint-report")]
        assert len(list(audit_all(simulation(1), lines))) == 4
        total = math.fsum(error for _, error in given)
        assert 0.5 * FAMILY_ERROR < total <= FAMILY_ERROR * (1 + 1e-12)

    def test_a_biased_mean_on_a_fine_grid_is_found_by_crowds_alone(self) -> None:
        biased = ShrunkNumber.for_epsilon(low=-1, high=1, epsilon=1.0)
        found = audit(biased, simulation(1))
        assert {each.check for each in found.findings if not each.passed} == {"check_estimates"}


class TestEstimator:
    @pytest.mark.parametrize("amount", [1e-7, 1e-6, 1e-5])
    def test_a_millionth_is_too_much_where_all_reports_were_seen(self, amount: float) -> None:
        mechanism = shifted(size=4, epsilon=1.0, amount=amount)
        assert read(mechanism, simulation(1)).unseen.max() < 1e-12
        assert not check_unbiased(mechanism, simulation(1)).passed
        assert not check_variance(mechanism, simulation(1)).passed

    @pytest.mark.parametrize("amount", [0.0, 1e-11])
    def test_rounding_is_allowed_for(self, amount: float) -> None:
        mechanism = shifted(size=4, epsilon=1.0, amount=amount)
        assert check_unbiased(mechanism, simulation(1)).passed
        assert check_variance(mechanism, simulation(1)).passed

    @pytest.mark.parametrize(("check", "power"), [(check_unbiased, 1), (check_variance, 2)])
    def test_unseen_reports_excuse_no_more_than_they_can_hide(
        self, check: Callable[..., Finding], power: int
    ) -> None:
        honest = UnaryEncoding.symmetric(size=SIZE, epsilon=BITS)
        allowed = hidden(read(honest, simulation(1)), power)
        assert allowed > 1e-7
        wrong = shifted(size=SIZE, epsilon=BITS, amount=30 * allowed)
        assert check(honest, simulation(1)).passed
        assert not check(wrong, simulation(1)).passed


class TestLowerBound:
    def test_an_event_is_not_measured_on_the_samples_that_chose_it(self) -> None:
        """Each of 1,000 reports is seen a few times: on its own samples any choice looks good."""
        bounds = [self.bound_of_a_noisy_bit(seed) for seed in range(40)]
        assert sum(bound > math.log(3) for bound in bounds) <= 4
        assert sum(bound > 0.3 for bound in bounds) >= 36

    def test_the_confidence_is_shared_among_all_events(self) -> None:
        """Twenty columns, each as telling as the truth: the luckiest one must not win."""
        bounds = [self.bound_of_twenty_columns(seed) for seed in range(40)]
        assert sum(bound > math.log(3) for bound in bounds) <= 20
        assert min(bounds) > 0.8

    def test_uniform_noise_over_many_values_proves_nothing(self) -> None:
        for seed in range(100):
            assert self.bound_of_uniform_noise(seed) == 0.0

    @staticmethod
    def bound_of_uniform_noise(seed: int) -> float:
        samples = partial(uniform_noise, simulation(seed))
        return epsilon_lower_bound(samples, 0, 1, trials=1000).epsilon

    @staticmethod
    def bound_of_a_noisy_bit(seed: int) -> float:
        source = simulation(seed)

        def noisy(bit: int, count: int) -> NDArray[Any]:
            told = np.where(source.below(4, count) == 0, 1 - bit, bit)
            return told * 500 + source.below(500, count).astype(np.int64)

        return epsilon_lower_bound(noisy, 0, 1, trials=8_000, confidence=0.5).epsilon

    @staticmethod
    def bound_of_twenty_columns(seed: int) -> float:
        source = simulation(seed)

        def one_of_many(bit: int, count: int) -> NDArray[Any]:
            told = np.zeros((count, 20), dtype=np.int64)
            flipped = np.where(source.below(4, count) == 0, 1 - bit, bit)
            told[np.arange(count), source.below(20, count).astype(np.int64)] = 1 + flipped
            return told

        return epsilon_lower_bound(one_of_many, 0, 1, trials=20_000, confidence=0.5).epsilon
