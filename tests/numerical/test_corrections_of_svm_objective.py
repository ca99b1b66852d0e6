"""Corrections 36 to 43 of docs/errata.md: the classifier of FedDPDR-DPML, paper 003.

As in tests/numerical/test_corrections_of_svm.py, what a paper prints stands as a function whose
name begins with ``printed``, and one assertion is put to both versions. The law of a minimum is
exact here: with one coefficient, the noise that leads to a minimum is a function of the minimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import laplace

from supm import simulation
from supm.federation.margin import reduced
from supm.learning._margin_solver import HuberLoss
from supm.learning.margins import fit_margins, winners
from supm.mechanisms.noise import GammaNorm, GaussianNoise, LossBounds
from supm.mechanisms.noise.objective import Mode, ObjectivePerturbation

Floats = NDArray[np.float64]
Slopes = Callable[[Floats], Floats]
EPSILON, SIZE = 1.0, 20
HUBER = LossBounds(loss="huber", classes=2)


def table(last: float) -> Floats:
    """Return signed records y x of one number each; the last one is what neighbours differ in."""
    return np.append(np.tile([0.9, -0.2, 0.6], 7)[: SIZE - 1], last)


def printed_hinge(margins: Floats) -> Floats:
    """Section 4.3: max(0, 1 - y x b)."""
    return np.where(margins < 1, -1.0, 0.0)


def huber(margins: Floats) -> Floats:
    """The slope of the library's loss, for records whose sign is in the margin."""
    return HuberLoss(np.ones((1, 1))).slopes(margins.reshape(-1, 1)).reshape(margins.shape)


def steepness(places: Floats, records: Floats, slopes: Slopes, strength: float) -> Floats:
    """Return the slope of n times the objective without noise."""
    margins = places[:, None] * records
    return np.asarray((slopes(margins) * records).sum(axis=1) + SIZE * strength * places)


def law(
    edges: Floats, records: Floats, slopes: Slopes, noise: ObjectivePerturbation, share: float = 1.0
) -> Floats:
    """Return the chance of each cell for the exact minimum; noise counts by its share."""
    steep = steepness(edges, records, slopes, noise.strength)
    return np.diff(laplace.sf(-steep / share, scale=noise.scale))


def kinks(records: Sequence[float]) -> Floats:
    """Return cells from -3 to 3, with narrow ones where the margin of a record is one."""
    narrow = [1 / each + side for each in records for side in (-1e-6, 1e-6)]
    return np.sort(np.concatenate([np.linspace(-3, 3, 601), narrow]))


def needed(laws: Sequence[Floats], least: float = 1e-12) -> float:
    """Return the least epsilon that two laws allow on cells that one of them gives a chance."""
    one, other = laws
    possible = (one > least) | (other > least)
    with np.errstate(divide="ignore"):
        gaps = np.abs(np.log(one[possible]) - np.log(other[possible]))
    return float(gaps.max())


def assert_pure(laws: Sequence[Floats], least: float = 1e-12) -> None:
    assert needed(laws, least) <= EPSILON, "more than epsilon"


def perturbation(mode: Mode = "tight") -> ObjectivePerturbation:
    return ObjectivePerturbation.for_epsilon(
        bounds=HUBER, size=SIZE, regularisation=0.05, epsilon=EPSILON, mode=mode
    )


def test_36_the_hinge_has_a_corner_and_its_minimum_sits_there() -> None:
    records, edges = (1.0, 0.8), kinks((1.0, 0.8))
    noise = perturbation("cms")
    hinge = [law(edges, table(last), printed_hinge, noise) for last in records]
    corner = int(np.searchsorted(edges, 1.0)) - 1
    assert hinge[0][corner] > 1e-2, "exactly at the corner of a record, with a chance of its own"
    assert needed(hinge) > 8
    with pytest.raises(AssertionError, match="more than epsilon"):
        assert_pure(hinge)
    assert_pure([law(edges, table(last), huber, noise) for last in records])
    # The bound of the library is tight: a record that is turned round needs nearly all of it.
    turned = [law(edges, table(last), huber, perturbation()) for last in (1.0, -1.0)]
    assert_pure(turned)
    assert needed(turned) > 0.998 * EPSILON


def printed_jacobian(curvature: float) -> float:
    """Theorem 9 of Chaudhuri et al., on which Theorem 4.2 rests: log(1 + 2c/(nL) + (c/(nL))^2)."""
    return math.log(1 + 2 / curvature + 1 / curvature**2)


def log_determinants(curvature: float) -> Floats:
    """Return how two curvatures that differ in one record compare, for many and for the worst."""
    drawn = GaussianNoise(1.0).draw(400 * 12, simulation(1)).reshape(400, 4, 3)
    drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
    rest = np.einsum("rki,rkj->rij", drawn[:, 2:], drawn[:, 2:]) + curvature * np.eye(3)
    rest[0] = curvature * np.eye(3)
    ends = [np.einsum("ri,rj->rij", drawn[:, k], drawn[:, k]) for k in (0, 1)]
    ends[1][::2] = 0.0
    first, second = (np.linalg.slogdet(rest + end)[1] for end in ends)
    return np.asarray(first - second)


def assert_is_attained(bound: float, found: Floats) -> None:
    assert found.max() <= bound * (1 + 1e-9), "a pair of records exceeds it"
    assert found.max() == pytest.approx(bound, rel=1e-9), "no pair of records needs so much"


@pytest.mark.parametrize("curvature", [1.0, 6.0, 100.0])
def test_37_one_record_changes_the_jacobian_once(curvature: float) -> None:
    found = log_determinants(curvature)
    with pytest.raises(AssertionError, match="needs so much"):
        assert_is_attained(printed_jacobian(curvature), found)
    assert_is_attained(HUBER.log_determinant(curvature), found)


def printed_branch(size: int, strength: float, epsilon: float) -> tuple[float, float]:
    """Chaudhuri et al., Algorithm 2: theta and what is left of epsilon for the noise."""
    left = epsilon - printed_jacobian(size * strength)
    if left > 0:
        return 0.0, left
    return 1 / (size * math.expm1(epsilon / 4)) - strength, epsilon / 2


def assert_half_is_left(left: float, epsilon: float) -> None:
    assert left >= epsilon / 2 * (1 - 1e-9), "the Jacobian takes nearly all"


@pytest.mark.parametrize(
    ("size", "epsilon", "figure"), [(10_000, 0.025, 0.0051), (5000, 0.05, 0.0104)]
)
def test_38_the_branch_changes_where_half_is_left(size: int, epsilon: float, figure: float) -> None:
    _, left = printed_branch(size, 0.01, epsilon)
    assert left == pytest.approx(figure, abs=5e-5)
    with pytest.raises(AssertionError, match="nearly all"):
        assert_half_is_left(left, epsilon)
    modes: tuple[Mode, ...] = ("cms", "tight")
    for mode in modes:
        ours = ObjectivePerturbation.for_epsilon(
            bounds=HUBER, size=size, regularisation=0.01, epsilon=epsilon, mode=mode
        )
        assert_half_is_left(ours.rate_epsilon, epsilon)
        assert ours.epsilon <= epsilon


def printed_solver(edges: Floats, records: Floats, noise: ObjectivePerturbation) -> Floats:
    """Section 4.3 has "the minimizer"; a solver stops where the gradient is short, here 0.1."""
    tilts = laplace.ppf((np.arange(4000) + 0.5) / 4000, scale=noise.scale)
    places = np.ones_like(tilts)
    for _ in range(40):
        gradient = (steepness(places, records, huber, noise.strength) + tilts) / SIZE
        places = np.where(np.abs(gradient) > 0.1, places - 0.5 * gradient, places)
    return np.asarray(np.histogram(places, bins=edges)[0] / tilts.size)


def test_39_where_a_solver_stops_is_hidden_too() -> None:
    noise, edges = perturbation(), np.linspace(0.85, 1.15, 301)
    stopped = [printed_solver(edges, table(last), noise) for last in (1.0, 0.1)]
    # Steps jump over places, and which ones they jump over depends on a record.
    assert needed(stopped, least=2.5e-3) == math.inf
    with pytest.raises(AssertionError, match="more than epsilon"):
        assert_pure(stopped, least=2.5e-3)
    assert_pure([law(edges, table(last), huber, noise) for last in (1.0, 0.1)])


def changes(classes: int) -> Floats:
    """Return how the gradient of each problem of one class against the rest changes, at zero."""
    signs = np.where(np.arange(classes) == 0, 1.0, -1.0)[None, :]
    slopes = HuberLoss(signs).slopes(np.zeros((1, classes)))[0]
    # The record becomes its opposite.
    return np.asarray(2 * slopes)


def printed_spent(classes: int) -> float:
    """Section 3.3 has two labels, section 5.1 ten: each problem gets the whole of epsilon_2."""
    return float(np.abs(changes(classes)).sum() / perturbation("cms").scale)


def our_spent(classes: int) -> float:
    bounds = LossBounds(loss="huber", classes=classes)
    noise = ObjectivePerturbation.for_epsilon(
        bounds=bounds, size=SIZE, regularisation=0.05, epsilon=EPSILON
    )
    return float(np.linalg.norm(changes(classes)) / noise.scale)


def assert_spends_at_most(spent: float) -> None:
    assert spent <= EPSILON, "each record is in every problem"


def test_40_a_record_is_in_the_problems_of_all_classes() -> None:
    assert_spends_at_most(printed_spent(2) / 2)
    assert printed_spent(10) == pytest.approx(10 * perturbation("cms").rate_epsilon)
    with pytest.raises(AssertionError, match="every problem"):
        assert_spends_at_most(printed_spent(10))
    assert_spends_at_most(our_spent(10))


def printed_log_density(places: Floats) -> Floats:
    """Table 1: the mechanism is Gaussian, here as wide as the noise that section 4.3 describes."""
    return -np.square(places) / (2 * GammaNorm(1, EPSILON / 2).variance)


def our_log_density(places: Floats) -> Floats:
    return -GammaNorm(1, EPSILON / 2).rate * np.abs(places)


def assert_loss_is_bounded(log_density: Callable[[Floats], Floats]) -> None:
    places = np.linspace(-500, 500, 2001)
    losses = np.abs(log_density(places) - log_density(places + 2.0))
    assert losses.max() <= EPSILON * (1 + 1e-12), "no pure epsilon"


def test_41_the_noise_of_the_classifier_is_not_gaussian() -> None:
    with pytest.raises(AssertionError, match="no pure epsilon"):
        assert_loss_is_bounded(printed_log_density)
    assert_loss_is_bounded(our_log_density)


def printed_rows(places: Floats) -> Floats:
    """Sections 3.3 and 4.3: y is told by the sign of x b, without an intercept."""
    return places[:, None]


def our_rows(places: Floats) -> Floats:
    return reduced(places[:, None], None)


def assert_is_told_apart(rows: Floats, labels: NDArray[np.int64]) -> None:
    assert (np.linalg.norm(rows, axis=1) <= 1).all()
    fit = fit_margins(rows, labels, loss="huber", classes=2, strength=1e-3)
    assert (winners(rows @ fit.coefficients.T) == labels).all(), "classes are confused"


def test_42_two_classes_on_one_side_of_zero_need_an_intercept() -> None:
    places = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    labels = np.array([0, 0, 0, 1, 1, 1])
    with pytest.raises(AssertionError, match="confused"):
        assert_is_told_apart(printed_rows(places), labels)
    assert_is_told_apart(our_rows(places), labels)


def test_43_the_noise_of_a_party_is_for_its_own_number_of_records() -> None:
    """Equations (2) to (9) have one n; section 4.1 and Fig. 5 have sizes n_i, here 20 of 100."""
    edges, noise = np.linspace(-3, 3, 61), perturbation()
    printed = [law(edges, table(last), huber, noise, SIZE / 100) for last in (1.0, -1.0)]
    assert needed(printed) == pytest.approx(100 / SIZE * noise.rate_epsilon + 0.5, rel=0.03)
    with pytest.raises(AssertionError, match="more than epsilon"):
        assert_pure(printed)
    assert_pure([law(edges, table(last), huber, noise) for last in (1.0, -1.0)])
