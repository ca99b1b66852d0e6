"""Synthetic tables: known dependence is found again, of every kind of column, through the noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from supm import simulation
from supm._errors import MessageError, ParameterError
from supm.mechanisms import (
    ContinuousGaussian,
    ContinuousLaplace,
    ContinuousPiecewise,
    ContinuousSquareWave,
    GeneralizedRandomizedResponse,
    NoisedNumber,
)
from supm.mechanisms.noise import GaussianNoise
from supm.synthesis import (
    Archive,
    ArchiveSchema,
    ClassColumn,
    NumberColumn,
    learn_model,
    learn_paper_model,
)
from supm.synthesis.moments import ColumnRoles, learn_moments
from supm.synthesis.saved import model_from_form, model_to_form

Floats = NDArray[np.float64]

SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "uniform": lambda u: u,
    "exponential": lambda u: -np.log1p(-u) / 5,
    "zero-inflated": lambda u: np.maximum(0.0, (u - 0.6) / 0.4),
    "two peaks": lambda u: np.square(np.sin(np.pi * u / 2)),
    "skewed": lambda u: u**2,
}


def normals(*shape: int, seed: int = 1) -> Floats:
    return GaussianNoise(1.0).draw(int(np.prod(shape)), simulation(seed)).reshape(shape)


def equicorrelated(size: int, rho: float, rows: int, seed: int) -> Floats:
    matrix = np.full((size, size), rho)
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(np.linalg.cholesky(matrix) @ normals(size, rows, seed=seed))


def numbers_schema(size: int, law: NoisedNumber) -> ArchiveSchema:
    return ArchiveSchema(columns=tuple(NumberColumn(f"c{i}", law) for i in range(size)))


def latent_correlation(rows: dict[str, Floats], names: list[str]) -> Floats:
    """From ranks, which no shape of a marginal changes: rho = 2 sin(pi r / 6)."""
    ranks = [np.argsort(np.argsort(rows[name])) for name in names]
    return np.asarray(2 * np.sin(np.pi * np.corrcoef(ranks) / 6))


def test_a_latent_correlation_is_found_for_five_shapes_through_noise() -> None:
    """Bar: 0.6 within 0.03, 10^5 records, epsilon 5 for each attribute."""
    latent = equicorrelated(5, 0.6, 100_000, seed=11)
    clean = {
        name: np.clip(shape(ndtr(row)), 0.0, 1.0)
        for (name, shape), row in zip(SHAPES.items(), latent, strict=True)
    }
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=5.0)
    schema = ArchiveSchema(columns=tuple(NumberColumn(name, law) for name in SHAPES))
    model = learn_model(Archive.noised(clean, schema, simulation(12)))
    factor = model.copulas[0].factor
    found = (factor @ factor.T)[np.triu_indices(5, 1)]
    assert np.abs(found - 0.6).max() < 0.03


@pytest.mark.parametrize(
    "law",
    [
        ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=8.0),
        ContinuousGaussian(low=0, high=1, sigma=0.15, delta=1e-6),
        ContinuousPiecewise.for_epsilon(low=0, high=1, epsilon=5.0),
        ContinuousSquareWave.for_epsilon(low=0, high=1, epsilon=5.0),
    ],
    ids=lambda law: law.name,
)
def test_every_mechanism_of_numbers_leads_to_the_same_table(law: NoisedNumber) -> None:
    latent = equicorrelated(2, -0.7, 30_000, seed=21)
    clean = {"c0": ndtr(latent[0]), "c1": ndtr(latent[1]) ** 2}
    rows = learn_model(Archive.noised(clean, numbers_schema(2, law), simulation(22))).sample(
        30_000, simulation(23)
    )
    assert latent_correlation(rows, ["c0", "c1"])[0, 1] == pytest.approx(-0.7, abs=0.05)
    for name, column in clean.items():
        levels = np.linspace(0.05, 0.95, 19)
        assert np.quantile(rows[name], levels) == pytest.approx(
            np.quantile(column, levels), abs=0.06
        )


def test_without_noise_the_plain_gaussian_copula_is_left() -> None:
    latent = equicorrelated(3, 0.5, 20_000, seed=31)
    clean = {f"c{i}": ndtr(row) ** (i + 1) for i, row in enumerate(latent)}
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=5000.0)
    archive = Archive.noised(clean, numbers_schema(3, law), simulation(32))
    factor = learn_model(archive).copulas[0].factor
    wanted = latent_correlation(clean, ["c0", "c1", "c2"])
    assert factor @ factor.T == pytest.approx(wanted, abs=0.02)


def test_at_tiny_budgets_nothing_is_made_up() -> None:
    latent = equicorrelated(4, 0.8, 300, seed=41)
    clean = {f"c{i}": ndtr(row) for i, row in enumerate(latent)}
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=0.1)
    rows = learn_model(Archive.noised(clean, numbers_schema(4, law), simulation(42))).sample(
        5000, simulation(43)
    )
    together = np.corrcoef([rows[name] for name in rows])
    assert np.abs(together - np.eye(4)).max() < 0.3


def mixed_schema(epsilon: float) -> ArchiveSchema:
    number = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    grade = GeneralizedRandomizedResponse.for_epsilon(size=4, epsilon=epsilon)
    town = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=epsilon)
    ill = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=epsilon)
    return ArchiveSchema(
        columns=(
            NumberColumn("age", number),
            ClassColumn("grade", ("a", "b", "c", "d"), grade, ordered=True),
            ClassColumn("town", ("x", "y", "z"), town),
            ClassColumn("street", (1, 2, 3), town),
            ClassColumn("ill", ("no", "yes"), ill),
        ),
        target="ill",
    )


def mixed_table(rows: int, seed: int) -> dict[str, NDArray[np.generic]]:
    source = simulation(seed)
    ill = source.below(5, rows) == 0
    town = np.where(ill, source.below(6, rows) // 4, source.below(3, rows)).astype(np.int64)
    street = np.where(source.below(3, rows) == 0, source.below(3, rows).astype(np.int64), town)
    z = normals(2, rows, seed=seed + 1)
    z[1] = 0.6 * z[0] + 0.8 * z[1]
    z[0] += 0.8 * ill + 0.7 * (town == 2)
    return {
        "age": ndtr(z[0]),
        "grade": np.array(list("abcd"))[np.searchsorted([-1.0, 0.0, 1.0], z[1])],
        "town": np.array(list("xyz"))[town],
        "street": street + 1,
        "ill": np.array(["no", "yes"])[ill.astype(int)],
    }


@pytest.fixture(scope="module")
def both() -> tuple[dict[str, NDArray[np.generic]], dict[str, NDArray[np.generic]]]:
    clean = mixed_table(40_000, 51)
    model = learn_model(Archive.noised(clean, mixed_schema(4.0), simulation(53)))
    return clean, model.sample(40_000, simulation(54))


def grade_numbers(table: dict[str, NDArray[np.generic]]) -> NDArray[np.int64]:
    return np.searchsorted(np.array(list("abcd")), table["grade"])


def test_classes_occur_as_often_as_they_did(
    both: tuple[dict[str, NDArray[np.generic]], ...],
) -> None:
    clean, rows = both
    for name in ("grade", "town", "street", "ill"):
        for value in np.unique(clean[name]):
            assert np.mean(rows[name] == value) == pytest.approx(
                np.mean(clean[name] == value), abs=0.02
            )


def test_each_kind_of_dependence_is_kept(both: tuple[dict[str, NDArray[np.generic]], ...]) -> None:
    clean, rows = both
    for ill in ("no", "yes"):
        old, new = (
            {name: column[table["ill"] == ill] for name, column in table.items()} for table in both
        )
        # target and number, number and nominal, nominal and nominal, number and ordered
        assert np.mean(new["age"]) == pytest.approx(np.mean(old["age"]), abs=0.03)
        for town in ("x", "y"):
            found = [np.mean(each["age"][each["town"] == town]) for each in (old, new)]
            assert found[1] == pytest.approx(found[0], abs=0.06)
        stay = [np.mean(np.char.equal(_towns(each), each["town"])) for each in (old, new)]
        assert stay[1] == pytest.approx(stay[0], abs=0.05)
        together = [np.corrcoef(each["age"], grade_numbers(each))[0, 1] for each in (old, new)]
        assert together[1] == pytest.approx(together[0], abs=0.06)
    assert clean.keys() == rows.keys()


def _towns(table: dict[str, NDArray[np.generic]]) -> NDArray[np.str_]:
    named: NDArray[np.str_] = np.array(list("xyz"))[table["street"].astype(int) - 1]
    return named


def test_covariances_are_unbiased_within_each_class() -> None:
    schema = mixed_schema(3.0)
    clean = mixed_table(4000, 61)
    layout = ColumnRoles(schema)
    codes = {"x": 0, "y": 1, "z": 2}
    town = np.eye(3)[[codes[str(each)] for each in clean["town"]]][:, 2]
    ill = clean["ill"] == "yes"
    wanted = np.mean((clean["age"].astype(float) * town)[ill])
    found = []
    for seed in range(30):
        moments = learn_moments(Archive.noised(clean, schema, simulation(100 + seed)), layout)
        share = moments.weights[1, 0]
        inside, _ = moments.within(1, share, np.zeros(layout.width))
        found.append(inside[0, 4])
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - wanted) < 4 * error


def test_the_same_archive_gives_the_same_model_and_it_goes_through_json() -> None:
    archive = Archive.noised(mixed_table(3000, 71), mixed_schema(4.0), simulation(72))
    model = learn_model(archive)
    form = model_to_form(model)
    assert form == model_to_form(learn_model(archive))
    again = model_from_form(form)
    first, second = (each.sample(500, simulation(73)) for each in (model, again))
    assert all((first[name] == second[name]).all() for name in first)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"prior": [0.5, 0.6]},
        {"prior": [1.0]},
        {"marginals": []},
        {"copulas": [{}]},
        {"tree": [{"column": 0, "parent": 1, "shares": [[[1.0]]]}]},
        {"schema": {"version": 1, "columns": []}},
        {"more": 1},
    ],
)
def test_a_model_that_does_not_fit_together_is_refused(change: dict[str, object]) -> None:
    archive = Archive.noised(mixed_table(300, 81), mixed_schema(4.0), simulation(82))
    with pytest.raises(MessageError):
        model_from_form({**model_to_form(learn_model(archive)), **change})


def test_pairs_of_cells_are_enough() -> None:
    """Each record tells two of three columns; dependence is still found."""
    latent = equicorrelated(3, 0.7, 60_000, seed=91)
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=8.0)
    whole = numbers_schema(3, law)
    table = Archive.noised(
        {f"c{i}": ndtr(row) for i, row in enumerate(latent)}, whole, simulation(92)
    ).table()
    left_out = simulation(93).below(3, 60_000)
    for place, name in enumerate(table):
        table[name][left_out == place] = np.nan
    schema = ArchiveSchema(columns=whole.columns, asked=2)
    model = learn_model(Archive.read(table, schema))
    factor = model.copulas[0].factor
    assert (factor @ factor.T)[np.triu_indices(3, 1)] == pytest.approx(np.full(3, 0.7), abs=0.04)


def test_pairs_with_classes_and_a_target_can_be_learned_from() -> None:
    clean = mixed_table(20_000, 95)
    schema = mixed_schema(4.0)
    table = Archive.noised(clean, schema, simulation(96)).table()
    kept = np.argsort(np.argsort(normals(20_000, 5, seed=97), axis=1), axis=1) < 2
    cells = {
        name: [
            cell if told else None
            for cell, told in zip(column.tolist(), kept[:, place].tolist(), strict=True)
        ]
        for place, (name, column) in enumerate(table.items())
    }
    model = learn_model(
        Archive.read(cells, ArchiveSchema(columns=schema.columns, target="ill", asked=2))
    )
    rows = model.sample(20_000, simulation(98))
    assert np.mean(rows["ill"] == "yes") == pytest.approx(0.2, abs=0.03)
    old, new = (np.mean(t["age"][t["ill"] == "yes"]) for t in (clean, rows))
    assert new == pytest.approx(old, abs=0.08)


def test_columns_that_nobody_told_do_not_break_it() -> None:
    schema = mixed_schema(6.0)
    table = Archive.noised(mixed_table(2000, 17), schema, simulation(18)).table()
    empty = {name: [None] * 2000 for name in ("grade", "street")}
    some = {**{name: column.tolist() for name, column in table.items()}, **empty}
    for target in ("ill", None):
        asked = ArchiveSchema(columns=schema.columns, target=target, asked=3)
        rows = learn_model(Archive.read(some, asked)).sample(2000, simulation(19))
        assert np.mean(rows["grade"] == "a") == pytest.approx(0.25, abs=0.05)
        assert np.mean(rows["street"] == 1) == pytest.approx(1 / 3, abs=0.05)


@pytest.mark.parametrize("learn", [learn_model, learn_paper_model])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_few_records_and_constant_columns_do_not_break_it(
    learn: Callable[..., object], rows: int
) -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=50.0)
    clean = {"c0": np.full(rows, 0.5), "c1": np.linspace(0, 1, rows)}
    model = learn(Archive.noised(clean, numbers_schema(2, law), simulation(1)))
    drawn = model.sample(100, simulation(2))  # type: ignore[attr-defined]  # of either function
    assert all(((column >= 0) & (column <= 1)).all() for column in drawn.values())
    assert np.abs(drawn["c0"] - 0.5).max() < 0.3


def test_a_target_with_a_class_that_nobody_has_does_not_break_it() -> None:
    clean = mixed_table(500, 3)
    clean["ill"] = np.full(500, "no")
    model = learn_model(Archive.noised(clean, mixed_schema(6.0), simulation(4)))
    rows = model.sample(1000, simulation(5))
    assert np.mean(rows["ill"] == "no") > 0.95


@pytest.mark.parametrize(
    "names", [("town",), ("town", "street"), ("ill",), ("grade", "ill"), ("age",)]
)
@pytest.mark.parametrize("target", [True, False])
def test_any_selection_of_columns_makes_a_table(names: tuple[str, ...], *, target: bool) -> None:
    schema = mixed_schema(6.0)
    columns = tuple(each for each in schema.columns if each.name in names)
    chosen = "ill" if target and "ill" in names else None
    part = ArchiveSchema(columns=columns, target=chosen)
    clean = {name: column for name, column in mixed_table(5000, 7).items() if name in names}
    model = learn_model(Archive.noised(clean, part, simulation(8)))
    rows = model.sample(5000, simulation(9))
    assert set(rows) == set(names)
    for name in set(names) - {"age"}:
        for value in np.unique(clean[name]):
            share = np.mean(clean[name] == value)
            assert np.mean(rows[name] == value) == pytest.approx(share, abs=0.04)
    assert model_to_form(model_from_form(model_to_form(model))) == model_to_form(model)


def test_the_paper_has_numbers_only() -> None:
    archive = Archive.noised(mixed_table(100, 3), mixed_schema(6.0), simulation(4))
    with pytest.raises(ParameterError, match="mode"):
        learn_paper_model(archive)


def test_how_many_rows_is_checked() -> None:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=5.0)
    model = learn_model(Archive.noised({"c0": np.ones(10)}, numbers_schema(1, law), simulation(1)))
    for rows in (0, -1, 2.5):
        with pytest.raises(ParameterError, match="rows"):
            model.sample(rows, simulation(1))  # type: ignore[arg-type]
    assert len(model.sample(300_000, simulation(1))["c0"]) == 300_000
