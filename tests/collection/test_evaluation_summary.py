"""Accuracy comes with its spread and the constant's; on WDBC it is what the papers print."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm import ParameterError, RecordError, simulation
from supm.collection import account, cross_validate, evaluate, plan
from supm.datasets import load_wdbc
from supm.learning import Errors, RadialSVM, Scores, folds
from supm.messages import Trust
from supm.schema import Categorical, Continuous, Schema


def test_raw_accuracy_on_wdbc_is_the_printed_one() -> None:
    """Paper 000 prints 98.04 %: 549 of 560 people in ten equal folds."""
    wdbc = load_wdbc()
    study = plan(
        wdbc.schema,
        epsilon=1.0,
        trust=Trust.parse("t,t,t"),
        mode="faithful",
        attributes=wdbc.schema.names,
        train="raw",
        test="raw",
    )
    found = evaluate(
        study, wdbc.records(), source=simulation(1), repeats=5, learner=RadialSVM(penalty=2.1)
    )
    assert abs(100 * found.answered.headline - 98.04) <= 0.7
    # 560 of the 569 take part; which nine do not differs between repetitions.
    assert found.answered.of_constant == pytest.approx(0.627, abs=0.003)


def test_accuracy_of_dr_wa_on_wdbc_is_the_printed_one() -> None:
    """Paper 000 prints 90.29 % for DR.WA with two attributes of two classes at epsilon 10."""
    wdbc = load_wdbc()
    study = plan(
        wdbc.schema, epsilon=10.0, mode="faithful", trust=Trust.parse("t,u,u"), keep=2, classes=2
    )
    found = evaluate(
        study, wdbc.records(), source=simulation(1), repeats=10, learner=RadialSVM(penalty=2.1)
    )
    assert abs(100 * found.answered.headline - 90.29) <= 2.0
    assert found.spread < 0.02


def test_the_summary_is_that_of_the_trials(make_people: Any) -> None:
    people = make_people(203)
    study = plan(people.schema, epsilon=3.0, mode="faithful", attributes=["strong"])
    done = []
    found = evaluate(
        study,
        people.records,
        source=simulation(4),
        folds=5,
        repeats=3,
        progress=lambda: done.append(1),
    )
    trials = []
    for number in range(3):
        source = simulation(4).child(f"repeat {number}")
        parts = folds(203, 5, source.child("folds"))
        trials.append(cross_validate(study, people.records, parts, source))
    accuracies = [trial.answered.headline for trial in trials]
    assert found.answered.headline == pytest.approx(np.mean(accuracies))
    assert found.spread == pytest.approx(np.std(accuracies, ddof=1))
    assert found.answered.beside == pytest.approx(
        np.mean([trial.answered.beside for trial in trials])
    )
    assert found.on_device.headline == pytest.approx(
        np.mean([trial.on_device.headline for trial in trials])
    )
    assert found.answered.of_constant == pytest.approx(
        np.mean([trial.answered.of_constant for trial in trials])
    )
    assert (len(done), found.repeats, found.folds) == (15, 3, 5)
    assert found.chosen == {"strong": 15}
    assert found.account == account(study)
    assert found.seconds > 0


def test_repetitions_draw_everything_anew_and_one_has_no_spread(make_people: Any) -> None:
    people = make_people(200)
    study = plan(people.schema, epsilon=2.0, attributes=["strong"])
    several = evaluate(study, people.records, source=simulation(1), folds=4, repeats=4)
    assert several.spread > 0
    single = evaluate(study, people.records, source=simulation(1), folds=4, repeats=1)
    assert single.spread == 0.0


def test_a_larger_budget_buys_accuracy_up_to_what_the_classes_hold(make_people: Any) -> None:
    people = make_people(1000)
    means = []
    for epsilon in (0.5, 3.0, 30.0):
        study = plan(people.schema, epsilon=epsilon, attributes=["strong"], classes=2)
        found = evaluate(study, people.records, source=simulation(1), folds=4, repeats=2)
        means.append(found.answered.headline)
    assert means == sorted(means)
    assert means[-1] > 0.9


def test_three_labels_are_simulated_from_end_to_end(make_people: Any) -> None:
    people = make_people(600, labels=3, wards=True)
    for mode in ("strict", "faithful"):
        study = plan(people.schema, epsilon=40.0, mode=mode, reduce="waldp", keep=2, classes=3)
        found = evaluate(study, people.records, source=simulation(1), folds=5, repeats=1)
        assert found.answered.headline > 0.8 > found.answered.of_constant


def test_too_few_people_or_one_class_only_are_refused_by_counts() -> None:
    schema = Schema(
        attributes=(Continuous("pulse", low=0, high=200),),
        target=Categorical("ill", values=("no", "yes")),
    )
    study = plan(schema, epsilon=1.0, attributes=["pulse"])
    few = schema.read({"pulse": [61.5, 77.25, 80.0], "ill": ["no", "yes", "no"]})
    with pytest.raises(RecordError, match="3 records, and 10 folds need at least 10") as caught:
        evaluate(study, few, source=simulation(1))
    assert "61.5" not in str(caught.value)
    with pytest.raises(RecordError, match="3 records, and 2 folds need at least 4"):
        evaluate(study, few, source=simulation(1), folds=2)
    alike = schema.read({"pulse": [61.5] * 20, "ill": ["yes"] * 20})
    with pytest.raises(RecordError, match="one class only") as caught:
        evaluate(study, alike, source=simulation(1), folds=2)
    assert "yes" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"), [("folds", 1), ("folds", 2.5), ("repeats", 0), ("repeats", True)]
)
def test_folds_and_repeats_are_whole_numbers(make_people: Any, name: str, value: Any) -> None:
    people = make_people(20)
    study = plan(people.schema, epsilon=1.0, attributes=["strong"])
    wish: dict[str, Any] = {name: value}
    with pytest.raises(ParameterError, match=name):
        evaluate(study, people.records, source=simulation(1), **wish)


def _costs(people: int) -> Any:
    """Return people whose cost goes with two of five attributes, and with luck."""
    source = simulation(51)
    columns = {name: source.below(1000, people).astype(np.float64) / 1000 for name in "abcde"}
    luck = source.below(1000, people).astype(np.float64) / 1000
    cost = 50 + 40 * (columns["b"] - columns["d"]) + 20 * (luck - 0.5)
    schema = Schema(
        attributes=tuple(Continuous(name, low=0, high=1) for name in "abcde"),
        target=Continuous("cost", low=0, high=110),
    )
    return schema, schema.read(columns | {"cost": cost})


@pytest.mark.parametrize("test", ["answer", "sample"])
def test_a_number_is_predicted_better_than_by_its_mean_and_hardly_worse_where_all_is_noise(
    test: str,
) -> None:
    schema, records = _costs(20_000)
    found = {}
    for epsilon in (0.5, 8.0):
        study = plan(schema, epsilon=epsilon, test=test)
        found[epsilon] = evaluate(study, records, source=simulation(1), folds=3, repeats=2)
        assert found[epsilon].account == account(study)
        assert (found[epsilon].folds, found[epsilon].repeats) == (3, 2)
        assert found[epsilon].answered.of_constant == pytest.approx(
            float(records.target.var()), rel=1e-6
        )
    much, little = found[8.0], found[0.5]
    assert much.on_device.headline < 0.4 * much.answered.of_constant
    assert much.on_device.headline < much.answered.headline < 0.8 * much.answered.of_constant
    # A record in parts tells less about a number than the answer does.
    assert (
        little.answered.headline < (1.05 if test == "answer" else 1.1) * little.answered.of_constant
    )
    assert little.on_device.headline < 1.05 * little.answered.of_constant


def test_the_kind_of_target_decides_how_a_study_is_simulated(make_people: Any) -> None:
    people, (schema, costs) = make_people(40), _costs(40)
    labels, number = plan(people.schema, epsilon=1.0), plan(schema, epsilon=1.0)
    for study, records, kind in ((labels, people.records, Scores), (number, costs, Errors)):
        found = evaluate(study, records, source=simulation(1), folds=2, repeats=1)
        assert isinstance(found.answered, kind)
        assert isinstance(found.on_device, kind)
    with pytest.raises(RecordError, match="40 records, and 50 folds"):
        evaluate(number, costs, source=simulation(1), folds=50)


def test_weights_reach_the_models_of_a_simulation(make_people: Any) -> None:
    people = make_people(400)
    study = plan(people.schema, epsilon=8.0, classes=2)
    plain, leaning = (
        evaluate(study, people.records, source=simulation(1), folds=2, repeats=1, weights=weights)
        for weights in (None, (1.0, 1e5))
    )
    assert plain.on_device.beside > 0.85
    assert leaning.on_device.beside == pytest.approx(0.5, abs=0.02)
