"""Samples of what leaves owners of large studies prove nearly the stated epsilon, and no more."""

from __future__ import annotations

from functools import cache

import numpy as np
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
from supm.audit.owners import Told
from supm.audit.study_attacks import seen

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


def test_a_sampled_report_speaks_for_the_record_whose_classes_and_label_it_tells() -> None:
    study = completed(large_studies()["known, sample, answer"])
    told = np.array([[0, 1, 0, 0, 0], [0, 20, 3, 3, 1], [3, 4, 0, 3, 0], [20, 21, 0, 0, 1]])
    crowd = Told(np.zeros(4, dtype=np.int64), {"train": told})
    rows = seen(study, "training owner", crowd, telling_pairs(study)["ends"])
    left, right = np.divmod(rows[:, 1], 6)
    assert left.tolist() == [1, 0, 0, 0]
    assert right.tolist() == [0, 1, 0, 0]
    assert (rows[:, 2] % 3).tolist() == [2, 1, 2, 0]
    assert np.array_equal(rows[:, 3:], told)


def test_without_a_pair_only_groups_and_drawn_places_are_seen() -> None:
    study = completed(large_studies()["regroup, sample, answer"])
    groups = np.array([1, 0, 1])
    reduce = np.array([[2, 9, 3, 1, 0]])
    train = np.array([[4, 5, 1, 0, 1], [6, 7, 0, 0, 0]])
    crowd = Told(groups, {"reduce": reduce, "train": train})
    rows = seen(study, "training owner", crowd)
    assert rows.tolist() == [[1, 4, 5], [0, 2, 9], [1, 6, 7]]


def test_a_set_speaks_for_every_record_whose_cell_is_in_it() -> None:
    study = completed(small_studies()["rand, joint, joint"])
    pair = telling_pairs(study)["ends"]
    crowd = Told(np.zeros(2, dtype=np.int64), {"test": np.array([[0], [1]])})
    assert seen(study, "test owner", crowd, pair)[:, 1].tolist() == [2, 1]
