"""Regressor and classifier of noised records: what they take, what they refuse, what they state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from supm import ParameterError, simulation
from supm._errors import RecordError, SchemaError
from supm.datasets import load_diabetes
from supm.estimators import NoiseAwareClassifier, NoiseAwareRegressor
from supm.mechanisms import ContinuousLaplace, ContinuousPiecewise
from supm.mechanisms import GeneralizedRandomizedResponse as Response
from supm.privacy import NoGuarantee
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn

ROWS = 8000
AGE = NumberColumn("age", ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=4.0))
HEIGHT = NumberColumn("height", ContinuousPiecewise.for_epsilon(low=100, high=220, epsilon=5.0))
SEX = ClassColumn("sex", ("f", "m"), Response.for_epsilon(size=2, epsilon=2.0))
PULSE = NumberColumn("pulse", ContinuousLaplace.for_epsilon(low=40, high=160, epsilon=4.0))
SMOKES = ClassColumn("smokes", ("no", "yes"), Response.for_epsilon(size=2, epsilon=2.0))


def people() -> dict[str, NDArray[Any]]:
    share = (simulation(1).words(2 * ROWS).reshape(2, ROWS) + 0.5) / 2.0**64
    sex = np.where(np.arange(ROWS) % 2, "m", "f")
    age = 100 * share[0]
    height = 120 + 80 * share[1]
    pulse = 60 + 0.5 * age + 20 * (sex == "m")
    smokes = np.where((age > 60) == (np.arange(ROWS) % 10 < 9), "yes", "no")
    return {"age": age, "height": height, "sex": sex, "pulse": pulse, "smokes": smokes}


def archive(*columns: Any, target: str, asked: int | None = None) -> Archive:
    schema = ArchiveSchema(columns=columns, target=target)
    told = Archive.noised(people(), schema, simulation(2))
    if asked is None:
        return told
    # As if the first or the second column had not been asked.
    holes = {name: np.array(cells) for name, cells in told.reports.items()}
    holes[columns[0].name][::2] = np.nan
    holes[columns[1].name][1::2] = np.nan
    some = ArchiveSchema(columns=columns, target=target, asked=asked)
    return Archive(schema=some, reports=holes, rows=ROWS)


@pytest.fixture(scope="module")
def pulse() -> NoiseAwareRegressor:
    return NoiseAwareRegressor().fit(archive(AGE, HEIGHT, SEX, PULSE, target="pulse"))


def test_numbers_and_classes_of_several_mechanisms_are_learned_from(
    pulse: NoiseAwareRegressor,
) -> None:
    rows = {"age": [20, 20, 80], "height": [150, 150, 150], "sex": ["f", "m", "m"]}
    found = pulse.predict(rows)
    assert np.abs(found - [70, 90, 120]).max() < 6
    assert pulse.n_features_in_ == 3
    assert pulse.feature_names_in_.tolist() == ["age", "height", "sex"]
    assert 0.5 < pulse.explained_ <= 1


def noised_diabetes(epsilon: float) -> Archive:
    found = load_diabetes()
    bounds = {name: found.bounds[name] for name in found.columns if name != "sex"}
    columns = [
        NumberColumn(
            name, ContinuousLaplace.for_epsilon(low=own.low, high=own.high, epsilon=epsilon)
        )
        for name, own in bounds.items()
    ]
    schema = ArchiveSchema(columns=tuple(columns), target="progression")
    return Archive.noised(found.columns, schema, simulation(3))


@pytest.mark.parametrize(("epsilon", "off"), [(0.01, 0.001), (10.0, 0.2), (100.0, 0.03)])
def test_what_is_explained_is_what_predictions_explain(epsilon: float, off: float) -> None:
    model = NoiseAwareRegressor().fit(noised_diabetes(epsilon))
    clean = load_diabetes().columns
    true = np.asarray(clean["progression"], dtype=np.float64)
    # Against the mean of the predictions: how wrong the constant is, no share of a variance tells.
    found = model.predict(clean)
    moved = found - found.mean() + true.mean()
    score = 1 - np.square(moved - true).mean() / true.var()
    assert 0 <= model.explained_ <= 1
    assert model.explained_ == pytest.approx(score, abs=off)


def test_a_table_and_a_schema_are_as_good_as_an_archive(pulse: NoiseAwareRegressor) -> None:
    told = archive(AGE, HEIGHT, SEX, PULSE, target="pulse")
    table = pd.DataFrame(told.table())
    rows = pd.DataFrame(people()).head(5)
    whole = NoiseAwareRegressor(schema=told.schema).fit(table)
    apart = NoiseAwareRegressor(schema=told.schema).fit(table.drop(columns="pulse"), table["pulse"])
    assert np.array_equal(whole.predict(rows), pulse.predict(rows))
    assert np.array_equal(apart.predict(rows), pulse.predict(rows))


def test_columns_of_an_array_may_have_their_own_noise() -> None:
    told = archive(AGE, PULSE, target="pulse")
    table = np.column_stack([told.reports["age"], told.reports["age"]])
    model = NoiseAwareRegressor(
        epsilon=[4.0, 4.0], bounds=[(0, 100), (0, 100)], target_epsilon=4.0, target_bounds=(40, 160)
    ).fit(table, told.reports["pulse"])
    assert [each.mechanism for each in model.columns_] == [AGE.mechanism, AGE.mechanism]
    assert model.target_.mechanism == PULSE.mechanism


def test_an_interval_holds_the_prediction_and_stays_within_the_bounds(
    pulse: NoiseAwareRegressor,
) -> None:
    rows = people()
    found, low_high = pulse.predict(rows), pulse.predict_interval(rows, level=0.9)
    narrow = pulse.predict_interval(rows, level=0.5)
    assert ((low_high[:, 0] <= found) & (found <= low_high[:, 1])).all()
    assert (np.diff(narrow) <= np.diff(low_high)).all()
    assert low_high.min() >= 40
    assert low_high.max() <= 160
    held = (low_high[:, 0] <= rows["pulse"]) & (rows["pulse"] <= low_high[:, 1])
    assert held.mean() > 0.9
    with pytest.raises(ParameterError, match="level"):
        pulse.predict_interval(rows, level=1.5)


def test_intervals_are_as_wide_as_their_level_and_miss_on_either_side() -> None:
    share = (simulation(11).words(13 * ROWS).reshape(13, ROWS) + 0.5) / 2.0**64
    # The sum of twelve uniform numbers has variance one, and is nearly normal.
    pulse = 90 + 20 * share[0] + 18 * (share[1:].sum(axis=0) - 6)
    clean = {"age": 100 * share[0], "pulse": pulse}
    age = NumberColumn("age", ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=60.0))
    told = NumberColumn("pulse", ContinuousLaplace.for_epsilon(low=0, high=200, epsilon=60.0))
    schema = ArchiveSchema(columns=(age, told), target="pulse")
    model = NoiseAwareRegressor().fit(Archive.noised(clean, schema, simulation(12)))
    half, most = (model.predict_interval(clean, level=level) for level in (0.5, 0.9))
    inner, outer = np.diff(half)[:, 0], np.diff(most)[:, 0]
    assert (inner < outer).all()
    # Quantiles of the standard normal law: three quarters, and nineteen in twenty.
    assert inner / outer == pytest.approx(0.6744898 / 1.6448536, rel=1e-6)
    for ends, level in ((half, 0.5), (most, 0.9)):
        below, above = clean["pulse"] < ends[:, 0], clean["pulse"] > ends[:, 1]
        assert below.mean() == pytest.approx((1 - level) / 2, abs=0.015)
        assert above.mean() == pytest.approx((1 - level) / 2, abs=0.015)


def test_columns_that_were_asked_of_some_owners_only() -> None:
    model = NoiseAwareRegressor().fit(archive(AGE, HEIGHT, PULSE, target="pulse", asked=2))
    found = model.predict({"age": [10, 90], "height": [150, 150]})
    assert np.abs(found - [75, 115]).max() < 8
    assert model.statement_.total.epsilon == pytest.approx(9.0)  # type: ignore[attr-defined]  # of LDP


def test_a_statement_says_what_the_owners_were_promised(pulse: NoiseAwareRegressor) -> None:
    statement = pulse.statement_
    assert [each.name for each in statement.parts] == ["age", "height", "sex", "pulse"]
    assert statement.total == archive(AGE, HEIGHT, SEX, PULSE, target="pulse").schema.guarantee
    assert "spends nothing more" in statement.words


@pytest.mark.parametrize("target", [SMOKES, None], ids=["noisy labels", "clean labels"])
def test_classes_are_told_apart(target: ClassColumn | None) -> None:
    if target is not None:
        model = NoiseAwareClassifier().fit(archive(AGE, HEIGHT, target, target="smokes"))
        rows: Any = people()
    else:
        told = archive(AGE, HEIGHT, SMOKES, target="smokes")
        table = np.column_stack([told.reports["age"]])
        model = NoiseAwareClassifier(epsilon=4.0, bounds=(0, 100))
        model.fit(table, people()["smokes"])
        rows = people()["age"][:, np.newaxis]
    assert model.classes_.tolist() == ["no", "yes"]
    right = model.predict(rows) == np.where(people()["age"] > 60, "yes", "no")
    assert right.mean() > 0.85
    chances = model.predict_proba(rows)
    assert np.allclose(chances.sum(axis=1), 1)
    assert (chances > 0).all()


def test_clean_labels_are_not_promised_anything() -> None:
    told = archive(AGE, SMOKES, target="smokes")
    model = NoiseAwareClassifier(epsilon=4.0, bounds=(0, 100))
    model.fit(told.reports["age"][:, np.newaxis], people()["smokes"])
    assert isinstance(model.statement_.total, NoGuarantee)
    noisy = clone(model).set_params(label_epsilon=2.0)
    noisy.fit(told.reports["age"][:, np.newaxis], told.reports["smokes"])
    assert noisy.statement_.total.epsilon == pytest.approx(6.0)


def test_the_majority_is_the_answer_where_noise_covers_all() -> None:
    weak = NumberColumn("age", ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=0.01))
    model = NoiseAwareClassifier().fit(archive(weak, SMOKES, target="smokes"))
    rows = people()
    major = max(["no", "yes"], key=rows["smokes"].tolist().count)
    assert set(model.predict(rows)) == {major}


@pytest.mark.parametrize(("epsilon", "told"), [(0.1, 3.0), (1.0, 1.0), (5.0, None)])
def test_unrelated_columns_cost_a_classifier_next_to_nothing(
    epsilon: float, told: float | None
) -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    right = []
    for seed in range(25):
        x, kept = (
            (simulation(each).words(600).reshape(200, 3) + 0.5) / 2.0**64
            for each in (seed, seed + 500)
        )
        labels = np.where(np.arange(200) % 10 < 3, "rare", "usual")
        noisy = law.randomize(x.ravel(), simulation(seed)).reshape(x.shape)
        if told is not None:
            answer = Response.for_epsilon(size=2, epsilon=told)
            codes = answer.randomize((labels == "usual").astype(int), simulation(seed + 1)).symbols
            labels = np.array(["rare", "usual"])[codes]
        model = NoiseAwareClassifier(epsilon=epsilon, bounds=(0, 1), label_epsilon=told)
        usual = float((model.fit(noisy, labels).predict(kept) == "usual").mean())
        # Among clean records 70 % have the usual label, whatever the columns say.
        right.append(0.7 * usual + 0.3 * (1 - usual))
    # A posterior that is right on average still errs in some draws: by so much, of accuracy.
    assert np.mean(right) >= 0.7 - 0.02


STRANGE: dict[str, NDArray[np.float64]] = {
    "values that nobody noised": np.linspace(-1, 1, 400),
    "a scaler's values": np.tile([-1.3, -0.4, 0.4, 1.3], 100),
    "other bounds": np.full(400, 60.0) + np.tile([-4.0, 4.0], 200),
    "one that no noise reaches": np.append(np.tile([-3.0, 3.0], 200), 1e9),
}


@pytest.mark.parametrize("told", STRANGE.values(), ids=STRANGE.keys())
def test_reports_that_the_stated_noise_cannot_make_are_warned_of(told: NDArray[Any]) -> None:
    law = ContinuousLaplace.for_epsilon(low=-1, high=1, epsilon=1.0)
    good = law.randomize(np.zeros(told.size), simulation(4))
    stated = r"cannot be a number in \[-1, 1\] with laplace noise of epsilon 1: check bounds"
    with pytest.warns(UserWarning, match=f"^column x1 {stated}") as caught:
        NoiseAwareRegressor().fit(np.column_stack([good, told]), good)
    assert [each.filename for each in caught] == [__file__]
    with pytest.warns(UserWarning, match=f"^the target {stated}"):
        NoiseAwareRegressor().fit(good[:, np.newaxis], told)
    with pytest.warns(UserWarning, match="^column x0 .*, nor can 2 more be what is stated"):
        NoiseAwareRegressor().fit(np.column_stack([told, told]), told)
    NoiseAwareRegressor().fit(good[:, np.newaxis], good)


@pytest.mark.parametrize("rows", [2, 40, 2000])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 100.0])
def test_reports_that_the_stated_noise_made_are_not_warned_of(rows: int, epsilon: float) -> None:
    """Ends of the bounds are the hardest: no values vary more. A warning is an error here."""
    law = ContinuousLaplace.for_epsilon(low=-1, high=1, epsilon=epsilon)
    for seed, ends in enumerate([np.tile([1.0, -1.0], rows // 2), np.ones(rows), -np.ones(rows)]):
        told = law.randomize(ends, simulation(seed))
        NoiseAwareRegressor(epsilon=epsilon).fit(told[:, np.newaxis], told)


def test_labels_that_the_stated_noise_cannot_make_are_warned_of() -> None:
    told = archive(AGE, SMOKES, target="smokes")
    rare = np.zeros(ROWS, dtype=np.int64)
    reports = {"age": told.reports["age"], "smokes": rare}
    with pytest.warns(UserWarning, match="^the target cannot be one of 2 classes .* schema"):
        NoiseAwareClassifier().fit(Archive(schema=told.schema, reports=reports, rows=ROWS))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": -1.0}, "epsilon must be a number"),
    ({"epsilon": [1.0]}, "epsilon must be one, or one for each of 2 columns"),
    ({"epsilon": [1.0, 1.0]}, "target_epsilon must be given"),
    ({"bounds": (1.0, 0.0)}, "bounds"),
    ({"bounds": [(0.0, 1.0)]}, "bounds"),
    ({"target_bounds": 1.0}, "target_bounds must be two numbers"),
    ({"form": "wiggly"}, "form must be one of auto, linear, additive"),
    ({"schema": "no"}, "schema must be a supm.synthesis.ArchiveSchema or None"),
]


@pytest.mark.parametrize(("parameters", "words"), REFUSED, ids=str)
def test_a_parameter_that_makes_no_sense_is_refused(parameters: dict[str, Any], words: str) -> None:
    table, y = np.zeros((4, 2)), np.zeros(4)
    with pytest.raises((ParameterError, SchemaError), match=words):
        NoiseAwareRegressor(**parameters).fit(table, y)


def test_a_target_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(SchemaError, match="needs a number"):
        NoiseAwareRegressor().fit(archive(AGE, SMOKES, target="smokes"))
    with pytest.raises(SchemaError, match="needs classes"):
        NoiseAwareClassifier().fit(archive(AGE, PULSE, target="pulse"))


def test_an_archive_without_target_or_columns_is_refused() -> None:
    told = archive(AGE, PULSE, target="pulse")
    aimless = ArchiveSchema(columns=told.schema.columns)
    with pytest.raises(SchemaError, match="must name a target"):
        NoiseAwareRegressor().fit(Archive(schema=aimless, reports=told.reports, rows=ROWS))
    with pytest.raises(SchemaError, match="beside the target"):
        NoiseAwareRegressor().fit(archive(PULSE, target="pulse"))
    with pytest.raises(ParameterError, match="y must be None"):
        NoiseAwareRegressor().fit(told, np.zeros(ROWS))


def test_a_table_with_the_target_takes_no_other() -> None:
    told = archive(AGE, PULSE, target="pulse")
    table = told.table()
    records = [{"age": 20.0, "pulse": 80.0}] * 3
    model = NoiseAwareRegressor(schema=told.schema)
    for each in (table, pd.DataFrame(table), pl.DataFrame(table), records):
        with pytest.raises(ParameterError, match="y must be None where the table has a column"):
            model.fit(each, table["age"])


def test_a_target_of_another_length_is_named() -> None:
    told = archive(AGE, PULSE, target="pulse")
    age, reports = {"age": told.reports["age"]}, told.reports["pulse"][1:]
    words = f"y has {ROWS - 1} values and the table {ROWS} records"
    with pytest.raises(RecordError, match=words):
        NoiseAwareRegressor(schema=told.schema).fit(age, reports)
    with pytest.raises(RecordError, match=words):
        NoiseAwareRegressor().fit(told.reports["age"][:, np.newaxis], reports)


def test_parameters_describe_a_target_that_the_schema_leaves_out() -> None:
    told = archive(AGE, HEIGHT, PULSE, target="pulse")
    rows = people()
    whole = NoiseAwareRegressor().fit(told)
    schema = ArchiveSchema(columns=(AGE, HEIGHT))
    apart = NoiseAwareRegressor(schema=schema, target_epsilon=4.0, target_bounds=(40, 160))
    apart.fit(pd.DataFrame(told.table())[["age", "height"]], told.reports["pulse"])
    assert np.array_equal(apart.predict(rows), whole.predict(rows))
    assert apart.statement_.total == whole.statement_.total
    with pytest.raises(ParameterError, match="target_epsilon must be given where the schema"):
        NoiseAwareRegressor(schema=schema).fit(told.table(), told.reports["pulse"])
    with pytest.raises(SchemaError, match="must name a target"):
        NoiseAwareRegressor(schema=schema).fit(told.table())


def test_owners_who_told_a_target_beside_some_columns_spent_it_too() -> None:
    holes = archive(AGE, HEIGHT, PULSE, target="pulse", asked=2)
    schema = ArchiveSchema(columns=(AGE, HEIGHT), asked=1)
    model = NoiseAwareRegressor(schema=schema, target_epsilon=4.0, target_bounds=(40, 160))
    model.fit(holes.table(), holes.reports["pulse"])
    assert model.statement_.total.epsilon == pytest.approx(9.0)  # type: ignore[attr-defined]  # of LDP
    labelled = NoiseAwareClassifier(schema=schema).fit(holes.table(), people()["smokes"])
    assert labelled.feature_names_in_.tolist() == ["age", "height"]
    assert isinstance(labelled.statement_.total, NoGuarantee)


def test_no_error_shows_a_value() -> None:
    secret = 123456789.5
    with pytest.raises(RecordError) as missing:
        NoiseAwareRegressor().fit(np.zeros((3, 1)), [secret, secret])
    with pytest.raises(RecordError) as unreadable:
        NoiseAwareRegressor().fit(np.zeros((3, 1)), [secret, "x123456789", 1])
    model = NoiseAwareRegressor().fit(archive(AGE, SEX, PULSE, target="pulse"))
    with pytest.raises(RecordError) as unknown:
        model.predict({"age": [secret], "sex": ["123456789"]})
    with pytest.raises(RecordError, match="1 of 2 cells are missing"):
        model.predict({"age": [secret, None], "sex": ["f", "f"]})
    for caught in (missing, unreadable, unknown):
        assert "123456789" not in str(caught.value)
