"""Theorems of docs/proofs/answer.md: the channel, the limit, the best reading of what was told."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from supm import simulation
from supm.audit import exact_epsilon
from supm.collection import Trained, answer_reports, plan
from supm.collection.cards import Card
from supm.collection.crowd import run_in_process
from supm.mechanisms import GeneralizedRandomizedResponse, Piecewise, Reports
from supm.messages import Scorecard, Study
from supm.owner import AnswerInterview, interview
from supm.schema import Categorical, Continuous, Ordinal, Records, Schema

PEOPLE = 200


def study_of(epsilon: float, target: Categorical | Continuous) -> Study:
    attributes = tuple(Ordinal(f"a{place}", values=(0, 1, 2, 3)) for place in range(3))
    return plan(Schema(attributes=attributes, target=target), epsilon=epsilon, classes=4)


def labels(many: int) -> Categorical:
    return Categorical("label", values=tuple(str(each) for each in range(many)))


def records_of(study: Study) -> Records:
    place = np.arange(PEOPLE)
    columns: dict[str, list[int]] = {
        f"a{digit}": (place // 4**digit % 4).tolist() for digit in range(3)
    }
    first = place % 4
    if study.numeric:
        told: list[object] = (first / 3.0).tolist()
    else:
        told = [str(min(each, study.labels - 1)) for each in first.tolist()]
    return study.schema.read({**columns, study.schema.target.name: told})


def trained_on(study: Study) -> Trained:
    return run_in_process(study, records_of(study), simulation(1))


def asked_with(study: Study, trained: Trained) -> AnswerInterview:
    asked = interview(study.with_rule(trained.rule), "test")
    assert isinstance(asked, AnswerInterview)
    return asked


def test_1_a_rule_that_singles_one_record_out_gets_one_randomised_answer() -> None:
    study = study_of(1.0, labels(2))
    one = np.array([[0.0, -1.0], [0.0, -1.0], [0.0, -1.0], [0.0, 1.0]])
    rule = Scorecard(points=(one, one, one), offsets=np.array([0.0, -2.5]))
    asked = interview(study.with_rule(rule), "test")
    records = study.schema.read({"a0": [3, 3, 0], "a1": [3, 3, 0], "a2": [3, 2, 0]}, labelled=False)
    answers = asked.encode(records)[:, 0]
    assert answers.tolist() == [1, 0, 0]
    channel = [asked.exact_channel()[answer] for answer in answers]
    assert exact_epsilon(channel) == asked.epsilon <= 1.0


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.4])
@pytest.mark.parametrize(
    "chances", [(0.9, 0.8, 0.2, 0.05), (0.6, 0.55, 0.4, 0.45), (0.9, 0.9, 0.95, 0.4)]
)
def test_2_no_private_report_of_a_record_is_answered_better_than_the_limit(
    epsilon: float, chances: tuple[float, ...]
) -> None:
    """The best of all mechanisms is a linear program in P[answer 1 | record]."""
    share = np.array([0.1, 0.2, 0.3, 0.4])
    first = np.array(chances)
    gain = share * (2 * first - 1)
    grown = math.exp(epsilon)
    rows, limits = [], []
    for one, two in permutations(range(4), 2):
        for sign, limit in ((1.0, 0.0), (-1.0, grown - 1.0)):
            row = np.zeros(4)
            row[one], row[two] = sign, -sign * grown
            rows.append(row)
            limits.append(limit)
    found = linprog(-gain, A_ub=np.array(rows), b_ub=limits, bounds=(0, 1))
    best = float(share @ (1 - first)) - found.fun
    right = float(share @ np.maximum(first, 1 - first))
    commoner = max(float(share @ first), float(share @ (1 - first)))
    keep = grown / (1 + grown)
    limit = max(commoner, right * keep + (1 - right) * (1 - keep))
    assert best == pytest.approx(limit, abs=1e-9)


def test_2_the_limits_that_are_quoted() -> None:
    for right, wanted, epsilon in ((0.98, 0.90, 2.40), (0.957, 0.85, 2.02)):
        keep = (wanted - (1 - right)) / (2 * right - 1)
        assert math.log(keep / (1 - keep)) == pytest.approx(epsilon, abs=0.005)


TABLES = [
    np.array([[0.30, 0.05, 0.01], [0.04, 0.25, 0.02], [0.01, 0.02, 0.30]]),
    np.array([[0.70, 0.05, 0.01], [0.04, 0.09, 0.02], [0.01, 0.02, 0.06]]),
]


@pytest.mark.parametrize("table", TABLES, ids=["even labels", "a common label"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (0.3, 1.2, 1.5)])
def test_3_no_other_reading_of_the_told_label_is_right_for_more_people(
    table: NDArray[np.float64], epsilon: float, weights: tuple[float, ...]
) -> None:
    study = study_of(epsilon, labels(3))
    trained = trained_on(study)
    assert isinstance(trained.predictor, Card)
    card = replace(trained.predictor, answers=table)
    trained = replace(trained, predictor=card, weights=np.array(weights))
    randomizer = asked_with(study, trained).randomizer
    assert isinstance(randomizer, GeneralizedRandomizedResponse)
    channel = np.array([[float(each) for each in row] for row in randomizer.exact_channel()])
    behind = channel.T @ table * weights
    told = Reports(symbols=np.array([[0], [1], [2]]), simulation=True)
    ours = answer_reports(trained, told).tolist()
    right = {reading: behind[range(3), reading].sum() for reading in product(range(3), repeat=3)}
    assert right[tuple(ours)] == pytest.approx(max(right.values()), abs=1e-12)


@pytest.mark.parametrize("epsilon", [1.0, 3.0, 8.0])
def test_4_a_number_is_pulled_to_the_mean_about_as_far_as_is_best(epsilon: float) -> None:
    study = study_of(epsilon, Continuous("number", low=-1, high=1))
    trained = trained_on(study)
    assert isinstance(trained.predictor, Card)
    assert trained.predictor.line is not None
    line = replace(trained.predictor.line, mean=0.1, variance=0.1)
    trained = replace(trained, predictor=replace(trained.predictor, line=line))
    randomizer = asked_with(study, trained).randomizer
    assert isinstance(randomizer, Piecewise)
    # Near the middle, where no prediction is cut off at the target's bounds.
    ends = np.array([9, 11]) * randomizer.outcomes // 20
    readings = randomizer.decode(Reports(symbols=ends, simulation=True))
    pulled = answer_reports(trained, Reports(symbols=ends[:, None], simulation=True))
    kept = float(np.diff(pulled)[0] / np.diff(readings)[0])
    # Answers that lie evenly, with that mean and variance.
    answers = 0.1 + math.sqrt(0.3) * np.linspace(-1, 1, 401)
    noise = float(np.mean([randomizer.variance(float(each)) for each in answers]))
    spread = float(answers.var())
    best = spread / (spread + noise)

    def error(part: float) -> float:
        return (1 - part) ** 2 * spread + part**2 * noise

    assert error(best) == pytest.approx(spread * noise / (spread + noise))
    assert error(kept) - error(best) == pytest.approx((kept - best) ** 2 * (spread + noise))
    assert error(kept) < 1.02 * error(best)
    assert error(kept) < min(spread, noise)


def test_5_on_the_device_nothing_is_asked_and_nothing_is_spent() -> None:
    schema = study_of(1.0, labels(2)).schema
    assert plan(schema, epsilon=1.0, trust="u,u,d").question("test") is None
