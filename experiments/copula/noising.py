"""Five folds of a repetition: noisy records to learn from, clean ones to be tested on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from experiments.copula.data import table
from experiments.copula.settings import Job
from numpy.typing import NDArray

from supm import RandomSource, simulation
from supm.mechanisms import ContinuousLaplace

__all__ = ["Fold", "folds", "laplace", "noisy_table"]

Floats = NDArray[np.float64]
_FOLDS: Final = 5


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Fold:
    """One fold.

    Parameters
    ----------
    epsilon : float
        The budget of each attribute.
    clean : ndarray
        The training records without noise: for the constant and for the histograms, which have
        noise of their own.
    noisy : ndarray
        The training records as they are held.
    test : ndarray
        Clean records.
    seed : int
        For whatever a method draws.
    """

    epsilon: float
    clean: Floats
    noisy: Floats
    test: Floats
    seed: int

    @property
    def source(self) -> RandomSource:
        """A source from its beginning."""
        return simulation(self.seed)

    @property
    def inputs(self) -> Floats:
        """The attributes of the test records."""
        return self.test[:, :-1]


def folds(job: Job) -> Iterator[Fold]:
    """Yield the folds; all groups of methods get the same ones."""
    clean = table(job.data, job.records, job.repetition)
    noisy = noisy_table(job.data, job.records, job.repetition, job.epsilon)
    order = simulation(job.repetition).child(f"folds {job.data}").permutation(len(clean))
    for number, chosen in enumerate(np.array_split(order, _FOLDS)):
        kept = np.setdiff1d(order, chosen)
        yield Fold(
            epsilon=job.epsilon,
            clean=clean[kept],
            noisy=noisy[kept],
            test=clean[chosen],
            seed=_FOLDS * job.repetition + number,
        )


@lru_cache(maxsize=2)
def noisy_table(data: str, records: int, repetition: int, epsilon: float) -> Floats:
    """Return the table with Laplace noise of scale 1 / epsilon on every attribute."""
    clean = table(data, records, repetition)
    source = simulation(repetition).child(f"noise {data} {epsilon}")
    return laplace(epsilon).randomize(clean.ravel(), source).reshape(clean.shape)


def laplace(epsilon: float) -> ContinuousLaplace:
    """Return the law of the noise of every column."""
    return ContinuousLaplace.for_epsilon(low=0.0, high=1.0, epsilon=epsilon)
