"""Objective perturbation: noise inside the function that is minimised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, Reals, check_kind, keep_checked
from supm.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from supm.mechanisms.noise.gamma_norm import GammaNorm
from supm.mechanisms.noise.loss_bounds import LossBounds
from supm.privacy import ApproximateDP, GaussianDP, Guarantee, Neighbours, PureDP

Law: TypeAlias = Literal["gamma", "gaussian"]
Mode: TypeAlias = Literal["tight", "cms"]

_TABLE: Final = Neighbours.REPLACE_ONE
_SIZE: Final = Integers("size", 1, 1 << 40)
_REGULARISATION: Final = Reals("regularisation", 1e-9, 1e9)
_EXTRA: Final = Reals("extra", 0.0, 1e12)
_SCALE: Final = Reals("scale", 1e-9, 1e12)
_DELTA: Final = Reals("delta", 1e-300, 0.5)
# A unit of Gaussian noise in steps of the whole numbers it is drawn with.
_STEPS: Final = 1 << 40
# The discrete law against the normal one, and the rounding of rows to norm one.
_SLACK: Final = 1 + 1e-9


def corner_delta(
    bounds: LossBounds,
    *,
    scale: float,
    log_determinant: float,
    epsilon: float,
    earlier: float = 0.0,
) -> float:
    """Return the delta at epsilon of Gaussian noise in the objective, after earlier releases.

    Notes
    -----
    Theorem 3 of docs/proofs/objective-perturbation.md: the sum over corners of the exact curve of
    Gaussian noise at epsilon - log_determinant and mu^2 = earlier^2 + (length / scale)^2.

    Examples
    --------
    >>> bounds = LossBounds(loss="softmax", classes=10, intercept=True)
    >>> round(corner_delta(bounds, scale=12.0, log_determinant=0.05, epsilon=1.0), 6)
    4e-06
    """
    left = epsilon - log_determinant
    if left < 0:
        return 1.0
    total = 0.0
    for square, count in bounds.corners:
        mu = math.sqrt(earlier**2 + square * (_SLACK / scale) ** 2) * _SLACK
        if mu > 0:
            total += count * GaussianDP(mu=min(mu, 1e6), neighbours=_TABLE).delta_at(left)
    return min(1.0, total * (1 + 1e-12))


def corner_epsilon(
    bounds: LossBounds, *, scale: float, log_determinant: float, delta: float, earlier: float = 0.0
) -> float:
    """Return the least epsilon that holds at a delta, rounded up; see `corner_delta`."""
    delta = _DELTA.check(delta)

    def holds(epsilon: float) -> bool:
        found = corner_delta(
            bounds, scale=scale, log_determinant=log_determinant, epsilon=epsilon, earlier=earlier
        )
        return found <= delta

    good = log_determinant + 1.0
    while not holds(good):
        good *= 2.0
    bad = log_determinant
    while good - bad > 1e-12 * good:
        middle = (good + bad) / 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbation:
    """Minimise the mean loss, regularised, of an objective that is tilted by drawn noise.

    That is ``(1/n) sum of losses + (regularisation + extra)/2 |B|^2 + <tilt, B>/n``.

    The exact minimum may be published. Whoever stops near it must hide how near (`Margin` does).

    Parameters
    ----------
    bounds : LossBounds
        The loss, on rows of norm at most one.
    size : int
        How many records there are, n; public.
    regularisation : float
        What the loss is regularised by in any case, lambda.
    extra : float
        What is added to it for privacy, theta.
    law : {"gamma", "gaussian"}
        Density of the tilt: proportional to ``exp(-|tilt| / scale)``, or normal.
    scale : float
        Inverse of the rate of the first law, standard deviation of the second.
    mode : {"tight", "cms"}
        How the Jacobian is bounded: as proved here, or twice as much, as Chaudhuri et al. do.

    Notes
    -----
    **Guarantee.** Under replacing one record, gamma noise: pure epsilon = reach / scale + the bound
    on the Jacobian, Theorem 2 of docs/proofs/objective-perturbation.md. Gaussian noise: the curve
    of `corner_delta`, Theorem 3. Gamma noise is drawn in floating point; Gaussian noise on a grid
    of 2^-40 scales, whose departure from the normal law `departure` bounds.

    **Utility.** The coefficients move by at most ``|tilt| / (n (regularisation + extra))``. A tilt
    of d numbers has the mean square d (d + 1) scale^2 or d scale^2.

    **Cost.** One draw for each coefficient; the minimisation is the caller's.

    References
    ----------
    K. Chaudhuri, C. Monteleoni, A. Sarwate, Differentially private empirical risk minimization,
    JMLR 12 (2011). D. Kifer, A. Smith, A. Thakurta, Private convex empirical risk minimization,
    COLT 2012. R. Redberg, A. Koskela, Y.-X. Wang, Improving the privacy and practicality of
    objective perturbation, NeurIPS 2023.

    Examples
    --------
    >>> bounds = LossBounds(loss="huber", classes=2)
    >>> svm = ObjectivePerturbation.for_epsilon(
    ...     bounds=bounds, size=10_000, regularisation=0.01, epsilon=0.05, mode="cms"
    ... )
    >>> svm.extra, round(svm.rate_epsilon, 4), round(svm.epsilon, 6)
    (0.0, 0.0301, 0.05)
    """

    bounds: LossBounds
    size: int
    regularisation: float
    extra: float
    law: Law
    scale: float
    mode: Mode = "tight"

    def __post_init__(self) -> None:
        check_kind("bounds", self.bounds, LossBounds)
        keep_checked(self, _REGULARISATION, _EXTRA, _SIZE, _SCALE)
        if self.law not in ("gamma", "gaussian"):
            raise ParameterError("law", "'gamma' or 'gaussian'", self.law)
        if self.mode not in ("tight", "cms"):
            raise ParameterError("mode", "'tight' or 'cms'", self.mode)

    @classmethod
    def for_epsilon(
        cls,
        *,
        bounds: LossBounds,
        size: int,
        regularisation: float,
        epsilon: float,
        mode: Mode = "tight",
    ) -> Self:
        """Make gamma noise for a pure epsilon.

        Nothing is added to the regularisation if the Jacobian takes at most half of epsilon then;
        else so much is added that it takes half.
        """
        epsilon = EPSILON.check(epsilon) * (1 - 1e-12)
        factor = _factor(mode)
        taken = factor * bounds.log_determinant(_SIZE.check(size) * regularisation)
        extra = 0.0
        if epsilon - taken < epsilon / 2:
            needed = bounds.curvature_for(epsilon / 2 / factor)
            extra = max(0.0, needed / size - regularisation)
            taken = factor * bounds.log_determinant(size * (regularisation + extra))
        scale = bounds.reach * (1 + 1e-12) / (epsilon - taken)
        shared = {"bounds": bounds, "size": size, "regularisation": regularisation}
        return cls(**shared, extra=extra, law="gamma", scale=scale, mode=mode)  # type: ignore[arg-type]  # checked above

    @property
    def strength(self) -> float:
        """All of the regularisation."""
        return self.regularisation + self.extra

    @property
    def log_determinant(self) -> float:
        """What the Jacobian takes of epsilon."""
        return _factor(self.mode) * self.bounds.log_determinant(self.size * self.strength)

    @property
    def rate_epsilon(self) -> float:
        """What the gamma law takes of epsilon."""
        return self.bounds.reach / self.scale

    @property
    def epsilon(self) -> float:
        """The pure epsilon of gamma noise, rounded up; infinite for Gaussian noise."""
        if self.law == "gaussian":
            return math.inf
        return (self.rate_epsilon + self.log_determinant) * (1 + 1e-13)

    def guarantee(self, delta: float = 0.0) -> Guarantee:
        """Return what the exact minimum promises; Gaussian noise needs a delta."""
        if self.law == "gamma":
            return PureDP(epsilon=self.epsilon, neighbours=_TABLE)
        epsilon = corner_epsilon(
            self.bounds, scale=self.scale, log_determinant=self.log_determinant, delta=delta
        )
        return ApproximateDP(epsilon=epsilon, delta=delta, neighbours=_TABLE)

    def departure(self, width: int) -> float:
        """Return how far a drawn tilt is from one of the exact law.

        The chance that it is farther is below 10^-40 for Gaussian noise. For gamma noise, which is
        drawn in floating point, it is below 10^-8 for up to 2^16 numbers.
        """
        numbers = self.bounds.outputs * width
        if self.law == "gaussian":
            return 64.0 * self.scale / _STEPS * math.sqrt(numbers)
        return 1e-6 * self.scale * numbers

    def draw(self, width: int, source: RandomSource) -> NDArray[np.float64]:
        """Draw the tilt of rows of a width."""
        shape = (self.bounds.outputs, width)
        if self.law == "gamma":
            noise = GammaNorm(shape[0] * width, 1 / self.scale)
            return noise.draw(source).reshape(shape)
        whole = DiscreteGaussian(_STEPS).draw(shape[0] * width, source)
        return np.asarray(whole * (self.scale / _STEPS)).reshape(shape)


def _factor(mode: Mode) -> int:
    return 2 if mode == "cms" else 1
