"""Continuous laws against their densities: uniform, normal, gamma, directions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from supm._errors import ParameterError
from supm._random import RandomSource, normals, secure, simulation, uniforms
from supm.mechanisms.noise.gamma_norm import directions, gammas

ALARM = 1e-11


class Fixed(RandomSource):
    """It gives one word again and again."""

    def __init__(self, word: int) -> None:
        super().__init__(bytes(32))
        self._word = word

    def words(self, count: int) -> np.typing.NDArray[np.uint64]:
        return np.full(count, self._word, dtype=np.uint64)


def test_uniform_numbers_fill_the_interval_evenly() -> None:
    assert stats.kstest(uniforms(200_000, secure()), "uniform").pvalue > ALARM


@pytest.mark.parametrize(("word", "least"), [(0, 2.0**-53), (2**64 - 1, 1 - 2.0**-53)])
def test_the_ends_are_never_reached(word: int, least: float) -> None:
    assert uniforms(1, Fixed(word)).tolist() == [least]
    assert np.isfinite(normals(1, Fixed(word))).all()


def test_normal_numbers_follow_their_law_and_its_tails() -> None:
    drawn = normals(400_000, secure())
    assert stats.kstest(drawn, "norm").pvalue > ALARM
    far = int((np.abs(drawn) > 4).sum())
    assert stats.binomtest(far, len(drawn), 2 * stats.norm.sf(4)).pvalue > ALARM
    pairs = np.bincount(2 * (drawn[0::2] > 0) + (drawn[1::2] > 0), minlength=4)
    assert stats.chisquare(pairs).pvalue > ALARM


@pytest.mark.parametrize("shape", [0.05, 0.5, 1.0, 1.5, 20.0, 7840.0])
def test_gamma_numbers_follow_their_law(shape: float) -> None:
    assert stats.kstest(gammas(shape, 200_000, secure()), stats.gamma(shape).cdf).pvalue > ALARM


@pytest.mark.parametrize("dimension", [1, 2, 3, 50])
def test_directions_have_length_one_and_favour_none(dimension: int) -> None:
    drawn = directions(dimension, 50_000, secure())
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1.0, rtol=1e-12)
    if dimension == 1:
        assert stats.binomtest(int((drawn > 0).sum()), len(drawn)).pvalue > ALARM
        return
    half = (dimension - 1) / 2
    looking = np.arange(1.0, dimension + 1) / np.linalg.norm(np.arange(1.0, dimension + 1))
    for along in (drawn[:, 0], drawn[:, -1], drawn @ looking):
        assert stats.kstest((1 + along) / 2, stats.beta(half, half).cdf).pvalue > ALARM


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_as_many_are_drawn_as_were_asked_for_and_a_seed_fixes_them(count: int) -> None:
    for draw in (
        uniforms,
        normals,
        lambda many, source: gammas(3.0, many, source),
        lambda many, source: directions(4, many, source),
    ):
        drawn = draw(count, simulation(2))
        assert len(drawn) == count
        np.testing.assert_array_equal(drawn, draw(count, simulation(2)))


def test_a_source_that_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="source"):
        uniforms(1, None)  # type: ignore[arg-type]
