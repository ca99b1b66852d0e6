"""Is a promise true? Checks that every mechanism passes, shipped for everybody's mechanisms.

Exact checks compare the channel with the claim in fractions; statistical checks compare the
sampler with the channel at a family-wise error of 10^-6; `epsilon_lower_bound` needs samples alone
and works on any callable.
"""

from __future__ import annotations

from supm.audit.agreement import check_channel, check_outcomes, check_standard_error
from supm.audit.attacks import attack, check_attack
from supm.audit.channel import (
    check_epsilon,
    check_inputs,
    check_rows_sum_to_one,
    check_stated_epsilon,
    check_support,
    density_epsilon,
    exact_epsilon,
)
from supm.audit.crowds import check_crowd, check_mixed
from supm.audit.empirical import LowerBound, epsilon_lower_bound
from supm.audit.estimates import check_estimates, check_unbiased, check_variance
from supm.audit.examples import completed, example_records, large_studies, small_studies
from supm.audit.findings import FAMILY_ERROR, Audit, Finding, Verdict
from supm.audit.independence import check_independence
from supm.audit.noise import (
    NoiseEntry,
    NoiseLaw,
    audit_noise,
    audit_noises,
    check_law,
    check_law_independence,
    check_law_source,
)
from supm.audit.noise_laws import noises
from supm.audit.owner_output import Branch, OwnerOutput
from supm.audit.owners import by_devices, by_interviews, check_owner
from supm.audit.places import check_long_calls, check_positions
from supm.audit.report import AuditReport
from supm.audit.sampler import check_density, check_grid, check_raw_values, check_sampler
from supm.audit.shipped import Entry, Kind, catalogue, entry, kinds
from supm.audit.sources import check_mark, check_source
from supm.audit.studies import StudyAudit, audit_owner, audit_studies, audit_study
from supm.audit.study_attacks import attack_owner, attack_study, telling_pairs
from supm.audit.suite import audit, audit_all

__all__ = [
    "FAMILY_ERROR",
    "Audit",
    "AuditReport",
    "Branch",
    "Entry",
    "Finding",
    "Kind",
    "LowerBound",
    "NoiseEntry",
    "NoiseLaw",
    "OwnerOutput",
    "StudyAudit",
    "Verdict",
    "attack",
    "attack_owner",
    "attack_study",
    "audit",
    "audit_all",
    "audit_noise",
    "audit_noises",
    "audit_owner",
    "audit_studies",
    "audit_study",
    "by_devices",
    "by_interviews",
    "catalogue",
    "check_attack",
    "check_channel",
    "check_crowd",
    "check_density",
    "check_epsilon",
    "check_estimates",
    "check_grid",
    "check_independence",
    "check_inputs",
    "check_law",
    "check_law_independence",
    "check_law_source",
    "check_long_calls",
    "check_mark",
    "check_mixed",
    "check_outcomes",
    "check_owner",
    "check_positions",
    "check_raw_values",
    "check_rows_sum_to_one",
    "check_sampler",
    "check_source",
    "check_standard_error",
    "check_stated_epsilon",
    "check_support",
    "check_unbiased",
    "check_variance",
    "completed",
    "density_epsilon",
    "entry",
    "epsilon_lower_bound",
    "exact_epsilon",
    "example_records",
    "kinds",
    "large_studies",
    "noises",
    "small_studies",
    "telling_pairs",
]
