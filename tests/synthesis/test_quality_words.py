from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from supm import ParameterError, simulation
from supm.mechanisms import (
    ContinuousGaussian,
    ContinuousLaplace,
    ContinuousPiecewise,
    ContinuousSquareWave,
    GeneralizedRandomizedResponse,
)
from supm.schema import Categorical, Continuous
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn
from supm.synthesis.collecting import Collection
from supm.synthesis.columns import Column
from supm.synthesis.quality import Quality, assess
from supm.synthesis.quality_models import ModelError, ModelReport

ROWS = 2000


def uniform(seed: int, rows: int = ROWS) -> Any:
    return simulation(seed).words(rows) / 2.0**64


def table(rows: int = ROWS) -> dict[str, Any]:
    age = 100 * uniform(1, rows)
    weight = 0.6 * age + 40 * uniform(2, rows)
    return {"age": age, "weight": weight, "sex": np.where(uniform(3, rows) > 0.3, "f", "m")}


def number(name: str, epsilon: float, low: float = 0, high: float = 100) -> NumberColumn:
    return NumberColumn(name, ContinuousLaplace.for_epsilon(low=low, high=high, epsilon=epsilon))


def sex(epsilon: float) -> ClassColumn:
    return ClassColumn(
        "sex", ("f", "m"), GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=epsilon)
    )


def judged(used: tuple[Column, ...], stated: tuple[Column, ...], rows: int = ROWS) -> Quality:
    """Judge an archive that was noised in one way and is said to have been noised in another."""
    told = Archive.noised(table(rows), ArchiveSchema(columns=used), simulation(5))
    target = next(each.name for each in reversed(stated))
    return assess(Archive.read(told.table(), ArchiveSchema(columns=stated, target=target)), table())


@pytest.mark.parametrize(
    ("used", "stated", "words"),
    [
        (number("age", 8.0), number("age", 1.0), "age varies less than the noise"),
        (number("age", 8.0), number("age", 8.0, 0, 30), "The mean of age is .*beyond its bounds"),
        (number("age", 1.0), number("age", 3.0), "age varies more than its bounds"),
        (sex(4.0), sex(0.2), "sex has a class that is rarer than the stated noise"),
    ],
)
def test_stated_noise_that_cannot_be_is_noticed_first(
    used: Column, stated: Column, words: str
) -> None:
    found = judged((used,), (stated,))
    assert re.match(words, found.sentences[0])
    assert found.sentences[0].endswith("check epsilon and bounds in the schema.")
    assert list(found.doubts) == [used.name]
    assert not any("do not fit" in each for each in found.sentences)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize(
    "law", [ContinuousLaplace, ContinuousGaussian, ContinuousPiecewise, ContinuousSquareWave]
)
@pytest.mark.parametrize("rows", [2, 40, ROWS])
def test_stated_noise_that_was_used_is_not_doubted(law: Any, epsilon: float, rows: int) -> None:
    more = {"delta": 1e-6} if law is ContinuousGaussian else {}
    made = law.for_epsilon(low=0, high=100, epsilon=epsilon, **more)
    columns = (NumberColumn("age", made), NumberColumn("weight", made))
    for seed in range(5):
        # The narrowest and the widest that there can be within the bounds.
        held = {"age": np.full(rows, 100.0), "weight": np.where(uniform(3, rows) > 0.5, 0, 100)}
        archive = Archive.noised(held, ArchiveSchema(columns=columns), simulation(seed))
        assert assess(archive, held).doubts == {}


def test_an_error_below_zero_is_never_said() -> None:
    for stated in (0.5, 2.0, 3.0, 7.0):
        used = (number("age", 8.0), number("weight", 8.0))
        found = judged(used, (number("age", stated), number("weight", stated)))
        assert found.models is not None
        words = " ".join((*found.sentences, *map(found.models.told, found.models.errors)))
        assert not re.search(r"error of -|has -|^-| -\\d", words)
        assert found.models.constant.error > 0 or not found.models.telling


def test_two_or_equal_records_do_not_tell_an_error() -> None:
    columns = (number("age", 4.0), number("weight", 4.0))
    schema = ArchiveSchema(columns=columns, target="weight")
    for held in (
        {"age": [10.0, 90.0], "weight": [5.0, 6.0]},
        {"age": [50.0] * 9, "weight": [50.0] * 9},
    ):
        found = assess(Archive.read(held, schema), held)
        assert found.known_pairs == 0
        assert found.columns[0].figures[0].error > 5
        assert found.models is not None
        assert not found.models.telling
        assert found.sentences[-1].startswith("What a model of weight is worth cannot be known")
        assert found.sentences[0].endswith(
            "records say almost nothing about what their owners held."
        )


def test_the_error_of_a_model_covers_what_its_coefficients_follow_of_the_noise() -> None:
    schema = ArchiveSchema(columns=(number("age", 4.0), number("weight", 4.0)), target="weight")
    apart = []
    for seed in range(12):
        archive = Archive.noised(table(300), schema, simulation(seed))
        noisy = assess(archive, archive.table()).models
        assert noisy is not None
        slope = np.polyfit(archive.reports["age"], archive.reports["weight"], 1)[0]
        left = table(20_000)["weight"] - slope * table(20_000)["age"]
        apart.append((noisy.errors[2].error - left.var() / 1e4) / noisy.errors[2].standard_error)
    assert max(map(abs, apart)) < 3.5
    assert np.mean(np.abs(apart) < 1.5) > 0.6


def test_what_the_same_records_tell_of_two_models_is_compared_record_by_record() -> None:
    schema = ArchiveSchema(columns=(number("age", 12.0), number("weight", 12.0)), target="weight")
    gains, doubts = [], list[float]()
    for seed in range(25):
        held = {name: column[seed * 300 :][:300] for name, column in table(7500).items()}
        found = assess(Archive.noised(held, schema, simulation(seed)), table()).models
        assert found is not None
        assert found.best.gain_error is not None
        gains.append(found.constant.error - found.errors[2].error)
        doubts.append(found.errors[2].gain_error or 0.0)
    assert np.std(gains) == pytest.approx(np.mean(doubts), rel=0.4)


def report(error: float, doubt: float, span: float | None = 100.0) -> ModelReport:
    constant = ModelError(model="constant", rows="", error=0.09, standard_error=0.001)
    model = ModelError(model="linear", rows="synthetic", error=error, standard_error=doubt)
    return ModelReport(target="t", measure="", method="", errors=(constant, model), span=span)


@pytest.mark.parametrize(
    ("error", "doubt", "words"),
    [
        (0.04, 0.004, "20 ± 1"),
        (0.001, 0.002, "at most 7.07"),
        (-0.001, 0.001, "at most 3.16"),
        (-0.5, 0.01, "not known"),
        (0.5, 7e6, "not known"),
    ],
)
def test_an_error_is_told_in_the_unit_of_the_target(error: float, doubt: float, words: str) -> None:
    found = report(error, doubt)
    assert found.told(found.errors[1]) == words
    assert found.best.known


def test_the_sentence_has_the_unit_and_the_constant() -> None:
    assert report(0.04, 0.004).sentence == (
        "The linear model on synthetic rows predicts t with an error of 20 ± 1, and always "
        "predicting the same has 30 (root mean square error in the unit of t)."
    )
    assert "(balanced error); which is better is not known." in report(0.08, 0.02, None).sentence
    assert report(0.1, 0.02).sentence.startswith("No model of t is better")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ((number("age", 4.0), sex(4.0)), "since sex has classes: .* NoiseAwareClassifier"),
        ((sex(4.0), number("age", 4.0)), "since sex has classes: .* NoiseAwareRegressor"),
    ],
)
def test_where_models_cannot_be_judged_the_reason_is_said(
    columns: tuple[Column, ...], words: str
) -> None:
    assert re.search(words, judged(columns, columns).sentences[-1])


def test_owners_who_told_some_columns_are_a_reason_too() -> None:
    attributes = (Continuous("age", low=0, high=100), Continuous("weight", low=0, high=100))
    pairs = Collection(
        attributes=(*attributes, Categorical("sex", values=("f", "m"))), asked=2, budget=9.0
    )
    reports = pairs.randomize(pairs.encode(table()), simulation(7))
    found = assess(pairs.archive(reports, target="weight"), table())
    assert "since each owner told some columns only" in found.sentences[-1]


@pytest.mark.parametrize("rows", [1, 2, 5, 20])
def test_few_rows_are_not_blamed_for_being_all_alike(rows: int) -> None:
    columns = (number("age", 20.0), sex(6.0))
    schema = ArchiveSchema(columns=columns)
    held = table(20_000)
    archive = Archive.noised(held, schema, simulation(5))
    few = {"age": held["age"][:rows], "sex": ["f"] * rows}
    assert not any("do not fit" in each for each in assess(archive, few).sentences)


def test_wrong_kinds_are_refused_in_a_sentence() -> None:
    with pytest.raises(ParameterError, match="archive must be of kind Archive"):
        assess(table(), table())  # type: ignore[arg-type]  # the point of the test


def test_what_was_spent_has_few_digits() -> None:
    found = judged((number("age", 7.999999999999998),), (number("age", 7.999999999999998),))
    assert "(local differential privacy, epsilon = 8)." in found.spent
    assert "e^40 " in judged((number("age", 40.0),), (number("age", 40.0),)).spent
    assert (
        "epsilon = 0.123457)"
        in judged((number("age", 0.12345678),), (number("age", 0.12345678),)).spent
    )


def test_pairs_that_nobody_told_have_no_figure_in_the_form() -> None:
    attributes = tuple(Continuous(name, low=0, high=1) for name in "abc")
    pairs = Collection(attributes=attributes, asked=2, budget=9.0)
    held = {name: np.full(4, 0.5) for name in "abc"}
    for seed in range(40):
        archive = pairs.archive(pairs.randomize(pairs.encode(held), simulation(seed)))
        told = {name: np.isfinite(column) for name, column in archive.reports.items()}
        if all(each.sum() > 1 for each in told.values()) and (told["a"] & told["b"]).sum() < 2:
            break
    forms = {tuple(each["columns"]): each for each in assess(archive, held).to_form()["pairs"]}
    assert forms["a", "b"]["standard_error"] is None
