from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import ParameterError, simulation
from supm.mechanisms import ContinuousLaplace, ContinuousPiecewise, GeneralizedRandomizedResponse
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn
from supm.synthesis.quality_dependence import (
    ColumnValues,
    Dependence,
    dependence,
    plain_readings,
    plain_table,
    unbiased_readings,
)

ROWS = 20_000


def normals(seed: int, count: int, rows: int = ROWS) -> NDArray[np.float64]:
    """Return standard normal numbers, by the method of Box and Muller."""
    words = simulation(seed).words(2 * count * rows).reshape(2, rows, count)
    uniform = (words + 0.5) / 2.0**64
    return np.asarray(np.sqrt(-2 * np.log(uniform[0])) * np.cos(2 * np.pi * uniform[1]))


def two_numbers(rho: float, rows: int = ROWS, seed: int = 1) -> dict[str, NDArray[np.float64]]:
    first, other = normals(seed, 2, rows).T
    second = rho * first + math.sqrt(1 - rho**2) * other
    return {"a": np.clip(first / 8 + 0.5, 0, 1), "b": np.clip(second / 8 + 0.5, 0, 1)}


def schema_of(law: str, epsilon: float) -> ArchiveSchema:
    kind = ContinuousLaplace if law == "laplace" else ContinuousPiecewise
    made = kind.for_epsilon(low=0, high=1, epsilon=epsilon)
    return ArchiveSchema(columns=(NumberColumn("a", made), NumberColumn("b", made)))


@pytest.mark.parametrize("law", ["laplace", "piecewise"])
@pytest.mark.parametrize("rho", [0.0, 0.6, -0.9])
def test_the_noise_is_taken_out_and_its_error_is_stated(law: str, rho: float) -> None:
    schema, table = schema_of(law, 6.0), two_numbers(rho)
    true = np.corrcoef(table["a"], table["b"])[0, 1]
    found = []
    for seed in range(30):
        archive = Archive.noised(table, schema, simulation(seed))
        estimate = dependence(unbiased_readings(archive))
        found.append((estimate.strength[0, 1], estimate.error[0, 1]))
        naive = np.corrcoef(archive.reports["a"], archive.reports["b"])[0, 1]
        assert abs(naive) <= abs(true) + 0.05
    strengths, errors = np.array(found).T
    assert strengths.mean() == pytest.approx(true, abs=0.02)
    # The error also covers who was sampled, and the likeliest variance varies less than a moment.
    assert 0.4 * errors.mean() < strengths.std() < 1.2 * errors.mean()


def test_a_pair_that_noise_hides_is_not_called_known() -> None:
    calls = 0
    for seed in range(40):
        archive = Archive.noised(
            two_numbers(0.0, 400, seed), schema_of("laplace", 2.0), simulation(seed)
        )
        calls += int(dependence(unbiased_readings(archive)).known[0, 1])
    assert calls <= 6


def test_a_strong_pair_of_many_records_is_known() -> None:
    archive = Archive.noised(two_numbers(0.8), schema_of("laplace", 6.0), simulation(1))
    found = dependence(unbiased_readings(archive))
    assert found.known[0, 1]
    assert "not known" not in found.sentence(0, 1)
    assert found.sentence(0, 1).startswith("the correlation of a and b is 0.")


def made(strength: float, error: float, *, signed: bool = True) -> Dependence:
    def pair(value: float) -> NDArray[np.float64]:
        return np.array([[1.0, value], [value, 1.0]])

    return Dependence(
        names=("age", "weight"),
        strength=pair(strength),
        error=pair(error),
        signed=np.full((2, 2), signed),
        rows=np.full((2, 2), 10),
    )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (made(0.31, 0.40), "the correlation of age and weight is 0.31 ± 0.40: not known"),
        (made(0.31, 0.10), "the correlation of age and weight is 0.31 ± 0.10"),
        (made(-0.31, 0.10), "the correlation of age and weight is -0.31 ± 0.10"),
        (made(0.9, 4.2), "the correlation of age and weight can be anything: not known"),
        (made(0.0, math.inf), "the correlation of age and weight was not told by enough owners"),
        (
            made(0.1, 0.2, signed=False),
            "the dependence of age and weight is 0.10 ± 0.20: not known",
        ),
    ],
)
def test_what_is_known_is_said_in_words(found: Dependence, words: str) -> None:
    assert found.sentence(0, 1).startswith(words)


def test_classes_without_an_order_have_cramers_v() -> None:
    words = simulation(3).below(3, ROWS).astype(np.int64)
    same = np.where(simulation(4).below(2, ROWS) > 0, words, simulation(5).below(3, ROWS))
    law = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=3.0)
    schema = ArchiveSchema(
        columns=tuple(ClassColumn(name, ("x", "y", "z"), law) for name in ("c", "d"))
    )
    table = {
        "c": np.array(["x", "y", "z"])[words],
        "d": np.array(["x", "y", "z"])[same.astype(int)],
    }
    clean = dependence(plain_readings(plain_table(table, schema, "clean"), schema))
    assert not clean.signed[0, 1]
    counts = np.histogram2d(words, same, 3)[0]
    hoped = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    cramer = math.sqrt(((counts - hoped) ** 2 / hoped).sum() / counts.sum() / 2)
    assert clean.strength[0, 1] == pytest.approx(cramer, abs=0.005)
    archive = Archive.noised(table, schema, simulation(6))
    found = dependence(unbiased_readings(archive))
    assert found.strength[0, 1] == pytest.approx(cramer, abs=3 * found.error[0, 1])
    assert found.known[0, 1]


def test_independent_classes_are_not_known_to_depend() -> None:
    law = GeneralizedRandomizedResponse.for_epsilon(size=4, epsilon=1.0)
    values = ("p", "q", "r", "s")
    schema = ArchiveSchema(columns=tuple(ClassColumn(name, values, law) for name in "ab"))
    calls = 0
    for seed in range(20):
        source = simulation(seed)
        table = {name: np.array(values)[source.below(4, 2000).astype(int)] for name in "ab"}
        found = dependence(unbiased_readings(Archive.noised(table, schema, source)))
        calls += int(found.known[0, 1])
    assert calls <= 3


def test_ordered_and_two_classes_are_read_as_places_and_have_a_sign() -> None:
    table = two_numbers(-0.8)
    law, coin = (
        GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=4.0) for size in (3, 2)
    )
    schema = ArchiveSchema(
        columns=(ClassColumn("a", (0, 1, 2), law, ordered=True), ClassColumn("b", (0, 1), coin))
    )
    places = {"a": np.digitize(table["a"], [0.45, 0.55]), "b": (table["b"] > 0.5).astype(int)}
    true = np.corrcoef(places["a"], places["b"])[0, 1]
    found = dependence(unbiased_readings(Archive.noised(places, schema, simulation(2))))
    assert found.signed[0, 1]
    assert found.strength[0, 1] == pytest.approx(true, abs=0.05)
    assert true < -0.4


def test_cells_that_were_not_asked_are_left_out() -> None:
    line = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    half = np.array([[1.0], [-1.0], [math.nan], [math.nan]])
    none = np.array([[math.nan], [math.nan], [math.nan], [1.0]])
    names = zip("abc", (line, half, none), strict=True)
    found = dependence([ColumnValues(name=name, values=values) for name, values in names])
    assert found.rows.tolist() == [[4, 2, 1], [2, 2, 0], [1, 0, 1]]
    assert found.strength[0, 1] == 1.0
    assert math.isinf(found.error[1, 2])
    assert not found.known[1, 2]


def test_long_tables_are_added_up_in_pieces() -> None:
    table = two_numbers(0.5, rows=150_001)
    schema = schema_of("laplace", 1.0)
    found = dependence(plain_readings(plain_table(table, schema, "clean"), schema))
    assert found.strength[0, 1] == pytest.approx(np.corrcoef(table["a"], table["b"])[0, 1])
    assert found.rows[0, 1] == 150_001


def test_pairs_come_strongest_first() -> None:
    strength = np.array([[1, 0.1, -0.9], [0.1, 1, 0.5], [-0.9, 0.5, 1]])
    found = Dependence(
        names=("a", "b", "c"),
        strength=strength,
        error=np.full((3, 3), 0.1),
        signed=np.ones((3, 3), dtype=bool),
        rows=np.ones((3, 3), dtype=np.int64),
    )
    assert found.pairs() == [(0, 2), (1, 2), (0, 1)]
    # The last is not known, and has its place among few.
    assert found.strongest(2) == [(0, 2), (0, 1)]
    assert found.strongest(3) == found.pairs()
    assert found.sentences() == [found.sentence(*pair) for pair in found.pairs()]


def test_readings_of_different_rows_are_refused() -> None:
    readings = [ColumnValues(name=str(n), values=np.zeros((n, 1))) for n in (2, 3)]
    with pytest.raises(ParameterError, match="readings must be of the same rows"):
        dependence(readings)
