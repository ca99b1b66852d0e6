"""How much noise a margin classifier needs, what it promises, and what a party tells.

A party tells its coefficients times its number of rows as whole numbers in steps of 2^-20. What the
solver, the drawing of noise and the rounding leave between them and the exact minimum is hidden by
a little exact noise, which has its own small part of the budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import Reals, keep_checked
from supm.learning.margins import fit_margins
from supm.mechanisms.noise import DiscreteGaussian, DiscreteLaplaceNoise, sigma_for
from supm.mechanisms.noise.loss_bounds import LossBounds
from supm.mechanisms.noise.objective import ObjectivePerturbation, corner_delta, corner_epsilon
from supm.messages.codec import Message
from supm.privacy import ApproximateDP, GaussianDP, Guarantee, Neighbours, sequential

STEPS: Final = 1 << 20
"""One, in steps of the coefficients that are told."""

Law: TypeAlias = Literal["gamma", "gaussian"]

_TABLE: Final = Neighbours.REPLACE_ONE
_REGULARISATION: Final = Reals("regularisation", 1e-6, 1e3)
_CURVATURE: Final = Reals("curvature", 1e-6, 1e9)
_SCALE: Final = Reals("scale", 1e-3, 1e9)
_SMALL: Final = Reals("tolerance", 1e-9, 1.0)
# How long the gradient may be: so much, or so much of a usual tilt, whose rounding it holds.
_GRADIENT: Final = 1e-10
_GRADIENT_OF_TILT: Final = 1e-13
# What is granted: once for the solver, and once for the rounding of what measures it.
_DOUBT: Final = 2
# The part of epsilon that the Jacobian may take, and that of mu^2 or epsilon for the rest.
_JACOBIAN: Final = 0.15
_REST: Final = 0.01
# Up to here a product of floats is less than a half off; a thousand such numbers fit 63 bits.
_LARGEST: Final = 2.0**52
# What noise drawn on whole numbers leaves unsaid is far below a part of this.
_LEAST_DELTA: Final = 1e-25
FLOATS: Final = 1e-8
"""The chance that gamma noise in floating point is farther from its law than is granted."""
MOST_GAMMAS: Final = 1 << 16
"""How many numbers of gamma noise that chance is for."""


@dataclass(frozen=True, kw_only=True)
class MarginNoise(Message):
    """Noise in the objective that each party minimises.

    Parameters
    ----------
    law : {"gamma", "gaussian"}
        Law of the tilt.
    scale : float
        Its scale, see `ObjectivePerturbation`.
    regularisation : float
        What the loss is regularised by.
    curvature : float
        The least product of rows and regularisation; a small party regularises more to reach it.
    tolerance : float
        The epsilon (gamma) or mu (gaussian) of the noise that hides how near the minimum is.
    """

    noun = "noise of a margin"
    law: Law
    scale: float
    regularisation: float
    curvature: float
    tolerance: float

    def __post_init__(self) -> None:
        keep_checked(self, scale=_SCALE, regularisation=_REGULARISATION)
        keep_checked(self, curvature=_CURVATURE, tolerance=_SMALL)
        if self.law not in ("gamma", "gaussian"):
            raise ParameterError("law", "'gamma' or 'gaussian'", self.law)

    @classmethod
    def gaussian(
        cls,
        *,
        bounds: LossBounds,
        epsilon: float,
        delta: float,
        regularisation: float,
        share: float,
    ) -> tuple[MarginNoise, float]:
        """Return the least Gaussian noise, and the mu that is left for components.

        ``share`` is the part of mu^2 that they get.
        """
        curvature = max(_CURVATURE.low, bounds.curvature_for(_JACOBIAN * epsilon))

        def split(mu: float) -> tuple[MarginNoise, float]:
            own = mu * math.sqrt(1 - share)
            scale = bounds.reach / (own * math.sqrt(1 - _REST))
            rest = own * math.sqrt(_REST)
            noise = cls(
                law="gaussian",
                scale=scale,
                regularisation=regularisation,
                curvature=curvature,
                tolerance=min(rest, _SMALL.high),
            )
            return noise, mu * math.sqrt(share)

        def holds(mu: float) -> bool:
            noise, earlier = split(mu)
            return noise.delta_at(bounds, epsilon, earlier) <= delta

        good, bad = 1e-7, 10.0
        while bad - good > 1e-9 * bad:
            middle = (good + bad) / 2
            good, bad = (middle, bad) if holds(middle) else (good, middle)
        return split(good)

    @classmethod
    def gamma(cls, *, bounds: LossBounds, epsilon: float, regularisation: float) -> MarginNoise:
        """Return the least gamma noise of an epsilon, but for what floats leave unsaid."""
        taken, rest = _JACOBIAN * epsilon, _REST * epsilon
        return cls(
            law="gamma",
            scale=bounds.reach / (epsilon - taken - rest) * (1 + 1e-9),
            regularisation=regularisation,
            curvature=max(_CURVATURE.low, bounds.curvature_for(taken)),
            tolerance=min(rest, _SMALL.high),
        )

    def deviation(self, numbers: int) -> float:
        """Return the root mean square of each of so many numbers of the tilt."""
        return self.scale * (math.sqrt(numbers + 1) if self.law == "gamma" else 1.0)

    def delta_at(self, bounds: LossBounds, epsilon: float, earlier: float) -> float:
        """Return the delta of Gaussian noise together with an earlier mu."""
        return corner_delta(
            bounds,
            scale=self.scale,
            log_determinant=bounds.log_determinant(self.curvature),
            epsilon=epsilon,
            earlier=math.hypot(earlier, self.tolerance),
        )

    def guarantee(self, bounds: LossBounds, delta: float, earlier: float = 0.0) -> Guarantee:
        """Return what coefficients promise, after a release of an earlier mu."""
        taken = bounds.log_determinant(self.curvature)
        if self.law == "gaussian":
            if delta < _LEAST_DELTA:
                raise ParameterError("delta", f"at least {_LEAST_DELTA:g} with normal noise", delta)
            mu = math.hypot(earlier, self.tolerance)
            epsilon = corner_epsilon(
                bounds,
                scale=self.scale,
                log_determinant=taken,
                delta=delta * (1 - 1e-9),
                earlier=mu,
            )
            return ApproximateDP(epsilon=epsilon, delta=delta, neighbours=_TABLE)
        if delta < 2 * FLOATS:
            raise ParameterError("delta", f"at least {2 * FLOATS:g} with gamma noise", delta)
        whole = (bounds.reach / self.scale + taken + self.tolerance) * (1 + 1e-12)
        if not earlier:
            return ApproximateDP(epsilon=whole, delta=delta, neighbours=_TABLE)
        before = GaussianDP(mu=earlier, neighbours=_TABLE).to_approximate(delta - 2 * FLOATS)
        own = ApproximateDP(epsilon=whole, delta=FLOATS, neighbours=_TABLE)
        return sequential(before, own)

    def tell(
        self,
        rows: NDArray[np.float64],
        labels: NDArray[np.int64],
        bounds: LossBounds,
        source: RandomSource,
    ) -> NDArray[np.int64]:
        """Return a party's coefficients times its number of rows, as whole numbers in a box."""
        size, width = rows.shape
        own = self._own(bounds, size)
        fit = fit_margins(
            rows,
            labels,
            loss=bounds.loss,
            classes=bounds.classes,
            strength=own.strength,
            tilt=own.draw(width, source.child("tilt")),
            tolerance=self._gradient(own, width),
        )
        told = np.rint(np.clip(fit.coefficients.ravel() * (STEPS * size), -_LARGEST, _LARGEST))
        return np.asarray(told.astype(np.int64) + self._rest(own, width, source.child("rest")))

    def _own(self, bounds: LossBounds, size: int) -> ObjectivePerturbation:
        """Return the mechanism of a party of a size; the smaller, the more it regularises."""
        extra = max(0.0, self.curvature / size * (1 + 1e-12) - self.regularisation)
        return ObjectivePerturbation(
            bounds=bounds,
            size=size,
            regularisation=self.regularisation,
            extra=extra,
            law=self.law,
            scale=self.scale,
        )

    def _gradient(self, own: ObjectivePerturbation, width: int) -> float:
        """Return how long the gradient may be where the solver stops, from public numbers."""
        numbers = own.bounds.outputs * width
        usual = self.deviation(numbers) * math.sqrt(numbers) / own.size
        return max(_GRADIENT, _GRADIENT_OF_TILT * usual)

    def _rest(
        self, own: ObjectivePerturbation, width: int, source: RandomSource
    ) -> NDArray[np.int64]:
        """Draw what hides the way from the exact minimum to the whole numbers."""
        numbers = own.bounds.outputs * width
        doubt = own.size * _DOUBT * self._gradient(own, width)
        off = (doubt + own.departure(width)) / own.strength
        # To either side of the exact minimum; a float, and a whole number, are a half off each.
        apart = 2 * (STEPS * off + 2 * math.sqrt(numbers))
        if self.law == "gaussian":
            sigma = sigma_for(mu=self.tolerance, sensitivity=apart, holders=1)
            return DiscreteGaussian(sigma).draw(numbers, source)
        steps = math.ceil(apart * math.sqrt(numbers))
        return DiscreteLaplaceNoise(_laplace_scale(steps, self.tolerance)).draw(numbers, source)


def _laplace_scale(sensitivity: int, epsilon: float) -> Fraction:
    return DiscreteLaplaceNoise.for_epsilon(sensitivity=sensitivity, epsilon=epsilon).scale
