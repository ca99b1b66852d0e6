"""Audits of whole studies: what one owner sends in all phases together, against what is stated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.audit.attacks import against
from supm.audit.channel import check_epsilon, check_inputs, check_rows_sum_to_one, exact_epsilon
from supm.audit.empirical import epsilon_lower_bound
from supm.audit.examples import completed, example_records, large_studies, small_studies
from supm.audit.findings import FAMILY_ERROR, Audit, Finding
from supm.audit.owner_output import Branch, OwnerOutput
from supm.audit.owners import by_interviews, check_owner, questions_of
from supm.audit.sampler import check_sampler
from supm.audit.study_attacks import TRIALS, Record, attack_owner, seen, telling_pairs
from supm.collection import account
from supm.mechanisms.thresholds import stated
from supm.messages import Question, Study
from supm.owner import interview
from supm.privacy import Guarantee, PureLDP

_DRAWS: Final = 1 << 12
_OWNERS: Final = 16
_ATTACKED_OWNERS: Final = 8
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
    training, testing = (_measured(whole, draws) for whole in _owners(study, source, error))
    return StudyAudit(training=training, testing=testing)


def attack_study(
    study: Study, source: RandomSource, *, trials: int = TRIALS, error: float = FAMILY_ERROR
) -> tuple[Audit, Audit]:
    """Attack the owners of a study of any size, and check the code that runs on their devices.

    Parameters
    ----------
    study : Study
        The study. What is learned only later has public stand-ins: `completed`.
    source : RandomSource
        Where randomness comes from.
    trials : int, default 2^17
        Owners of each record.
    error : float, default 1e-6
        Chance that a true study is called broken.

    Returns
    -------
    pair of Audit
        Of a training owner and of a test owner. The verdict is "not disproved" where nothing
        speaks against the claim; "broken" where samples prove more, where the draw of attributes
        or groups tells anything, or where an owner sends something else.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.audit import large_studies
    >>> study = large_studies()["known, sample, answer"]
    >>> for found in attack_study(study, simulation(1), trials=20_000):
    ...     print(found.mechanism, found.parameters, found.verdict)
    known, sample, answer training owner of 30 attributes not disproved
    known, sample, answer test owner of 30 attributes not disproved
    """
    training, testing = (_attacked(whole, trials) for whole in _owners(study, source, error))
    return training, testing


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


class _Whole(NamedTuple):
    """All that one owner of a study sends, what is promised of it, and what an audit may use."""

    study: Study
    owner: str
    promised: Guarantee
    source: RandomSource
    error: float

    def audit(self, found: Audit, people: Sequence[Record]) -> Audit:
        """Add to what was found what the account says, and what the devices of people do."""
        study, promised = self.study, self.promised
        phases = [question.phase for question in questions_of(study, self.owner)]
        device = check_owner(study, phases, people, self.source)
        return replace(
            found,
            mechanism=_name(study),
            claimed=promised.epsilon if isinstance(promised, PureLDP) else math.inf,
            findings=(*found.findings, _check_budget(study, promised), device),
        )


def _owners(study: Study, source: RandomSource, error: float) -> Iterator[_Whole]:
    study = completed(study)
    promised = account(study)
    yield _Whole(study, "training owner", promised.training, source, error / 2)
    yield _Whole(study, "test owner", promised.testing, source, error / 2)


def _measured(whole: _Whole, draws: int) -> Audit:
    study, owner, promised, source, error = whole
    records, asked = example_records(study), questions_of(study, owner)
    branches = tuple(
        Branch(
            weight=weight,
            asked=tuple(interview(study, each.phase) for each in asked if each.group == group),
        )
        for group, weight in enumerate((1,) if owner == "test owner" else study.groups)
    )
    output = OwnerOutput(records=study.schema.read(records), branches=branches)
    found = audit_owner(output, source, claimed=_comparable(promised), draws=draws, error=error)
    phases = [_check_phase(study, each) for each in asked]
    some = [records[place * (len(records) - 1) // (_OWNERS - 1)] for place in range(_OWNERS)]
    return whole.audit(replace(found, parameters=owner, findings=(*found.findings, *phases)), some)


def _attacked(whole: _Whole, trials: int) -> Audit:
    study, owner, promised, source, error = whole
    pairs = telling_pairs(study)
    error /= 2 * len(pairs)
    attack = partial(attack_owner, study, owner, source, trials=trials, error=error)
    best = max((attack(pair=pair) for pair in pairs.values()), key=lambda bound: bound.epsilon)

    def drawn(which: int, count: int) -> NDArray[np.int64]:
        told = by_interviews(study, owner, pairs["halves"][which], count, source)
        return seen(study, owner, told)

    # What the group and the drawn attributes tell is nothing, since no record has a say.
    draws = epsilon_lower_bound(drawn, 0, 1, trials=trials, confidence=1.0 - error)
    attacks = (
        against("check_attack", best, _comparable(promised)),
        against("check_draws", draws, 0.0),
    )
    words = f"{owner} of {len(study.schema.attributes)} attributes"
    found = Audit(
        mechanism="owner",
        parameters=words,
        claimed=math.inf,
        lower_bound=best.epsilon,
        findings=attacks,
    )
    people = [record for pair in pairs.values() for record in pair]
    return whole.audit(found, people * (_ATTACKED_OWNERS // len(people)))


def _check_phase(study: Study, question: Question) -> Finding:
    """Check one phase alone: what is exact, what its interview claims, what its question states."""
    asked = interview(study, question.phase)
    exact = exact_epsilon(asked.exact_channel())
    claim = math.inf if question.epsilon is None else question.epsilon
    return Finding(
        check=f"check_{question.phase}",
        passed=exact <= asked.epsilon <= claim,
        detail=f"the question states {claim:.9g}, its interview claims {asked.epsilon:.9g}, "
        f"exact {exact:.9g}",
        statistic=exact,
        loose=exact < claim * (1 - _LOOSE),
    )


def _comparable(promised: Guarantee) -> float:
    """Return the claim as exact epsilons are compared with it.

    A guarantee names the decimal that it prints as; an exact epsilon is a float that reads as no
    less either in binary or as a decimal.
    """
    if not isinstance(promised, PureLDP):
        return math.inf
    return stated(Fraction(repr(promised.epsilon)))


def _check_budget(study: Study, promised: Guarantee) -> Finding:
    """Check that the account is within what the study states, where anything is promised."""
    claimed = promised.epsilon if isinstance(promised, PureLDP) else 0.0
    return Finding(
        check="check_budget",
        passed=claimed <= study.epsilon,
        detail=f"the account claims {claimed:.9g}, the study states {study.epsilon:.9g}",
        statistic=claimed,
    )


def _name(study: Study) -> str:
    """Return the reduction and the forms of a study."""
    forms = (study.question("train"), study.question("test"))
    words = [study.reduction, *("device" if form is None else form.form for form in forms)]
    return ", ".join(words)
