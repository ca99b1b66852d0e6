"""Mechanisms: frozen values that sample, state their own epsilon and invert their own channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.mechanisms.noise import (
        DiscreteGaussian,
        DiscreteLaplaceNoise,
        GammaNorm,
        GaussianNoise,
        LossBounds,
        ObjectivePerturbation,
        ZeroSumNoise,
        classical_sigma,
        information_coalition,
        information_eavesdropper,
        information_publisher,
        mirrored_triangle,
        sigma_for,
        summed_mu,
        symmetric_gaussian,
        symmetric_noise,
    )
    from supm.mechanisms.noise.gaussian import ContinuousGaussian
    from supm.mechanisms.noised_number import BinnedReports, NoisedNumber
    from supm.mechanisms.randomizers.choice import Candidate, RandomizerChoice, choose
    from supm.mechanisms.randomizers.duchi import Duchi
    from supm.mechanisms.randomizers.frequency import FrequencyRandomizer, SupportRandomizer
    from supm.mechanisms.randomizers.generalized_response import GeneralizedRandomizedResponse
    from supm.mechanisms.randomizers.hadamard_response import HadamardResponse
    from supm.mechanisms.randomizers.hybrid import Hybrid
    from supm.mechanisms.randomizers.independent_reports import IndependentReports
    from supm.mechanisms.randomizers.joint_report import JointReport
    from supm.mechanisms.randomizers.laplace import ContinuousLaplace, Laplace
    from supm.mechanisms.randomizers.local_hashing import LocalHashing
    from supm.mechanisms.randomizers.numeric import NumericRandomizer
    from supm.mechanisms.randomizers.ordered_discrete import OrderedDiscretePerturbation
    from supm.mechanisms.randomizers.piecewise import ContinuousPiecewise, Piecewise
    from supm.mechanisms.randomizers.public_grid import PublicGrid
    from supm.mechanisms.randomizers.randomizer import FiniteChannel, LocalRandomizer
    from supm.mechanisms.randomizers.reconstruction import Reconstruction, reconstruct
    from supm.mechanisms.randomizers.records import number_records, record_numbers
    from supm.mechanisms.randomizers.reports import Estimate, Reports, Tally
    from supm.mechanisms.randomizers.square_wave import (
        ContinuousSquareWave,
        DistributionEstimate,
        SquareWave,
    )
    from supm.mechanisms.randomizers.subset_selection import SubsetSelection
    from supm.mechanisms.randomizers.unary_encoding import UnaryEncoding

__all__ = [
    "BinnedReports",
    "Candidate",
    "ContinuousGaussian",
    "ContinuousLaplace",
    "ContinuousPiecewise",
    "ContinuousSquareWave",
    "DiscreteGaussian",
    "DiscreteLaplaceNoise",
    "DistributionEstimate",
    "Duchi",
    "Estimate",
    "FiniteChannel",
    "FrequencyRandomizer",
    "GammaNorm",
    "GaussianNoise",
    "GeneralizedRandomizedResponse",
    "HadamardResponse",
    "Hybrid",
    "IndependentReports",
    "JointReport",
    "Laplace",
    "LocalHashing",
    "LocalRandomizer",
    "LossBounds",
    "NoisedNumber",
    "NumericRandomizer",
    "ObjectivePerturbation",
    "OrderedDiscretePerturbation",
    "Piecewise",
    "PublicGrid",
    "RandomizerChoice",
    "Reconstruction",
    "Reports",
    "SquareWave",
    "SubsetSelection",
    "SupportRandomizer",
    "Tally",
    "UnaryEncoding",
    "ZeroSumNoise",
    "choose",
    "classical_sigma",
    "information_coalition",
    "information_eavesdropper",
    "information_publisher",
    "mirrored_triangle",
    "number_records",
    "reconstruct",
    "record_numbers",
    "sigma_for",
    "summed_mu",
    "symmetric_gaussian",
    "symmetric_noise",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "noised_number": "BinnedReports NoisedNumber",
        "noise.gaussian": "ContinuousGaussian",
        "noise": (
            "DiscreteGaussian DiscreteLaplaceNoise GammaNorm GaussianNoise LossBounds "
            "ObjectivePerturbation ZeroSumNoise classical_sigma information_coalition "
            "information_eavesdropper information_publisher mirrored_triangle sigma_for "
            "summed_mu symmetric_gaussian symmetric_noise"
        ),
        "randomizers.choice": "Candidate RandomizerChoice choose",
        "randomizers.duchi": "Duchi",
        "randomizers.frequency": "FrequencyRandomizer SupportRandomizer",
        "randomizers.generalized_response": "GeneralizedRandomizedResponse",
        "randomizers.hadamard_response": "HadamardResponse",
        "randomizers.hybrid": "Hybrid",
        "randomizers.independent_reports": "IndependentReports",
        "randomizers.joint_report": "JointReport",
        "randomizers.laplace": "ContinuousLaplace Laplace",
        "randomizers.local_hashing": "LocalHashing",
        "randomizers.numeric": "NumericRandomizer",
        "randomizers.ordered_discrete": "OrderedDiscretePerturbation",
        "randomizers.piecewise": "ContinuousPiecewise Piecewise",
        "randomizers.public_grid": "PublicGrid",
        "randomizers.randomizer": "FiniteChannel LocalRandomizer",
        "randomizers.reconstruction": "Reconstruction reconstruct",
        "randomizers.records": "number_records record_numbers",
        "randomizers.reports": "Estimate Reports Tally",
        "randomizers.square_wave": "ContinuousSquareWave DistributionEstimate SquareWave",
        "randomizers.subset_selection": "SubsetSelection",
        "randomizers.unary_encoding": "UnaryEncoding",
    },
)
