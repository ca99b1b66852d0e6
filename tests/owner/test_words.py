"""A plan says what each group is asked, and why."""

from __future__ import annotations

import math

import pytest

from supm.collection import plan
from supm.datasets import load_wdbc
from supm.owner import SampledInterview, explain, interview
from supm.schema import Categorical, Continuous, Schema

WDBC = load_wdbc().schema
NUMBER = Schema(
    attributes=(Continuous("age", low=0, high=100), Continuous("dose", low=0, high=1)),
    target=Continuous("pulse", low=40, high=140),
)
SMALL = Schema(
    attributes=(Continuous("age", low=0, high=100),),
    target=Categorical("ill", values=("no", "yes")),
)


def test_the_numbers_of_a_row_are_those_of_the_mechanism() -> None:
    study = plan(WDBC, epsilon=4.0)
    row, asked = explain(study).rows[0], interview(study, "train")
    assert isinstance(asked, SampledInterview)
    assert row.combinations == 2 * 4**2
    assert row.truth == pytest.approx(asked.gap())
    assert row.epsilon == 4.0


def test_each_of_two_groups_has_its_row_and_its_share() -> None:
    told = explain(plan(WDBC, epsilon=2.0, owners=100_000))
    assert [row.who for row in told.rows] == [
        "2 of 5 training owners",
        "3 of 5 training owners",
        "every owner whose record is classified",
    ]
    assert told.sentence == (
        "A first group of owners shows which classes belong together; a second trains on those, "
        "where fewer combinations leave more truth."
    )


def test_two_groups_that_were_asked_for_are_explained_alike() -> None:
    usual = explain(plan(WDBC, epsilon=2.0, owners=100_000))
    pinned = explain(plan(WDBC, epsilon=2.0, reduce="regroup"))
    assert pinned == usual
    assert "expected" not in pinned.sentence


def test_a_larger_budget_is_one_group_however_many_owners_there_are() -> None:
    told = explain(plan(WDBC, epsilon=4.0, owners=100_000))
    assert told == explain(plan(WDBC, epsilon=4.0))
    assert len(told.rows) == 2


def test_the_truth_of_two_groups_is_that_of_merged_classes() -> None:
    study = plan(WDBC, epsilon=2.0, owners=100_000)
    train = study.question("train")
    assert train is not None
    row = explain(study).rows[1]
    assert row.combinations == 2 * 2 ** (train.sampled or 0)


def test_a_test_on_the_device_asks_for_nothing() -> None:
    last = explain(plan(WDBC, epsilon=2.0, trust="u,u,d")).rows[-1]
    assert last.epsilon == 0.0
    assert last.asked.startswith("nothing")


def test_the_answer_has_as_many_combinations_as_labels() -> None:
    assert explain(plan(WDBC, epsilon=2.0)).rows[-1].combinations == 2
    assert explain(plan(NUMBER, epsilon=2.0)).rows[-1].combinations is None


def test_a_budget_that_carries_everything_says_so() -> None:
    assert "all attributes" in explain(plan(SMALL, epsilon=6.0)).sentence


def test_the_papers_layout_is_named() -> None:
    told = explain(plan(WDBC, epsilon=8.0, mode="faithful", reduce="pw"))
    assert "papers" in told.sentence
    assert told.rows[0].truth is None


@pytest.mark.parametrize("form", ["odp", "joint", "pw"])
def test_every_form_has_words(form: str) -> None:
    test = "odp" if form == "odp" else form
    told = explain(plan(WDBC, epsilon=8.0, train=form, test=test, keep=3))
    assert all(row.asked and row.who for row in told.rows)
    assert all(row.truth is None or 0 < row.truth < 1 for row in told.rows)
    assert not any(math.isinf(row.epsilon or 0.0) for row in told.rows)
