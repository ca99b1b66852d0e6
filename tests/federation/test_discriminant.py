"""The two rounds: what is told, what is promised for it, what comes out, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import ParameterError, simulation
from supm.federation.discriminant import Discriminant, DiscriminantOutcome
from supm.federation.protocol import Circle, run_pooled
from supm.federation.rows import (
    GRID,
    Rows,
    SchemaEncoding,
    VectorEncoding,
    class_counts,
    class_sums,
    grid_rows,
    scatter,
    triangle,
)
from supm.mechanisms.noise import GaussianNoise
from supm.privacy import GaussianDP, Neighbours
from supm.schema import Categorical, Continuous, Schema

Floats = NDArray[np.float64]


def people(size: int, width: int = 4, classes: int = 2, apart: float = 0.6) -> Rows:
    drawn = GaussianNoise(0.15).draw(size * width, simulation(8)).reshape(size, width)
    labels = np.arange(size) % classes
    angles = 2 * np.pi * labels / classes
    drawn[:, 0] += apart * np.cos(angles)
    if width > 1:
        drawn[:, 1] += apart * np.sin(angles)
    return grid_rows(drawn, labels, classes=classes)


def plan(width: int = 4, classes: int = 2, parties: int = 1, **more: Any) -> Discriminant:
    settings: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-3, "circle": Circle(parties=parties)}
    encoding = VectorEncoding(width=width, classes=classes)
    return Discriminant.for_budget(encoding=encoding, **settings | more)


def run(protocol: Discriminant, *tables: Rows, seed: int = 5) -> DiscriminantOutcome:
    names = [f"party {n}" for n in range(len(tables))]
    outcome = run_pooled(protocol, tables, names, simulation(seed))
    assert isinstance(outcome, DiscriminantOutcome)
    return outcome


def errors(outcome: DiscriminantOutcome, rows: Rows) -> float:
    return float(np.mean(outcome.predict(rows.unit) != rows.labels))


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 4.0])
@pytest.mark.parametrize("histogram", [True, False])
@pytest.mark.parametrize(("parties", "colluders"), [(1, 0), (5, 0), (5, 2), (5, 4)])
def test_the_budget_is_kept_and_used(
    *, epsilon: float, histogram: bool, parties: int, colluders: int
) -> None:
    circle = Circle(parties=parties, colluders=colluders)
    protocol = plan(epsilon=epsilon, circle=circle, histogram=histogram)
    promise = protocol.guarantee
    assert isinstance(promise, GaussianDP)
    assert promise.neighbours is Neighbours.REPLACE_ONE
    assert 0.999 * epsilon < promise.to_approximate(1e-3).epsilon <= epsilon
    assert protocol.rounds == len(protocol.parts) == 1 + histogram


def test_the_promise_follows_from_the_widths_and_is_the_sum_of_its_parts() -> None:
    protocol = plan()
    moments, histogram = (part.guarantee for part in protocol.parts)
    assert isinstance(moments, GaussianDP)
    assert isinstance(histogram, GaussianDP)
    assert isinstance(protocol.guarantee, GaussianDP)
    assert protocol.guarantee.mu**2 == pytest.approx(moments.mu**2 + histogram.mu**2)
    assert moments.mu**2 == pytest.approx(0.7 * protocol.guarantee.mu**2, rel=1e-4)
    wider = replace(protocol, histogram=2 * (protocol.histogram or 0))
    assert wider.parts[1].guarantee.mu == pytest.approx(histogram.mu / 2, rel=1e-6)  # type: ignore[attr-defined]  # of that kind


def test_a_party_tells_its_exact_statistics_and_noise_of_the_stated_widths() -> None:
    protocol, rows = plan(width=3), people(50, width=3)
    question = protocol.ask([])
    told = np.array([protocol.tell(rows, question, simulation(seed)) for seed in range(400)])
    exact = [class_sums(rows).ravel(), 2 * triangle(scatter(rows.values)), class_counts(rows)]
    noise = told - np.concatenate([*exact, [rows.size, 1]])
    assert (noise[:, -2:] == 0).all()
    sums, products, counts, _ = np.split(noise / GRID, [6, 12, 14], axis=1)
    diagonal = np.array([True, False, False, True, False, True])
    for part, width in (
        (sums, protocol.noise.sums / GRID),
        (counts, protocol.noise.counts / GRID),
        # Twice a scatter: 2 Z on the diagonal, Z + Z' beside it.
        (products[:, diagonal], 2 * protocol.noise.scatter / GRID),
        (products[:, ~diagonal], 2**0.5 * protocol.noise.scatter / GRID),
    ):
        assert part.std() == pytest.approx(width, rel=5 / np.sqrt(2 * part.size))
        assert abs(part.mean()) < 5 * width / np.sqrt(part.size)
    # No two numbers share their noise.
    between = np.corrcoef(noise[:, :-2].T) - np.eye(14)
    assert np.abs(between).max() < 6 / np.sqrt(len(noise))


def test_the_second_round_counts_every_row_once() -> None:
    protocol, rows = plan(bins=8), people(200)
    totals = [protocol.tell(rows, protocol.ask([]), simulation(1))]
    question = protocol.ask(totals)
    told = np.array([protocol.tell(rows, question, simulation(seed)) for seed in range(300)])
    assert question.length == 2 * 8 + 2
    assert (told[:, -2:] == [200, 1]).all()
    counts = told[:, :-2].mean(axis=0) / GRID
    width = (protocol.histogram or 0) / GRID
    assert counts.sum() == pytest.approx(200, abs=5 * width * 4 / np.sqrt(300))
    assert told[:, :-2].std(axis=0).mean() / GRID == pytest.approx(width, rel=0.05)


@pytest.mark.parametrize("parties", [1, 3])
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("histogram", [True, False])
def test_classes_are_told_apart(*, parties: int, classes: int, histogram: bool) -> None:
    rows = people(6000, classes=classes)
    circle = Circle(parties=parties, colluders=0)
    protocol = plan(classes=classes, parties=parties, circle=circle, histogram=histogram)
    tables = [
        Rows(values=rows.values[m::parties], labels=rows.labels[m::parties], classes=classes)
        for m in range(parties)
    ]
    outcome = run(protocol, *tables)
    assert not outcome.failed
    assert errors(outcome, rows) < 0.05
    assert outcome.directions.shape == (min(classes - 1, 2 if histogram else 4), 4)


def test_a_party_that_is_lost_between_the_rounds_changes_nothing_in_the_first() -> None:
    protocol = plan(parties=3, circle=Circle(parties=3, colluders=0))
    tables = [people(size) for size in (900, 700, 500)]
    first = protocol.ask([])
    told = [protocol.tell(rows, first, simulation(n)) for n, rows in enumerate(tables)]
    totals = [np.sum(told, axis=0)]
    question = protocol.ask(totals)
    later = [protocol.tell(rows, question, simulation(9 + n)) for n, rows in enumerate(tables[:2])]
    outcome = protocol.conclude([*totals, np.sum(later, axis=0)])
    given = question.given[:4]
    np.testing.assert_array_equal(outcome.directions[0], given)
    assert outcome.counts.sum() == pytest.approx(2100)
    assert outcome.histogram is not None
    assert outcome.histogram.total == 1600
    assert outcome.histogram.noise == pytest.approx(2**0.5 * (protocol.histogram or 0) / GRID)


@pytest.mark.parametrize("width", [1, 2])
def test_records_of_one_number(width: int) -> None:
    rows = people(4000, width=width)
    assert errors(run(plan(width=width), rows), rows) < 0.05


def test_columns_that_are_constant() -> None:
    rows = people(4000)
    values = rows.values.copy()
    values[:, 2:] = 0
    flat = Rows(values=values, labels=rows.labels, classes=2)
    assert errors(run(plan(), flat), flat) < 0.05


@pytest.mark.parametrize("histogram", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_if_all_are_of_one_class_it_is_answered(*, histogram: bool, classes: int) -> None:
    rows = people(2000, classes=classes)
    same = Rows(values=rows.values, labels=np.ones_like(rows.labels), classes=classes)
    outcome = run(plan(classes=classes, histogram=histogram), same)
    assert outcome.failed
    assert set(outcome.predict(rows.unit).tolist()) == {1}


@pytest.mark.parametrize("size", [0, 1, 5])
def test_tables_that_noise_hides_have_a_defined_outcome(size: int) -> None:
    rows = people(size)
    outcome = run(plan(), rows)
    assert outcome.failed
    assert len(set(outcome.predict(people(50).unit).tolist())) == 1
    labels, scores = outcome.sample(10, simulation(1))
    assert labels.shape == (10,)
    assert np.isfinite(scores).all()


def test_a_single_class_in_the_description() -> None:
    outcome = run(plan(classes=1), people(100, classes=1))
    assert outcome.failed
    assert outcome.counts.tolist() == [100.0]


def test_scores_of_vectors_longer_than_one_are_those_of_shortened_ones() -> None:
    outcome = run(plan(), people(2000))
    vectors = people(20).unit
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(
        outcome.scores(7 * vectors / lengths), outcome.scores(vectors / lengths)
    )
    assert (np.abs(outcome.scores(1000 * vectors)) <= 1).all()


def test_a_schema_is_encoded_and_travels_with_the_protocol() -> None:
    schema = Schema(
        attributes=(Continuous("age", low=0, high=100), Categorical("sex", values=("f", "m"))),
        target=Categorical("ill", values=("no", "yes")),
    )
    protocol = Discriminant.for_budget(
        encoding=SchemaEncoding(schema=schema), epsilon=1.0, delta=1e-3, circle=Circle(parties=1)
    )
    form = json.loads(json.dumps(protocol.to_form()))
    assert Discriminant.from_form(form) == protocol
    assert "epsilon" not in json.dumps(form)


@pytest.mark.parametrize("histogram", [True, False])
def test_an_outcome_survives_its_text(*, histogram: bool) -> None:
    outcome = run(plan(classes=3, histogram=histogram), people(3000, classes=3))
    read = DiscriminantOutcome.from_form(json.loads(json.dumps(outcome.to_form())))
    vectors = people(100, classes=3).unit
    np.testing.assert_array_equal(read.predict(vectors), outcome.predict(vectors))
    assert json.dumps(read.to_form()) == json.dumps(outcome.to_form())


def test_without_a_histogram_there_is_nothing_to_draw_from() -> None:
    outcome = run(plan(histogram=False), people(1000))
    with pytest.raises(ParameterError, match="histogram"):
        outcome.sample(3, simulation(1))
