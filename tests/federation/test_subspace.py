"""Components of parties that may send subspaces only: each is private by its own party's noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from supm import simulation
from supm._errors import MessageError, ParameterError
from supm.federation.components import Components, ScatterNoise, Share, weighted_subspace
from supm.federation.protocol import Circle, party_source, run_pooled
from supm.federation.rows import GRID, Rows, VectorEncoding, scatter, untriangle
from supm.federation.study import FederatedStudy
from supm.learning.directions import average_subspace, principal_components

Floats = NDArray[np.float64]
WIDTH, COUNT, DELTA = 24, 4, 1e-5
ENCODING = VectorEncoding(width=WIDTH, classes=2)
SIZES = (3000, 1000, 2000, 2500, 1500)
NAMES = [f"party {number}" for number in range(len(SIZES))]
# Half of what rows vary by is along the first four columns.
SCALES = np.r_[0.5, 0.35, 0.25, 0.2, np.full(WIDTH - COUNT, 0.12)]


def table(seed: int, size: int, encoding: VectorEncoding = ENCODING) -> Rows:
    words = simulation(seed).words(size * encoding.width).astype(np.float64)
    vectors = np.asarray(ndtri((words + 0.5) / 2.0**64)).reshape(size, encoding.width)
    return encoding.rows(vectors * SCALES[: encoding.width], np.zeros(size, dtype=np.int64))


TABLES = [table(seed, size) for seed, size in enumerate(SIZES)]
WHOLE = np.sum([scatter(rows.values) for rows in TABLES], axis=0) / GRID**2


def protocol(
    share: Share = "subspace",
    *,
    parties: int = len(SIZES),
    colluders: int = 0,
    epsilon: float = 1.0,
) -> Components:
    circle = Circle(parties=parties, colluders=colluders)
    return Components.for_budget(
        encoding=ENCODING,
        epsilon=epsilon,
        delta=DELTA,
        circle=circle,
        components=COUNT,
        share=share,
    )


def test_what_a_party_tells_is_the_projector_of_its_noisy_products_by_its_size() -> None:
    made = protocol()
    told = made.tell(TABLES[0], made.ask([]), simulation(1))
    assert told.dtype == np.int64
    assert told[-1] == SIZES[0]
    assert told.size == made.ask([]).length
    projector = untriangle(told[:-1], WIDTH) / (SIZES[0] * 2.0**20)
    np.testing.assert_allclose(projector @ projector, projector, atol=1e-8)
    assert np.trace(projector) == pytest.approx(COUNT, abs=1e-8)
    again = made.tell(TABLES[0], made.ask([]), simulation(2))
    assert (told[:-1] != again[:-1]).all()


def test_the_sum_is_opened_into_the_average_of_the_parties_subspaces() -> None:
    made, source = protocol(), simulation(3)
    outcome = run_pooled(made, TABLES, NAMES, source)
    parts = []
    for name, rows in zip(NAMES, TABLES, strict=True):
        noisy = ScatterNoise(made.spread).tell(rows, party_source(source, name, "round 0"))
        parts.append(principal_components(ScatterNoise.read(noisy, WIDTH), COUNT)[0])
    wanted = average_subspace(parts, SIZES)
    np.testing.assert_allclose(
        outcome.components.T @ outcome.components, wanted.T @ wanted, atol=1e-6
    )
    assert ((outcome.eigenvalues > 0) & (outcome.eigenvalues < 1)).all()


@pytest.mark.parametrize("colluders", [0, 2, 4])
def test_the_promise_is_that_of_one_partys_noise_whoever_colludes(colluders: int) -> None:
    circle = Circle(parties=5, colluders=colluders)
    made = Components(
        encoding=ENCODING, circle=circle, components=2, spread=1 << 36, share="subspace"
    )
    assert made.guarantee.to_form()["mu"] == pytest.approx(math.sqrt(2) / 16, rel=1e-6)
    assert made.parts[0].guarantee == made.guarantee
    assert "the average of the parties' subspaces" in made.parts[0].method
    alone = protocol("covariance", parties=1)
    assert protocol(colluders=colluders).spread == alone.spread
    assert protocol(colluders=colluders).guarantee == alone.guarantee


def told_apart(spread: int, draws: int = 1500) -> float:
    """How much likelier the first column leads for one record of two neighbours than the other.

    For normal noise this event is the one that tells them apart best, at epsilon 0.
    """
    encoding = VectorEncoding(width=2, classes=1)
    made = Components(
        encoding=encoding, circle=Circle(parties=3, colluders=0), components=1, spread=spread,
        share="subspace",
    )  # fmt: skip
    first = []
    for row in np.eye(2):
        rows = encoding.rows(row[None, :], np.zeros(1, dtype=np.int64))
        told = [made.tell(rows, made.ask([]), simulation(seed)) for seed in range(draws)]
        first.append(np.mean([one[0] > one[2] for one in told]))
    return float(first[0] - first[1])


def test_neighbours_are_told_apart_as_far_as_promised_and_no_farther() -> None:
    spread = ScatterNoise.for_mu(mu=1.0, holders=1).spread
    promised = 2 * float(ndtr(0.5)) - 1
    assert told_apart(spread) == pytest.approx(promised, abs=0.08)
    # The noise that three parties' sum would need is not enough for one subspace.
    shared = ScatterNoise.for_mu(mu=1.0, holders=3).spread
    assert told_apart(shared) > promised + 0.12


def captured(components: Floats) -> float:
    """Return which part of the best subspace's sum of squares components hold."""
    best = principal_components(WHOLE, COUNT)[1].sum()
    return float(np.trace(components @ WHOLE @ components.T) / best)


def test_averaged_subspaces_hold_more_than_one_partys_and_less_than_summed_products() -> None:
    def mean(made: Components, tables: list[Rows]) -> float:
        names = NAMES[: len(tables)]
        runs = [run_pooled(made, tables, names, simulation(seed)) for seed in range(8)]
        return float(np.mean([captured(run.components) for run in runs]))

    largest = mean(protocol(parties=1, epsilon=0.2), [TABLES[0]])
    subspaces = mean(protocol(epsilon=0.2), TABLES)
    # The same noise at each party, and a fifth of its variance where the sum is trusted.
    sums = mean(protocol("covariance", colluders=4, epsilon=0.2), TABLES)
    once = mean(protocol("covariance", epsilon=0.2), TABLES)
    assert largest + 0.01 < subspaces < sums < once - 0.01
    # The figures of docs/proofs/components.md.
    assert [largest, subspaces, sums, once] == pytest.approx([0.91, 0.94, 0.95, 0.99], abs=0.01)


def test_the_statement_says_what_travels_and_whom_it_trusts() -> None:
    study = FederatedStudy(name="subspaces", protocol=protocol(), delta=DELTA)
    assert FederatedStudy.from_json(study.to_json()).protocol == protocol()
    assert "the average of the parties' subspaces" in study.words
    assert "Each of 5 parties adds noise that is enough for its own records" in study.words
    lost = Circle(parties=5, colluders=1, dropouts=1)
    assert lost.alone.endswith("Up to 1 of them may be lost on the way.")
    assert Circle(parties=1).alone == Circle(parties=1).sentence


def test_another_share_is_refused() -> None:
    with pytest.raises(ParameterError, match="share must be 'covariance' or 'subspace'"):
        protocol("components")  # type: ignore[arg-type]  # it is none
    for share in (None, ["subspace"], "Subspace"):
        with pytest.raises(MessageError, match="share must be"):
            Components.from_form(protocol().to_form() | {"share": share})
    before = {name: value for name, value in protocol().to_form().items() if name != "share"}
    with pytest.raises(MessageError, match="has the fields"):
        Components.from_form(before)


def test_a_projector_is_rounded_to_the_nearest_steps() -> None:
    for sign in (1, -1):
        line = np.array([0.6, sign * 0.8])
        # 377487.36, 503316.48 and 671088.64 steps.
        told = weighted_subspace(np.outer(line, line), 1, 1)
        assert told.tolist() == [377_487, sign * 503_316, 671_089]
