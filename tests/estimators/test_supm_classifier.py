from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supm import ParameterError, RecordError, simulation
from supm.collection import answer_reports, make_model, plan, run_in_process
from supm.collection.testing import asked_in_test
from supm.datasets import load_wdbc
from supm.estimators import SUPMClassifier
from supm.messages import Model, Trust
from supm.privacy import NoGuarantee, PureLDP
from supm.schema import Categorical, Continuous, Ordinal, Schema

# Most tests draw securely and without a schema.
pytestmark = pytest.mark.filterwarnings("ignore:the labels that occur")

WDBC = load_wdbc()
MAJORITY = float((WDBC.target == "benign").mean())
SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("stage", values=("I", "II", "III")),
        Categorical("ward", values=("north", "east", "south"), missing="class"),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
COLUMNS: dict[str, list[Any]] = {
    "ward": ["east", None, "south", "north"] * 30,
    "note": ["not read"] * 120,
    "stage": ["I", "III", "II"] * 40,
    "age": [10.0, 60.0, 90.0, 35.0, 71.0] * 24,
}
ILL = ["yes" if age > 50 else "no" for age in COLUMNS["age"]]
# 400 people on a line, the left half of one kind and the right half of the other.
LINE = np.column_stack((np.linspace(-1.0, 1.0, 400), np.tile([0.3, -0.3], 200)))
SIDE = (LINE[:, 0] > 0).astype(int)


def wdbc_study(**parameters: Any) -> SUPMClassifier:
    study = SUPMClassifier(schema=WDBC.schema, **{"random_state": 5, **parameters})
    fitted: SUPMClassifier = study.fit(WDBC.columns, WDBC.target)
    return fitted


def noisy_only_in_test() -> SUPMClassifier:
    """Return a study without a seed whose model is certain: chance must not make it constant."""
    fitted: SUPMClassifier = SUPMClassifier(epsilon=1.0, keep=1, trust="t,t,u").fit(LINE, SIDE)
    return fitted


def test_it_learns_more_than_the_commonest_class() -> None:
    runs = [wdbc_study(epsilon=8.0, random_state=seed) for seed in range(3)]
    scores = [run.score(WDBC.columns, WDBC.target) for run in runs]
    assert float(np.mean(scores)) > MAJORITY + 0.2


def test_it_is_the_protocol_of_the_collection() -> None:
    study = plan(WDBC.schema, epsilon=6.0, trust=Trust(test="device"), owners=569)
    source = simulation(5).child("fit")
    trained = run_in_process(study, WDBC.records(), source)
    ours = wdbc_study(epsilon=6.0, trust="u,u,d")
    assert ours.study_ == trained.study
    assert ours.model_.to_json() == make_model(trained).to_json()


def test_a_prediction_tells_no_more_about_a_row_than_the_budget_allows() -> None:
    study = SUPMClassifier(epsilon=1.0, random_state=2).fit(LINE, SIDE)
    rows = 40_000
    shares = np.array(
        [
            [float((study.predict(np.tile(row, (rows, 1))) == label).mean()) for label in (0, 1)]
            for row in ([-0.9, 0.3], [0.9, 0.3], [-0.9, -0.3], [0.9, -0.3])
        ]
    )
    slack = norm.isf(1e-6) * math.sqrt(0.25 / rows)
    assert (shares.max(axis=0) - slack <= math.e * (shares.min(axis=0) + slack)).all()
    assert shares[:, 0].max() - shares[:, 0].min() > 2 * slack


def test_without_a_seed_a_row_is_answered_anew_each_time_and_on_the_device_always_alike() -> None:
    reported = noisy_only_in_test()
    assert not reported.statement_.simulation
    assert not np.array_equal(reported.predict(LINE), reported.predict(LINE))
    held = SUPMClassifier(epsilon=1.0, keep=1, trust="u,u,d").fit(LINE, SIDE)
    assert np.array_equal(held.predict(LINE), held.predict(LINE))


def test_a_seed_repeats_a_study_and_is_called_a_simulation() -> None:
    first, again, other = (wdbc_study(random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.predict(WDBC.columns), again.predict(WDBC.columns))
    assert not np.array_equal(first.predict(WDBC.columns), other.predict(WDBC.columns))
    assert first.statement_.simulation
    assert "not private" in first.statement_.words


def test_the_noise_of_predict_is_not_that_of_fit() -> None:
    study = SUPMClassifier(epsilon=1.0, keep=1, trust="t,t,u", random_state=5).fit(LINE, SIDE)
    asked = asked_in_test(study.trained_)
    held = asked.encode(
        study.study_.schema.read({"x0": LINE[:, 0], "x1": LINE[:, 1]}, labelled=False)
    )
    of_predict, of_fit = (
        answer_reports(study.trained_, asked.randomize(held, simulation(5).child(step)))
        for step in ("predict", "fit")
    )
    assert np.array_equal(study.predict(LINE), of_predict)
    assert not np.array_equal(of_predict, of_fit)


def test_the_statement_stays_true_when_the_seed_is_set_after_fit() -> None:
    study = noisy_only_in_test().set_params(random_state=1)
    assert not study.statement_.simulation
    assert not np.array_equal(study.predict(LINE), study.predict(LINE))


def test_the_account_keeps_to_the_budget() -> None:
    spent = wdbc_study(epsilon=3.0).account_
    assert isinstance(spent.training, PureLDP)
    assert isinstance(spent.testing, PureLDP)
    assert 2.99 < spent.training.epsilon <= 3.0
    assert 2.99 < spent.testing.epsilon <= 3.0


def test_what_is_trusted_is_said_to_promise_nothing() -> None:
    study = wdbc_study(trust=("trusted", "trusted", "device"))
    assert isinstance(study.account_.training, NoGuarantee)
    assert study.account_.testing == PureLDP(0.0)
    assert "nothing is promised" in study.statement_.words


def test_on_the_device_the_published_model_gives_the_answer() -> None:
    study = wdbc_study(trust="u,u,d")
    model = Model.from_json(study.model_.to_json())
    told = study.classes_[model.predict(WDBC.schema.read(WDBC.columns, labelled=False))]
    assert np.array_equal(study.predict(WDBC.columns), told)
    assert model.statement == study.statement_


def test_a_model_of_too_many_cells_predicts_but_is_not_published() -> None:
    table = np.tile(LINE[:60], (1, 11))
    wide = SUPMClassifier(mode="faithful", trust="t,t,t", keep=12, classes=4, random_state=1)
    wide.fit(table, np.tile([0, 1], 30))
    assert wide.predict(table).shape == (60,)
    with pytest.raises(ParameterError, match="cells of a published model"):
        _ = wide.model_


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, dict])
def test_a_schema_finds_the_columns_of_any_table_by_name(frame: Any) -> None:
    study = SUPMClassifier(epsilon=6.0, schema=SCHEMA, keep=2, random_state=3)
    told = study.fit(frame(COLUMNS), ILL).predict(frame(COLUMNS))
    expected = clone(study).fit(pd.DataFrame(COLUMNS), pl.Series(ILL)).predict(COLUMNS)
    assert told.tolist() == expected.tolist()
    assert study.classes_.tolist() == ["no", "yes"]
    assert study.feature_names_in_.tolist() == ["age", "stage", "ward"]
    assert set(study.chosen_) < {"age", "stage", "ward"}


@pytest.mark.parametrize(
    "labels", [["left", "right"], [False, True], [-1, 1], [0.0, 1.0], [7, 12, 40]], ids=repr
)
def test_labels_of_any_kind_come_back_as_they_were(labels: list[Any]) -> None:
    # The middle third is at the middle of the list where there are three labels.
    place = np.minimum((LINE[:, 0] + 1) / 2 * len(labels), len(labels) - 1).astype(int)
    study = SUPMClassifier(epsilon=4.0, trust="u,u,d", classes=3, random_state=1)
    told = study.fit(LINE, np.array(labels)[place]).predict(LINE)
    assert study.classes_.tolist() == labels
    assert set(told.tolist()) == set(labels)


def test_a_column_may_be_called_target() -> None:
    table = pd.DataFrame(LINE, columns=["target", "b"])
    study = SUPMClassifier(random_state=1).fit(table, SIDE)
    assert study.study_.schema.target.name == "target_"
    assert study.feature_names_in_.tolist() == ["target", "b"]


@pytest.mark.parametrize(
    "trust", ["t,u,d", "trusted, untrusted, device", ("trusted", "untrusted", "device"), Trust()]
)
def test_trust_is_spelled_in_several_ways(trust: Any) -> None:
    expected = trust if isinstance(trust, Trust) else Trust(reduce="trusted", test="device")
    assert SUPMClassifier(trust=trust).fit(LINE, SIDE).study_.trust == expected


def test_any_classifier_with_weights_can_be_trained() -> None:
    study = wdbc_study(epsilon=8.0, train="joint", trust="u,u,d", classifier=LogisticRegression())
    assert isinstance(study.trained_.predictor, LogisticRegression)
    assert study.score(WDBC.columns, WDBC.target) > MAJORITY + 0.1


def test_it_works_in_scikit_learns_tools() -> None:
    search = GridSearchCV(SUPMClassifier(random_state=1), {"epsilon": [0.5, 8.0]}, cv=2)
    order = simulation(1).permutation(400)
    assert search.fit(LINE[order], SIDE[order]).best_params_ == {"epsilon": 8.0}
    pipeline = make_pipeline(StandardScaler(), SUPMClassifier(epsilon=8.0, random_state=1))
    assert pipeline.fit(LINE, SIDE).score(LINE, SIDE) > 0.7


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"epsilon": 0}, "epsilon must be"),
        ({"epsilon": math.nan}, "epsilon must be"),
        ({"trust": "u,u"}, "trust must be three"),
        ({"trust": 3}, "trust must be three"),
        ({"trust": "d,u,u"}, "trust of the reduce phase must be"),
        ({"mode": "loose"}, "mode must be strict or faithful"),
        ({"keep": 3}, "keep must be"),
        ({"keep": 0}, "keep must be"),
        ({"classes": 1}, "classes must be"),
        ({"told": 0}, "told must be"),
        ({"reduce": "wa"}, "reduce must be .* untrusted"),
        ({"train": "oda"}, "train must be .* untrusted"),
        ({"test": "raw"}, "test must be .* untrusted"),
        ({"test": "device"}, "test must be"),
        ({"penalty": 0.0}, "penalty must be"),
        ({"classifier": KNeighborsClassifier()}, "a classifier whose fit takes sample_weight"),
        ({"schema": {}}, "schema must be"),
        ({"random_state": 0.5}, "random_state must be"),
    ],
    ids=repr,
)
def test_a_wrong_parameter_is_refused_in_fit(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        SUPMClassifier(**wrong).fit(LINE, SIDE)


def test_labels_that_do_not_go_with_the_table_are_refused() -> None:
    with pytest.raises(RecordError, match="y has 3 labels and the table 400 records"):
        SUPMClassifier().fit(LINE, SIDE[198:201])
    with pytest.raises(RecordError, match="the target y is None"):
        SUPMClassifier(schema=SCHEMA).fit(COLUMNS, None)
    with pytest.raises(RecordError, match="ill: 1 of 120 records holds a value") as caught:
        SUPMClassifier(schema=SCHEMA).fit(COLUMNS, [*ILL[:-1], "hunter2"])
    assert "hunter2" not in str(caught.value)


def test_a_record_that_breaks_the_schema_is_refused_without_its_value() -> None:
    study = SUPMClassifier(schema=SCHEMA).fit(COLUMNS, ILL)
    with pytest.raises(RecordError, match="stage: 1 of 1 records") as caught:
        study.predict([{"age": 61, "stage": "hunter2", "ward": "east"}])
    assert "hunter2" not in str(caught.value)


def test_labels_that_were_found_are_warned_of_where_randomness_is_secure() -> None:
    table, labels = np.array([[-0.5], [0.5]] * 20), np.array([0, 1] * 20)
    with pytest.warns(UserWarning, match="the labels that occur in y are taken for the public"):
        SUPMClassifier().fit(table, labels)
    SUPMClassifier(random_state=1).fit(table, labels)
