"""The answer to a report is the best guess given the report; on the device it is the model's."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import MessageError, ParameterError, simulation
from supm.collection import (
    Trained,
    answer_on_device,
    answer_reports,
    cross_validate,
    make_model,
    plan,
    run_in_process,
    testing,
)
from supm.collection.cards import Card
from supm.collection.features import class_features
from supm.collection.training import places
from supm.learning import Predictor, folds
from supm.mechanisms import Reports
from supm.messages import CellAnswers, Study, Trust
from supm.owner import interview
from supm.owner.joint import JointInterview

REDUCE = ("known", "rand", "wa", "pw", "waldp", "rank", "regroup")
FORMS = ("odp", "oda", "pw", "raw", "joint")
NAMES = ["strong", "weak"]


def _trained(people: Any, seed: int = 1, **wishes: Any) -> Trained:
    chosen: dict[str, Any] = {
        "attributes": NAMES,
        "classes": 3,
        "trust": Trust.parse("u,t,t"),
    } | wishes
    study = plan(people.schema, **chosen)
    return run_in_process(study, people.records, simulation(seed))


def _predictor(trained: Trained) -> Predictor:
    assert not isinstance(trained.predictor, Card)
    return trained.predictor


def cell_answers(trained: Trained) -> NDArray[np.int64]:
    rule = make_model(trained).rule
    assert isinstance(rule, CellAnswers)
    return rule.answers


def _test_reports(study: Study, people: Any, seed: int = 9) -> Reports:
    asked = interview(study, "test")
    return asked.randomize(asked.encode(people.records), simulation(seed))


@pytest.mark.parametrize("reduce", REDUCE)
@pytest.mark.parametrize("train", [*FORMS, "sample"])
def test_every_combination_of_the_phases_runs_and_learns(
    make_people: Any, reduce: str, train: str
) -> None:
    people = make_people(300, labels=2)
    parts = folds(300, 2, simulation(2))
    fitting = {"sample": ("odp", "oda", "answer", "sample"), "pw": FORMS, "raw": FORMS}
    for test in (*fitting.get(train, (*FORMS, "answer")), "device"):
        known = reduce == "known"
        study = plan(
            people.schema,
            epsilon=80.0,
            mode="faithful" if test in ("odp", "pw", "raw") else "strict",
            trust=Trust.parse("t,t,d" if test == "device" else "t,t,t"),
            attributes=NAMES if known else None,
            reduce=None if known else reduce,
            keep=2,
            classes=3,
            train=train,
            test=test,
        )
        trial = cross_validate(study, people.records, parts, simulation(3))
        if reduce == "rand":  # what was drawn may be noise
            assert 0.3 < trial.answered.headline <= 1.0
            continue
        # Three classes of "strong" cannot say on which side of its middle the label changes.
        assert trial.answered.headline > 0.7, test
        assert trial.on_device.headline > 0.7, test
        assert all("strong" in names for names in trial.attributes)


def _by_bayes(trained: Trained, reports: Reports) -> NDArray[np.int64]:
    """Weigh every cell by its share and by the exact probability of the report, one by one."""
    asked = interview(trained.study, "test")
    channel = asked.exact_channel()
    assert trained.cells is not None
    shares = 0.999 * trained.cells.sum(axis=1) + 0.001 / len(channel)
    labels = _predictor(trained).predict(places(trained.study))
    answers = []
    for told in asked.outcome(reports):
        weights = np.zeros(2 + int(labels.max()))
        for cell, row in enumerate(channel):
            weights[labels[cell]] += shares[cell] * float(row[told])
        answers.append(int(weights.argmax()))
    return np.array(answers)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5, 6.0, 45.0])
def test_the_answer_to_a_joint_report_is_that_of_bayes(
    make_people: Any, epsilon: float, labels: int
) -> None:
    people = make_people(2000, labels=labels)
    trained = _trained(people, epsilon=6.0, train="joint", test="joint")
    study = plan(
        people.schema, epsilon=epsilon, attributes=NAMES, classes=3, train="joint", test="joint"
    )
    told = replace(trained, study=study)
    reports = _test_reports(study, people)
    assert (answer_reports(told, reports) == _by_bayes(told, reports)).all()


def test_without_shares_all_cells_are_taken_to_be_as_common(make_people: Any) -> None:
    people = make_people(300)
    trained = _trained(people, epsilon=60.0, train="pw", test="joint")
    assert trained.cells is None
    reports = _test_reports(trained.study, people)
    assert reports.symbols.shape[1] == 1
    classes = np.unravel_index(reports.symbols[:, 0], (3, 3))
    cells = class_features(np.stack(classes, axis=1), trained.study.discretizers("test"))
    assert (answer_reports(trained, reports) == _predictor(trained).predict(cells)).all()


class ThirdOfStrong:
    """A predictor that tells the lower class of "strong" from the others."""

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
        return (features[:, 0] > -0.5).astype(np.int64)


def test_a_cell_that_no_training_report_told_may_still_be_somebodys(make_people: Any) -> None:
    people = make_people(5)
    study = plan(
        people.schema, epsilon=20.0, attributes=NAMES, classes=3, train="joint", test="joint"
    )
    everybody_elsewhere = np.eye(9)[0][:, np.newaxis] * [0.5, 0.5]
    trained = Trained(
        study=study,
        predictor=ThirdOfStrong(),
        weights=np.ones(2),
        cells=everybody_elsewhere,
        simulation=True,
    )
    told = Reports(symbols=np.arange(9)[:, np.newaxis], simulation=True)
    assert interview(study, "test").width == 1
    assert answer_reports(trained, told).tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1]


def test_a_wide_set_of_many_reports_is_answered_in_pieces(
    make_people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = make_people(500)
    trained = _trained(people, epsilon=0.5, train="joint", test="joint")
    asked = interview(trained.study, "test")
    assert isinstance(asked, JointInterview)
    assert asked.width > 1
    reports = _test_reports(trained.study, people)
    whole = answer_reports(trained, reports)
    monkeypatch.setattr(testing, "_ENTRIES", 7)
    assert (answer_reports(trained, reports) == whole).all()


def test_knowing_the_noise_beats_taking_the_report_at_its_word(make_people: Any) -> None:
    people = make_people(20_000, labels=3)
    trained = _trained(people, epsilon=0.7, train="joint", test="joint")
    asked = interview(trained.study, "test")
    truth, reports = people.records.target, _test_reports(trained.study, people)
    answers = answer_reports(trained, reports)
    assert asked.width > 1
    naive = _predictor(trained).predict(places(trained.study))[reports.symbols[:, 0]]
    assert (answers == truth).mean() > (naive == truth).mean()


@pytest.mark.parametrize("train", FORMS)
def test_on_the_device_the_record_itself_is_answered(make_people: Any, train: str) -> None:
    people = make_people(300)
    trained = _trained(people, epsilon=20.0, train=train, test="oda")
    answers = answer_on_device(trained, people.records)
    if train in ("odp", "oda", "joint"):
        assert (answers == make_model(trained).predict(people.records)).all()
        # Classes that leave as they are get the same answers.
        assert (answers == answer_reports(trained, _test_reports(trained.study, people))).all()
    else:
        exact = np.stack([people.table["strong"], people.table["weak"] * 2 / 3 - 1], axis=1)
        assert (answers == _predictor(trained).predict(exact)).mean() > 0.99


def test_raw_numbers_get_the_answers_of_the_device(make_people: Any) -> None:
    people = make_people(300)
    trained = _trained(people, epsilon=20.0, train="raw", test="raw")
    answers = answer_reports(trained, _test_reports(trained.study, people))
    assert (answers == answer_on_device(trained, people.records)).mean() > 0.99


def test_equal_reports_have_equal_answers_in_the_order_of_the_reports(make_people: Any) -> None:
    people = make_people(400)
    trained = _trained(people, epsilon=8.0, train="odp", test="odp")
    reports = _test_reports(trained.study, people)
    answers = answer_reports(trained, reports)
    table = cell_answers(trained).reshape(3, 3)
    assert (answers == table[tuple(reports.symbols.T)]).all()
    for first, second in itertools.pairwise(range(400)):
        if (reports.symbols[first] == reports.symbols[second]).all():
            assert answers[first] == answers[second]


@pytest.mark.parametrize("test", FORMS)
def test_a_report_that_could_not_have_been_told_is_refused(make_people: Any, test: str) -> None:
    people = make_people(50)
    trained = _trained(people, epsilon=8.0, train="odp", test=test)
    reports = _test_reports(trained.study, people)
    for value in (-1, 2**31):
        symbols = reports.symbols.copy()
        symbols[3, 0] = value
        with pytest.raises(ParameterError, match="Refuse such a report"):
            answer_reports(trained, Reports(symbols=symbols, simulation=True))
    with pytest.raises(ParameterError, match="whole numbers"):
        answer_reports(trained, Reports(symbols=reports.symbols[:, 1:], simulation=True))


def test_nothing_is_answered_where_nothing_is_reported(make_people: Any) -> None:
    people = make_people(100)
    trained = _trained(people, epsilon=8.0, trust=Trust.parse("u,t,d"))
    told = Reports(symbols=np.zeros((1, 2), dtype=np.int64), simulation=True)
    with pytest.raises(MessageError, match="asks nothing in the test phase"):
        answer_reports(trained, told)
