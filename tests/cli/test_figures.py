from __future__ import annotations

from dataclasses import replace

from supm import simulation
from supm.cli._figures import between, for_machines, hint
from supm.cli._outcome import Evaluation, Outcome, measure
from supm.collection import plan
from supm.datasets import load_wdbc
from supm.learning import RadialSVM


def outcome() -> Outcome:
    data = load_wdbc()
    study = plan(data.schema, epsilon=2.0, attributes=["mean radius"])
    return measure([study], data.records(), simulation(1), Evaluation(2, 1, RadialSVM()))


def test_the_two_lines_are_said_with_people_and_repetitions() -> None:
    found = outcome()
    assert (found.baseline.people, found.baseline.repeats) == (569, 1)
    words = between(found)
    assert (
        f"without privacy, on the raw data of 569 people, for {found.baseline.accuracy:.1%}"
        in words
    )
    assert f"(balanced {found.baseline.balanced:.1%}; 1 repetition)." in words


def test_machines_get_the_balanced_accuracy_without_privacy() -> None:
    found = outcome()
    told = for_machines(found)["results"][0]["plan"]["evaluation"]
    assert told["without_privacy_balanced_accuracy_mean"] == found.baseline.balanced


def test_a_rare_class_that_no_answer_names_gets_one_hint_unless_classes_have_weights() -> None:
    found = outcome()
    assert hint(found) == ""
    (result,) = found.results
    constant = replace(result, accuracy_mean=0.951, balanced_accuracy_mean=0.503, majority=0.95)
    rare = replace(found, majority=0.95, results=(constant,))
    assert hint(rare).endswith("try --weights balanced.")
    assert hint(replace(rare, weights="balanced")) == ""
    assert hint(replace(rare, results=(constant, result))) == ""
