"""ReadLabels, numbers and weights as scikit-learn users hand them over, with none in an error.

A schema declares the possible labels, or a list does. Without either, the labels that occur are
taken, as scikit-learn does; what is promised then takes them for public, or is not promised.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from supm._errors import ParameterError, RecordError
from supm.estimators._reading import check_bounds, quietly
from supm.schema import Attribute, Categorical, Continuous, Schema

_ABSENT: Final = "this classifier requires y to be passed, but the target y is None."
_UNREADABLE: Final = "y must be one label for each record: text or whole numbers, none missing."
_NO_NUMBERS: Final = "this regressor requires y to be passed, but the target y is None."
_NOT_NUMBERS: Final = "y must be one number for each record, none missing."
_MOST: Final = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class ReadLabels:
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


def declared_labels(y: object, schema: Schema) -> ReadLabels:
    """Read labels that the target of a schema declares."""
    return _read(y, schema.target)


def listed_labels(y: object, listed: Sequence[Any]) -> ReadLabels:
    """Read labels of a public list."""
    if isinstance(listed, str) or not isinstance(listed, Sequence | range | np.ndarray):
        raise ParameterError("labels", "a list of the possible labels", type(listed).__name__)
    values = tuple(np.asarray(listed).tolist())
    return _read(y, Categorical("labels", values=values))


def found_labels(y: object) -> ReadLabels:
    """Read labels as scikit-learn does: those that occur are the possible ones."""
    if y is None:
        raise RecordError(_ABSENT)
    classes, numbers = quietly(lambda: _unique(y), otherwise=_UNREADABLE)
    if len(classes) < 2:
        hint = "A model of one class tells nothing; a schema may declare labels that do not occur."
        raise ParameterError("y", "labels of at least two classes", f"{len(classes)} class", hint)
    return ReadLabels(classes, numbers)


def target_for(labels: ReadLabels, names: tuple[str, ...]) -> Categorical:
    """Return a target of these labels, under a name that no column has."""
    return Categorical(free_name(names), values=tuple(labels.classes.tolist()))


def free_name(names: tuple[str, ...]) -> str:
    """Return a name for the target that no column has."""
    name = "target"
    while name in names:
        name += "_"
    return name


def _read(y: object, target: Attribute) -> ReadLabels:
    if y is None:
        raise RecordError(_ABSENT)
    values = getattr(target, "values", None)
    if values is None:
        raise ParameterError("target", "a list of classes", "a continuous attribute")
    alike = len({type(value) for value in values}) == 1
    classes = np.array(values, dtype=None if alike else object)
    return ReadLabels(classes, target.read(y).astype(np.int64))


def _unique(y: object) -> tuple[NDArray[Any], NDArray[np.int64]]:
    flat = column_or_1d(y, warn=True)
    assert_all_finite(flat, input_name="y")
    check_classification_targets(flat)
    classes, numbers = np.unique(flat, return_inverse=True)
    return classes, numbers.astype(np.int64)


def declared_target(schema: Schema) -> Continuous:
    """Return the target of a schema, which must be a number."""
    if not isinstance(schema.target, Continuous):
        raise ParameterError("target", "a continuous attribute", "a list of classes")
    return schema.target


def bounded_target(bounds: object, names: tuple[str, ...]) -> Continuous:
    """Return a target within these bounds, under a name that no column has."""
    low, high = check_bounds("target_bounds", bounds)
    return Continuous(free_name(names), low=low, high=high)


def read_numbers(y: object, target: Continuous, *, declared: bool) -> NDArray[np.float64]:
    """Read the targets of all records.

    Parameters
    ----------
    y : array, series or list
        One number for each record.
    target : Continuous
        Its bounds are public; what lies beyond is clipped.
    declared : bool
        Whether a schema declares the target: it is then read as the schema reads any column.

    Returns
    -------
    ndarray of float64
    """
    if declared and y is not None:
        return target.read(y)
    numbers = given_numbers(y)
    if ((numbers < target.low) | (numbers > target.high)).mean() > _MOST:
        message = (
            f"most targets lie outside of target_bounds=({target.low:g}, {target.high:g}) and are "
            "clipped; give public bounds, or a schema."
        )
        warnings.warn(message, UserWarning, stacklevel=4)
    return target.read(numbers)


def given_numbers(y: object) -> NDArray[np.float64]:
    """Return the targets of all records as they were given, wherever they lie."""
    if y is None:
        raise RecordError(_NO_NUMBERS)
    return quietly(lambda: _flat(y), otherwise=_NOT_NUMBERS)


def _flat(y: object) -> NDArray[np.float64]:
    flat = column_or_1d(y, warn=True)
    numbers: NDArray[np.float64] = np.asarray(flat).astype(np.float64)
    assert_all_finite(numbers, input_name="y")
    return numbers


_RULE = 'None, "balanced" or a dict of label to weight'


def label_order(class_weight: object, classes: NDArray[np.generic]) -> list[float] | str | None:
    """Return the weight of each label, "balanced", or None.

    Parameters
    ----------
    class_weight : None, "balanced" or mapping
        The parameter of the estimator. A label that the mapping does not name counts 1.
    classes : ndarray
        The possible labels.

    Returns
    -------
    list of float, str or None

    Examples
    --------
    >>> label_order({"ill": 9.0}, np.array(["healthy", "ill"]))
    [1.0, 9.0]
    """
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return class_weight
    if not isinstance(class_weight, Mapping):
        raise ParameterError("class_weight", _RULE, type(class_weight).__name__)
    labels = classes.tolist()
    unknown = len(set(class_weight) - set(labels))
    if unknown:
        raise ParameterError("class_weight", "about the possible labels", f"{unknown} other")
    return [class_weight.get(label, 1.0) for label in labels]
