"""What a study claims about its owners, as audits compare it with what they find."""

from __future__ import annotations

import math
from fractions import Fraction

from supm.audit.finding import Finding
from supm.mechanisms.thresholds import stated
from supm.messages import Study
from supm.privacy import Guarantee, PureLDP

__all__ = ["check_budget", "comparable", "name_of"]


def comparable(promised: Guarantee) -> float:
    """Return the claim as exact epsilons are compared with it.

    A guarantee names the decimal that it prints as; an exact epsilon is a float that reads as no
    less either in binary or as a decimal.
    """
    if not isinstance(promised, PureLDP):
        return math.inf
    return stated(Fraction(repr(promised.epsilon)))


def check_budget(study: Study, promised: Guarantee) -> Finding:
    """Check that the account is within what the study states, where anything is promised."""
    claimed = promised.epsilon if isinstance(promised, PureLDP) else 0.0
    return Finding(
        check="check_budget",
        passed=claimed <= study.epsilon,
        detail=f"the account claims {claimed:.9g}, the study states {study.epsilon:.9g}",
        statistic=claimed,
    )


def name_of(study: Study) -> str:
    """Return the reduction and the forms of a study."""
    forms = (study.question("train"), study.question("test"))
    words = [study.reduction, *("device" if form is None else form.form for form in forms)]
    return ", ".join(words)
