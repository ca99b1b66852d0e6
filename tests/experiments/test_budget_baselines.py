from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from experiments.budget import model_averaging, naive_bayes
from experiments.budget.baselines import BASELINES, Baseline, on_device_accuracy
from experiments.budget.data import NAMES, bounds_by_range, features, load, take, widths
from experiments.budget.gradient_svm import GradientReport
from experiments.budget.naive_bayes import NaiveBayes
from scipy.stats import norm

from supm import ParameterError, simulation
from supm.learning import score
from supm.privacy import PureLDP
from supm.schema import Categorical, Continuous, Records, Schema

BUDGETS = (0.5, 1.0, 2.0, 4.0, 8.0)
OFFLINE = ("wdbc", "digits", "wine")
each_baseline = pytest.mark.parametrize("baseline", BASELINES, ids=lambda each: each.name)


def made_up(labels: int, rows: int = 900) -> tuple[Schema, Records]:
    """Return records whose attributes are high where the label is theirs, and low elsewhere."""
    schema = Schema(
        attributes=tuple(Continuous(f"a{place}", low=-3, high=3) for place in range(labels)),
        target=Categorical("label", values=tuple(range(labels))),
    )
    held = simulation(1).below(labels, rows).astype(np.int64)
    noise = norm.ppf((simulation(2).below(999, rows * labels) + 1) / 1000).reshape(rows, labels)
    table = np.where(held[:, np.newaxis] == np.arange(labels), 1.5, -1.5) + 0.7 * noise
    columns = {f"a{place}": table[:, place] for place in range(labels)}
    return schema, schema.read({**columns, "label": held})


def largest_ratio(channel: list[list[Fraction]]) -> Fraction:
    """Return the largest ratio of two records' probabilities of the same report."""
    ratios = [max(column) / min(column) for column in zip(*channel, strict=True)]
    return Fraction(max(ratios))


def within(epsilon: float, budget: float) -> bool:
    """Say whether a derived epsilon is the whole budget, and no more."""
    return PureLDP(epsilon).epsilon <= budget and epsilon > 0.99 * budget


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("classes", [2, 4])
def test_a_naive_bayes_report_costs_the_whole_budget_and_no_more(
    epsilon: float, classes: int
) -> None:
    asked = naive_bayes.question(classes=classes, labels=2, epsilon=epsilon)
    assert within(asked.epsilon, epsilon)
    assert float(largest_ratio(asked.exact_channel())) <= np.exp(epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_the_exact_channel_of_a_whole_record_keeps_the_budget_of_naive_bayes(
    epsilon: float,
) -> None:
    # Two attributes of 2 and 3 classes, two labels: the report is (which attribute, its symbol).
    sizes = (2, 3)
    asked = [naive_bayes.question(classes=size, labels=2, epsilon=epsilon) for size in sizes]
    channels = [each.exact_channel() for each in asked]
    rows = []
    for first, second, label in product(range(2), range(3), range(2)):
        parts = zip(asked, channels, (first, second), strict=True)
        told = [channel[int(each.numbers([[held, label]])[0])] for each, channel, held in parts]
        rows.append([probability / 2 for row in told for probability in row])
    assert {sum(row) for row in rows} == {1}
    assert float(largest_ratio(rows)) <= np.exp(epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_a_report_to_model_averaging_costs_the_whole_budget_and_no_more(epsilon: float) -> None:
    asked = model_averaging.question(attributes=3, epsilon=epsilon)
    told = model_averaging.feedback(epsilon=epsilon)
    for each in (asked, told):
        assert within(each.epsilon, epsilon)
        assert float(largest_ratio(each.exact_channel())) <= np.exp(epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("width", [1, 2, 40])
def test_the_coordinates_of_a_gradient_share_the_whole_budget(epsilon: float, width: int) -> None:
    report = GradientReport.for_epsilon(width=width, epsilon=epsilon)
    assert report.told == max(1, min(width, int(epsilon / 2.5)))
    # Coordinates are randomised on their own, so the ratios of one report multiply.
    total = sum(report.randomizer.epsilon for _ in range(report.told))
    assert within(total, epsilon)
    assert report.epsilon == pytest.approx(total)


def test_a_gradient_report_is_unbiased() -> None:
    vector = np.array([1.0, -0.5, 0.25, 0.0])
    report = GradientReport.for_epsilon(width=4, epsilon=5.0)
    people = 200_000
    found = report.mean(np.tile(vector, (people, 1)), simulation(3))
    spread = (4 / report.told) * (report.randomizer.variance(1.0) + 1.0) / people
    assert np.abs(found - vector).max() < 6 * np.sqrt(spread)


@each_baseline
@pytest.mark.parametrize("labels", [2, 3])
def test_a_baseline_learns_an_easy_problem(baseline: Baseline, labels: int) -> None:
    schema, records = made_up(labels)
    model = baseline.fit(schema, take(records, np.arange(600)), 8.0, simulation(4))
    rest = take(records, np.arange(600, 900))
    told = model.predict(rest)
    assert told.shape == (300,)
    assert told.dtype == np.int64
    assert set(np.unique(told)) <= set(range(labels))
    assert score(np.asarray(rest.target), told).accuracy > 0.85


@each_baseline
def test_cross_validation_is_fixed_by_its_seed(baseline: Baseline) -> None:
    schema, records = made_up(3, rows=200)
    first, second = (
        on_device_accuracy(baseline, schema, records, 4.0, folds=2, source=simulation(5))
        for _ in range(2)
    )
    assert first == second


def test_naive_bayes_has_more_classes_where_budget_and_people_carry_them() -> None:
    method = NaiveBayes()
    assert method.classes(people=100.0, epsilon=1.0) == 2
    assert method.classes(people=2.5, epsilon=8.0) == 2
    assert method.classes(people=100.0, epsilon=8.0) == 4


def test_a_categorical_attribute_has_a_column_for_each_value() -> None:
    ward = Categorical("ward", values=("north", "east"), missing="class")
    sex = Categorical("sex", values=("f", "m"))
    schema = Schema(attributes=(ward, sex), target=Categorical("ill", values=(0, 1)))
    records = schema.read({"ward": ["east", None], "sex": ["f", "m"], "ill": [0, 1]})
    assert widths(schema.attributes) == (3, 1)
    assert features(records).tolist() == [[0.0, 1.0, 0.0, -1.0], [0.0, 0.0, 1.0, 1.0]]


@pytest.mark.parametrize("read", [load, bounds_by_range])
@pytest.mark.parametrize(
    "name",
    [each if each in OFFLINE else pytest.param(each, marks=pytest.mark.data) for each in NAMES],
)
def test_a_data_set_has_public_bounds_and_features_within_one(name: str, read: object) -> None:
    assert callable(read)
    schema, records = read(name)
    table = features(records)
    assert table.shape == (records.rows, sum(widths(schema.attributes)))
    assert np.abs(table).max() <= 1.0
    published = {"wdbc": 569, "ionosphere": 351, "musk2": 6598, "adult": 45222}
    assert records.rows == {**published, "digits": 1797, "wine": 178}[name]


def test_bounds_are_two_deviations_around_the_mean_in_three_digits() -> None:
    (schema, _), (_, raw) = load("wdbc"), bounds_by_range("wdbc")
    for each in schema.attributes:
        assert isinstance(each, Continuous)
        column = raw.columns[each.name]
        for bound, side in ((each.low, -2.0), (each.high, 2.0)):
            assert bound == pytest.approx(column.mean() + side * column.std(), rel=5e-3)


def test_a_constant_column_is_in_the_middle_of_its_bounds() -> None:
    schema, records = load("digits")
    first = schema.attributes[0]
    assert isinstance(first, Continuous)
    assert (first.low, first.high) == (-1.0, 1.0)
    assert not records.columns[first.name].any()


def test_an_unknown_data_set_is_refused() -> None:
    with pytest.raises(ParameterError, match="name must be one of wdbc"):
        load("iris")
