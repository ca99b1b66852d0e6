from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supm import ParameterError, RecordError, SchemaError, simulation
from supm.collection import make_model, plan, run_in_process
from supm.estimators import SUPMRegressor
from supm.messages import Model, Trust
from supm.privacy import PureLDP
from supm.schema import Categorical, Continuous, Schema

# 4,000 people on a line, and a column that says nothing.
LINE = np.column_stack((np.linspace(-1.0, 1.0, 4000), np.tile([0.3, -0.3], 2000)))
HEIGHT = 0.8 * LINE[:, 0]
SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Categorical("ward", values=("north", "east"), missing="class"),
    ),
    target=Continuous("pulse", low=40, high=140),
)
COLUMNS: dict[str, list[Any]] = {
    "ward": ["east", None, "north"] * 400,
    "note": ["not read"] * 1200,
    "age": [10.0, 60.0, 90.0, 35.0] * 300,
}
PULSE = [60 + age / 2 for age in COLUMNS["age"]]


def fitted(**parameters: Any) -> SUPMRegressor:
    study = SUPMRegressor(**{"epsilon": 8.0, "random_state": 5, **parameters})
    held: SUPMRegressor = study.fit(LINE, HEIGHT)
    return held


@pytest.mark.parametrize("trust", ["u,u,d", "u,u,u"])
def test_it_explains_more_than_the_constant(trust: str) -> None:
    scores = [fitted(trust=trust, random_state=seed).score(LINE, HEIGHT) for seed in range(3)]
    assert float(np.mean(scores)) > 0.3


def test_noise_alone_leads_to_about_the_constant() -> None:
    order = simulation(1).permutation(4000)
    study = SUPMRegressor(epsilon=1.0, trust="u,u,d", random_state=1).fit(LINE[order], HEIGHT)
    assert study.score(LINE[order], HEIGHT) > -0.1


def test_it_is_the_protocol_of_the_collection() -> None:
    schema = Schema(
        attributes=(Continuous("x0", low=-1, high=1), Continuous("x1", low=-1, high=1)),
        target=Continuous("target", low=-1, high=1),
    )
    study = plan(schema, epsilon=8.0, trust=Trust(test="device"), owners=4000)
    records = schema.read({"x0": LINE[:, 0], "x1": LINE[:, 1], "target": HEIGHT})
    trained = run_in_process(study, records, simulation(5).child("fit"))
    ours = fitted(trust="u,u,d")
    assert ours.study_ == trained.study
    assert ours.model_.to_json() == make_model(trained).to_json()


def test_on_the_device_the_published_model_gives_the_number() -> None:
    study = fitted(trust="u,u,d")
    model = Model.from_json(study.model_.to_json())
    records = study.study_.schema.read({"x0": LINE[:, 0], "x1": LINE[:, 1]}, labelled=False)
    assert np.allclose(study.predict(LINE), model.values(records))
    assert model.statement == study.statement_


def test_a_seed_repeats_a_study_and_none_draws_anew() -> None:
    assert np.array_equal(fitted().predict(LINE), fitted().predict(LINE))
    assert "not private" in fitted().statement_.words
    secure = fitted(random_state=None)
    assert not secure.statement_.simulation
    assert not np.array_equal(secure.predict(LINE), secure.predict(LINE))


def test_the_account_keeps_to_the_budget() -> None:
    spent = fitted(epsilon=3.0).account_
    assert isinstance(spent.training, PureLDP)
    assert isinstance(spent.testing, PureLDP)
    assert 2.9 < spent.training.epsilon <= 3.0
    assert 2.9 < spent.testing.epsilon <= 3.0
    assert fitted(trust="u,u,d").account_.testing == PureLDP(0.0)


def test_predictions_lie_within_the_bounds() -> None:
    told = fitted(epsilon=0.5, target_bounds=(-0.8, 0.8)).predict(LINE)
    assert -0.8 <= float(told.min()) <= float(told.max()) <= 0.8


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, dict])
def test_a_schema_finds_the_columns_of_any_table_by_name(frame: Any) -> None:
    study = SUPMRegressor(epsilon=8.0, schema=SCHEMA, random_state=3)
    told = study.fit(frame(COLUMNS), pl.Series(PULSE)).predict(frame(COLUMNS))
    assert np.array_equal(told, clone(study).fit(COLUMNS, PULSE).predict(COLUMNS))
    assert study.feature_names_in_.tolist() == ["age", "ward"]
    assert study.study_.schema == SCHEMA


def test_a_column_may_be_called_target() -> None:
    table = pd.DataFrame(LINE, columns=["target", "b"])
    study = SUPMRegressor(random_state=1).fit(table, HEIGHT)
    assert study.study_.schema.target.name == "target_"


def test_it_works_in_scikit_learns_tools() -> None:
    pipeline = make_pipeline(
        StandardScaler(), SUPMRegressor(epsilon=8.0, trust="u,u,d", random_state=1)
    )
    order = simulation(1).permutation(4000)
    assert cross_val_score(pipeline, LINE[order], HEIGHT[order], cv=3).mean() > 0.3


@pytest.mark.parametrize(
    "wishes",
    [{"told": 1}, {"classes": 3}, {"keep": 1}, {"test": "sample"}, {"trust": "u,u,d"}],
    ids=repr,
)
def test_a_choice_can_be_pinned(wishes: Any) -> None:
    assert fitted(**wishes).predict(LINE).shape == (4000,)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"epsilon": 0}, "epsilon must be"),
        ({"epsilon": math.nan}, "epsilon must be"),
        ({"trust": 3}, "trust must be three"),
        ({"target_bounds": 3}, "target_bounds must be two numbers"),
        ({"keep": 3}, "keep must be"),
        ({"classes": 1}, "classes must be"),
        ({"told": 0}, "told must be"),
        ({"test": "raw"}, "test must be .* untrusted"),
        ({"schema": {}}, "schema must be"),
        ({"random_state": 0.5}, "random_state must be"),
    ],
    ids=repr,
)
def test_a_wrong_parameter_is_refused_in_fit(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        SUPMRegressor(**wrong).fit(LINE, HEIGHT)


def test_bounds_that_are_none_are_refused() -> None:
    with pytest.raises(SchemaError, match="target_bounds"):
        SUPMRegressor(target_bounds=(1.0, -1.0)).fit(LINE, HEIGHT)


def test_a_target_of_classes_is_refused() -> None:
    schema = Schema(attributes=SCHEMA.attributes, target=Categorical("ill", values=(0, 1)))
    with pytest.raises(ParameterError, match="target must be a continuous attribute"):
        SUPMRegressor(schema=schema).fit(COLUMNS, PULSE)


def test_targets_that_do_not_go_with_the_table_are_refused() -> None:
    with pytest.raises(RecordError, match="y has 3 numbers and the table 4000 records"):
        SUPMRegressor().fit(LINE, HEIGHT[:3])
    with pytest.raises(RecordError, match="the target y is None"):
        SUPMRegressor(schema=SCHEMA).fit(COLUMNS, None)


@pytest.mark.parametrize("secret", ["hunter2", 271828.25 + 1j, None, math.nan, math.inf], ids=repr)
def test_a_target_that_cannot_be_read_is_refused_without_its_value(secret: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        SUPMRegressor().fit(LINE, np.array([*HEIGHT[1:], secret], dtype=object))
    assert "hunter2" not in str(caught.value)
    assert "271828" not in str(caught.value)
    with pytest.raises(RecordError, match="pulse: ") as caught_too:
        SUPMRegressor(schema=SCHEMA).fit(COLUMNS, [*PULSE[1:], secret])
    assert "hunter2" not in str(caught_too.value)
    assert "271828" not in str(caught_too.value)


def test_bounds_that_clip_most_targets_are_mentioned() -> None:
    with pytest.warns(UserWarning, match="most targets lie outside of target_bounds=") as caught:
        SUPMRegressor(random_state=1).fit(LINE, HEIGHT + 50)
    assert caught[0].filename == __file__
