"""Noise that cancels: marginals, and what each view gives away by numerical inversion.

Proof: docs/proofs/zero-sum.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import secure, simulation
from supm.mechanisms import (
    ZeroSumNoise,
    information_coalition,
    information_eavesdropper,
    information_publisher,
)
from supm.mechanisms.noise import zero_sum

ALARM = 1e-11
Matrix = NDArray[np.float64]

# Parties, and the factors on mu: publisher, eavesdropper, publisher and all other parties.
TABLE = [
    (2, 1.183, 1.033, 1.414),
    (3, 1.243, 1.070, 1.732),
    (5, 1.300, 1.116, 2.236),
    (10, 1.351, 1.163, 3.162),
]


def covariance(parties: int) -> Matrix:
    """Return the covariance of row 0, of the messages of all parties and of their rows."""
    noise = ZeroSumNoise(parties=parties, sigma=1.0)
    rows = np.full((parties + 1, parties + 1), noise.covariance)
    np.fill_diagonal(rows, noise.variance)
    told = np.vstack((np.eye(parties + 1)[:1], np.eye(parties + 1)[1:], np.eye(parties + 1)[1:]))
    joint: Matrix = told @ rows @ told.T
    messages = slice(1, parties + 1)
    joint[messages, messages] += np.eye(parties) / parties
    return joint


def factor(parties: int, seen: list[int]) -> float:
    """Return the factor on mu of who sees some of these, when the message of party 1 changes."""
    seen_covariance = covariance(parties)[np.ix_(seen, seen)]
    change = np.array([float(place == 1) for place in seen])
    return math.sqrt(float(change @ np.linalg.pinv(seen_covariance, rcond=1e-10) @ change))


def publisher_sees(parties: int) -> list[int]:
    return list(range(parties + 1))


@pytest.mark.parametrize(("parties", "publisher", "eavesdropper", "coalition"), TABLE)
def test_the_table_of_factors(
    parties: int, publisher: float, eavesdropper: float, coalition: float
) -> None:
    assert information_publisher(parties) == pytest.approx(publisher, abs=5e-4)
    assert information_eavesdropper(parties) == pytest.approx(eavesdropper, abs=5e-4)
    assert information_coalition(parties, parties - 1) == pytest.approx(coalition, abs=5e-4)


@pytest.mark.parametrize("parties", [2, 3, 5, 10])
def test_factors_are_those_of_the_inverted_covariance(parties: int) -> None:
    everything = publisher_sees(parties)
    assert factor(parties, everything) == pytest.approx(information_publisher(parties))
    assert factor(parties, everything[1:]) == pytest.approx(information_eavesdropper(parties))
    for colluders in range(parties):
        # Colluders add what they know: their own rows of the correlated noise.
        known = [2 * parties - place for place in range(colluders)]
        found = factor(parties, everything + known)
        assert found == pytest.approx(information_coalition(parties, colluders))


def test_many_parties_approach_the_limits() -> None:
    assert information_publisher(1 << 20) == pytest.approx(math.sqrt(2), abs=1e-5)
    assert information_eavesdropper(1 << 20) == pytest.approx(math.sqrt(1.5), abs=1e-5)


@pytest.mark.parametrize("parties", [2, 3, 10])
def test_rows_have_the_stated_law_and_cancel(parties: int) -> None:
    noise = ZeroSumNoise(parties=parties, sigma=2.0)
    drawn = noise.draw(100_000, secure())
    np.testing.assert_allclose(drawn.sum(axis=0), 0.0, atol=1e-12)
    one = stats.norm(scale=math.sqrt(noise.variance)).cdf
    two = stats.norm(scale=math.sqrt(2 * noise.variance + 2 * noise.covariance)).cdf
    for row in (0, 1, parties):
        assert stats.kstest(drawn[row], one).pvalue > ALARM
    for first, second in ((0, 1), (1, 2)):
        assert stats.kstest(drawn[first] + drawn[second], two).pvalue > ALARM
    assert noise.variance == pytest.approx(4 * (parties - 1) / parties)
    assert noise.covariance == pytest.approx(-4 * (parties - 1) / parties**2)


def test_columns_are_independent() -> None:
    drawn = ZeroSumNoise(parties=3, sigma=1.0).draw(100_000, secure())
    for first in range(4):
        correlation = np.corrcoef(drawn[first, :-1], drawn[0, 1:])[0, 1]
        assert abs(correlation) < 8 / math.sqrt(100_000)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_shapes_extremes_and_seeds(count: int) -> None:
    for noise in (ZeroSumNoise(parties=2, sigma=1e-12), ZeroSumNoise(parties=50, sigma=1e15)):
        drawn = noise.draw(count, simulation(1))
        assert drawn.shape == (noise.parties + 1, count)
        assert np.isfinite(drawn).all()
        np.testing.assert_array_equal(drawn, noise.draw(count, simulation(1)))


@pytest.mark.parametrize("bad", [*zero_sum._PARTIES.violations(), 1])
def test_bad_parties_are_refused(bad: Any) -> None:
    for make in (
        lambda: ZeroSumNoise(parties=bad, sigma=1.0),
        lambda: information_publisher(bad),
        lambda: information_eavesdropper(bad),
    ):
        with pytest.raises(ParameterError, match="parties"):
            make()


@pytest.mark.parametrize("bad", zero_sum._SIGMA.violations())
def test_a_bad_sigma_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="sigma"):
        ZeroSumNoise(parties=3, sigma=bad)


@pytest.mark.parametrize("bad", [-1, 3, 4, 0.5, None])
def test_bad_colluders_are_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="colluders"):
        information_coalition(3, bad)
