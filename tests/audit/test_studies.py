"""The whole output of an owner shows the stated epsilon, and no guarantee where there is none."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import pytest
from tests.drawing import drawn

from supm import simulation
from supm._errors import BudgetError, ParameterError, PromiseError
from supm.audit import (
    Branch,
    OwnerOutput,
    StudyAudit,
    audit_studies,
    audit_study,
    completed,
    exact_epsilon,
    example_records,
    small_studies,
)
from supm.audit.owners import in_phase
from supm.collection import Account, account, plan
from supm.messages import Study, Trust
from supm.owner import Interview, Owner, SeparateInterview, interview
from supm.privacy import NoGuarantee, PureLDP
from supm.schema import Categorical, Continuous, Ordinal, Schema

EPSILON = 2.0
REDUCTIONS = ("rand", "wa", "pw", "waldp", "rank")
PAIRS = (*product(("odp", "oda"), repeat=2), ("pw", "pw"), ("joint", "joint"))
STRICT = [
    ("known", "sample", "answer"),
    ("known", "sample", "sample"),
    ("known", "sample", "answer of mixed sizes"),
    ("known", "joint", "answer"),
    ("rank", "sample", "answer"),
    ("regroup", "sample", "answer"),
    ("known", "sample", "answer of a number"),
    ("regroup", "sample", "answer of a number"),
]
EVERY_STUDY = [*((reduction, *pair) for reduction in REDUCTIONS for pair in PAIRS), *STRICT]
DRAWN = drawn(EVERY_STUDY, 14)


def names(case: tuple[str, ...]) -> str:
    return ", ".join(case)


@cache
def audited(name: str) -> StudyAudit:
    return audit_study(small_studies(EPSILON)[name], simulation(1), draws=1 << 10)


@pytest.mark.parametrize("case", DRAWN, ids=names)
def test_a_training_owner_spends_what_is_stated(case: tuple[str, str, str]) -> None:
    """Reduce and train together, for the same record: the stated epsilon, or no guarantee."""
    reduction, train, _ = case
    study = small_studies(EPSILON)[names(case)]
    found = audited(names(case)).training
    if "oda" in (train, {"wa": "oda"}.get(reduction)):
        assert found.verdict == "no guarantee"
        assert found.exact == found.claimed == math.inf
        assert isinstance(account(study).training, NoGuarantee)
    else:
        assert found.verdict == "true"
        assert found.exact == pytest.approx(EPSILON, rel=1e-9)
        assert account(study).training.epsilon <= study.epsilon == EPSILON  # type: ignore[attr-defined]  # a promise, as the verdict says


@pytest.mark.parametrize("case", DRAWN, ids=names)
def test_a_test_owner_spends_what_is_stated(case: tuple[str, str, str]) -> None:
    study = small_studies(EPSILON)[names(case)]
    found = audited(names(case)).testing
    if case[2] == "oda":
        assert found.verdict == "no guarantee"
        assert found.exact == found.claimed == math.inf
    else:
        # The papers keep a share for a label that a record to be classified does not have.
        stated = EPSILON / 2 if case[2] in ("odp", "pw") else EPSILON
        assert found.verdict == "true"
        assert found.exact == pytest.approx(stated, rel=1e-9)
        assert account(study).testing == PureLDP(found.claimed)


def test_every_study_of_the_catalogue_is_audited_by_the_tests_above() -> None:
    assert sorted(small_studies()) == sorted(map(names, EVERY_STUDY))


def test_a_private_phase_beside_one_without_promise_is_still_audited() -> None:
    found = audit_study(small_studies()["pw, oda, odp"], simulation(1), draws=1 << 8).training
    by_check = {finding.check: finding for finding in found.findings}
    assert by_check["check_reduce"].statistic == pytest.approx(1.0, rel=1e-9)
    assert by_check["check_train"].statistic == math.inf


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 5.0, 11.0])
def test_the_promise_is_kept_at_small_and_large_budgets(epsilon: float) -> None:
    for name in ("pw, odp, odp", "rank, joint, joint", "waldp, pw, pw", "known, sample, answer"):
        found = audit_study(small_studies(epsilon)[name], simulation(1), draws=1 << 8)
        assert [row.verdict for row in found.rows] == ["true", "true"]
        assert found.training.exact == pytest.approx(epsilon, rel=1e-9)
        found.require()


WIDE = Schema(
    attributes=(
        Continuous("pulse", low=0, high=200),
        Ordinal("stage", values=(1, 2, 3)),
        Categorical("smokes", values=("no", "yes"), missing="class"),
    ),
    target=Categorical("ill", values=("no", "yes")),
)


def wide(reduction: str, train: str) -> Study:
    """Return a study that keeps two of three attributes."""
    study = plan(
        WIDE, epsilon=3.0, mode="faithful", keep=2, classes=2, reduce=reduction, train=train
    )
    shrunk = (replace(each, steps=each.steps and 1) for each in study.questions)
    return replace(study, questions=tuple(shrunk))


@pytest.mark.parametrize("case", [("pw", "odp"), ("waldp", "odp"), ("rank", "joint")])
def test_every_choice_of_attributes_costs_the_same(case: tuple[str, str]) -> None:
    study = wide(*case)
    for chosen in combinations(study.schema.names, 2):
        found = audit_study(study.reduced(chosen), simulation(1), draws=1 << 7)
        assert found.training.verdict == "true"
        assert found.training.exact == pytest.approx(3.0, rel=1e-9)


def output_of_test_owner(study: Study) -> tuple[list[int], list[list[Fraction]]]:
    """Return what the model answers for each example record, and the channel from the record."""
    records = study.schema.read(example_records(study))
    asked = interview(study, "test")
    output = OwnerOutput(records=records, branches=(Branch(weight=1, asked=(asked,)),))
    return asked.encode(records)[:, 0].tolist(), output.exact_channel()


@pytest.mark.parametrize("name", [names(case) for case in STRICT if "answer" in case[2]])
def test_records_of_one_answer_are_not_told_apart_and_others_within_the_budget(name: str) -> None:
    answers, channel = output_of_test_owner(completed(small_studies(EPSILON)[name]))
    rows: dict[float, set[tuple[Fraction, ...]]] = {}
    for answer, row in zip(answers, channel, strict=True):
        rows.setdefault(answer, set()).add(tuple(row))
    assert 1 < len(rows) < len(answers)
    assert {len(each) for each in rows.values()} == {1}
    assert exact_epsilon([list(row) for each in rows.values() for row in each]) == pytest.approx(
        EPSILON, rel=1e-9
    )


@pytest.mark.parametrize("name", ["rank, sample, answer", "regroup, sample, answer"])
def test_a_training_owner_of_two_groups_sends_one_report(name: str) -> None:
    study = completed(small_studies(EPSILON)[name])
    record = example_records(study)[0]
    sent: list[list[str]] = []
    for seed in range(12):
        owner = Owner(source=simulation(seed))
        sent.append([])
        for phase in ("reduce", "train"):
            with suppress(BudgetError):
                sent[-1].append(owner.answer(in_phase(study, phase), phase, record).phase)
    assert {tuple(each) for each in sent} == {("reduce",), ("train",)}


def test_before_attributes_are_chosen_the_account_covers_the_costliest_choice() -> None:
    """Words limit an epsilon, and the limit grows with the alphabet."""
    schema = Schema(
        attributes=(
            Categorical("two", values=("a", "b")),
            Categorical("many", values=tuple("abcdefgh"), missing="class"),
        ),
        target=Categorical("ill", values=("no", "yes")),
    )
    study = plan(schema, epsilon=200.0, mode="faithful", reduce="rand", keep=1, classes=8)
    before: Any = account(study).training
    after: list[Any] = [account(study.reduced((name,))).training for name in schema.names]
    assert before.epsilon == 200.0 > max(each.epsilon for each in after)


def test_nothing_leaves_a_device() -> None:
    study = plan(WIDE, epsilon=1.0, trust=Trust(test="device"), attributes=["stage"], classes=2)
    found = audit_study(study, simulation(1), draws=1 << 7)
    assert (found.testing.claimed, found.testing.exact) == (0.0, 0.0)
    assert found.testing.verdict == "true"
    assert str(found.testing).startswith("known, sample, device (test owner)")


def test_the_rows_of_all_studies_are_two_for_each() -> None:
    rows = []
    for row in audit_studies(simulation(1)):
        rows.append(row)
        if len(rows) == 4:
            break
    assert [row.mechanism for row in rows] == ["rand, odp, odp"] * 2 + ["rand, odp, oda"] * 2
    assert [row.parameters for row in rows] == ["training owner", "test owner"] * 2
    assert [row.verdict for row in rows] == ["true", "true", "true", "no guarantee"]


def test_example_records_hold_bounds_classes_labels_and_missing_values() -> None:
    held = example_records(small_studies()["rand, odp, odp"])
    assert {row["pulse"] for row in held} == {0.0, 50.0, 150.0, 200.0}
    assert {row["stage"] for row in held} == {1, 2, 3, None}
    assert {row["ill"] for row in held} == {"no", "yes"}
    assert len(held) == 4 * 4 * 2


def test_a_study_of_too_many_records_is_refused_with_a_hint() -> None:
    many = Schema(
        attributes=tuple(Continuous(f"x{place}", low=0, high=1) for place in range(20)),
        target=WIDE.target,
    )
    with pytest.raises(ParameterError, match="fewer attributes, classes and labels"):
        audit_study(plan(many, epsilon=1.0), simulation(1))


def test_a_broken_study_raises_what_is_broken() -> None:
    study = small_studies(EPSILON)["waldp, odp, odp"]
    found = audit_study(study, simulation(1), draws=1 << 7)
    found.require()
    unkept = replace(found.training.findings[2], passed=False)
    wrong = replace(found.training, findings=(unkept,))
    with pytest.raises(PromiseError, match="check_epsilon: BROKEN"):
        replace(found, training=wrong).require()


def unkept(study: Study) -> list[str]:
    """Return which checks of a training owner fail."""
    found = audit_study(study, simulation(1), draws=1 << 7).training
    assert (found.verdict == "broken") == any(not each.passed for each in found.findings)
    return [each.check for each in found.findings if not each.passed]


@pytest.mark.parametrize("claimed", [math.nextafter(EPSILON, 3), 2 * EPSILON])
def test_an_account_of_more_than_the_study_states_is_caught(
    claimed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_studies(EPSILON)["waldp, odp, odp"]
    assert unkept(study) == []

    def over(given: Study) -> Account:
        return replace(account(given), training=PureLDP(claimed))

    monkeypatch.setattr("supm.audit.studies.account", over)
    assert unkept(study) == ["check_budget"]


def test_a_phase_that_takes_what_another_leaves_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plants a defect: together the phases keep to the budget, and one of them does not."""
    study = small_studies(EPSILON)["waldp, odp, odp"]

    shares = {"reduce": 0.5, "train": 1.5, "test": 1.0}
    uneven = replace(
        study,
        questions=tuple(replace(each, epsilon=shares[each.phase]) for each in study.questions),
    ).reduced(("pulse",))

    def moved(_: Study, phase: str) -> Interview:
        return interview(uneven, phase)

    monkeypatch.setattr("supm.audit.studies.interview", moved)
    assert unkept(study) == ["check_train"]


class Understated(SeparateInterview):
    """Plants a defect: it claims less than it spends."""

    @property
    def epsilon(self) -> float:
        return super().epsilon / 2


@pytest.mark.parametrize("phase", ["reduce", "train"])
def test_an_interview_that_spends_more_than_it_claims_is_caught(
    phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def understated(given: Study, asked: str) -> Interview:
        honest = interview(given, asked)
        assert isinstance(honest, SeparateInterview)
        lying = Understated(columns=honest.columns, label=honest.label, sampled=honest.sampled)
        return lying if asked == phase else honest

    monkeypatch.setattr("supm.audit.studies.interview", understated)
    assert unkept(small_studies(EPSILON)["waldp, odp, odp"]) == [f"check_{phase}"]
