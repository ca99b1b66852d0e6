"""Simulated owners: each is in one group and reports once, and parts add up to the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm import ParameterError, simulation
from supm.collection import answer_on_device, count, plan, run_in_process
from supm.collection.crowd import Crowd
from supm.mechanisms import Reports, Tally
from supm.messages import Study
from supm.owner import interview
from supm.owner.owner import draw_groups


def parts_of(people: int, count_of_parts: int) -> list[Any]:
    return np.array_split(simulation(8).permutation(people), count_of_parts)


def tally(crowd: Crowd, study: Study, phase: str, parts: list[Any]) -> Tally:
    counts = crowd._counted(study, phase, parts)
    assert isinstance(counts, Tally)
    return counts


@pytest.mark.parametrize("train", ["sample", "joint", "odp"])
def test_the_counts_of_parts_add_up_to_the_whole(make_people: Any, train: str) -> None:
    people = make_people(500)
    study = plan(people.schema, epsilon=3.0, attributes=["strong", "weak"], train=train)
    crowd, everybody = Crowd(study, people.records, simulation(2)), [np.arange(500)]
    whole, parts = tally(crowd, study, "train", everybody), parts_of(500, 7)
    merged = tally(crowd, study, "train", parts)
    assert (merged.counts == whole.counts).all()
    assert merged.reports == whole.reports == 500
    # Another crowd of the same seed, asked in parts only, tells the same.
    again = tally(Crowd(study, people.records, simulation(2)), study, "train", parts[::-1])
    assert (again.counts == whole.counts).all()


def test_each_person_reports_once_and_in_one_group(make_people: Any) -> None:
    people = make_people(400)
    study = plan(people.schema, epsilon=6.0, reduce="regroup", classes=4)
    crowd, everybody = Crowd(study, people.records, simulation(2)), [np.arange(400)]
    groups = draw_groups(study, 400, simulation(2).child("groups"))
    first = tally(crowd, study, "reduce", everybody)
    reduced = crowd.reduce(everybody)
    second = tally(crowd, reduced, "train", everybody)
    assert first.reports == (groups == 0).sum()
    assert second.reports == (groups == 1).sum()
    assert first.reports + second.reports == 400
    # However often and in whatever parts it is asked, the answers are those of the first time.
    told = crowd._reports(study, "reduce").symbols
    mine = Reports(symbols=told[groups == 0], simulation=True)
    assert (count(interview(study, "reduce"), mine).counts == first.counts).all()
    for parts in (parts_of(400, 3), parts_of(400, 5)):
        assert (tally(crowd, study, "reduce", parts).counts == first.counts).all()
        assert (crowd._reports(study, "reduce").symbols == told).all()


def test_a_choice_is_the_same_from_the_same_people(make_people: Any) -> None:
    people = make_people(600)
    study = plan(people.schema, epsilon=4.0, reduce="regroup", keep=2, classes=4)
    crowd = Crowd(study, people.records, simulation(3))
    reduced = crowd.reduce([np.arange(600)])
    assert crowd.reduce(parts_of(600, 4)) == reduced
    assert reduced.previous == study.hash
    assert (
        crowd.reduce([np.arange(600)]) == run_in_process(study, people.records, simulation(3)).study
    )


def test_records_are_given_without_their_targets(make_people: Any) -> None:
    people = make_people(50)
    crowd = Crowd(plan(people.schema, epsilon=1.0), people.records, simulation(1))
    some = crowd.rows(np.array([3, 7]))
    assert some.target is None
    assert some.rows == 2
    assert some.columns["strong"].tolist() == people.table["strong"][[3, 7]].tolist()
    assert crowd.people == 50


@pytest.mark.parametrize("test", ["answer", "sample", "odp"])
def test_the_same_people_get_the_same_answers_again(make_people: Any, test: str) -> None:
    people = make_people(300)
    study = plan(people.schema, epsilon=3.0, classes=2, test=test)
    crowd, everybody = Crowd(study, people.records, simulation(4)), [np.arange(300)]
    trained = crowd.train(crowd.reduce(everybody), everybody)
    one, two = (crowd.test(trained, np.arange(100, 200)) for _ in range(2))
    assert one.tolist() == two.tolist()
    assert set(one.tolist()) <= {0, 1}


def flips(crowd: Crowd, rows: Any) -> Any:
    """Return who was answered otherwise than on the device: whose answer was told in error."""
    everybody = [np.arange(crowd.people)]
    trained = crowd.train(crowd.reduce(everybody), everybody)
    return crowd.test(trained, rows) != answer_on_device(trained, crowd.rows(rows))


def test_people_of_two_folds_are_not_told_the_same_errors(make_people: Any) -> None:
    people = make_people(200)
    twice = {name: np.tile(column, 2) for name, column in people.table.items()}
    study = plan(people.schema, epsilon=2.0, classes=2)
    crowd = Crowd(study, people.schema.read(twice), simulation(4))
    one, two = flips(crowd, np.arange(200)), flips(crowd, np.arange(200, 400))
    # About one of eight is told in error; alike in both folds would be far fewer.
    assert min(one.sum(), two.sum()) > 8
    assert (one & two).sum() < 0.6 * min(one.sum(), two.sum())


def test_about_two_models_people_are_not_told_the_same_errors(make_people: Any) -> None:
    people = make_people(400)
    found = []
    for purpose in ("one", "another"):
        study = plan(people.schema, epsilon=2.0, classes=2, purpose=purpose)
        found.append(flips(Crowd(study, people.records, simulation(4)), np.arange(400)))
    one, two = found
    assert min(one.sum(), two.sum()) > 8
    assert (one & two).sum() < 0.6 * min(one.sum(), two.sum())


def test_two_phases_draw_apart_even_where_they_ask_the_same(make_people: Any) -> None:
    people = make_people(600)
    study = plan(people.schema, epsilon=4.0, reduce="rank", keep=4, sampled=2, told=2, classes=4)
    crowd = Crowd(study, people.records, simulation(5))
    reduced = crowd.reduce([np.arange(600)])
    assert interview(study, "reduce") == interview(reduced, "train")
    told = [crowd._reports(study, "reduce").symbols, crowd._reports(reduced, "train").symbols]
    # Two of four attributes: one of six draws is alike, and 100 of them on average.
    alike = (told[0][:, :2] == told[1][:, :2]).all(axis=1)
    assert 50 < alike.sum() < 160
    wrong = [(each[:, 2:] != truth_of(people, study, each)).any(axis=1) for each in told]
    assert (wrong[0] & wrong[1]).sum() < 0.9 * min(each.sum() for each in wrong)


def truth_of(people: Any, study: Study, told: Any) -> Any:
    """Return what each would have told without noise, of the attributes that it drew."""
    held = interview(study, "reduce").encode(people.records)
    return np.column_stack((np.take_along_axis(held, told[:, :2], axis=1), held[:, -1]))


def test_a_group_without_members_is_an_error_that_says_what_to_do(make_people: Any) -> None:
    people = make_people(100)
    study = plan(people.schema, epsilon=6.0, reduce="rank", keep=1)
    crowd = Crowd(study, people.records, simulation(2))
    groups = draw_groups(study, 100, simulation(2).child("groups"))
    trainers = np.flatnonzero(groups == 1)
    with pytest.raises(ParameterError, match=r"at least one in group 0.*More owners are needed"):
        crowd.reduce([trainers])


def test_what_is_no_table_of_records_or_no_source_is_refused(make_people: Any) -> None:
    people = make_people(20)
    study = plan(people.schema, epsilon=1.0)
    with pytest.raises(ParameterError, match="records must be of kind Records"):
        run_in_process(study, people.table, simulation(1))
    with pytest.raises(ParameterError, match="source must be"):
        run_in_process(study, people.records, 7)  # type: ignore[arg-type]  # a mistake
