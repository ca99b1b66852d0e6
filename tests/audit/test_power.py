"""What the audit would miss: the figures of docs/guide/audit.md, computed from its own settings."""

from __future__ import annotations

import pytest
from scipy.stats import chi2, ncx2

from supm import simulation
from supm.audit import catalogue
from supm.audit import suite as module
from supm.audit.findings import FAMILY_ERROR
from supm.mechanisms import GeneralizedRandomizedResponse


@pytest.mark.parametrize(("epsilon", "missed"), [(1.0, 1e-20), (0.1, 1e-5)])
def test_a_truth_told_too_often_by_one_part_in_200_is_hardly_ever_missed(
    epsilon: float, missed: float
) -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=epsilon)
    subject = module._subject(coin, simulation(1), coin.epsilon)
    checks = len(list(subject.checks(module._BY_CHANCE))) + 1
    # Within the check of the sampler the level is shared by its rows and its pooled statistics.
    level = FAMILY_ERROR / (len(catalogue()) * checks * 10)
    keep, draws = float(coin.hit), 5 * module._every_row(subject)
    shift = draws * (keep / 200) ** 2 / (keep * (1 - keep))
    assert ncx2.cdf(chi2.isf(level, 1), 1, shift) < missed
