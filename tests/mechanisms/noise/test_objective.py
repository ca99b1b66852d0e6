"""The promise of noise in an objective: by tables, by search, by exact densities, by samples."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import kstest

from supm import simulation
from supm._errors import ParameterError
from supm.audit.empirical import epsilon_lower_bound
from supm.learning.margins import fit_margins
from supm.mechanisms.noise import LossBounds
from supm.mechanisms.noise.objective import ObjectivePerturbation, corner_delta, corner_epsilon
from supm.privacy import ApproximateDP, GaussianDP, Neighbours, PureDP

Floats = NDArray[np.float64]
TWO = LossBounds(loss="huber", classes=2)


def normals(seed: int, *shape: int) -> Floats:
    words = simulation(seed).words(int(np.prod(shape)))
    return np.asarray(ndtri((words.astype(np.float64) + 0.5) / 2.0**64)).reshape(shape)


@pytest.mark.parametrize(
    ("size", "mode", "extra", "left", "length"),
    [
        (100, "cms", 0.785, 0.025, 16.0),
        (1000, "cms", 0.0695, 0.025, 1.6),
        (5000, "cms", 0.0059, 0.025, 0.32),
        (10_000, "cms", 0.0, 0.0301, 0.133),
        (10_000, "tight", 0.0, 0.0400, 0.100),
    ],
)
def test_the_table_of_the_reading_is_reproduced(
    size: int, mode: str, extra: float, left: float, length: float
) -> None:
    svm = ObjectivePerturbation.for_epsilon(
        bounds=TWO,
        size=size,
        regularisation=0.01,
        epsilon=0.05,
        mode=mode,  # type: ignore[arg-type]
    )
    assert svm.extra == pytest.approx(extra, abs=6e-5 if extra < 0.1 else 6e-4)
    assert svm.rate_epsilon == pytest.approx(left, abs=6e-5)
    assert 20 * svm.scale / size == pytest.approx(length, rel=0.01)
    assert 0.05 * (1 - 1e-9) < svm.epsilon <= 0.05
    assert svm.guarantee() == PureDP(epsilon=svm.epsilon, neighbours=Neighbours.REPLACE_ONE)


def test_the_switch_draws_less_noise_than_chaudhuri_where_little_is_left() -> None:
    svm = ObjectivePerturbation.for_epsilon(
        bounds=TWO, size=10_000, regularisation=0.01, epsilon=0.025, mode="cms"
    )
    theirs = 0.025 - 2 * math.log1p(1 / 100)
    assert svm.rate_epsilon / theirs == pytest.approx(2.45, abs=0.01)


def rows(seed: int, *, intercept: bool, width: int = 3) -> Floats:
    drawn = normals(seed, 2, width)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    if seed % 3 == 0:
        drawn[1] = drawn[0] * (1 if seed % 2 else -1)
    return np.hstack((drawn, np.ones((2, 1)))) / math.sqrt(2) if intercept else drawn


def softmax_lengths(pair: Floats, labels: tuple[int, int], classes: int) -> list[float]:
    unit = np.eye(classes)
    first = [np.outer(unit[j] - unit[labels[0]], pair[0]) for j in range(classes)]
    second = [np.outer(unit[j] - unit[labels[1]], pair[1]) for j in range(classes)]
    return [float(((a - b) ** 2).sum()) for a, b in product(first, second)]


def signed_lengths(pair: Floats, labels: tuple[int, int], classes: int) -> list[float]:
    outputs = range(1) if classes == 2 else range(classes)
    blocks = []
    for output in outputs:
        target = 1 if classes == 2 else output
        w, other = (x * (1 if y == target else -1) for x, y in zip(pair, labels, strict=True))
        blocks.append([float(((a * w - b * other) ** 2).sum()) for a in (0, 1) for b in (0, 1)])
    return [sum(each) for each in product(*blocks)]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("loss", "classes"), [("softmax", 2), ("softmax", 4), ("huber", 2), ("huber", 4)]
)
def test_no_two_records_have_more_or_longer_corners(
    loss: str, classes: int, *, intercept: bool
) -> None:
    bounds = LossBounds(loss=loss, classes=classes, intercept=intercept)  # type: ignore[arg-type]
    claimed = np.sort(np.repeat(*np.array(bounds.corners).T))
    lengths = softmax_lengths if loss == "softmax" else signed_lengths
    longest = 0.0
    for seed, labels in product(range(30), [(0, 0), (0, 1), (1, 0)]):
        found = np.sort(lengths(rows(seed, intercept=intercept), labels, classes))
        assert found.size == claimed.size
        # Sorted, each is below the claimed one: so is every increasing function's sum.
        assert (found <= claimed + 1e-9).all()
        longest = max(longest, found[-1])
    assert bounds.reach == pytest.approx(math.sqrt(claimed[-1]))
    if loss == "softmax" or not intercept or classes == 2:
        assert longest == pytest.approx(claimed[-1])


@pytest.mark.parametrize("loss", ["huber", "logistic", "softmax"])
def test_no_record_changes_the_jacobian_more(loss: str) -> None:
    classes = 4 if loss == "softmax" else 2
    bounds = LossBounds(loss=loss, classes=classes)  # type: ignore[arg-type]
    most, width, curvature = 0.0, 3, 2.0
    for seed in range(300):
        pair = rows(seed + 1, intercept=False, width=width)
        matrices = [bend(loss, classes, x, seed + 7 * k) for k, x in enumerate(pair)]
        common = curvature * np.eye(len(matrices[0]))
        if seed % 2:
            common = common + bend(loss, classes, rows(seed + 500, intercept=False)[0], seed)
        logs = [np.linalg.slogdet(common + each)[1] for each in matrices]
        most = max(most, abs(logs[0] - logs[1]))
    alone = np.linalg.slogdet(np.eye(len(common)) + bend(loss, classes, pair[0], -1) / curvature)[1]
    claimed = bounds.log_determinant(curvature)
    assert most <= claimed
    # It is attained, by a record whose shares are equal, against one that bends nothing.
    assert alone == pytest.approx(claimed, rel=1e-9)


def bend(loss: str, classes: int, x: Floats, seed: int) -> Floats:
    square = np.outer(x, x)
    if loss != "softmax":
        most = 1.0 if loss == "huber" else 0.25
        return most * square * (1 if seed < 0 else abs(math.sin(seed)))
    shares = np.full(classes, 1 / classes) if seed < 0 else np.exp(3 * normals(seed, classes))
    shares /= shares.sum()
    return np.kron(np.diag(shares) - np.outer(shares, shares), square)


def slope_and_bend(loss: str, x: float, label: int, points: Floats) -> tuple[Floats, Floats]:
    """Return gradient and second derivative of one record's loss at points, width one."""
    if loss == "softmax":
        scores = points * x
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        matrix = -shares[:, :, None] * shares[:, None, :]
        matrix[:, range(2), range(2)] += shares
        return (shares - np.eye(2)[label]) * x, matrix * x * x
    sign = 1 if label else -1
    lack = 1.5 - sign * x * points
    inside = ((lack > 0) & (lack < 1)).astype(float)
    return -sign * x * np.clip(lack, 0, 1), (inside * x * x)[:, :, None]


def log_density(
    loss: str, records: list[tuple[float, int]], points: Floats, mechanism: ObjectivePerturbation
) -> Floats:
    """Return the logarithm of the density (2) of the minimum."""
    held = mechanism.size * mechanism.strength
    tilt = held * points
    matrix = np.tile(held * np.eye(points.shape[1]), (len(points), 1, 1))
    for x, label in records:
        slope, curved = slope_and_bend(loss, x, label, points)
        tilt += slope
        matrix += curved
    length = np.linalg.norm(tilt, axis=1)
    log_det = np.linalg.slogdet(matrix)[1]
    if mechanism.law == "gamma":
        return np.asarray(-length / mechanism.scale + log_det)
    return np.asarray(-0.5 * (length / mechanism.scale) ** 2 + log_det)


TABLES = [
    ([(1.0, 0)], [(1.0, 1)]),
    ([(1.0, 0)], [(-1.0, 0)]),
    ([(0.6, 1), (1.0, 0)], [(0.6, 1), (0.9, 1)]),
    ([(0.6, 1), (1.0, 0), (-0.3, 0)], [(0.6, 1), (0.0, 1), (-0.3, 0)]),
]


def hockey_stick(mechanism: ObjectivePerturbation, pair: int, epsilon: float) -> float:
    loss, outputs = mechanism.bounds.loss, mechanism.bounds.outputs
    reach = (9 * mechanism.scale + 3) / (mechanism.size * mechanism.strength)
    line = np.linspace(-reach, reach, 50_001 if outputs == 1 else 301)
    points = np.stack(np.meshgrid(*[line] * outputs), axis=-1).reshape(-1, outputs)
    mine, theirs = (log_density(loss, each, points, mechanism) for each in TABLES[pair])
    mine = np.exp(mine - mine.max())
    theirs = np.exp(theirs - np.log(np.exp(theirs - theirs.max()).sum()) - theirs.max())
    return float(np.maximum(mine / mine.sum() - math.exp(epsilon) * theirs, 0).sum())


@pytest.mark.parametrize("pair", range(len(TABLES)))
@pytest.mark.parametrize("loss", ["huber", "softmax"])
def test_the_exact_densities_keep_the_promise_of_normal_noise(loss: str, pair: int) -> None:
    bounds = LossBounds(loss=loss, classes=2)  # type: ignore[arg-type]
    size = len(TABLES[pair][0])
    worst = 0.0
    for scale, curvature in product((1.0, 3.0), (0.5, 10.0)):
        mechanism = ObjectivePerturbation(
            bounds=bounds,
            size=size,
            regularisation=curvature / size,
            extra=0.0,
            law="gaussian",
            scale=scale,
        )
        taken = mechanism.log_determinant
        for epsilon in (taken, taken + 0.5, taken + 2.0):
            exact = hockey_stick(mechanism, pair, epsilon)
            claimed = corner_delta(bounds, scale=scale, log_determinant=taken, epsilon=epsilon)
            assert exact <= claimed + 1e-6
            halved = corner_delta(bounds, scale=2 * scale, log_determinant=taken, epsilon=epsilon)
            worst = max(worst, exact - halved)
    # Noise of half the width would break the promise of the whole, where labels differ.
    assert (loss, pair) != ("huber", 0) or worst > 0.01


@pytest.mark.parametrize("pair", range(len(TABLES)))
def test_the_exact_densities_keep_the_promise_of_gamma_noise(pair: int) -> None:
    size = len(TABLES[pair][0])
    mechanism = ObjectivePerturbation.for_epsilon(
        bounds=TWO, size=size, regularisation=0.5, epsilon=1.0
    )
    points = np.linspace(-30, 30, 100_001)[:, None] / (size * mechanism.strength)
    step = points[1, 0] - points[0, 0]
    logs = [log_density("huber", each, points, mechanism) for each in TABLES[pair]]
    ratios = [each - np.log(np.exp(each - each.max()).sum() * step) - each.max() for each in logs]
    assert np.abs(ratios[0] - ratios[1]).max() <= 1.0 + 1e-3


def minima(label: int, tilt: Floats, held: float) -> Floats:
    """Return the minima for one record x = 1, by cases."""
    sign = 1 if label else -1
    turned = sign * tilt
    inside, low, high = (1.5 - turned) / (1 + held), (1 - turned) / held, -turned / held
    return sign * np.where(low < 0.5, low, np.where(high > 1.5, high, inside))


@pytest.mark.parametrize("weak", [False, True])
def test_samples_do_not_refute_epsilon_and_do_refute_half_the_noise(*, weak: bool) -> None:
    epsilon, source = 1.0, simulation(5)
    mechanism = ObjectivePerturbation.for_epsilon(
        bounds=TWO, size=1, regularisation=20.0, epsilon=epsilon
    )

    def sample(label: int, count: int) -> Floats:
        words = source.words(count).astype(np.float64) + 0.5
        half = words / 2.0**64 - 0.5
        # Gamma of one number is Laplace.
        tilt = -mechanism.scale * np.sign(half) * np.log1p(-2 * np.abs(half))
        found = minima(label, tilt * (0.5 if weak else 1.0), mechanism.strength)
        # What is published is rounded: the lowest bits of a float would tell the two apart.
        return np.rint(found * 1024)

    bound = epsilon_lower_bound(sample, 0, 1, trials=100_000)
    assert (bound.epsilon > 1.2 * epsilon) if weak else (0.5 * epsilon < bound.epsilon <= epsilon)


@pytest.mark.parametrize("label", [0, 1])
def test_the_minima_of_the_audit_are_those_of_the_solver(label: int) -> None:
    for tilt in (-40.0, -1.2, 0.3, 0.9, 25.0):
        fit = fit_margins(
            np.array([[1.0]]),
            np.array([label]),
            loss="huber",
            classes=2,
            strength=2.0,
            tilt=np.array([[tilt]]),
        )
        assert fit.coefficients[0, 0] == pytest.approx(minima(label, np.array(tilt), 2.0))


def test_drawn_tilts_have_their_law() -> None:
    shared = {"bounds": TWO, "size": 10, "regularisation": 1.0, "extra": 0.0, "scale": 2.0}
    normal = ObjectivePerturbation(**shared, law="gaussian")  # type: ignore[arg-type]
    drawn = normal.draw(5000, simulation(1))
    assert drawn.shape == (1, 5000)
    assert kstest(drawn[0] / 2.0, "norm").pvalue > 1e-4
    gamma = ObjectivePerturbation(**shared, law="gamma")  # type: ignore[arg-type]
    source = simulation(2)
    lengths = [float(np.linalg.norm(gamma.draw(3, source))) / 2.0 for _ in range(2000)]
    assert kstest(lengths, "gamma", args=(3,)).pvalue > 1e-4


def test_the_curve_composes_with_earlier_releases_as_normal_noise_does() -> None:
    wide = 1e9
    alone = GaussianDP(mu=0.3, neighbours=Neighbours.REPLACE_ONE).delta_at(0.9)
    found = corner_delta(TWO, scale=wide, log_determinant=0.1, epsilon=1.0, earlier=0.3)
    # All four corners are as short as nothing: each counts the earlier release.
    assert found == pytest.approx(4 * alone, rel=1e-4)


def test_epsilon_and_delta_are_inverse_and_monotone() -> None:
    bounds = LossBounds(loss="softmax", classes=10, intercept=True)
    epsilons = []
    for delta in (1e-3, 1e-5, 1e-9):
        epsilon = corner_epsilon(bounds, scale=10.0, log_determinant=0.02, delta=delta)
        shared = {"scale": 10.0, "log_determinant": 0.02}
        assert corner_delta(bounds, epsilon=epsilon, **shared) <= delta
        assert corner_delta(bounds, epsilon=epsilon - 1e-6, **shared) > delta
        epsilons.append(epsilon)
    assert epsilons == sorted(epsilons)
    assert corner_delta(bounds, scale=10.0, log_determinant=1.0, epsilon=0.5) == 1.0


def test_the_guarantee_of_normal_noise_needs_a_delta() -> None:
    normal = ObjectivePerturbation(
        bounds=TWO, size=100, regularisation=0.1, extra=0.0, law="gaussian", scale=10.0
    )
    assert math.isinf(normal.epsilon)
    promise = normal.guarantee(1e-5)
    assert isinstance(promise, ApproximateDP)
    plain = GaussianDP(mu=0.2, neighbours=Neighbours.REPLACE_ONE).to_approximate(1e-5)
    # Nearly that of plain noise, but for the Jacobian.
    assert plain.epsilon < promise.epsilon < plain.epsilon + normal.log_determinant + 0.01
    with pytest.raises(ParameterError, match="delta"):
        normal.guarantee()


@pytest.mark.parametrize(
    "wrong", [{"law": "laplace"}, {"mode": "loose"}, {"scale": 0.0}, {"size": 0}, {"extra": -1.0}]
)
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    right = {"size": 10, "regularisation": 1.0, "extra": 0.0, "law": "gamma", "scale": 1.0}
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        ObjectivePerturbation(bounds=TWO, **right | wrong)  # type: ignore[arg-type]


def test_losses_that_are_not_known_are_refused() -> None:
    with pytest.raises(ParameterError, match="loss"):
        LossBounds(loss="hinge", classes=2)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="2 for the logistic"):
        LossBounds(loss="logistic", classes=3)
