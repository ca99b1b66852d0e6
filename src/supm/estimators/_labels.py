"""Labels as scikit-learn users hand them over, brought to numbers, with none of them in an error.

A schema declares the possible labels, or a list does. Without either, the labels that occur are
taken, as scikit-learn does; what is promised then takes them for public, or is not promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from supm._errors import ParameterError, RecordError
from supm.estimators._tables import quietly
from supm.schema import Attribute, Categorical, Schema

__all__ = [
    "Labels",
    "declared_labels",
    "found_labels",
    "free_name",
    "listed_labels",
    "target_for",
]

_ABSENT: Final = "this classifier requires y to be passed, but the target y is None."
_UNREADABLE: Final = "y must be one label for each record: text or whole numbers, none missing."


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """The possible labels, and the place of each record's own among them.

    Parameters
    ----------
    classes : ndarray
        The possible labels.
    numbers : ndarray of int64
        The place of each record's label.
    """

    classes: NDArray[Any]
    numbers: NDArray[np.int64]


def declared_labels(y: object, schema: Schema) -> Labels:
    """Read labels that the target of a schema declares."""
    return _read(y, schema.target)


def listed_labels(y: object, listed: Sequence[Any]) -> Labels:
    """Read labels of a public list."""
    if isinstance(listed, str) or not isinstance(listed, Sequence | range | np.ndarray):
        raise ParameterError("labels", "a list of the possible labels", type(listed).__name__)
    values = tuple(np.asarray(listed).tolist())
    return _read(y, Categorical("labels", values=values))


def found_labels(y: object) -> Labels:
    """Read labels as scikit-learn does: those that occur are the possible ones."""
    if y is None:
        raise RecordError(_ABSENT)
    classes, numbers = quietly(lambda: _unique(y), otherwise=_UNREADABLE)
    if len(classes) < 2:
        hint = "A model of one class tells nothing; a schema may declare labels that do not occur."
        raise ParameterError("y", "labels of at least two classes", f"{len(classes)} class", hint)
    return Labels(classes, numbers)


def target_for(labels: Labels, names: tuple[str, ...]) -> Categorical:
    """Return a target of these labels, under a name that no column has."""
    return Categorical(free_name(names), values=tuple(labels.classes.tolist()))


def free_name(names: tuple[str, ...]) -> str:
    """Return a name for the target that no column has."""
    name = "target"
    while name in names:
        name += "_"
    return name


def _read(y: object, target: Attribute) -> Labels:
    if y is None:
        raise RecordError(_ABSENT)
    values = getattr(target, "values", None)
    if values is None:
        raise ParameterError("target", "a list of classes", "a continuous attribute")
    alike = len({type(value) for value in values}) == 1
    classes = np.array(values, dtype=None if alike else object)
    return Labels(classes, target.read(y).astype(np.int64))


def _unique(y: object) -> tuple[NDArray[Any], NDArray[np.int64]]:
    flat = column_or_1d(y, warn=True)
    assert_all_finite(flat, input_name="y")
    check_classification_targets(flat)
    classes, numbers = np.unique(flat, return_inverse=True)
    return classes, numbers.astype(np.int64)
