"""Corrections 25 to 29 of docs/errata.md: what owners add up and what is seen of it, paper 002.

As in tests/numerical/test_corrections_of_lda.py, what the paper prints stands as a function whose
name begins with ``printed``, and one assertion is put to both versions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from experiments.lda_publishing.lookup_attack import LookupAttack
from experiments.lda_publishing.paper_lda import PaperLDA, PaperTable
from numpy.typing import NDArray

from supm import simulation
from supm.federation.discriminant import Discriminant, DiscriminantOutcome
from supm.federation.discriminant_sums import MomentNoise
from supm.federation.protocol import Circle, run_pooled
from supm.federation.rows import VectorEncoding, grid_rows
from supm.learning.directions import ClassMoments
from supm.mechanisms.noise import (
    GaussianNoise,
    ZeroSumNoise,
    information_coalition,
    information_publisher,
    mirrored_triangle,
    symmetric_gaussian,
)
from supm.privacy import GaussianDP, Neighbours

Floats = NDArray[np.float64]
EPSILON, DELTA = 0.1, 5e-4
TABLE = Neighbours.REPLACE_ONE


def normals(shape: tuple[int, ...], seed: int) -> Floats:
    return GaussianNoise(1.0).draw(math.prod(shape), simulation(seed)).reshape(shape)


def moments(vectors: Floats, labels: NDArray[np.int64]) -> ClassMoments:
    return ClassMoments(
        counts=np.bincount(labels, minlength=2).astype(np.float64),
        sums=np.array([vectors[labels == k].sum(axis=0) for k in (0, 1)]),
        scatter=vectors.T @ vectors,
    )


def printed_within(parts: Sequence[ClassMoments]) -> Floats:
    """Equation (21) and line 11: each owner's products about its own means, added up."""
    return np.asarray(np.sum([part.within for part in parts], axis=0))


def our_within(parts: Sequence[ClassMoments]) -> Floats:
    return ClassMoments(
        counts=np.sum([part.counts for part in parts], axis=0),
        sums=np.sum([part.sums for part in parts], axis=0),
        scatter=np.sum([part.scatter for part in parts], axis=0),
    ).within


def assert_equals_one_table(within: Floats, vectors: Floats, labels: NDArray[np.int64]) -> None:
    assert within == pytest.approx(moments(vectors, labels).within), "the scatter between owners"


def test_25_the_scatter_of_all_owners_is_about_the_means_of_all() -> None:
    labels = np.arange(200) % 2
    vectors = 0.1 * normals((200, 3), 5) + 0.4 * labels[:, None]
    vectors[:100] *= 0.3
    parts = [moments(vectors[:100], labels[:100]), moments(vectors[100:], labels[100:])]
    with pytest.raises(AssertionError, match="between owners"):
        assert_equals_one_table(printed_within(parts), vectors, labels)
    assert_equals_one_table(our_within(parts), vectors, labels)


def subtracted_noise(owners: int, total: float, *, own_means: bool) -> float:
    """The noise that line 11 takes off the diagonal of the scatter, on average, for sigma = 1."""
    zero_sum = ZeroSumNoise(parties=owners, sigma=1.0).draw(4000, simulation(6))
    sent = zero_sum[1:] + normals((owners, 4000), 7) / math.sqrt(owners)
    if own_means:
        return float(np.square(sent).sum(axis=0).mean() * owners / total)
    return float(np.square(sent.sum(axis=0) + zero_sum[0]).mean() / total)


def assert_noise_is_that_of_one_table(noise: float, total: float) -> None:
    assert noise == pytest.approx(1 / total, rel=0.1), "more noise than in one table"


def test_25_the_noise_of_own_means_is_the_square_of_the_owners_times_as_large() -> None:
    printed = subtracted_noise(10, 5000.0, own_means=True)
    assert printed == pytest.approx(100 / 5000, rel=0.1)
    with pytest.raises(AssertionError, match="more noise"):
        assert_noise_is_that_of_one_table(printed, 5000.0)
    assert_noise_is_that_of_one_table(subtracted_noise(10, 5000.0, own_means=False), 5000.0)


def printed_view_factor(owners: int) -> float:
    """Theorems 7 and 8: each message has noise sigma, and all else is post-processing."""
    return math.sqrt((owners - 1) / owners + 1 / owners)


def view_mu(owners: int) -> float:
    """The factor on mu of who sees all messages and g_0, by the covariance of all of them."""
    width = 1 - owners**-2
    joint = width * (np.eye(owners + 1) - 1 / (owners + 1))
    joint[1:, 1:] += np.eye(owners) / owners
    move = np.eye(owners + 1)[1]
    return math.sqrt(move @ np.linalg.inv(joint) @ move)


def assert_covers_the_view(factor: float, seen: float) -> None:
    assert factor >= seen * (1 - 1e-9), "the publisher sees more"


@pytest.mark.parametrize(("owners", "figure"), [(2, 1.183), (3, 1.243), (10, 1.351)])
def test_26_the_publisher_sees_all_messages(owners: int, figure: float) -> None:
    seen = view_mu(owners)
    assert seen == pytest.approx(figure, abs=5e-4)
    with pytest.raises(AssertionError, match="sees more"):
        assert_covers_the_view(printed_view_factor(owners), seen)
    assert_covers_the_view(information_publisher(owners), seen)
    # The generator, or all other owners, leave a party its own noise of sigma^2 / M only.
    assert information_coalition(owners, owners - 1) == pytest.approx(math.sqrt(owners))


@pytest.mark.parametrize(
    ("owners", "publisher", "coalition"), [(3, 0.130, 0.192), (10, 0.143, 0.390)]
)
def test_26_tight_noise_would_not_keep_the_stated_epsilon(
    owners: int, publisher: float, coalition: float
) -> None:
    mu = GaussianDP.for_approximate(epsilon=EPSILON, delta=DELTA, neighbours=TABLE).mu
    factors = information_publisher(owners), information_coalition(owners, owners - 1)
    spent = [GaussianDP(mu=mu * f, neighbours=TABLE).to_approximate(DELTA) for f in factors]
    assert [each.epsilon for each in spent] == pytest.approx([publisher, coalition], abs=1e-3)
    # Masked sums show the publisher nothing else, and colluders are left out of the noise.
    for colluders in range(owners):
        holders = Circle(parties=owners, colluders=colluders).holders
        noise = MomentNoise.for_mu(mu=mu, holders=holders)
        assert noise.mu(holders) <= mu * (1 + 1e-9)


def printed_generator(owners: int) -> Floats:
    """How each of M + 1 rows is made of independent ones, if row 0 is what makes the sum zero."""
    rows = np.vstack([-np.ones(owners), np.eye(owners)])
    return math.sqrt((owners - 1) / owners) * rows @ normals((owners, 20_000), 8)


def our_generator(owners: int) -> Floats:
    return ZeroSumNoise(parties=owners, sigma=1.0).draw(20_000, simulation(9))


def assert_rows_are_as_stated(rows: Floats) -> None:
    assert np.abs(rows.sum(axis=0)).max() < 1e-9, "the rows do not cancel"
    stated = (len(rows) - 2) / (len(rows) - 1)
    assert rows.var(axis=1) == pytest.approx(stated, rel=0.06), "a row has another variance"


@pytest.mark.parametrize("owners", [2, 3, 10])
def test_27_all_rows_that_cancel_have_the_stated_variance(owners: int) -> None:
    printed = printed_generator(owners)
    assert printed[0].var() == pytest.approx(owners - 1, rel=0.06)
    with pytest.raises(AssertionError, match="another variance"):
        assert_rows_are_as_stated(printed)
    assert_rows_are_as_stated(our_generator(owners))


def patterns(attributes: int) -> Floats:
    """Return all records of so many yes-or-no attributes but the empty one, of length one."""
    bits = (np.arange(1, 2**attributes)[:, None] >> np.arange(attributes)) & 1
    return np.asarray(bits / np.linalg.norm(bits, axis=1, keepdims=True))


def our_publication(held: Floats, labels: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the direction, and as many made-up scores as there are records."""
    protocol = Discriminant.for_budget(
        encoding=VectorEncoding(width=held.shape[1], classes=2),
        epsilon=2 * EPSILON,
        delta=2 * DELTA,
        circle=Circle(parties=1),
    )
    outcome = run_pooled(protocol, [grid_rows(held, labels, classes=2)], ["one"], simulation(3))
    assert isinstance(outcome, DiscriminantOutcome)
    return outcome.directions[0], outcome.sample(len(held), simulation(4))[1][:, 0]


def assert_no_record_is_read(domain: Floats, direction: Floats, scores: Floats) -> None:
    read = LookupAttack(domain=domain, direction=direction).recover(scores)
    assert (read < 0).all(), f"{np.mean(read >= 0):.0%} of the records are read"


def test_28_scores_of_single_records_are_not_published() -> None:
    domain = patterns(10)
    held = domain[simulation(1).below(len(domain), 500).astype(np.int64)]
    labels = (held[:, 0] > 0).astype(np.int64)
    table = PaperTable(vectors=held, labels=labels)
    told = PaperLDA(epsilon=2 * EPSILON, delta=2 * DELTA).publish([table], simulation(2))
    with pytest.raises(AssertionError, match="100% of the records"):
        assert_no_record_is_read(domain, told.direction, told.scores)
    found = LookupAttack(domain=domain, direction=told.direction).recover(told.scores)
    assert domain[found] == pytest.approx(held), "and read right"
    assert_no_record_is_read(domain, *our_publication(held, labels))


def assert_no_wider_than_needed(matrix: Floats) -> None:
    """For sigma = 1: (Z + Z')/2 keeps the promise of Z, which is due for both triangles."""
    above = matrix[np.triu_indices(len(matrix), 1)]
    assert above.var() == pytest.approx(0.5, rel=0.05), "twice the variance off the diagonal"


def test_29_symmetric_noise_is_narrower_off_the_diagonal() -> None:
    one, other = np.eye(2)
    moved = np.outer(one, one) - np.outer(other, other)
    assert np.linalg.norm(np.triu(moved)) == np.linalg.norm(moved), "one sensitivity for both"
    # The noise of line 6: drawn on and above the diagonal, copied below it.
    with pytest.raises(AssertionError, match="twice the variance"):
        assert_no_wider_than_needed(mirrored_triangle(150, 1.0, simulation(1)))
    assert_no_wider_than_needed(symmetric_gaussian(150, 1.0, simulation(1)))
