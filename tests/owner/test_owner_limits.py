"""An owner spends no more than a study states, whoever asks, however often and in whatever way."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from supm import BudgetError, MessageError, ParameterError, RecordError, secure, simulation
from supm.collection import account, check_statement, make_model, plan, run_in_process
from supm.messages import Model, Question, Report, Study
from supm.owner import Owner
from supm.privacy import Budget, PureLDP
from supm.schema import Categorical, Continuous, Schema

SCHEMA = Schema(
    attributes=(Continuous("age", low=0, high=100), Continuous("pulse", low=0, high=220)),
    target=Categorical("ill", values=("no", "yes")),
)
RECORD: dict[str, object] = {"age": 61.0, "pulse": 88.0, "ill": "yes"}
TWICE = plan(SCHEMA, epsilon=8.0, mode="faithful", reduce="waldp", keep=1)
KNOWN = plan(SCHEMA, epsilon=2.0, attributes=["age"])


def test_a_study_continues_only_itself() -> None:
    """Else one could ask for half of a budget, and then, in a continuation, for all of it."""
    train = Question(phase="train", form="odp", epsilon=8.0)
    test = Question(phase="test", form="odp", epsilon=8.0)
    reduced = TWICE.reduced(("age",))
    for change in (
        {"reduction": "known", "questions": (train, test)},
        {"epsilon": 100.0},
        {"attributes": ("pulse",), "previous": reduced.hash},
        {"attributes": ("pulse",), "previous": None},
        {"purpose": "another"},
    ):
        with pytest.raises(ParameterError, match="previous must be"):
            replace(reduced, **change)


def test_a_strict_study_cannot_change_its_groups_on_the_way() -> None:
    reduced = plan(SCHEMA, epsilon=4.0, reduce="rank", keep=1).reduced(("age",))
    with pytest.raises(ParameterError, match="previous must be"):
        replace(reduced, groups=(1, 9))
    with pytest.raises(ParameterError, match="epsilon must be at most"):
        replace(reduced, questions=tuple(replace(q, group=0) for q in reduced.questions))


def test_many_threads_get_one_answer() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(10):
            assert len(_answers_of_threads(Owner(source=secure()))) == 1
    finally:
        sys.setswitchinterval(before)


def _answers_of_threads(owner: Owner) -> set[Report]:
    told: list[Report] = []
    barrier = threading.Barrier(6)

    def ask() -> None:
        barrier.wait()
        told.append(owner.answer(KNOWN, "train", RECORD))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return set(told)


def test_an_owners_own_budget_holds_over_all_studies() -> None:
    budget = Budget(PureLDP(5.0))
    owner = Owner(source=simulation(1), budget=budget)
    studies = [plan(SCHEMA, epsilon=2.0 - k * 1e-9, attributes=["age"]) for k in range(3)]
    reports = [owner.answer(study, "train", RECORD) for study in studies[:2]]
    with pytest.raises(BudgetError, match="would break the limit"):
        owner.answer(studies[2], "train", RECORD)
    assert owner.answer(studies[0], "train", RECORD) == reports[0], "to repeat it costs nothing"
    assert len(budget.history) == 2


@pytest.mark.parametrize("epsilon", [2.0, 8.0])
def test_who_cannot_pay_draws_nothing_and_remembers_nothing(epsilon: float) -> None:
    """Else the next call would find the answer in the memory, and send it for nothing."""
    memory: dict[str, Any] = {}
    budget = Budget(PureLDP(1.0))
    owner = Owner(source=simulation(1), memory=memory, budget=budget)
    study = plan(SCHEMA, epsilon=epsilon, attributes=["age"])
    for _ in range(3):
        with pytest.raises(BudgetError, match="would break the limit"):
            owner.answer(study, "train", RECORD)
        assert memory == {}
    assert not budget.history
    # An owner who can pay finds nothing that was drawn before, and draws.
    again = Owner(source=simulation(1), memory=memory).answer(study, "train", RECORD)
    assert again == Owner(source=simulation(1)).answer(study, "train", RECORD)


def test_a_budget_can_be_asked_and_spent() -> None:
    with pytest.raises(ParameterError, match="budget must be of kind Allowance"):
        Owner(budget=5)  # type: ignore[arg-type]


def _damaged(memory: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    report = next(key for key in memory if key.startswith("report "))
    answer = next(key for key in memory if key.startswith("answer "))
    other = Report(study="0" * 64, phase="train", group=0, symbols=(0,), id="0" * 32)
    yield from ((report, value) for value in (None, 5, "{}", other.to_json()))
    yield from ((answer, value) for value in (None, 5, [9], [], [1.5], [True], [-1], [2**60], "1"))


def test_a_damaged_memory_is_refused_and_nothing_is_sent() -> None:
    whole: dict[str, Any] = {}
    Owner(memory=whole).answer(KNOWN, "train", RECORD)
    for key, value in _damaged(whole):
        memory = {**whole, key: value}
        if key.startswith("answer "):
            memory = {name: held for name, held in memory.items() if "report" not in name}
        with pytest.raises(MessageError):
            Owner(memory=memory).answer(KNOWN, "train", RECORD)


class Talkative(float):
    def __eq__(self, other: object) -> bool:
        raise RuntimeError(str(float(self)))

    __lt__ = __le__ = __gt__ = __ge__ = __eq__

    def __hash__(self) -> int:
        raise RuntimeError(str(float(self)))


@pytest.mark.parametrize("name", ["age", "ill"])
def test_a_value_that_raises_does_not_show_itself(name: str) -> None:
    record = {**RECORD, name: Talkative(61.53125)}
    try:
        Owner().answer(KNOWN, "train", record)
    except RecordError as error:
        chained = [error, error.__context__, error.__cause__]
        assert not any("61.53125" in str(each) for each in chained)


def test_before_attributes_are_chosen_no_choice_costs_more_than_is_said() -> None:
    schema = replace(
        SCHEMA,
        attributes=(
            Categorical("a", values=("1", "2", "3")),
            Categorical("b", values=("1", "2", "3", "4")),
        ),
    )
    study = plan(schema, epsilon=46.0, keep=1, classes=4, reduce="rand")
    said: Any = account(study).training
    for name in ("a", "b"):
        spent: Any = account(study.reduced((name,))).training
        assert spent.epsilon <= said.epsilon


def test_a_statement_that_promises_more_than_its_study_is_found_out() -> None:
    table = {"age": [20.0, 60.0, 30.0, 70.0], "pulse": [60.0] * 4, "ill": ["no", "yes"] * 2}
    model = make_model(run_in_process(KNOWN, SCHEMA.read(table), simulation(1)))
    check_statement(Model.from_json(model.to_json()))
    weak = PureLDP(0.01)
    phases = tuple(replace(phase, guarantee=weak) for phase in model.statement.phases)
    forged = replace(model.statement, phases=phases, training=weak)
    for statement in (forged, replace(model.statement, phases=())):
        with pytest.raises(Exception, match="do not rely on it"):
            check_statement(replace(model, statement=statement))


def test_studies_keep_their_promise_when_they_are_read_again() -> None:
    reduced = TWICE.reduced(("age",))
    assert Study.from_json(reduced.to_json()) == reduced
