"""Dependence within the classes of a target: not that between them, and not the same in each."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from supm import simulation
from supm.mechanisms import ContinuousLaplace, GeneralizedRandomizedResponse
from supm.mechanisms.noise import GaussianNoise
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn, learn_model
from supm.synthesis.moments import (
    ColumnRoles,
    RecordMoments,
    learn_moments,
    pull,
    pull_if_clear,
    within_classes,
)

Floats = NDArray[np.float64]


def normals(*shape: int, seed: int = 1) -> Floats:
    return GaussianNoise(1.0).draw(int(np.prod(shape)), simulation(seed)).reshape(shape)


def schema(epsilon: float, target: float) -> ArchiveSchema:
    number = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    ill = ClassColumn(
        "ill", ("no", "yes"), GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=target)
    )
    columns = (NumberColumn("a", number), NumberColumn("b", number), ill)
    return ArchiveSchema(columns=columns, target="ill")


def table(first: Floats, second: Floats, ill: NDArray[np.int64]) -> dict[str, NDArray[np.generic]]:
    return {"a": first, "b": second, "ill": np.array(["no", "yes"])[ill]}


def moments_of(clean: dict[str, NDArray[np.generic]], described: ArchiveSchema) -> RecordMoments:
    archive = Archive.noised(clean, described, simulation(1))
    return learn_moments(archive, ColumnRoles(described))


def test_a_difference_between_classes_is_no_dependence_within_them() -> None:
    ill = np.arange(40_000) % 2
    means = np.array([[0.4, 0.35], [0.6, 0.65]])
    held = means[ill].T + 0.1 * normals(2, ill.size)
    clean = table(held[0], held[1], ill)
    moments = moments_of(clean, schema(8.0, 4.0))
    found = within_classes(moments, means, np.full(2, 0.5))[0, 1]
    assert moments.covariance[0, 1] > 10 * moments.errors[0, 1]
    assert abs(found) < 4 * moments.errors[0, 1]
    model = learn_model(Archive.noised(clean, schema(8.0, 4.0), simulation(1)))
    for copula in model.copulas:
        assert abs((copula.factor @ copula.factor.T)[0, 1]) < 0.15


def test_each_class_has_its_own_dependence() -> None:
    ill = np.arange(40_000) % 2
    latent = normals(2, ill.size, seed=3)
    rho = np.where(ill == 1, 0.8, -0.8)
    second = rho * latent[0] + 0.6 * latent[1]
    clean = table(ndtr(latent[0]), ndtr(second), ill)
    model = learn_model(Archive.noised(clean, schema(8.0, 4.0), simulation(2)))
    found = [(each.factor @ each.factor.T)[0, 1] for each in model.copulas]
    assert found == pytest.approx([-0.8, 0.8], abs=0.1)


def test_the_error_within_a_class_grows_with_the_noise_of_the_target() -> None:
    ill = (np.arange(2000) % 2).astype(np.int64)
    held = np.clip(0.5 + 0.1 * normals(2, ill.size), 0, 1)
    described = schema(3.0, 0.3)
    layout, found, stated = ColumnRoles(described), [], []
    for seed in range(60):
        archive = Archive.noised(table(held[0], held[1], ill), described, simulation(seed))
        inside, error = learn_moments(archive, layout).within(0, 0.5, held.mean(axis=1))
        found.append(inside[0, 1])
        stated.append(error[0, 1])
    assert np.std(found) == pytest.approx(np.mean(stated), rel=0.3)


def test_what_is_not_clear_goes_all_the_way_to_the_goal() -> None:
    entries, errors, goal = [0.5, -0.4], [0.25, 0.25], [0.1, 0.0]
    assert pull_if_clear(entries, errors, goal).tolist() == goal
    assert pull(entries, errors, goal) != pytest.approx(goal, abs=0.05)
    clear = pull_if_clear([0.9, -0.9], [0.1, 0.1])
    assert clear == pytest.approx(pull([0.9, -0.9], [0.1, 0.1]))
    assert abs(clear).min() > 0.8
