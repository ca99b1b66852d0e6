"""Everybody reports once: all folds see the same reports, and the tested are not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from supm import ParameterError, simulation
from supm.collection import cross_validate, crowd, evaluation, features, plan, reduction
from supm.collection.crowd import Crowd
from supm.collection.evaluation import Baseline, without_privacy
from supm.learning import AnyClassifier, Predictor, RadialSVM, WeightedCells, folds
from supm.mechanisms import Reports
from supm.messages import Study, Trust
from supm.owner import interview
from supm.owner.answering import AnswerInterview
from supm.owner.interviews import Interview
from supm.owner.joint import JointInterview
from supm.owner.owner import draw_groups
from supm.owner.sampled import SampledInterview
from supm.owner.separate import SeparateInterview
from supm.schema import Categorical, Continuous, Ordinal, Schema

TRUSTED = Trust.parse("t,t,t")


@dataclass
class Spy:
    """A learner that keeps what it was given."""

    seen: list[WeightedCells] = field(default_factory=list)

    def fit(self, cells: WeightedCells, *, classes: int) -> Predictor:
        self.seen.append(cells)
        return RadialSVM().fit(cells, classes=classes)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Interview, int]]:
    """List every draw of reports: who was asked, and how many."""
    calls: list[tuple[Interview, int]] = []
    for kind in (SeparateInterview, JointInterview, SampledInterview, AnswerInterview):
        original: Any = kind.randomize

        def randomize(self: Any, inputs: Any, source: Any, original: Any = original) -> Reports:
            calls.append((self, len(inputs)))
            answer: Reports = original(self, inputs, source)
            return answer

        monkeypatch.setattr(kind, "randomize", randomize)
    return calls


@pytest.mark.parametrize("mode", ["strict", "faithful"])
def test_each_person_draws_one_report_for_each_question(
    make_people: Any, drawn: list[tuple[Interview, int]], mode: str
) -> None:
    people = make_people(300)
    study = plan(people.schema, epsilon=60.0, mode=mode, reduce="pw", keep=1)
    trial = cross_validate(study, people.records, folds(300, 10, simulation(11)), simulation(2))
    assert set(trial.attributes) == {("strong",)}
    # One draw for everybody in each phase, although ten folds ask; but each person is asked for the
    # answer of one model, that of the own fold.
    tested = [300] if mode == "faithful" else [30] * 10
    assert [count for _, count in drawn] == [300, 300, *tested]


def test_another_choice_of_attributes_is_another_question(
    make_people: Any, drawn: list[tuple[Interview, int]]
) -> None:
    people = make_people(200)
    study = plan(people.schema, epsilon=0.3, reduce="rank", keep=1, train="odp", test="odp")
    trial = cross_validate(study, people.records, folds(200, 10, simulation(11)), simulation(2))
    different = len(set(trial.attributes))
    assert different > 1
    assert [count for _, count in drawn] == [200] * (1 + 2 * different)


def test_the_same_person_tells_the_same_in_every_fold(make_people: Any) -> None:
    people = make_people(60)
    study = plan(people.schema, epsilon=2.0, attributes=["strong"], train="odp", test="odp")
    spy = Spy()
    parts = folds(60, 6, simulation(11))
    cross_validate(study, people.records, parts, simulation(2), learner=spy)
    everybody = Crowd(study, people.records, simulation(2))._reports(study, "train").symbols
    whole = WeightedCells.from_rows(everybody[:, :1] * 1.0, everybody[:, 1])
    assert len(spy.seen) == 6
    for part, cells in zip(parts, spy.seen, strict=True):
        rows = np.setdiff1d(np.arange(60), part)
        expected = WeightedCells.from_rows(everybody[rows, :1] * 1.0, everybody[rows, 1])
        assert cells.weights.sum() == 60 - len(part)
        assert sorted(cells.weights) == sorted(expected.weights)
    # Everybody trains in all folds but the own one.
    assert sum(cells.weights.sum() for cells in spy.seen) == 5 * whole.weights.sum()


def test_a_seed_fixes_the_trial_and_another_seed_changes_it(make_people: Any) -> None:
    people = make_people(300)
    study = plan(people.schema, epsilon=3.0, attributes=["strong"])
    parts = folds(300, 5, simulation(11))
    one, same, other = (
        cross_validate(study, people.records, parts, simulation(seed)) for seed in (2, 2, 3)
    )
    assert one.answered == same.answered
    assert one.answered != other.answered


@pytest.fixture
def asked_to_reduce(monkeypatch: pytest.MonkeyPatch) -> list[NDArray[np.int64]]:
    """List whose reports chose attributes."""
    calls: list[NDArray[np.int64]] = []
    original = Crowd.reduce

    def reduce(self: Crowd, parts: Sequence[NDArray[np.int64]]) -> Study:
        calls.append(np.sort(np.concatenate(parts)))
        return original(self, parts)

    monkeypatch.setattr(Crowd, "reduce", reduce)
    return calls


def test_faithful_chooses_once_from_everybody_and_strict_from_the_training_folds(
    make_people: Any, asked_to_reduce: list[NDArray[np.int64]]
) -> None:
    people = make_people(103)
    parts = folds(103, 5, simulation(11), equal=True)
    taking_part = np.sort(np.concatenate(parts))
    for mode in ("faithful", "strict"):
        study = plan(people.schema, epsilon=8.0, mode=mode, trust=TRUSTED, keep=1)
        cross_validate(study, people.records, parts, simulation(2))
    once, *by_fold = asked_to_reduce
    assert once.tolist() == taking_part.tolist()
    assert len(by_fold) == 5
    for part, rows in zip(parts, by_fold, strict=True):
        assert rows.tolist() == np.setdiff1d(taking_part, part).tolist()


def test_the_tested_have_no_say_in_the_strict_choice_of_attributes(make_people: Any) -> None:
    """In the fold of the tested, "noise" is the label; everywhere else it says nothing."""
    people = make_people(400)
    fold = np.arange(200)
    labels = people.records.target[fold]
    table = people.table | {"noise": people.table["noise"].copy()}
    table["noise"][fold] = labels * 1.8 - 0.9
    records = people.schema.read(table)
    parts = (fold, np.arange(200, 400))
    chosen = {}
    for mode in ("faithful", "strict"):
        study = plan(people.schema, epsilon=8.0, mode=mode, trust=TRUSTED, keep=1, classes=2)
        chosen[mode] = cross_validate(study, records, parts, simulation(2)).attributes
    assert chosen["strict"] == (("strong",), ("noise",))
    assert len(set(chosen["faithful"])) == 1


def test_nobody_answers_the_question_of_another_group(
    make_people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = make_people(300)
    study = plan(people.schema, epsilon=20.0, reduce="rank", keep=1, train="joint")
    chose: list[int] = []

    def reduce_study(study: Study, counts: Any, source: Any, **more: Any) -> Study:
        chose.append(counts.reports)
        return reduction.reduce_study(study, counts, source, **more)

    monkeypatch.setattr(crowd, "reduce_study", reduce_study)
    spy, parts = Spy(), folds(300, 3, simulation(11))
    cross_validate(study, people.records, parts, simulation(2), learner=spy)
    groups = draw_groups(study, 300, simulation(2).child("groups"))
    for number, part in enumerate(parts):
        others = np.setdiff1d(np.arange(300), part)
        assert chose[number] == (groups[others] == 0).sum()
        assert spy.seen[number].weights.sum() == pytest.approx((groups[others] == 1).sum())


def test_a_group_without_members_is_an_error_that_says_what_to_do(make_people: Any) -> None:
    people = make_people(4)
    study = plan(people.schema, epsilon=2.0, keep=1)
    seeds = (
        seed
        for seed in range(1000)
        if len(set(draw_groups(study, 4, simulation(seed).child("groups")).tolist())) == 1
    )
    with pytest.raises(ParameterError, match="More owners are needed"):
        cross_validate(study, people.records, folds(4, 2, simulation(11)), simulation(next(seeds)))


def test_at_small_budgets_the_device_answers_better_on_average(make_people: Any) -> None:
    people = make_people(1000)
    for mode in ("strict", "faithful"):
        answered, on_device = [], []
        for seed in range(5):
            study = plan(
                people.schema, epsilon=2.0, mode=mode, attributes=["strong", "weak"], classes=2
            )
            parts = folds(1000, 5, simulation(seed))
            trial = cross_validate(study, people.records, parts, simulation(seed))
            answered.append(trial.answered.headline)
            on_device.append(trial.on_device.headline)
        assert np.mean(on_device) > np.mean(answered)


def test_where_nothing_is_reported_both_scores_are_those_of_the_device(make_people: Any) -> None:
    people = make_people(200)
    study = plan(people.schema, epsilon=4.0, trust=Trust.parse("u,u,d"), attributes=["strong"])
    trial = cross_validate(study, people.records, folds(200, 4, simulation(11)), simulation(1))
    assert trial.answered == trial.on_device


@pytest.mark.parametrize("train", ["odp", "oda", "pw", "raw", "joint"])
@pytest.mark.parametrize(
    "learner", [RadialSVM(), AnyClassifier(estimator=LogisticRegression())], ids=["svm", "any"]
)
def test_a_fold_whose_training_reports_hold_one_class_is_answered_by_it(
    make_people: Any, train: str, learner: Any
) -> None:
    people = make_people(40)
    order = np.argsort(people.records.target, kind="stable")
    zeros = int((people.records.target == 0).sum())
    parts = (order[:zeros], order[zeros:])
    study = plan(
        people.schema,
        epsilon=200.0,
        mode="faithful",
        trust=TRUSTED,
        attributes=["strong"],
        train=train,
        test="oda",
    )
    trial = cross_validate(study, people.records, parts, simulation(1), learner=learner)
    assert trial.answered.headline == 0.0
    assert trial.answered.beside == 0.0


@pytest.mark.parametrize("mode", ["strict", "faithful"])
@pytest.mark.parametrize("form", ["odp", "oda", "pw", "raw", "joint"])
def test_constant_columns_are_answered_by_the_commonest_class(
    make_people: Any, form: str, mode: str
) -> None:
    people = make_people(120)
    table = {name: np.full(120, column[0]) for name, column in people.table.items()}
    table["ill"] = np.array(["no"] * 80 + ["yes"] * 40)
    records = people.schema.read(table)
    study = plan(
        people.schema,
        epsilon=200.0,
        mode=mode,
        trust=TRUSTED,
        keep=2,
        classes=2,
        train=form,
        test=form,
    )
    trial = cross_validate(study, records, folds(120, 4, simulation(11)), simulation(1))
    assert trial.on_device.headline == pytest.approx(80 / 120)
    assert trial.answered.of_constant == pytest.approx(80 / 120)


def test_people_in_no_fold_take_no_part(make_people: Any) -> None:
    people = make_people(103)
    study = plan(people.schema, epsilon=8.0, mode="faithful", attributes=["strong"])
    parts = folds(103, 10, simulation(11), equal=True)
    spy = Spy()
    trial = cross_validate(study, people.records, parts, simulation(2), learner=spy)
    assert {cells.weights.sum() for cells in spy.seen} == {90.0}
    assert (trial.answered.headline * 100) % 1 == pytest.approx(0, abs=1e-9)


def test_several_labels_run_from_end_to_end(make_people: Any) -> None:
    people = make_people(600, labels=4, wards=True)
    study = plan(people.schema, epsilon=12.0, classes=4)
    trial = cross_validate(study, people.records, folds(600, 5, simulation(11)), simulation(2))
    assert trial.answered.headline > trial.answered.of_constant + 0.2


def test_one_fold_or_no_source_is_refused(make_people: Any) -> None:
    people = make_people(20)
    study = plan(people.schema, epsilon=8.0, attributes=["strong"])
    with pytest.raises(ParameterError, match="at least two sets of rows"):
        cross_validate(study, people.records, [np.arange(20)], simulation(1))
    with pytest.raises(ParameterError, match="simulation"):
        cross_validate(study, people.records, folds(20, 2, simulation(11)), 7)  # type: ignore[arg-type]


def test_records_without_labels_are_refused(make_people: Any) -> None:
    people = make_people(20)
    study = plan(people.schema, epsilon=8.0, attributes=["strong"])
    table = {name: people.table[name] for name in people.schema.names}
    bare = people.schema.read(table, labelled=False)
    with pytest.raises(ParameterError, match="labelled for this phase"):
        cross_validate(study, bare, folds(20, 2, simulation(11)), simulation(1))
    unlabelled = plan(people.schema, epsilon=8.0, attributes=["strong"], test="sample")
    assert interview(unlabelled, "test").encode(bare).shape == (20, 1)


def test_each_kind_of_attribute_carries_what_it_knows() -> None:
    wards = Categorical("x", values=("a", "b", "c"), missing="class")
    levels = Ordinal("x", values=(1, 2, 3), missing="class")
    number = Continuous("x", low=0, high=10, missing="class")
    hot = features._raw(wards, np.array([0, 2, 3]))
    assert hot.tolist() == [[1, -1, -1], [-1, -1, 1], [-1, -1, -1]]
    assert features._raw(levels, np.array([0, 1, 2, 3])).tolist() == [[-1], [0], [1], [0]]
    read = features._raw(number, np.array([0.0, 10.0, np.nan]))
    assert read.tolist() == [[-1], [1], [0]]


def test_what_can_be_learned_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema(
        attributes=(Categorical("ward", values=("a", "b", "c")),),
        target=Categorical("ill", values=("no", "yes")),
    )
    wards = ["a", "b", "c"] * 40
    records = schema.read({"ward": wards, "ill": ["yes" if w == "b" else "no" for w in wards]})
    steps: list[int] = []

    def measured() -> Baseline:
        return without_privacy(
            schema,
            records,
            RadialSVM(),
            simulation(1),
            split=4,
            repeats=2,
            progress=lambda: steps.append(1),
        )

    found = measured()
    assert (found.reached.headline, found.people, found.repeats) == (1.0, 120, 2)
    assert len(steps) == 8
    monkeypatch.setattr(evaluation, "_MOST_PEOPLE", 60)
    monkeypatch.setattr(evaluation, "_REPEATED", 30)
    fewer = measured()
    assert (fewer.people, fewer.repeats) == (60, 1)
    assert len(steps) == 12
