"""Noise for sums, matrices and models: exact on whole numbers, and the papers' own on floats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.mechanisms.noise.discrete_gaussian import DiscreteGaussian
    from supm.mechanisms.noise.discrete_laplace import DiscreteLaplaceNoise
    from supm.mechanisms.noise.gamma_norm import GammaNorm
    from supm.mechanisms.noise.gaussian import GaussianNoise, classical_sigma
    from supm.mechanisms.noise.objective import LossBounds, ObjectivePerturbation
    from supm.mechanisms.noise.summed_gaussian import (
        mirrored_triangle,
        sigma_for,
        summed_mu,
        symmetric_gaussian,
        symmetric_noise,
    )
    from supm.mechanisms.noise.zero_sum import (
        ZeroSumNoise,
        information_coalition,
        information_eavesdropper,
        information_publisher,
    )

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplaceNoise",
    "GammaNorm",
    "GaussianNoise",
    "LossBounds",
    "ObjectivePerturbation",
    "ZeroSumNoise",
    "classical_sigma",
    "information_coalition",
    "information_eavesdropper",
    "information_publisher",
    "mirrored_triangle",
    "sigma_for",
    "summed_mu",
    "symmetric_gaussian",
    "symmetric_noise",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "discrete_gaussian": "DiscreteGaussian",
        "discrete_laplace": "DiscreteLaplaceNoise",
        "gamma_norm": "GammaNorm",
        "gaussian": "GaussianNoise classical_sigma",
        "objective": "LossBounds ObjectivePerturbation",
        "summed_gaussian": (
            "mirrored_triangle sigma_for summed_mu symmetric_gaussian symmetric_noise"
        ),
        "zero_sum": (
            "ZeroSumNoise information_coalition information_eavesdropper information_publisher"
        ),
    },
)
