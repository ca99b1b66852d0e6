"""A noisy answer is answered with the most probable truth: the commonest where all is noise."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import ParameterError, simulation
from supm.collection import Trained, answer_on_device, answer_reports, plan, run_in_process
from supm.collection.cards import Card
from supm.collection.testing import asked_in_test
from supm.learning import Line
from supm.mechanisms import Reports
from supm.messages import Scorecard
from supm.schema import Categorical, Continuous, Ordinal, Schema

SIZES = (2, 3)
SCHEMA = Schema(
    attributes=(Categorical("sex", values=("f", "m")), Ordinal("stage", values=(1, 2, 3))),
    target=Categorical("ill", values=("no", "yes", "unsure")),
)
NUMBER = Schema(attributes=SCHEMA.attributes, target=Continuous("cost", low=0, high=100))
SHARES = np.array([0.5, 0.3, 0.2])
GIVEN = np.array(
    [[0.9, 0.2, 0.5], [0.1, 0.8, 0.5], [0.7, 0.1, 0.2], [0.2, 0.2, 0.7], [0.1, 0.7, 0.1]]
)
# How often each label (column) gets each answer (row); they add up to one.
ANSWERS = np.array([[0.40, 0.05, 0.05], [0.06, 0.22, 0.05], [0.04, 0.03, 0.10]])
# A model that is mostly wrong, in a circle: who gets answer 0 is mostly of label 1, and so on.
CIRCLE = np.array([[0.02, 0.36, 0.03], [0.04, 0.01, 0.25], [0.24, 0.03, 0.02]])
LINE = Line(points=np.zeros(5), offset=0.0, variance=0.04, mean=0.2)
WEIGHTS = [np.ones(3), np.array([0.2, 1.3, 1.5])]


def trained_of(study: Any, weights: NDArray[np.float64], **parts: Any) -> Trained:
    outputs = study.outputs
    points = tuple(np.zeros((size, outputs)) for size in SIZES)
    card = Card(
        rule=Scorecard(points=points, offsets=np.zeros(outputs)),
        conditional=GIVEN,
        shares=SHARES,
        **parts,
    )
    return Trained(study=study, predictor=card, weights=weights, simulation=True)


@pytest.mark.parametrize("weights", WEIGHTS, ids=["alike", "weighted"])
@pytest.mark.parametrize("answers", [ANSWERS, CIRCLE], ids=["right", "circle"])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.0, 8.0])
def test_the_answer_to_an_answer_is_that_of_bayes(
    epsilon: float, answers: NDArray[np.float64], weights: NDArray[np.float64]
) -> None:
    trained = trained_of(plan(SCHEMA, epsilon=epsilon, classes=3), weights, answers=answers)
    grown = math.exp(epsilon)
    found = answer_reports(trained, Reports(symbols=np.arange(3)[:, np.newaxis], simulation=True))
    for told in range(3):
        behind = [0.0] * 3
        for answer, label in product(range(3), range(3)):
            chance = (grown if answer == told else 1.0) / (grown + 2)
            behind[label] += weights[label] * answers[answer, label] * chance
        assert found[told] == behind.index(max(behind))
    assert found.dtype == np.int64


def test_an_answer_that_is_mostly_wrong_is_put_right() -> None:
    everything = Reports(symbols=np.arange(3)[:, np.newaxis], simulation=True)
    trained = trained_of(plan(SCHEMA, epsilon=8.0, classes=3), WEIGHTS[0], answers=CIRCLE)
    assert answer_reports(trained, everything).tolist() == [1, 2, 0]


def test_a_clear_answer_is_taken_and_one_that_is_all_noise_is_the_commonest() -> None:
    everything = Reports(symbols=np.arange(3)[:, np.newaxis], simulation=True)
    clear = trained_of(plan(SCHEMA, epsilon=20.0, classes=3), WEIGHTS[0], answers=ANSWERS)
    assert answer_reports(clear, everything).tolist() == [0, 1, 2]
    noise = trained_of(plan(SCHEMA, epsilon=0.001, classes=3), WEIGHTS[0], answers=ANSWERS)
    assert answer_reports(noise, everything).tolist() == [0, 0, 0]
    weighted = trained_of(plan(SCHEMA, epsilon=0.001, classes=3), WEIGHTS[1], answers=ANSWERS)
    assert answer_reports(weighted, everything).tolist() == [1, 1, 1]


@pytest.mark.parametrize("weights", WEIGHTS, ids=["alike", "weighted"])
@pytest.mark.parametrize("epsilon", [0.01, 0.7, 1.0, 3.0, 9.0])
def test_the_answer_to_a_randomised_record_is_that_of_bayes(
    epsilon: float, weights: NDArray[np.float64]
) -> None:
    study = plan(SCHEMA, epsilon=epsilon, classes=3, test="sample")
    question = study.question("test")
    assert question is not None
    asked = asked_in_test(trained_of(study, weights))
    assert question.sampled in (1, 2)
    channel, held = asked.exact_channel(), asked.inputs()
    # The chance of each record under each label, as the card has it: attributes one by one.
    likely = GIVEN[held[:, 0]] * GIVEN[SIZES[0] + held[:, 1]]
    symbols = np.array([row for row in _all_rows(asked.width) if asked.accepts(np.array([row]))[0]])
    reports = Reports(symbols=symbols, simulation=True)
    found = answer_reports(trained_of(study, weights), reports)
    for answer, outcome in zip(found, asked.outcome(reports), strict=True):
        seen = np.array([float(row[outcome]) for row in channel])
        behind = weights * SHARES * (seen @ likely)
        assert answer == behind.argmax()
    if epsilon == 0.01:
        assert set(found.tolist()) == {int((weights * SHARES).argmax())}


def _all_rows(width: int) -> list[tuple[int, ...]]:
    return list(product(range(3), repeat=width))


def test_an_expected_number_given_noisy_classes_lies_between_the_mean_and_the_truth() -> None:
    found = []
    for epsilon in (0.01, 1.0, 12.0):
        study = plan(NUMBER, epsilon=epsilon, classes=3, test="sample")
        trained = trained_of(study, np.ones(3), line=LINE)
        asked = asked_in_test(trained)
        symbols = np.array([[0, 1, 1, 2]] if asked.width == 4 else [[0, 1]])
        found.append(float(answer_reports(trained, Reports(symbols=symbols, simulation=True))[0]))
    mean = float(SHARES @ [0, 50, 100])
    assert found[0] == pytest.approx(mean, abs=1.0)
    assert sorted(found) == found


def test_readings_of_a_number_are_pulled_to_the_mean_by_their_noise() -> None:
    told = []
    for epsilon in (0.1, 1.0, 4.0, 30.0):
        trained = trained_of(plan(NUMBER, epsilon=epsilon, classes=3), np.ones(3), line=LINE)
        asked: Any = asked_in_test(trained)
        symbols = np.arange(asked.outcomes, dtype=np.int64)[:, np.newaxis]
        answers = answer_reports(trained, Reports(symbols=symbols, simulation=True))
        readings = asked.randomizer.decode(Reports(symbols=symbols[:, 0], simulation=True))
        noise = float(asked.randomizer.variance(0.2))
        kept = 0.04 / (0.04 + noise)
        assert answers == pytest.approx((0.2 + kept * (readings - 0.2) + 1) * 50)
        told.append(kept)
    assert told == sorted(told)
    assert told[0] < 0.01
    assert told[-1] > 0.9


def people_with_costs(people: int, slope: float) -> Any:
    """Return records whose cost grows with two of four attributes, with noise of its own."""
    source = simulation(31)
    columns = [source.below(1000, people).astype(np.float64) / 1000 for _ in range(5)]
    cost = 40 + slope * (columns[0] - columns[1]) + 20 * (columns[4] - 0.5)
    schema = Schema(
        attributes=tuple(Continuous(name, low=0, high=1) for name in "abcd"),
        target=Continuous("cost", low=0, high=100),
    )
    return schema, schema.read(dict(zip("abcd", columns[:4], strict=True)) | {"cost": cost})


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 6.0])
def test_a_number_is_never_answered_much_worse_than_by_the_constant(epsilon: float) -> None:
    schema, records = people_with_costs(20_000, 40.0)
    trained = run_in_process(plan(schema, epsilon=epsilon), records, simulation(3))
    asked = asked_in_test(trained)
    answers = answer_reports(trained, asked.randomize(asked.encode(records), simulation(4)))
    constant = float(records.target.var())
    error = float(np.square(answers - records.target).mean())
    assert error < 1.06 * constant
    on_device = float(np.square(answer_on_device(trained, records) - records.target).mean())
    assert on_device < 1.06 * constant
    if epsilon == 6.0:
        assert on_device < error < 0.8 * constant


def test_an_answer_of_another_alphabet_is_refused() -> None:
    trained = trained_of(plan(SCHEMA, epsilon=1.0, classes=3), np.ones(3), answers=ANSWERS)
    for wrong in ([[3]], [[-1]], [[0, 1]], [[0.0]]):
        with pytest.raises(ParameterError, match="reports must be"):
            answer_reports(trained, Reports(symbols=np.array(wrong), simulation=True))


def test_a_model_without_known_answers_takes_an_answer_at_its_word(make_people: Any) -> None:
    people = make_people(300)
    study = plan(people.schema, epsilon=0.5, mode="faithful", attributes=["strong"], test="answer")
    trained = run_in_process(study, people.records, simulation(2))
    known = trained.answers
    told = Reports(symbols=np.array([[0], [1]]), simulation=True)
    assert known is not None
    assert known.sum() == pytest.approx(1.0)
    bare = Trained(study=study, predictor=trained.predictor, weights=np.ones(2), simulation=True)
    assert bare.answers is None
    assert answer_reports(bare, told).tolist() == [0, 1]
