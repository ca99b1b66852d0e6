"""The paper's algorithms as they are printed, and why what they publish is not private."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from experiments.lda_publishing.lookup_attack import LookupAttack
from experiments.lda_publishing.paper_lda import (
    PaperLDA,
    PaperTable,
    _matrices,
    _messages,
    _vectors,
    paper_sigmas,
)
from numpy.typing import NDArray

from supm import ParameterError, RecordError, simulation
from supm.federation.discriminant import Discriminant, DiscriminantOutcome
from supm.federation.protocol import Circle, run_pooled
from supm.federation.rows import VectorEncoding, grid_rows
from supm.mechanisms.noise import GaussianNoise
from supm.privacy import NoGuarantee

Floats = NDArray[np.float64]
PATTERNS = 2.0 * np.array(list(product((0, 1), repeat=15))) - 1.0


def table(size: int, width: int = 4, seed: int = 2) -> PaperTable:
    drawn = GaussianNoise(1.0).draw(size * width, simulation(seed)).reshape(size, width)
    labels = np.arange(size) % 2
    drawn[:, 0] += 1.5 * labels
    return PaperTable(vectors=drawn, labels=labels)


def split(whole: PaperTable, parts: int) -> list[PaperTable]:
    cuts = [whole.labels.size * part // (2 * parts) * 2 for part in range(1, parts)]
    pairs = zip(np.split(whole.vectors, cuts), np.split(whole.labels, cuts), strict=True)
    return [PaperTable(vectors=vectors, labels=labels) for vectors, labels in pairs]


@pytest.mark.parametrize(
    ("width", "epsilon", "sums", "scatter"),
    [(14, 0.05, 16095, None), (15, 0.1, 8925, 1229), (16, 0.2, 4916, 653), (15, 2.0, 446, 61.5)],
)
def test_the_noise_is_that_of_equations_15_and_19(
    width: int, epsilon: float, sums: float, scatter: float | None
) -> None:
    first, second = paper_sigmas(width=width, epsilon=epsilon, delta=0.001)
    assert first == pytest.approx(sums, rel=1e-3)
    assert scatter is None or second == pytest.approx(scatter, rel=1e-3)


def test_records_have_length_one_and_zero_stays_zero() -> None:
    unit = PaperTable(vectors=np.array([[3.0, 4.0], [0.0, 0.0]]), labels=np.array([0, 1]))
    assert unit.vectors.tolist() == [[0.6, 0.8], [0.0, 0.0]]


@pytest.mark.parametrize("parties", [1, 2, 5])
def test_with_hardly_any_noise_the_direction_is_the_textbook_one(parties: int) -> None:
    whole = table(4000)
    published = PaperLDA(epsilon=1e4, delta=0.5, line11="global").publish(
        split(whole, parties), simulation(1)
    )
    means = whole.sums / whole.counts[:, np.newaxis]
    within = whole.products - (means.T * whole.counts) @ means
    wanted = np.linalg.solve(within, means[1] - means[0])
    cosine = published.direction @ wanted
    cosine /= np.linalg.norm(published.direction) * np.linalg.norm(wanted)
    assert cosine > 0.999


def test_what_is_published_are_scores_and_labels_and_nothing_is_promised() -> None:
    whole = table(100)
    published = PaperLDA(epsilon=1.0, delta=0.001).publish(split(whole, 2), simulation(1))
    np.testing.assert_allclose(published.scores, whole.vectors @ published.direction, rtol=1e-12)
    np.testing.assert_array_equal(published.labels, whole.labels)
    assert isinstance(published.guarantee, NoGuarantee)
    assert "Xw and labels" in published.guarantee.reason


@pytest.mark.parametrize("parties", [1, 2, 6])
def test_messages_add_up_to_the_noise_of_one_table(parties: int) -> None:
    exact = [np.zeros((2, 3))] * parties
    noise = _vectors(3, 4.0)
    sums = np.array([np.sum(_messages(exact, noise, simulation(s)), axis=0) for s in range(800)])
    assert sums.std() == pytest.approx(4.0, rel=5 / np.sqrt(2 * sums.size))
    matrices = np.array(
        [np.sum(_messages([np.zeros((3, 3))] * parties, _matrices(3, 4.0), simulation(s)), axis=0)
         for s in range(800)]
    )  # fmt: skip
    np.testing.assert_allclose(matrices, matrices.transpose(0, 2, 1), atol=1e-12)
    upper = matrices[:, *np.triu_indices(3)]
    assert upper.std() == pytest.approx(4.0, rel=5 / np.sqrt(2 * upper.size))


@pytest.mark.parametrize("parties", [3, 10])
def test_each_message_alone_has_all_of_the_noise(parties: int) -> None:
    exact = [np.zeros((2, 3))] * parties
    sent = np.array([_messages(exact, _vectors(3, 4.0), simulation(s))[1] for s in range(800)])
    assert sent.std() == pytest.approx(4.0, rel=5 / np.sqrt(2 * sent.size))


def test_line_11_loses_the_scatter_between_owners() -> None:
    whole = table(4000)
    # Owners whose records lie in different places: what is between them is most of the scatter.
    order = np.argsort(whole.vectors[:, 1])
    sorted_by_place = PaperTable(vectors=whole.vectors[order], labels=whole.labels[order])
    owners = split(sorted_by_place, 5)
    kinds = {
        line11: PaperLDA(epsilon=1e4, delta=0.5, line11=line11).publish(owners, simulation(1))
        for line11 in ("local", "global")
    }  # fmt: skip
    directions = [kinds[kind].direction / np.linalg.norm(kinds[kind].direction) for kind in kinds]
    assert abs(directions[0] @ directions[1]) < 0.99


def test_the_true_promise_of_the_moments_is_by_who_sees_them() -> None:
    views = PaperLDA(epsilon=0.2, delta=0.001).publish(split(table(60), 3), simulation(1)).views
    alone = PaperLDA(epsilon=0.2, delta=0.001).publish([table(60)], simulation(1)).views
    assert set(alone) == {"publisher"}
    ratios = [
        views[name] / alone["publisher"] for name in ("publisher", "eavesdropper", "coalition")
    ]
    assert ratios == pytest.approx([1.243, 1.070, 1.732], abs=1e-3)


def test_an_owner_without_one_of_the_classes() -> None:
    first = PaperTable(vectors=np.eye(3), labels=np.zeros(3, dtype=np.int64))
    second = PaperTable(vectors=-np.eye(3), labels=np.ones(3, dtype=np.int64))
    published = PaperLDA(epsilon=1.0, delta=0.001).publish([first, second], simulation(1))
    assert np.isfinite(published.scores).all()


def test_what_the_paper_does_not_have_is_refused() -> None:
    with pytest.raises(RecordError, match="two classes"):
        PaperTable(vectors=np.eye(3), labels=np.array([0, 1, 2]))
    with pytest.raises(ParameterError, match="line11"):
        PaperLDA(epsilon=1.0, delta=0.001, line11="both")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="delta"):
        PaperLDA(epsilon=1.0, delta=0.9)
    with pytest.raises(ParameterError, match="tables"):
        PaperLDA(epsilon=1.0, delta=0.001).publish([], simulation(1))


@pytest.fixture(scope="module")
def interviews() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of the 2^15 patterns each of many people has, and a label."""
    chosen = simulation(3).below(len(PATTERNS), 5000).astype(np.int64)
    return chosen, (PATTERNS[chosen, :3].sum(axis=1) > 0).astype(np.int64)


def test_every_record_is_read_from_the_scores_of_the_paper(
    interviews: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    chosen, labels = interviews
    tables = split(PaperTable(vectors=PATTERNS[chosen], labels=labels), 3)
    published = PaperLDA(epsilon=0.05, delta=0.001).publish(tables, simulation(1))
    domain = PATTERNS / np.sqrt(15)
    read = LookupAttack(domain=domain, direction=published.direction).recover(published.scores)
    np.testing.assert_array_equal(read, chosen)


def strict(rows: Floats, labels: NDArray[np.int64]) -> DiscriminantOutcome:
    protocol = Discriminant.for_budget(
        encoding=VectorEncoding(width=15, classes=2, norm=15**0.5),
        epsilon=1.0,
        delta=0.001,
        circle=Circle(parties=1),
    )
    table = grid_rows(rows / 15**0.5, labels, classes=2)
    outcome = run_pooled(protocol, [table], ["all"], simulation(4))
    assert isinstance(outcome, DiscriminantOutcome)
    return outcome


def test_the_strict_release_has_nothing_to_look_up(
    interviews: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    chosen, labels = interviews
    outcome = strict(PATTERNS[chosen], labels)
    drawn, scores = outcome.sample(len(chosen), simulation(6))
    attack = LookupAttack(domain=PATTERNS / np.sqrt(15), direction=outcome.directions[0])
    # A uniform score falls into the last bits of a pattern's score hardly ever.
    assert np.count_nonzero(attack.recover(scores[:, 0]) >= 0) <= 1
    assert drawn.size == len(chosen)


def test_the_strict_release_is_as_long_for_ten_people_as_for_thousands(
    interviews: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    chosen, labels = interviews

    def numbers(form: object) -> int:
        if isinstance(form, dict):
            return sum(map(numbers, form.values()))
        return sum(map(numbers, form)) if isinstance(form, list) else 1

    few, many = strict(PATTERNS[chosen[:10]], labels[:10]), strict(PATTERNS[chosen], labels)
    assert numbers(few.to_form()) == numbers(many.to_form())
