"""Audits of whole studies: what one owner sends in all phases together, against what is stated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from supm._random import RandomSource
from supm.audit.channel import check_epsilon, check_inputs, check_rows_sum_to_one, exact_epsilon
from supm.audit.examples import completed, example_records, large_studies, small_studies
from supm.audit.findings import FAMILY_ERROR, Audit, Finding
from supm.audit.owner_output import Branch, OwnerOutput
from supm.audit.owners import check_budget, check_owner, comparable, study_name
from supm.audit.sampler import check_sampler
from supm.audit.study_attacks import attack_study
from supm.collection import account
from supm.messages import Question, Study
from supm.owner import interview
from supm.privacy import Guarantee, PureLDP

_DRAWS: Final = 1 << 12
_OWNERS: Final = 16
_LOOSE: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class StudyAudit:
    """What an audit of one study found.

    Parameters
    ----------
    training : Audit
        Of all that a training owner sends: the answers to the reduce and train questions of the
        own group, about the same record.
    testing : Audit
        Of all that a test owner sends.
    """

    training: Audit
    testing: Audit

    @property
    def rows(self) -> tuple[Audit, Audit]:
        """Both audits, as lines of a table."""
        return self.training, self.testing

    def require(self) -> None:
        """Raise PromiseError if a promise is broken."""
        for row in self.rows:
            row.require()


def audit_study(
    study: Study, source: RandomSource, *, draws: int = _DRAWS, error: float = FAMILY_ERROR
) -> StudyAudit:
    """Audit the whole output of the owners of a study over a small schema.

    The exact channel is written down for example records that hold every class, every label, the
    bounds and, where it is allowed, no value.

    Parameters
    ----------
    study : Study
        The study. What is learned only later has public stand-ins: `completed`.
    source : RandomSource
        Where randomness comes from.
    draws : int, default 4096
        Outputs drawn for each example record.
    error : float, default 1e-6
        Chance that a true study is called broken.

    Returns
    -------
    StudyAudit
        The verdict on each owner is that of `Audit`: "no guarantee" where a phase sends values as
        they are and the study's account says so.

    Examples
    --------
    >>> from supm import simulation
    >>> found = audit_study(small_studies()["pw, odp, oda"], simulation(1))
    >>> print(found.training)
    pw, odp, oda (training owner): claimed 2, exact 2, lower bound -, true
    >>> print(found.testing)
    pw, odp, oda (test owner): claimed inf, exact inf, lower bound -, no guarantee
    """
    study = completed(study)
    promised = account(study)
    first = _audit_phases(study, ("reduce", "train"), promised.training, source, (draws, error / 2))
    second = _audit_phases(study, ("test",), promised.testing, source, (draws, error / 2))
    return StudyAudit(training=first, testing=second)


def audit_studies(source: RandomSource) -> Iterator[Audit]:
    """Audit the owners of all `small_studies` and `large_studies`, one after the other.

    Parameters
    ----------
    source : RandomSource
        Where randomness comes from.

    Yields
    ------
    Audit
        Two for each study. The chance that a true study is called broken is 10^-6 over all of them.

    Examples
    --------
    >>> from supm import simulation
    >>> next(audit_studies(simulation(1))).verdict
    'true'
    """
    small, large = small_studies(), large_studies()
    error = FAMILY_ERROR / (len(small) + len(large))
    for name, study in small.items():
        for row in audit_study(study, source, error=error).rows:
            yield replace(row, mechanism=name)
    for name, study in large.items():
        for row in attack_study(study, source, error=error):
            yield replace(row, mechanism=name)


def audit_owner(
    output: OwnerOutput,
    source: RandomSource,
    *,
    claimed: float,
    draws: int = _DRAWS,
    error: float = FAMILY_ERROR,
) -> Audit:
    """Audit the whole output of one owner against a claim about all of it.

    Parameters
    ----------
    output : OwnerOutput
        What leaves the owner.
    source : RandomSource
        Where randomness comes from.
    claimed : float
        The epsilon that is claimed for everything together; infinite where nothing is promised.
    draws : int, default 4096
        Outputs drawn for each record.
    error : float, default 1e-6
        Chance that a true claim is called broken.

    Returns
    -------
    Audit
        Rows, exact epsilon and sampler of the composed channel.

    Examples
    --------
    >>> from supm import simulation
    >>> study = small_studies()["rand, joint, joint"].reduced(("pulse",))
    >>> asked = interview(study, "train")
    >>> output = OwnerOutput(
    ...     records=study.schema.read(example_records(study)),
    ...     branches=(Branch(weight=1, asked=(asked, asked)),),
    ... )
    >>> audit_owner(output, simulation(1), claimed=2.0, draws=100).verdict
    'broken'
    """
    findings = (
        check_inputs(output),
        check_rows_sum_to_one(output),
        check_epsilon(output, claimed=claimed),
        check_sampler(output, source, draws=draws, error=error),
    )
    return Audit(mechanism="owner", parameters="", claimed=claimed, findings=findings)


def _audit_phases(
    study: Study,
    phases: tuple[str, ...],
    promised: Guarantee,
    source: RandomSource,
    effort: tuple[int, float],
) -> Audit:
    records = example_records(study)
    asked = [each for each in study.questions if each.phase in phases]
    weights = study.groups if phases != ("test",) else (1,)
    output = OwnerOutput(
        records=study.schema.read(records),
        branches=tuple(
            Branch(
                weight=weight,
                asked=tuple(interview(study, each.phase) for each in asked if each.group == group),
            )
            for group, weight in enumerate(weights)
        ),
    )
    found = audit_owner(
        output, source, claimed=comparable(promised), draws=effort[0], error=effort[1]
    )
    some = [records[place * (len(records) - 1) // (_OWNERS - 1)] for place in range(_OWNERS)]
    more = check_budget(study, promised), *(_check_phase(study, each) for each in asked)
    return replace(
        found,
        mechanism=study_name(study),
        claimed=promised.epsilon if isinstance(promised, PureLDP) else math.inf,
        parameters="test owner" if phases == ("test",) else "training owner",
        findings=(*found.findings, *more, check_owner(study, phases, some, source)),
    )


def _check_phase(study: Study, question: Question) -> Finding:
    """Check one phase alone: what is exact, what its interview claims, what its question states."""
    asked = interview(study, question.phase)
    exact = exact_epsilon(asked.exact_channel())
    stated = math.inf if question.epsilon is None else question.epsilon
    return Finding(
        check=f"check_{question.phase}",
        passed=exact <= asked.epsilon <= stated,
        detail=f"the question states {stated:.9g}, its interview claims {asked.epsilon:.9g}, "
        f"exact {exact:.9g}",
        statistic=exact,
        loose=exact < stated * (1 - _LOOSE),
    )
