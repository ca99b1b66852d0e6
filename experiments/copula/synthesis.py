"""The paper's method and ours, as the package has them."""

from __future__ import annotations

import numpy as np
from experiments.copula.learners import learn
from experiments.copula.noising import Fold, laplace
from numpy.typing import NDArray

from supm.estimators import CopulaSynthesizer, NoiseAwareRegressor
from supm.synthesis import Archive, ArchiveSchema, NumberColumn, leaf_size

__all__ = ["aware_answers", "paper_rows", "strict_answers", "strict_rows"]

Floats = NDArray[np.float64]


def paper_rows(fold: Fold, samples: int) -> Floats:
    """Return rows of the noise-mitigated copula of the paper."""
    return _rows(fold, samples, "faithful")


def strict_rows(fold: Fold, samples: int) -> Floats:
    """Return rows of our copula."""
    return _rows(fold, samples, "strict")


def strict_answers(fold: Fold, samples: int) -> Floats:
    """Return the answers of a tree on rows of our copula, its leaves as large as the noise asks."""
    rows = strict_rows(fold, samples)
    return learn("tree", rows, fold.inputs, leaf=leaf_size(samples, _archive(fold)))


def aware_answers(fold: Fold) -> Floats:
    """Return the answers of the model that needs no rows."""
    model = NoiseAwareRegressor(epsilon=fold.epsilon, bounds=(0.0, 1.0), target_bounds=(0.0, 1.0))
    model.fit(fold.noisy[:, :-1], fold.noisy[:, -1])
    return model.predict(fold.inputs)


def _rows(fold: Fold, samples: int, mode: str) -> Floats:
    archive = _archive(fold)
    drawn = CopulaSynthesizer(mode=mode, random_state=fold.seed).fit(archive).sample(samples)
    return np.column_stack([drawn[name] for name in archive.schema.names])


def _archive(fold: Fold) -> Archive:
    names = [f"column {place}" for place in range(fold.noisy.shape[1])]
    columns = tuple(NumberColumn(name, laplace(fold.epsilon)) for name in names)
    return Archive.read(fold.noisy, ArchiveSchema(columns=columns, target=names[-1]))
