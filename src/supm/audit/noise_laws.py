"""All shipped noise, with the laws of its readings and epsilons that are computed in another way.

Epsilons of Gaussian noise are stated at delta = 10^-6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from supm._random import RandomSource
from supm.audit.noise import (
    NoiseEntry,
    NoiseLaw,
    claimed,
    largest_ratio,
    least_epsilon,
    listed,
    normal,
    shifted,
)
from supm.audit.objective_laws import objectives
from supm.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplaceNoise,
    GammaNorm,
    GaussianNoise,
    ZeroSumNoise,
    information_publisher,
    mirrored_triangle,
    summed_mu,
    symmetric_gaussian,
    symmetric_noise,
)
from supm.privacy import Neighbours

_Matrix: TypeAlias = Callable[[int, Any, RandomSource], NDArray[Any]]

# Sigmas, in eighths: tails to six sigmas on either side.
_EIGHTHS: Final = range(-48, 49)
_DIAGONAL: Final = 128
_NARROW: Final = 1 << 10
_WIDE: Final = ((Fraction(13_997_700), 139_977), (Fraction(330_725_334_000), 165_362_667))


def noises() -> list[NoiseEntry]:
    """Return all shipped noise at several parameters.

    Examples
    --------
    >>> sorted({line.name for line in noises()})[:3]
    ['discrete-gaussian', 'discrete-laplace', 'gamma-norm']
    """
    makers = (
        _discrete, _summed, _symmetric, _floating, _laplace, _gaussian, _gamma, _cancelling,
        objectives,
    )  # fmt: skip
    return [line for make in makers for line in make()]


def _discrete() -> Iterator[NoiseEntry]:
    for exponent, sigma in ((0, 6), (10, 1 << 10), (37, 1 << 37), (45, 1 << 45)):
        noise = DiscreteGaussian(sigma)
        words = f"2^{exponent}" if exponent else str(sigma)
        mu = summed_mu(sensitivity=sigma, sigma=sigma, holders=1)
        exact = partial(least_epsilon, shifted, noise, sigma)
        yield _entry("discrete-gaussian", f"sigma {words}", mu, exact, *_whole_laws(noise))


def _entry(
    name: str, parameters: str, mu: float, exact: Callable[[], float], *laws: NoiseLaw
) -> NoiseEntry:
    """Return noise whose epsilon is stated at one delta."""
    return NoiseEntry(name, f"{parameters}, delta 1e-6", laws, claimed(mu), exact)


def _whole_laws(noise: DiscreteGaussian) -> Iterator[NoiseLaw]:
    edges = np.unique([step * noise.sigma // 8 for step in _EIGHTHS])
    yield NoiseLaw("one number", noise.draw, noise.cumulative, edges, draws=1 << 19)
    # From width 8 on the last two bits are uniform to thirty digits.
    if noise.sigma >= 8:
        yield _last_bits(noise)


def _last_bits(noise: DiscreteGaussian | DiscreteLaplaceNoise) -> NoiseLaw:
    def draw(count: int, source: RandomSource) -> NDArray[np.int64]:
        return noise.draw(count, source) & 3

    return NoiseLaw("its last two bits", draw, lambda bits: (bits + 1) / 4, np.arange(3))


def _summed() -> Iterator[NoiseEntry]:
    noise, holders = DiscreteGaussian(8), 3
    law = _convolved(noise, holders)

    def draw(count: int, source: RandomSource) -> NDArray[np.int64]:
        return np.asarray(noise.draw(holders * count, source).reshape(holders, -1).sum(axis=0))

    mu = summed_mu(sensitivity=14.0, sigma=8, holders=holders)
    summed = _sum_law("sum of three", law, draw)
    exact = partial(least_epsilon, listed, law, 14)
    yield _entry("summed-gaussian", "3 holders, sigma 8", mu, exact, summed)


def _symmetric() -> Iterator[NoiseEntry]:
    sigma = 8
    noise, law = DiscreteGaussian(sigma), _convolved(DiscreteGaussian(sigma), 2)

    def exact() -> float:
        # A change of 6 in both triangles, and of 8 on the diagonal, which twice the matrix doubles.
        off = least_epsilon(listed, law, 12)
        return max(off, least_epsilon(shifted, noise, 8))

    def draw(count: int, source: RandomSource) -> NDArray[Any]:
        return _diagonal_of(symmetric_noise, sigma, count, source) // 2

    edges = np.arange(-5 * sigma, 5 * sigma + 1)
    half = NoiseLaw("half of the diagonal", draw, noise.cumulative, edges, draws=1 << 12)
    off = _sum_law("off the diagonal", law, partial(_triangle_of, symmetric_noise, sigma, 0))
    mu = summed_mu(sensitivity=6 * math.sqrt(2), sigma=sigma, holders=1)
    yield _entry("symmetric-noise", "sigma 8", mu, exact, off, half)


def _floating() -> Iterator[NoiseEntry]:
    """Return the two forms on floats, at neighbours whose matrices differ by [[3, 4], [4, -3]]."""
    sigma, change = 5.0, np.array([[3.0, 4.0], [4.0, -3.0]])
    upper = change[np.triu_indices(2)]
    whole, half = float(np.linalg.norm(change)), float(np.linalg.norm(upper))
    forms = (
        ("symmetric-gaussian", symmetric_gaussian, sigma / math.sqrt(2), whole),
        ("mirrored-triangle", mirrored_triangle, sigma, half),
    )
    for name, draw, aside, sensitivity in forms:
        # Seen is one triangle, which the other repeats.
        mu = float(np.linalg.norm(upper / np.array([sigma, aside, sigma])))
        on = _normal_law("the diagonal", sigma, partial(_diagonal_of, draw, sigma))
        yield _entry(
            name,
            f"sigma {sigma:g}",
            GaussianNoise(sigma).guarantee(sensitivity, Neighbours.REPLACE_ONE).mu,
            partial(least_epsilon, normal, mu),
            _normal_law("above the diagonal", aside, partial(_triangle_of, draw, sigma, 0)),
            _normal_law("below the diagonal", aside, partial(_triangle_of, draw, sigma, 1)),
            replace(on, draws=1 << 12),
        )


def _triangle_of(
    draw: _Matrix, sigma: float, turned: int, count: int, source: RandomSource
) -> NDArray[Any]:
    dimension = math.isqrt(2 * count) + 2
    noise = draw(dimension, sigma, source)
    return (noise.T if turned else noise)[np.triu_indices(dimension, 1)][:count]


def _diagonal_of(draw: _Matrix, sigma: float, count: int, source: RandomSource) -> NDArray[Any]:
    calls = math.ceil(count / _DIAGONAL)
    return np.concatenate([np.diag(draw(_DIAGONAL, sigma, source)) for _ in range(calls)])[:count]


def _laplace() -> Iterator[NoiseEntry]:
    # Narrow, as for counts; and as a margin classifier draws it beside gamma noise.
    for scale, sensitivity in ((Fraction(1, 2), 2), (Fraction(8), 2), *_WIDE):
        noise = DiscreteLaplaceNoise(scale)
        words = f"scale {_short(scale)}, sensitivity {_short(sensitivity)}"
        laws, stated = tuple(_laplace_laws(noise)), noise.epsilon(sensitivity)
        exact = partial(largest_ratio, noise, sensitivity)
        yield NoiseEntry("discrete-laplace", words, laws, stated, exact)


def _short(number: Fraction | int) -> str:
    return f"{float(number):.2g}" if number > _NARROW else str(number)


def _laplace_laws(noise: DiscreteLaplaceNoise) -> Iterator[NoiseLaw]:
    wide = noise.scale > _NARROW
    edges = np.arange(-40, 41)
    if wide:
        edges = np.unique([step * int(noise.scale) // 4 for step in range(-40, 41)])
    yield NoiseLaw("one number", noise.draw, noise.cumulative, edges)
    if wide:
        yield _last_bits(noise)


def _gaussian() -> Iterator[NoiseEntry]:
    noise = GaussianNoise(3.0)
    mu = noise.guarantee(3.0, Neighbours.REPLACE_ONE).mu
    law = _normal_law("one number", 3.0, noise.draw)
    yield _entry("gaussian", "sigma 3", mu, partial(least_epsilon, normal, 1.0), law)


def _gamma() -> Iterator[NoiseEntry]:
    noise = GammaNorm(dimension=5, rate=0.5)

    def lengths(count: int, source: RandomSource) -> NDArray[np.float64]:
        return np.asarray(np.linalg.norm(noise.draws(count, source), axis=1))

    def looks(count: int, source: RandomSource) -> NDArray[np.float64]:
        drawn = noise.draws(count, source)
        return np.asarray(drawn[:, 0] / np.linalg.norm(drawn, axis=1))

    def exact() -> float:
        # On the line through both centres, which are 2 apart, the lengths differ by 2.
        return 0.5 * (abs(10.0) - abs(10.0 - 2.0))

    length = stats.gamma(5, scale=2.0).cdf
    laws = (
        NoiseLaw("length", lengths, length, np.linspace(0.5, 50, 100)),
        NoiseLaw(
            "direction",
            looks,
            lambda x: stats.beta(2, 2).cdf((1 + x) / 2),
            np.linspace(-0.98, 0.98, 50),
        ),
    )
    yield NoiseEntry("gamma-norm", "dimension 5, rate 0.5", laws, noise.epsilon(2.0), exact)


def _cancelling() -> Iterator[NoiseEntry]:
    parties = 3
    noise = ZeroSumNoise(parties=parties, sigma=1.0)

    def rows(*which: int) -> Callable[[int, RandomSource], NDArray[np.float64]]:
        return lambda count, source: noise.draw(count, source)[list(which)].sum(axis=0)

    one, two = math.sqrt(2 / 3), math.sqrt(2 * 2 / 3 - 2 * 2 / 9)
    yield _entry(
        "zero-sum",
        "3 parties, publisher",
        information_publisher(parties),
        lambda: least_epsilon(normal, _publisher(noise)),
        _normal_law("the publisher's row", one, rows(0)),
        _normal_law("a party's row", one, rows(1)),
        _normal_law("two rows together", two, rows(0, 1)),
        _normal_law("all parties' rows", one, rows(1, 2, 3)),
    )


def _publisher(noise: ZeroSumNoise) -> float:
    """Return the publisher's mu by inversion of the covariance of row 0 and of all messages."""
    size = noise.parties + 1
    seen = np.full((size, size), noise.covariance)
    own = np.r_[0.0, np.full(noise.parties, noise.sigma**2 / noise.parties)]
    seen += np.diag(noise.variance - noise.covariance + own)
    return math.sqrt(float(np.linalg.inv(seen)[1, 1]))


def _normal_law(
    what: str, sigma: float, draw: Callable[[int, RandomSource], NDArray[np.float64]]
) -> NoiseLaw:
    edges = sigma * np.array(_EIGHTHS) / 8
    return NoiseLaw(what, draw, stats.norm(scale=sigma).cdf, edges)


def _sum_law(
    what: str, law: NDArray[np.float64], draw: Callable[[int, RandomSource], NDArray[Any]]
) -> NoiseLaw:
    middle, cumulative = law.size // 2, np.cumsum(law)
    edges = np.arange(-middle // 2, middle // 2)
    return NoiseLaw(what, draw, lambda numbers: cumulative[numbers + middle], edges)


def _convolved(noise: DiscreteGaussian, holders: int) -> NDArray[np.float64]:
    """Return the law of a sum of independent numbers, its middle at zero."""
    reach = 12 * noise.sigma
    one = total = noise.probability(np.arange(-reach, reach + 1))
    for _ in range(holders - 1):
        total = np.convolve(total, one)
    return total
