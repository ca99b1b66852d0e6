"""Components of several parties: exact sums, exact noise, and a promise that follows from it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

from supm import simulation
from supm._errors import MessageError, ParameterError
from supm.federation.components import Components, ComponentsOutcome, ScatterNoise, Share
from supm.federation.margin import Margin
from supm.federation.protocol import Circle, RoundQuestion, run_pooled
from supm.federation.rows import GRID, Rows, VectorEncoding, scatter

Floats = NDArray[np.float64]
WIDTH = 6
ENCODING = VectorEncoding(width=WIDTH, classes=2)


def normals(seed: int, *shape: int) -> Floats:
    words = simulation(seed).words(int(np.prod(shape)))
    return np.asarray(ndtri((words.astype(np.float64) + 0.5) / 2.0**64)).reshape(shape)


def table(seed: int, size: int) -> Rows:
    vectors = normals(seed, size, WIDTH) * np.array([0.5, 0.3, 0.05, 0.05, 0.05, 0.05])
    return ENCODING.rows(vectors, np.zeros(size, dtype=np.int64))


def protocol(parties: int = 3, epsilon: float = 5.0, components: int = 2) -> Components:
    return Components.for_budget(
        encoding=ENCODING,
        epsilon=epsilon,
        delta=1e-5,
        circle=Circle(parties=parties, colluders=0),
        components=components,
    )


def test_the_components_of_all_rows_are_found() -> None:
    tables = [table(seed, 4000) for seed in (1, 2, 3)]
    outcome = run_pooled(protocol(), tables, "abc", simulation(1))
    assert np.abs(outcome.components[:, :2]).max(axis=1).min() > 0.99
    whole = sum(scatter(rows.values) for rows in tables) / GRID**2
    np.testing.assert_allclose(outcome.eigenvalues, np.diag(whole)[:2], rtol=0.02)
    vectors = normals(5, 4, WIDTH)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(
        outcome.transform(3 * vectors), vectors @ outcome.components.T, atol=1e-12
    )


def test_what_is_told_is_the_doubled_statistic_with_noise_of_the_stated_width() -> None:
    rows, noise = table(1, 50), ScatterNoise(1 << 34)
    told = np.array([noise.tell(rows, simulation(seed)) for seed in range(400)])
    assert (told[:, -1] == 50).all()
    upper = np.triu_indices(WIDTH)
    exact = 2 * scatter(rows.values)[upper]
    deviations = (told[:, :-1] - exact).std(axis=0) / 2**34
    expected = np.where(upper[0] == upper[1], 2.0, math.sqrt(2.0))
    np.testing.assert_allclose(deviations, expected, rtol=0.25)
    assert np.abs((told[:, :-1] - exact).mean(axis=0)).max() < 2**34 * 0.5


def test_no_replaced_record_changes_the_products_by_more_than_the_sensitivity() -> None:
    worst = 0.0
    for seed in range(200):
        pair = normals(seed, 2, WIDTH)
        if seed % 4 == 0:
            pair[1] = np.roll(np.eye(WIDTH)[0], 1)
            pair[0] = np.eye(WIDTH)[0]
        rows = ENCODING.rows(9 * pair, np.zeros(2, dtype=np.int64))
        change = scatter(rows.values[:1]) - scatter(rows.values[1:])
        worst = max(worst, float(np.linalg.norm(change.astype(np.float64))))
    assert worst <= math.sqrt(2) * GRID**2
    assert worst > 0.999 * math.sqrt(2) * GRID**2


@pytest.mark.parametrize(("colluders", "times"), [(0, 2.0), (3, 1.0)])
def test_the_promise_counts_the_noise_of_those_who_hold(colluders: int, times: float) -> None:
    circle = Circle(parties=4, colluders=colluders)
    made = Components(encoding=ENCODING, circle=circle, components=2, spread=1 << 36)
    assert made.guarantee.to_form()["mu"] == pytest.approx(math.sqrt(2) / 16 / times, rel=1e-6)
    assert made.parts[0].guarantee == made.guarantee


def test_budgets_are_kept_and_used() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        promise = protocol(epsilon=epsilon).guarantee.to_approximate(1e-5)  # type: ignore[attr-defined]  # Gaussian
        assert 0.9999 * epsilon < promise.epsilon <= epsilon


def test_forms_are_read_back_and_others_refused() -> None:
    made = protocol()
    assert Components.from_form(made.to_form()) == made
    for wrong in ({}, made.to_form() | {"x": 1}, made.to_form() | {"spread": 1}):
        with pytest.raises(MessageError):
            Components.from_form(wrong)
    with pytest.raises(MessageError, match="circle"):
        Components.from_form(made.to_form() | {"circle": {"parties": 3}})
    outcome = ComponentsOutcome(components=np.eye(2)[:1], eigenvalues=np.array([3.0]))
    again = ComponentsOutcome.from_form(outcome.to_form())
    assert again.components.tolist() == [[1.0, 0.0]]
    for broken in ({}, {"components": [[1.0]], "eigenvalues": [1.0, 2.0]}):
        with pytest.raises(MessageError):
            ComponentsOutcome.from_form(broken)
    for bad in ("x", [[1.0], [1.0, 2.0]], [[math.nan]]):
        with pytest.raises(MessageError, match=r"of (finite )?numbers"):
            ComponentsOutcome.from_form({"components": bad, "eigenvalues": [1.0]})


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="at most the width of the rows, 6"):
        protocol(components=7)
    made = protocol()
    with pytest.raises(MessageError, match="one of the protocol's rounds"):
        made.tell(table(1, 5), RoundQuestion(number=1, length=3), simulation(1))
    other = VectorEncoding(width=2, classes=2).rows(np.zeros((1, 2)), np.zeros(1, dtype=np.int64))
    with pytest.raises(ParameterError, match="made by the encoding"):
        made.tell(other, made.ask([]), simulation(1))


@pytest.mark.parametrize("share", ["covariance", "subspace"])
def test_so_many_rows_that_a_sum_could_overflow_are_refused(share: Share) -> None:
    """A product is below 2^32 and is told twice, so 2^29 rows of all parties stay below 2^63."""
    parties, encoding = 1000, VectorEncoding(width=1, classes=1)
    made = Components(
        encoding=encoding, circle=Circle(parties=parties), components=1, spread=1 << 36, share=share
    )

    def ones(size: int) -> Rows:
        values = np.full((size, 1), float(GRID))
        return Rows(values=values, labels=np.zeros(size, dtype=np.int64), classes=1)

    most = (1 << 29) // parties
    told = made.tell(ones(most), made.ask([]), simulation(1))
    assert parties * abs(int(told[0])) < 1 << 63
    for size in (most + 1, 0):
        with pytest.raises(ParameterError, match=rf"rows must be a whole number in \[1, {most}\]"):
            made.tell(ones(size), made.ask([]), simulation(1))


def test_what_is_no_encoding_is_refused() -> None:
    margin = Margin.for_budget(
        encoding=ENCODING, epsilon=1.0, delta=1e-5, circle=Circle(parties=2), loss="huber"
    )
    for made in (protocol(), margin):
        with pytest.raises(ParameterError, match="encoding must be of vectors or of a schema"):
            replace(made, encoding="wide")  # type: ignore[arg-type]  # it is none
