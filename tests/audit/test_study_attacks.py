"""Samples of what leaves owners of large studies prove nearly the stated epsilon, and no more."""

from __future__ import annotations

from functools import cache

import pytest

from supm import simulation
from supm.audit import (
    Audit,
    attack_owner,
    attack_study,
    completed,
    large_studies,
    small_studies,
    telling_pairs,
)

EPSILON = 2.0


@cache
def attacked(name: str) -> tuple[Audit, Audit]:
    return attack_study(large_studies(EPSILON)[name], simulation(1), trials=1 << 17)


@pytest.mark.parametrize("name", large_studies())
@pytest.mark.parametrize("owner", [0, 1])
def test_the_lower_bound_is_close_to_what_is_stated_and_not_above(name: str, owner: int) -> None:
    found = attacked(name)[owner]
    assert found.verdict == "not disproved"
    assert found.claimed == pytest.approx(EPSILON, rel=1e-9)
    assert found.lower_bound is not None
    assert 0.85 * EPSILON < found.lower_bound <= EPSILON
    found.require()


def test_records_of_one_answer_are_not_told_apart_by_a_test_owner() -> None:
    study = completed(large_studies(EPSILON)["known, sample, answer"])
    pair = telling_pairs(study)["halves"]
    bound = attack_owner(study, "test owner", simulation(1), pair=pair, trials=40_000)
    assert (bound.epsilon, bound.event) == (0.0, "nothing")


@pytest.mark.parametrize("name", ["waldp, odp, odp", "rank, joint, joint", "known, joint, answer"])
def test_owners_of_small_studies_are_attacked_in_the_same_way(name: str) -> None:
    study = completed(small_studies(EPSILON)[name])
    pair = telling_pairs(study)["ends"]
    bound = attack_owner(study, "training owner", simulation(1), pair=pair, trials=1 << 16)
    assert 0.8 * EPSILON < bound.epsilon <= EPSILON


def test_a_larger_budget_than_stated_is_proved_by_samples() -> None:
    twice = completed(large_studies(2 * EPSILON)["regroup, sample, answer"])
    pair = telling_pairs(twice)["ends"]
    for owner in ("training owner", "test owner"):
        bound = attack_owner(twice, owner, simulation(1), pair=pair, trials=1 << 16)
        assert EPSILON < bound.epsilon <= 2 * EPSILON


def test_pairs_differ_in_every_attribute_and_in_the_target() -> None:
    study = large_studies()["known, sample, answer of a number"]
    for left, right in telling_pairs(study).values():
        assert left.keys() == right.keys() == {*study.schema.names, "stay"}
        assert all(left[name] != right[name] for name in left)
