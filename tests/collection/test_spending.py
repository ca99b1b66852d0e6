"""What owners spend: sums within a group, the largest over groups, words where nothing is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supm import simulation
from supm.collection import account, make_statement, plan, run_in_process
from supm.collection.training import make_model
from supm.messages import Scorecard, Statement, Trust
from supm.owner import interview
from supm.privacy import Guarantee, NoGuarantee, PureLDP
from supm.schema import Continuous

PRIVATE = ("odp", "pw", "joint")


def _epsilon(promise: Guarantee) -> float:
    assert isinstance(promise, PureLDP)
    return promise.epsilon


@pytest.mark.parametrize("mode", ["strict", "faithful"])
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("train", PRIVATE)
@pytest.mark.parametrize("reduce", ["rand", "pw", "waldp", "rank"])
def test_nobody_spends_more_than_the_budget_and_hardly_less(
    make_people: Any, reduce: str, train: str, labels: int, mode: str
) -> None:
    people = make_people(20, labels=labels)
    for epsilon in (0.3, 4.0, 10.0):
        study = plan(
            people.schema,
            epsilon=epsilon,
            mode=mode,
            reduce=reduce,
            keep=2,
            train=train,
            test=train,
        )
        spent = account(study)
        assert 0.999 * epsilon < _epsilon(spent.training) <= epsilon
        assert _epsilon(spent.testing) <= epsilon
        if mode == "strict" or train == "joint":
            assert _epsilon(spent.testing) > 0.999 * epsilon
        else:  # the papers keep a share for a label that a record to be classified does not have
            assert _epsilon(spent.testing) == pytest.approx(epsilon * 2 / 3, rel=1e-3)


def test_the_same_owners_share_the_budget_between_two_questions(make_people: Any) -> None:
    study = plan(make_people(5).schema, epsilon=8.0, reduce="pw", keep=2, reduce_share=0.25)
    spent = account(study)
    assert _epsilon(spent.phases["reduce"]) == pytest.approx(2.0, rel=1e-6)
    assert _epsilon(spent.phases["train"]) == pytest.approx(6.0, rel=1e-6)
    assert _epsilon(spent.training) == pytest.approx(8.0, rel=1e-6)


def test_disjoint_groups_have_the_whole_budget_each(make_people: Any) -> None:
    spent = account(plan(make_people(5).schema, epsilon=8.0, reduce="rank", keep=2))
    assert _epsilon(spent.phases["reduce"]) == pytest.approx(8.0, rel=1e-6)
    assert _epsilon(spent.phases["train"]) == pytest.approx(8.0, rel=1e-6)
    assert _epsilon(spent.training) == pytest.approx(8.0, rel=1e-6)


def test_a_random_choice_of_attributes_costs_nothing(make_people: Any) -> None:
    spent = account(plan(make_people(5).schema, epsilon=8.0, reduce="rand", keep=2))
    assert set(spent.phases) == {"train", "test"}
    assert _epsilon(spent.training) == pytest.approx(8.0, rel=1e-6)


def test_before_the_choice_the_account_is_that_of_any_choice(make_people: Any) -> None:
    study = plan(make_people(5, wards=True).schema, epsilon=6.0, reduce="waldp", keep=2)
    before = account(study)
    for names in (("noise", "ward"), ("sex", "weak"), ("ward", "strong")):
        after = account(study.reduced(names))
        assert _epsilon(after.training) == pytest.approx(_epsilon(before.training), rel=1e-6)


@pytest.mark.parametrize(
    ("trust", "forms", "without"),
    [
        ("t,u,u", {"reduce": "wa"}, {"reduce", "training"}),
        ("u,t,u", {"train": "oda"}, {"train", "training"}),
        ("u,t,u", {"train": "raw"}, {"train", "training"}),
        ("u,u,t", {"test": "oda"}, {"test", "testing"}),
        ("t,t,t", {"test": "raw"}, {"reduce", "train", "training", "test", "testing"}),
        ("u,t,d", {"train": "odp"}, set()),
    ],
)
def test_where_nothing_is_kept_the_account_says_so_in_words(
    make_people: Any, trust: str, forms: dict[str, Any], without: set[str]
) -> None:
    study = plan(
        make_people(5).schema,
        epsilon=4.0,
        mode="faithful",
        trust=Trust.parse(trust),
        keep=2,
        **forms,
    )
    spent = account(study)
    promises = dict(spent.phases) | {"training": spent.training, "testing": spent.testing}
    empty = {name for name, promise in promises.items() if isinstance(promise, NoGuarantee)}
    assert empty == without
    for phase in empty & set(spent.phases):
        assert f"in the {phase} phase" in promises[phase].sentence
        assert "trusted" in promises[phase].sentence
    private = set(promises) - empty
    assert all(_epsilon(promises[name]) <= 4.0 for name in private)


def test_on_the_device_a_test_owner_spends_nothing(make_people: Any) -> None:
    study = plan(make_people(5).schema, epsilon=4.0, trust=Trust.parse("u,u,d"), keep=2)
    assert _epsilon(account(study).testing) == 0.0


def test_each_phase_promises_what_its_mechanism_does(make_people: Any) -> None:
    study = plan(
        make_people(5).schema, epsilon=4.0, attributes=["strong", "sex"], train="odp", test="odp"
    )
    spent = account(study)
    for phase, promise in spent.phases.items():
        assert promise == interview(study, phase).guarantee


def test_a_statement_tells_methods_totals_and_simulation(make_people: Any) -> None:
    people = make_people(100)
    study = plan(
        people.schema, epsilon=4.0, mode="faithful", trust=Trust.parse("t,u,u"), keep=2, classes=3
    )
    statement = make_model(run_in_process(study, people.records, simulation(1))).statement
    assert [each.phase for each in statement.phases] == ["reduce", "train", "test"]
    assert isinstance(statement.training, NoGuarantee)
    assert _epsilon(statement.testing) <= 4.0
    words = statement.words
    for told in ("DR.WA", "4 of 4 attributes", "2 attributes", "up to 3 classes", "not private"):
        assert told in words
    assert Statement.from_json(statement.to_json()) == statement


def test_a_statement_of_secure_reports_does_not_speak_of_a_simulation(make_people: Any) -> None:
    study = plan(make_people(5).schema, epsilon=4.0, attributes=["strong"], train="pw", test="pw")
    statement = make_statement(study, simulation=False)
    assert "simulation" not in statement.words
    assert "piecewise" in statement.words
    assert "classes each" not in statement.phases[0].method


@pytest.mark.parametrize("target", ["labels", "number"])
@pytest.mark.parametrize("epsilon", [0.1, 2 / 3, 8.0, 60.0, 1000.0])
def test_an_answer_is_stated_by_its_randomizer_and_not_by_its_question(
    make_people: Any, epsilon: float, target: str
) -> None:
    schema = make_people(5, labels=3).schema
    if target == "number":
        schema = replace(schema, target=Continuous("cost", low=0, high=9))
    study = plan(schema, epsilon=epsilon, attributes=["strong", "sex"], classes=2)
    points = tuple(np.zeros((2, study.outputs)) for _ in range(2))
    card = Scorecard(points=points, offsets=np.zeros(study.outputs))
    spent = interview(study.with_rule(card), "test").epsilon
    found = account(study)
    assert _epsilon(found.phases["test"]) == _epsilon(found.testing) == spent <= epsilon
    # A draw of 64 bits cannot spend more than a few dozen, whatever is allowed.
    assert spent < 100


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2 / 3, 8.0])
def test_sampled_reports_and_answers_are_stated_by_their_own_mechanisms(
    make_people: Any, epsilon: float
) -> None:
    people = make_people(200)
    for test in ("answer", "sample"):
        study = plan(people.schema, epsilon=epsilon, classes=3, reduce="regroup", test=test)
        trained = run_in_process(study, people.records, simulation(1))
        statement = make_model(trained).statement
        asked = trained.study.with_rule(trained.rule) if test == "answer" else trained.study
        told = {each.phase: each.guarantee for each in statement.phases}
        assert set(told) == {"reduce", "train", "test"}
        for phase, promise in told.items():
            mechanism = interview(asked, phase)
            assert _epsilon(promise) == mechanism.epsilon
            assert mechanism.epsilon == pytest.approx(epsilon, rel=1e-9)
            assert mechanism.epsilon <= epsilon
        # Two groups of different people: nobody spends the sum.
        assert _epsilon(statement.training) == max(map(_epsilon, (told["reduce"], told["train"])))
        assert _epsilon(statement.testing) == _epsilon(told["test"])
