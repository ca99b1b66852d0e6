"""Breast cancer in Wisconsin (WDBC), which scikit-learn ships."""

from __future__ import annotations

from typing import Final

import numpy as np
from sklearn.datasets import load_breast_cancer

from supm.datasets.dataset import Bound, Dataset
from supm.schema import Categorical, Schema

__all__ = ["load_wdbc"]

_WHY: Final = (
    "none of these measures of a cell nucleus can be negative; the upper bound is a round number "
    "above the range that scikit-learn's description of the set publishes"
)
# Measure: upper bounds of its mean, its standard error and its worst value over the nuclei.
_HIGHEST: Final = {
    "radius": (30.0, 3.0, 40.0),
    "texture": (50.0, 6.0, 60.0),
    "perimeter": (200.0, 25.0, 260.0),
    "area": (3000.0, 600.0, 5000.0),
    "smoothness": (0.2, 0.04, 0.3),
    "compactness": (0.4, 0.15, 1.2),
    "concavity": (0.5, 0.4, 1.5),
    "concave points": (0.25, 0.06, 0.3),
    "symmetry": (0.4, 0.1, 0.8),
    "fractal dimension": (0.12, 0.04, 0.25),
}
_PATTERNS: Final = ("mean {}", "{} error", "worst {}")
_BOUNDS: Final = {
    pattern.format(measure): Bound(low=0.0, high=highest[place], why=_WHY, by_definition="low")
    for place, pattern in enumerate(_PATTERNS)
    for measure, highest in _HIGHEST.items()
}


def load_wdbc() -> Dataset:
    """Load the breast cancer set: 569 tumours, 30 measures of their cell nuclei, two diagnoses.

    Returns
    -------
    Dataset
        The target is "benign" (357) or "malignant" (212).

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> load_wdbc().schema.target.values
    ('benign', 'malignant')
    """
    loaded = load_breast_cancer()
    columns = {str(name): loaded.data[:, place] for place, name in enumerate(loaded.feature_names)}
    columns["diagnosis"] = np.where(loaded.target == 1, "benign", "malignant")
    return Dataset(
        name="wdbc",
        schema=Schema(
            attributes=tuple(bound.attribute(name) for name, bound in _BOUNDS.items()),
            target=Categorical("diagnosis", values=("benign", "malignant")),
        ),
        columns=columns,
        bounds=_BOUNDS,
        source="UCI Breast Cancer Wisconsin (Diagnostic); Street, Wolberg, Mangasarian 1993",
        licence="CC BY 4.0",
    )
