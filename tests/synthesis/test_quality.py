from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import RecordError, simulation
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
from supm.synthesis.quality import Quality, assess

ROWS = 6000


def uniform(seed: int, rows: int = ROWS) -> NDArray[np.float64]:
    return np.asarray(simulation(seed).words(rows) / 2.0**64)


def table(rows: int = ROWS) -> dict[str, NDArray[Any]]:
    age = 100 * uniform(1, rows)
    weight = 0.6 * age + 40 * uniform(2, rows)
    ill = np.where(weight + 20 * uniform(3, rows) > 60, "yes", "no")
    return {"age": age, "weight": weight, "ill": ill}


def schema(epsilon: float, target: str = "weight", *, classes: bool = True) -> ArchiveSchema:
    law = ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=epsilon)
    coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=epsilon)
    columns = (NumberColumn("age", law), NumberColumn("weight", law))
    ill = (ClassColumn("ill", ("no", "yes"), coin),)
    return ArchiveSchema(columns=columns + (ill if classes else ()), target=target)


def judged(epsilon: float, *, clean: bool = True, **more: Any) -> Quality:
    described = schema(epsilon, **more)
    archive = Archive.noised(table(), described, simulation(5))
    return assess(archive, table(), table() if clean else None)


def test_distances_from_clean_records_are_measured_before_and_after() -> None:
    found = judged(1.0)
    for column in found.columns:
        assert column.synthetic_distance == pytest.approx(0.0, abs=1e-12)
    far = [each.noisy_distance for each in found.columns if each.noisy_distance is not None]
    assert (len(far), min(far[:2]) > 0.1, far[2] < 0.02) == (3, True, True)
    assert found.dependence_errors is not None
    assert found.dependence_errors[0] > 0.2
    assert found.dependence_errors[1] == pytest.approx(0.0, abs=1e-12)


def test_distances_need_clean_records() -> None:
    found = judged(1.0, clean=False)
    assert found.dependence_errors is None
    assert [each.noisy_distance for each in found.columns] == [None] * 3
    assert found.clean is None


def test_the_figures_of_a_column_are_known_within_their_errors() -> None:
    found = judged(2.0)
    for column in found.columns:
        for each in column.figures:
            assert each.clean is not None
            assert abs(each.estimate - each.clean) < 4 * each.error, (column.name, each.what)
    spread = found.columns[0].figures[1]
    assert spread.noisy > 2 * spread.estimate


def test_a_figure_says_how_far_the_synthetic_rows_are_from_it() -> None:
    archive = Archive.noised(table(), schema(4.0), simulation(5))
    wrong = {**table(), "age": np.full(ROWS, 99.0)}
    good, bad = (assess(archive, each).columns[0].figures[0] for each in (table(), wrong))
    assert good.apart < 4 < bad.apart


def test_rows_that_do_not_fit_the_records_are_noticed() -> None:
    archive = Archive.noised(table(), schema(4.0), simulation(5))
    good = assess(archive, table())
    bad = assess(archive, {**table(), "age": table()["age"][::-1] / 2})
    assert not any("do not fit" in each for each in good.sentences)
    assert any(each.startswith("The mean of age is 2") for each in bad.sentences)
    assert (good.agreeing_pairs, bad.agreeing_pairs) == (3, 1)


def test_a_few_rows_are_not_blamed_for_being_few() -> None:
    archive = Archive.noised(table(), schema(20.0), simulation(5))
    few = {name: column[:12] for name, column in table().items()}
    assert not any("do not fit" in each for each in assess(archive, few).sentences)


def test_reports_out_of_range_are_counted() -> None:
    found = judged(1.0)
    assert found.columns[0].beyond == pytest.approx(0.63, abs=0.03)
    assert found.columns[2].beyond == 0.0
    assert found.columns[0].noisy.sum() == pytest.approx(1 - found.columns[0].beyond)
    assert found.columns[0].synthetic.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("target", ["weight", "ill"])
def test_models_are_measured_on_clean_records(target: str) -> None:
    found = judged(1.0, target=target)
    assert found.models is not None
    errors = {each.name: each.error for each in found.models.errors}
    assert errors["linear model on synthetic rows"] < 0.8 * errors["constant"]
    assert errors["tree on clean records"] < 0.8 * errors["constant"]
    assert errors["tree on noisy records"] > errors["tree on synthetic rows"]
    assert found.models.best.rows == "synthetic"
    assert "is not known" not in found.sentences[-1]


def test_without_clean_records_the_error_of_a_linear_model_is_estimated() -> None:
    truth = judged(3.0, classes=False)
    found = judged(3.0, clean=False, classes=False)
    assert found.models is not None
    assert truth.models is not None
    known = {each.name: each.error for each in truth.models.errors}
    for each in found.models.errors:
        assert abs(each.error - known[each.name]) < 4 * each.standard_error + 0.003, each.name
    assert found.models.errors[2].error < found.models.errors[0].error


def test_a_model_that_noise_hides_is_said_not_to_be_known() -> None:
    described = schema(0.2, classes=False)
    archive = Archive.noised(table(300), described, simulation(5))
    found = assess(archive, table(300))
    assert found.sentences[-1].startswith("What a model of weight is worth cannot be known")


def test_models_need_a_target_and_clean_records_where_there_are_classes() -> None:
    assert judged(1.0, clean=False).models is None
    numbers = schema(1.0, classes=False)
    archive = Archive.noised(table(), numbers, simulation(5))
    untargeted = ArchiveSchema(columns=numbers.columns)
    bare = Archive(schema=untargeted, reports=archive.reports, rows=archive.rows)
    assert assess(bare, table()).models is None


def test_owners_who_told_a_pair_can_be_judged_too() -> None:
    attributes = (
        Continuous("age", low=0, high=100),
        Continuous("weight", low=0, high=100),
        Categorical("ill", values=("no", "yes")),
    )
    pairs = Collection(attributes=attributes, asked=2, budget=12.0)
    reports = pairs.randomize(pairs.encode(table()), simulation(7))
    archive = pairs.archive(reports, target="weight")
    found = assess(archive, table(), table())
    assert found.estimate.rows[0, 1] == pytest.approx(ROWS / 3, rel=0.1)
    assert found.clean is not None
    off = np.abs(found.estimate.strength - found.clean.strength)[np.triu_indices(3, 1)]
    assert (off < 4 * found.estimate.error[np.triu_indices(3, 1)]).all()
    assert found.models is not None
    assert {each.rows for each in found.models.errors} == {"", "synthetic", "clean"}


@pytest.mark.parametrize("law", [ContinuousGaussian, ContinuousPiecewise, ContinuousSquareWave])
def test_every_kind_of_noise_can_be_judged(law: Any) -> None:
    more = {"delta": 1e-6} if law is ContinuousGaussian else {}
    made = law.for_epsilon(low=0, high=100, epsilon=6.0, **more)
    numbers = ArchiveSchema(columns=(NumberColumn("age", made), NumberColumn("weight", made)))
    found = assess(Archive.noised(table(), numbers, simulation(5)), table(), table())
    assert found.clean is not None
    off = abs(found.estimate.strength[0, 1] - found.clean.strength[0, 1])
    assert off < 4 * found.estimate.error[0, 1] < 0.6
    for column in found.columns:
        assert all(each.apart < 5 for each in column.figures)


def test_one_column_has_no_pairs() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=1.0)
    one = ArchiveSchema(columns=(NumberColumn("age", law),))
    found = assess(Archive.noised(table(), one, simulation(1)), table())
    assert (found.all_pairs, found.known_pairs) == (0, 0)
    told, shape = found.sentences
    assert shape.startswith("The shape of the distribution of age is not known")
    assert told.startswith("By the records age has mean 46.9 ± 1.8, standard deviation")


def test_the_total_of_the_record_is_what_is_stated() -> None:
    found = judged(2.0)
    assert found.guarantee.epsilon == pytest.approx(6.0)  # type: ignore[attr-defined]  # pure here


def test_the_form_is_plain_json_with_a_line_for_each_pair() -> None:
    form = json.loads(json.dumps(judged(2.0).to_form(), allow_nan=False))
    assert len(form["pairs"]) == 3
    assert set(form["pairs"][0]) == {
        *("columns", "signed", "noisy", "estimate"),
        *("standard_error", "known", "synthetic", "clean"),
    }
    assert form["models"]["target"] == "weight"
    assert form["guarantee"]["type"] == "pure-ldp"
    assert form["columns"][0]["figures"][0]["what"] == "mean"


def test_a_column_that_nobody_told_is_refused() -> None:
    full = Archive.noised(table(3), schema(1.0), simulation(5))
    reports = {**full.reports, "age": np.array([math.nan, math.nan, 1.0])}
    with pytest.raises(RecordError, match="age: at least two owners must have told it"):
        assess(Archive(schema=full.schema, reports=reports, rows=3), table(3))


def test_a_missing_cell_of_a_plain_table_is_refused_and_not_shown() -> None:
    archive = Archive.noised(table(), schema(1.0), simulation(5))
    broken = {**table(), "age": [math.nan, *table()["age"][1:]]}
    with pytest.raises(RecordError, match="age: a cell of the synthetic table is missing"):
        assess(archive, broken)
    short = {**table(), "age": table()["age"][1:]}
    with pytest.raises(RecordError, match="rows"):
        assess(archive, short)
