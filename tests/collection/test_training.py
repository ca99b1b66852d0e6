"""From counts to a classifier: the same as from all the reports, at a cost that ignores them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from supm import ParameterError, simulation
from supm.collection import (
    Trained,
    answer_on_device,
    count,
    make_model,
    plan,
    run_in_process,
    train,
)
from supm.collection.features import class_features
from supm.collection.training import _on_simplex, places
from supm.learning import AnyClassifier, RadialSVM, WeightedCells
from supm.learning.learner import Constant
from supm.mechanisms import Reports, Tally
from supm.messages import CellAnswers, Model, Scorecard, Study, Trust
from supm.owner import interview
from supm.owner.joint import JointInterview
from supm.owner.sampled import SampledInterview
from supm.schema import Categorical, Continuous, Schema

LEARNERS = [
    RadialSVM(penalty=2.1),
    AnyClassifier(estimator=LogisticRegression(tol=1e-8)),
    AnyClassifier(estimator=DecisionTreeClassifier(random_state=0)),
    AnyClassifier(estimator=GaussianNB()),
]
NAMES = ["strong", "weak", "sex"]


def _study(people: Any, form: str, epsilon: float = 12.0, names: Any = NAMES) -> Study:
    trust = Trust.parse("u,t,t")
    return plan(
        people.schema, epsilon=epsilon, trust=trust, attributes=names, classes=3, train=form
    )


def _reports(study: Study, people: Any, seed: int = 2) -> Reports:
    asked = interview(study, "train")
    return asked.randomize(asked.encode(people.records), simulation(seed))


def _trained(study: Study, people: Any, learner: Any = LEARNERS[0]) -> Trained:
    counts = count(interview(study, "train"), _reports(study, people))
    return train(study, counts, learner)


def _answers(trained: Trained) -> NDArray[np.int64]:
    """Return the published label of each cell."""
    rule = make_model(trained).rule
    assert isinstance(rule, CellAnswers)
    return rule.answers


def _name(learner: Any) -> str:
    return type(getattr(learner, "estimator", learner)).__name__


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=_name)
def test_training_on_counts_equals_training_on_every_report(
    make_people: Any, learner: Any, labels: int
) -> None:
    people = make_people(600, labels=labels, wards=True)
    study = _study(people, "odp", names=["strong", "weak", "ward"])
    reports = _reports(study, people).symbols
    rows = WeightedCells(
        features=class_features(reports[:, :-1], study.discretizers("train")),
        labels=reports[:, -1],
        weights=np.ones(len(reports)),
    )
    on_rows = learner.fit(rows, classes=labels).predict(places(study))
    answers = _answers(_trained(study, people, learner))
    assert (answers == on_rows).all()
    assert len(set(answers.tolist())) == labels


@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("form", ["odp", "oda", "joint", "pw", "raw"])
def test_the_model_of_every_form_knows_what_decides(
    make_people: Any, form: str, labels: int
) -> None:
    people = make_people(1500, labels=labels)
    study = plan(
        people.schema,
        epsilon=30.0,
        trust=Trust.parse("u,t,d"),
        attributes=["strong", "weak"],
        classes=4,
        train=form,
    )
    model = make_model(_trained(study, people))
    right = (model.predict(people.records) == people.records.target).mean()
    assert right > (0.85 if labels == 2 else 0.7)
    again = Model.from_json(model.to_json())
    assert again.rule.to_form() == model.rule.to_form()
    assert again.statement.simulation


def test_cells_are_placed_in_the_order_of_their_numbers(make_people: Any) -> None:
    study = _study(make_people(5), "odp")
    assert places(study).shape == (3 * 3 * 2, 3)
    np.testing.assert_allclose(places(study)[:3, 1:], [[-1, -1], [-1, 1], [0, -1]], atol=1e-12)


def test_shares_of_cells_are_estimated_on_the_simplex(make_people: Any) -> None:
    people = make_people(20_000)
    study = _study(people, "joint", 2.0)
    trained = _trained(study, people)
    assert trained.cells is not None
    assert trained.cells.min() >= 0.0
    assert trained.cells.sum() == pytest.approx(1.0)
    classes = people.records.encode(study.discretizers("train"))
    cells = np.ravel_multi_index((*classes.T, people.records.target), (3, 3, 2, 2))
    held = np.bincount(cells, minlength=36).reshape(18, 2) / 20_000
    assert abs(trained.cells - held).max() < 0.03


def test_the_projection_is_the_nearest_point_of_the_simplex() -> None:
    for seed in range(5):
        shares = simulation(seed).below(2000, 6).astype(np.float64) / 1000 - 0.8
        nearest = _on_simplex(shares)
        solved = minimize(
            lambda point, shares=shares: np.square(point - shares).sum(),
            np.full(6, 1 / 6),
            bounds=[(0, 1)] * 6,
            constraints={"type": "eq", "fun": lambda point: point.sum() - 1},
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(nearest, solved.x, atol=1e-5)
    already = np.array([0.25, 0.75, 0.0])
    np.testing.assert_allclose(_on_simplex(already), already, atol=1e-15)


class Weigher:
    """A learner that remembers what it was given."""

    def fit(self, cells: WeightedCells, *, classes: int) -> Constant:
        assert classes == 2
        self.cells = cells
        return Constant(label=0)


def test_a_learner_is_given_the_weight_of_as_many_people_as_reported(make_people: Any) -> None:
    people, learner = make_people(40), Weigher()
    study = _study(people, "joint", 1.0)
    asked = interview(study, "train")
    assert isinstance(asked, JointInterview)
    counts = asked.randomizer.tally(_reports(study, people))
    shares = asked.randomizer.estimate(counts).values
    assert shares.min() < 0.0, "so few reports estimate a share below zero"
    trained = train(study, counts, learner)
    assert trained.cells is not None
    assert learner.cells.weights.sum() == pytest.approx(40)
    # To cut at zero alone would leave too much weight on the cells that chance favoured.
    expected = _on_simplex(shares).reshape(-1, 2)
    np.testing.assert_allclose(trained.cells, expected, atol=1e-12)


def test_counts_a_thousand_times_larger_give_the_same_size_of_problem(make_people: Any) -> None:
    people = make_people(2000)
    study = _study(people, "odp")
    counts = count(interview(study, "train"), _reports(study, people))
    assert isinstance(counts, Tally)
    many = Tally(counts=counts.counts * 1000, reports=2_000_000, simulation=True)
    learner = AnyClassifier(estimator=DecisionTreeClassifier(random_state=0))
    few_answers, many_answers = (_answers(train(study, each, learner)) for each in (counts, many))
    assert (few_answers == many_answers).all()
    machine: Any = train(study, many, RadialSVM()).predictor
    assert len(machine.machines[0][2]) <= 36


def test_nothing_is_trained_on_nothing_or_on_counts_of_another_phase(make_people: Any) -> None:
    people = make_people(50)
    study = _study(people, "odp")
    empty = Tally(counts=np.zeros((18, 2), dtype=np.int64), reports=0, simulation=True)
    with pytest.raises(ParameterError, match="Collect reports first"):
        train(study, empty, RadialSVM())
    for form in ("oda", "joint", "pw"):
        other = _study(people, form, names=["strong"])
        counts = count(interview(other, "train"), _reports(other, people))
        with pytest.raises(ParameterError):
            train(study, counts, RadialSVM())
    joint = _study(people, "joint")
    with pytest.raises(ParameterError, match="tally"):
        train(joint, Tally(counts=np.ones((18, 2)), reports=36, simulation=True), RadialSVM())


def test_reports_of_one_label_give_that_answer_everywhere(make_people: Any) -> None:
    people = make_people(100)
    study = _study(people, "oda")
    reports = _reports(study, people)
    reports.symbols[:, -1] = 1
    trained = train(study, count(interview(study, "train"), reports), RadialSVM())
    assert set(_answers(trained).tolist()) == {1}


def test_a_model_with_too_many_cells_is_not_published(make_people: Any) -> None:
    people = make_people(200)
    study = plan(
        people.schema, epsilon=8.0, mode="faithful", attributes=["noise", "strong"], classes=1025
    )
    trained = _trained(study, people)
    with pytest.raises(ParameterError, match="cells of a published model"):
        make_model(trained)


def test_a_run_in_process_is_fixed_by_its_seed_and_says_that_it_is_simulated(
    make_people: Any,
) -> None:
    people = make_people(500)
    for form, kind in (("joint", JointInterview), ("sample", SampledInterview)):
        study = plan(people.schema, epsilon=6.0, reduce="rank", keep=2, classes=2, train=form)
        one, same = (run_in_process(study, people.records, simulation(4)) for _ in range(2))
        assert one.study == same.study
        assert isinstance(interview(one.study, "train"), kind)
        assert one.rule.to_form() == same.rule.to_form()
    assert make_model(one).statement.simulation
    assert "not private" in make_model(one).statement.words


def _rare(rows: int) -> Any:
    """Return people of whom one in twelve is ill, more often where "risk" is high."""
    source = simulation(21)
    risk = source.below(1000, rows).astype(np.float64) / 1000
    ill = source.below(1000, rows).astype(np.float64) / 1000 < 0.3 * risk**3
    schema = Schema(
        attributes=(Continuous("risk", low=0, high=1), Continuous("other", low=0, high=1)),
        target=Categorical("ill", values=("no", "yes")),
    )
    other = source.below(1000, rows).astype(np.float64) / 1000
    columns = {"risk": risk, "other": other, "ill": np.where(ill, "yes", "no")}
    return schema, schema.read(columns)


@pytest.mark.parametrize("form", ["sample", "joint"])
def test_balanced_weights_raise_the_balanced_accuracy_of_rare_labels(form: str) -> None:
    schema, records = _rare(8000)
    study = plan(schema, epsilon=8.0, classes=4, attributes=schema.names, train=form, test="answer")
    truth, found = np.asarray(records.target), {}
    for weights in (None, "balanced", (0.05, 0.95)):
        trained = run_in_process(study, records, simulation(3), weights=weights)
        told = answer_on_device(trained, records)
        found[weights] = np.mean([(told[truth == label] == label).mean() for label in (0, 1)])
        assert trained.weights.mean() == pytest.approx(1.0)
    assert found[None] < 0.55
    assert found["balanced"] > found[None] + 0.1
    assert found[0.05, 0.95] > found[None] + 0.1


@pytest.mark.parametrize("form", ["sample", "joint"])
def test_weights_that_are_wrong_are_refused(make_people: Any, form: str) -> None:
    people = make_people(50)
    study = plan(people.schema, epsilon=4.0, attributes=["strong"], train=form)
    wrong: list[Any] = ["even", (1.0,), (1.0, 2.0, 3.0), (1.0, 0.0), (1.0, -2.0), (1.0, np.nan)]
    unordered: list[Any] = [2.0, {1.0, 2.0}, {0: 1.0, 1: 2.0}, iter((1.0, 2.0)), object()]
    for weights in [*wrong, *unordered, (1.0, 1e9), ("a", "b"), (True, None)]:
        with pytest.raises(ParameterError, match="weight"):
            run_in_process(study, people.records, simulation(1), weights=weights)


def test_weights_of_a_number_are_refused() -> None:
    schema = Schema(
        attributes=(Continuous("a", low=0, high=1),), target=Continuous("b", low=0, high=1)
    )
    study = plan(schema, epsilon=4.0)
    records = schema.read({"a": [0.1, 0.9] * 20, "b": [0.2, 0.8] * 20})
    with pytest.raises(ParameterError, match="left out where the target is a number"):
        run_in_process(study, records, simulation(1), weights="balanced")


def test_a_published_card_is_read_back_as_it_was(make_people: Any) -> None:
    people = make_people(400, labels=3)
    study = plan(people.schema, epsilon=8.0, reduce="regroup", classes=4)
    model = make_model(run_in_process(study, people.records, simulation(5)))
    again = Model.from_json(model.to_json())
    assert isinstance(model.rule, Scorecard)
    assert again.to_json() == model.to_json()
    assert (again.predict(people.records) == model.predict(people.records)).all()
    shares = again.probabilities(people.records)
    assert shares.sum(axis=1) == pytest.approx(np.ones(400))
    assert (shares.argmax(axis=1) == model.predict(people.records)).all()
