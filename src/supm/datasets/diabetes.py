"""Progress of diabetes, which scikit-learn ships, in the units in which it was measured."""

from __future__ import annotations

from typing import Final

from sklearn.datasets import load_diabetes as load_from_scikit_learn

from supm.datasets.dataset import Bound, Dataset
from supm.schema import Categorical, Schema

__all__ = ["load_diabetes"]

_CLINICAL: Final = "a round range that holds nearly all adult patients, by clinical knowledge"
_BOUNDS: Final = {
    "age": Bound(low=0, high=100, why="years of life", by_definition="low"),
    "bmi": Bound(low=10, high=60, why=f"body mass index in kg/m2; {_CLINICAL}"),
    "bp": Bound(low=40, high=160, why=f"mean blood pressure in mmHg; {_CLINICAL}"),
    "s1": Bound(low=50, high=400, why=f"total cholesterol in mg/dl; {_CLINICAL}"),
    "s2": Bound(low=0, high=300, why=f"LDL in mg/dl; {_CLINICAL}", by_definition="low"),
    "s3": Bound(low=0, high=120, why=f"HDL in mg/dl; {_CLINICAL}", by_definition="low"),
    "s4": Bound(
        low=1,
        high=12,
        why=f"total cholesterol over HDL, which is part of it; {_CLINICAL}",
        by_definition="low",
    ),
    "s5": Bound(low=2, high=8, why=f"logarithm of triglycerides in mg/dl; {_CLINICAL}"),
    "s6": Bound(low=40, high=300, why=f"blood sugar in mg/dl; {_CLINICAL}"),
}
_TARGET: Final = Bound(
    low=0,
    high=400,
    why="an index that starts at 0; the upper bound is a round number above the published range",
    by_definition="low",
)


def load_diabetes() -> Dataset:
    """Load the diabetes set: 442 patients, ten measures, progress of the illness after a year.

    The columns are the raw measurements (``scaled=False`` in scikit-learn).

    Returns
    -------
    Dataset
        The target is the continuous index ``progression``.

    Examples
    --------
    >>> from supm.datasets import load_diabetes
    >>> load_diabetes()
    Dataset('diabetes', rows=442, attributes=10, task='continuous')
    """
    loaded = load_from_scikit_learn(scaled=False)
    columns = {name: loaded.data[:, place] for place, name in enumerate(loaded.feature_names)}
    columns["progression"] = loaded.target
    attributes = tuple(
        Categorical("sex", values=(1, 2)) if name == "sex" else _BOUNDS[name].attribute(name)
        for name in loaded.feature_names
    )
    return Dataset(
        name="diabetes",
        schema=Schema(attributes=attributes, target=_TARGET.attribute("progression")),
        columns=columns,
        bounds={**_BOUNDS, "progression": _TARGET},
        source="Efron, Hastie, Johnstone, Tibshirani 2004, Least Angle Regression",
        licence="none stated by the authors; shipped with scikit-learn (BSD-3-Clause)",
        notes=("The codes 1 and 2 of sex are not explained by the publishers.",),
    )
