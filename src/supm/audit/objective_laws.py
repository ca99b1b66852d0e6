"""Objective perturbation at one record: the exact law of the minimum, and its privacy.

The record is x = 1 in one dimension under Huber's loss, with either label. So the minimum b and the
tilt determine each other, `tilt(b) = -slope(b) - curvature b`, which falls with b, and the law of
the one is that of the other: Lemma 1 of docs/proofs/objective-perturbation.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from supm._random import RandomSource
from supm.audit.noise import NoiseEntry, NoiseLaw, beyond, least_epsilon
from supm.mechanisms import LossBounds, ObjectivePerturbation
from supm.mechanisms.noise.objective import corner_epsilon

Floats: TypeAlias = NDArray[np.float64]

_CURVATURE: Final = 20.0
_DELTA: Final = 1e-6
_POINTS: Final = 40_001
# How far out, in scales of the tilt. The exact curve leaves out less than 10^-9 beyond.
_REACH: Final = 25.0


def objectives() -> Iterator[NoiseEntry]:
    """Return objective perturbation with either law of its tilt.

    Examples
    --------
    >>> [entry.parameters for entry in objectives()]
    ['one record, gamma', 'one record, normal, delta 1e-6']
    """
    bounds = LossBounds(loss="huber", classes=2)
    gamma = ObjectivePerturbation.for_epsilon(
        bounds=bounds, size=1, regularisation=_CURVATURE, epsilon=1.0
    )
    yield _entry(gamma, "gamma", gamma.epsilon)
    normal = ObjectivePerturbation(
        bounds=bounds, size=1, regularisation=_CURVATURE, extra=0.0, law="gaussian", scale=4.0
    )
    epsilon = corner_epsilon(
        bounds, scale=normal.scale, log_determinant=normal.log_determinant, delta=_DELTA
    )
    yield _entry(normal, "normal, delta 1e-6", epsilon)


def _entry(mechanism: ObjectivePerturbation, words: str, claimed: float) -> NoiseEntry:
    edges = np.linspace(-6, 6, 97) * mechanism.scale / mechanism.strength
    # Gamma noise comes one vector at a time.
    draws = 1 << (12 if mechanism.law == "gamma" else 18)
    laws = tuple(
        NoiseLaw(
            f"the minimum, label {label}",
            partial(_minima, mechanism, label),
            partial(_cumulative, mechanism, label),
            edges,
            draws,
        )
        for label in (0, 1)
    )
    exact = partial(_exact, mechanism)
    return NoiseEntry("objective", f"one record, {words}", laws, claimed, exact)


def _minima(
    mechanism: ObjectivePerturbation, label: int, count: int, source: RandomSource
) -> Floats:
    """Draw tilts, and return the minimum of each by the cases of Huber's loss."""
    sign, held = (1 if label else -1), mechanism.strength
    turned = sign * _tilts(mechanism, count, source)
    inside, low, high = (1.5 - turned) / (1 + held), (1 - turned) / held, -turned / held
    return np.asarray(sign * np.where(low < 0.5, low, np.where(high > 1.5, high, inside)))


def _tilts(mechanism: ObjectivePerturbation, count: int, source: RandomSource) -> Floats:
    if mechanism.law == "gaussian":
        return np.asarray(mechanism.draw(count, source)[0])
    return np.concatenate([mechanism.draw(1, source)[0] for _ in range(count)])


def _law(mechanism: ObjectivePerturbation) -> stats.rv_continuous:
    # A vector of one number with a density proportional to exp(-|b| / scale).
    kind = stats.norm if mechanism.law == "gaussian" else stats.laplace
    frozen: stats.rv_continuous = kind(scale=mechanism.scale)
    return frozen


def _tilt_at(mechanism: ObjectivePerturbation, label: int, minimum: Floats) -> Floats:
    sign = 1 if label else -1
    slope = -sign * np.clip(1.5 - sign * minimum, 0.0, 1.0)
    return np.asarray(-slope - mechanism.strength * minimum)


def _cumulative(mechanism: ObjectivePerturbation, label: int, minimum: Floats) -> Floats:
    return np.asarray(_law(mechanism).sf(_tilt_at(mechanism, label, minimum)))


def _log_density(mechanism: ObjectivePerturbation, label: int, minimum: Floats) -> Floats:
    lack = 1.5 - (1 if label else -1) * minimum
    bend = np.where((lack > 0) & (lack < 1), 1.0, 0.0)
    tilt = _tilt_at(mechanism, label, minimum)
    return np.asarray(_law(mechanism).logpdf(tilt) + np.log(mechanism.strength + bend))


def _exact(mechanism: ObjectivePerturbation) -> float:
    """Return the epsilon that the two densities show, for the neighbours with either label."""
    reach = (_REACH * mechanism.scale + 1.0) / mechanism.strength
    points, step = np.linspace(-reach, reach, _POINTS, retstep=True)
    if mechanism.law == "gamma":
        # The ratio is largest just beyond where Huber's loss begins to bend.
        points = np.append(points, [-0.5 - 1e-12, 0.5 + 1e-12])
    first, second = (_log_density(mechanism, label, points) for label in (0, 1))
    if mechanism.law == "gamma":
        return float(np.abs(first - second).max())
    mine, theirs = np.exp(first) * step, np.exp(second) * step
    return least_epsilon(beyond, mine, theirs)
