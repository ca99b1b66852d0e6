"""Mechanisms: frozen values that sample, state their own epsilon and invert their own channel."""

from __future__ import annotations

from supm.mechanisms.randomizers._channel import FiniteChannel
from supm.mechanisms.randomizers._frequency import FrequencyRandomizer
from supm.mechanisms.randomizers._reports import Estimate, Reports, Tally
from supm.mechanisms.randomizers.choice import Candidate, Choice, choose
from supm.mechanisms.randomizers.generalized_response import GeneralizedRandomizedResponse
from supm.mechanisms.randomizers.hadamard_response import HadamardResponse
from supm.mechanisms.randomizers.independent_reports import IndependentReports
from supm.mechanisms.randomizers.joint_report import JointReport
from supm.mechanisms.randomizers.local_hashing import LocalHashing
from supm.mechanisms.randomizers.ordered_discrete import OrderedDiscretePerturbation
from supm.mechanisms.randomizers.subset_selection import SubsetSelection
from supm.mechanisms.randomizers.unary_encoding import UnaryEncoding

__all__ = [
    "Candidate",
    "Choice",
    "Estimate",
    "FiniteChannel",
    "FrequencyRandomizer",
    "GeneralizedRandomizedResponse",
    "HadamardResponse",
    "IndependentReports",
    "JointReport",
    "LocalHashing",
    "OrderedDiscretePerturbation",
    "Reports",
    "SubsetSelection",
    "Tally",
    "UnaryEncoding",
    "choose",
]
