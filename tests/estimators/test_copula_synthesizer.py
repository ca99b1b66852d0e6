"""The synthesizer: modes, tables of any kind, statement, and a text that holds all of it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from supm import simulation
from supm._errors import MessageError, ParameterError, RecordError
from supm.estimators import CopulaSynthesizer
from supm.mechanisms import ContinuousLaplace
from supm.mechanisms import GeneralizedRandomizedResponse as Response
from supm.privacy import PureLDP
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn

LAW = ContinuousLaplace.for_epsilon(low=0, high=10, epsilon=6.0)
SCHEMA = ArchiveSchema(
    columns=(
        NumberColumn("height", LAW),
        NumberColumn("weight", LAW),
        ClassColumn("sex", ("f", "m"), Response.for_epsilon(size=2, epsilon=2.0)),
    ),
    target="weight",
)
NUMBERS = ArchiveSchema(columns=SCHEMA.columns[:2])


@pytest.fixture(scope="module")
def noisy() -> dict[str, Any]:
    height = np.linspace(0, 10, 4000)
    sex = np.where(height > 5, "m", "f")
    clean = {"height": height, "weight": 10 - height, "sex": sex}
    return Archive.noised(clean, SCHEMA, simulation(1)).table()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_rows_come_in_the_kind_of_the_table(noisy: dict[str, Any], kind: Any) -> None:
    rows = CopulaSynthesizer(schema=SCHEMA, random_state=1).fit(kind(noisy)).sample(50)
    assert isinstance(rows, kind)
    assert rows.shape == (50, 3)
    assert list(rows.columns) == ["height", "weight", "sex"]
    assert set(rows["sex"]) <= {"f", "m"}


def test_dependence_of_all_kinds_survives(noisy: dict[str, Any]) -> None:
    rows = CopulaSynthesizer(schema=SCHEMA, random_state=1).fit(noisy).sample(5000)
    assert np.corrcoef(rows["height"], rows["weight"])[0, 1] < -0.9
    assert (
        np.mean(rows["height"][rows["sex"] == "m"])
        > np.mean(rows["height"][rows["sex"] == "f"]) + 3
    )
    assert rows["height"].min() >= 0
    assert rows["height"].max() <= 10


def test_a_whole_number_fixes_the_rows_and_none_does_not(noisy: dict[str, Any]) -> None:
    fixed = CopulaSynthesizer(schema=SCHEMA, random_state=3).fit(noisy)
    assert (fixed.sample(100)["height"] == fixed.sample(100)["height"]).all()
    free = CopulaSynthesizer(schema=SCHEMA).fit(noisy)
    assert (free.sample(100)["height"] != free.sample(100)["height"]).any()


def test_the_statement_says_what_a_record_spent_and_that_drawing_is_free(
    noisy: dict[str, Any],
) -> None:
    statement = CopulaSynthesizer(schema=SCHEMA).fit(noisy).statement_
    assert isinstance(statement.total, PureLDP)
    assert statement.total.epsilon == pytest.approx(14.0)
    assert [each.name for each in statement.parts] == ["height", "weight", "sex"]
    assert "post-processing" in statement.words
    assert "epsilon = 14" in statement.words


def test_faithful_is_the_papers_method_and_takes_numbers_only(noisy: dict[str, Any]) -> None:
    table = {name: noisy[name] for name in ("height", "weight")}
    faithful = CopulaSynthesizer(schema=NUMBERS, mode="faithful", random_state=1).fit(table)
    strict = CopulaSynthesizer(schema=NUMBERS, random_state=1).fit(table)
    spread = {
        name: np.corrcoef(each["height"], each["weight"])[0, 1]
        for name, each in {"f": faithful.sample(5000), "s": strict.sample(5000)}.items()
    }
    assert spread["f"] < -0.7
    assert spread["s"] < -0.9
    with pytest.raises(ParameterError, match="numbers only"):
        CopulaSynthesizer(schema=SCHEMA, mode="faithful").fit(noisy)


def test_without_inversion_dependence_is_weaker() -> None:
    height = (np.arange(20_000) + 0.5) / 20_000
    clean = {"height": 10 * height**8, "weight": 10 * (1 - height) ** 8}
    table = Archive.noised(clean, NUMBERS, simulation(2)).table()
    latent, plain = (
        CopulaSynthesizer(schema=NUMBERS, latent=latent, random_state=1).fit(table).model_
        for latent in (True, False)
    )
    assert latent.copulas[0].factor[1, 0] < 2 * plain.copulas[0].factor[1, 0]


@pytest.mark.parametrize("mode", ["strict", "faithful"])
def test_a_text_holds_the_whole_synthesizer(noisy: dict[str, Any], mode: str) -> None:
    table = {name: noisy[name] for name in ("height", "weight")}
    settings: dict[str, Any] = {"mode": mode, "bins": 40, "latent": False, "smooth": True}
    fitted = CopulaSynthesizer(schema=NUMBERS, random_state=5, **settings).fit(table)
    text = fitted.to_json()
    again = CopulaSynthesizer.from_json(text, random_state=5)
    assert again.to_json() == text
    assert again.get_params() == fitted.get_params()
    assert clone(again).mode == mode
    assert again.statement_ == fitted.statement_
    first, second = fitted.sample(200), again.sample(200)
    assert all((first[name] == second[name]).all() for name in first)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version":1,"kind":"other","model":{},"statement":{}}', "not JSON"]
)
def test_a_text_of_something_else_is_refused(text: str) -> None:
    with pytest.raises(MessageError):
        CopulaSynthesizer.from_json(text)


def test_a_text_that_was_changed_is_refused(noisy: dict[str, Any]) -> None:
    form = json.loads(CopulaSynthesizer(schema=SCHEMA).fit(noisy).to_json())
    form["model"]["prior"] = [2.0]
    with pytest.raises(MessageError):
        CopulaSynthesizer.from_json(json.dumps(form))


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "faithful"},
        {"mode": "best"},
        {"bins": True},
        {"bins": 0},
        {"latent": 1},
        {"x": 1},
        {"bins": 7},
        {"bins": 101},
        {"bins": 10**30},
    ],
)
def test_settings_that_are_not_those_of_the_model_are_refused(
    noisy: dict[str, Any], change: dict[str, Any]
) -> None:
    form = json.loads(CopulaSynthesizer(schema=SCHEMA).fit(noisy).to_json())
    form["settings"] |= change
    with pytest.raises(MessageError, match="settings"):
        CopulaSynthesizer.from_json(json.dumps(form))


def test_a_text_tells_what_the_model_was_fitted_with(noisy: dict[str, Any]) -> None:
    fitted = CopulaSynthesizer(schema=SCHEMA).fit(noisy)
    text = fitted.to_json()
    assert fitted.set_params(bins=7).to_json() == text


def test_what_is_missing_is_said_before_anything_is_read(noisy: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="schema must be of kind ArchiveSchema"):
        CopulaSynthesizer().fit(noisy)
    with pytest.raises(ParameterError, match="mode must be one of"):
        CopulaSynthesizer(schema=SCHEMA, mode="best").fit(noisy)
    with pytest.raises(ParameterError, match="bins"):
        CopulaSynthesizer(schema=SCHEMA, bins=1).fit(noisy)
    with pytest.raises(RecordError, match="no column 'sex'"):
        CopulaSynthesizer(schema=SCHEMA).fit({name: noisy[name] for name in ("height", "weight")})
    with pytest.raises(NotFittedError):
        CopulaSynthesizer(schema=SCHEMA).sample(1)


def test_it_is_cloned_as_scikit_learn_does() -> None:
    copy = clone(CopulaSynthesizer(schema=SCHEMA, bins=50, smooth=True))
    assert copy.schema == SCHEMA
    assert (copy.bins, copy.smooth) == (50, True)


def test_an_archive_is_taken_as_it_is() -> None:
    clean = {"height": np.linspace(0, 10, 500), "weight": np.linspace(0, 10, 500)}
    archive = Archive.noised(clean, NUMBERS, simulation(1))
    assert CopulaSynthesizer().fit(archive).sample(10)["height"].shape == (10,)


@pytest.mark.parametrize("bins", [1, 1001, 10**30])
def test_bins_that_no_model_is_fitted_with_are_refused_where_no_number_shows_them(
    bins: int,
) -> None:
    schema = ArchiveSchema(columns=SCHEMA.columns[2:])
    archive = Archive.noised({"sex": ["f", "m"] * 50}, schema, simulation(1))
    form = json.loads(CopulaSynthesizer().fit(archive).to_json())
    assert CopulaSynthesizer.from_json(json.dumps(form)).bins == 100
    form["settings"]["bins"] = bins
    with pytest.raises(MessageError, match="settings"):
        CopulaSynthesizer.from_json(json.dumps(form))


@pytest.mark.parametrize("mode", ["strict", "faithful"])
@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"latent": "no"}, "latent must be True or False, got 'no'"),
        ({"smooth": "no"}, "smooth must be True or False, got 'no'"),
        ({"smooth": 0}, "smooth must be True or False, got 0"),
        ({"latent": None}, "latent must be True or False"),
        ({"latent": np.array([True, False])}, "latent must be True or False, got a ndarray"),
        ({"mode": np.array(["strict", "faithful"])}, "mode must be one of"),
        ({"bins": 10**30}, "bins must be a whole number"),
        ({"bins": 1.5}, "bins must be a whole number"),
    ],
)
def test_settings_are_checked_when_the_model_is_fitted(
    noisy: dict[str, Any], mode: str, settings: dict[str, Any], sentence: str
) -> None:
    table = {name: noisy[name] for name in ("height", "weight")}
    made = CopulaSynthesizer(schema=NUMBERS, **{"mode": mode} | settings)
    with pytest.raises(ParameterError, match=sentence):
        made.fit(table)


def test_a_bool_of_numpy_is_one_too(noisy: dict[str, Any]) -> None:
    made = CopulaSynthesizer(schema=SCHEMA, latent=np.True_, smooth=np.False_)  # type: ignore[arg-type]  # numpy's
    assert CopulaSynthesizer.from_json(made.fit(noisy).to_json()).latent is True


def test_smooth_distributions_are_smoother(noisy: dict[str, Any]) -> None:
    table = {name: noisy[name] for name in ("height", "weight")}

    def roughness(*, smooth: bool) -> float:
        model = CopulaSynthesizer(schema=NUMBERS, smooth=smooth).fit(table).model_
        shares = [each.shares for each in model.marginals[0]]
        return float(np.abs(np.diff(shares, n=2)).sum())

    assert roughness(smooth=True) < 0.2 * roughness(smooth=False)
