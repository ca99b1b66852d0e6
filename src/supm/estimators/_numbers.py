"""Targets that are numbers, within public bounds, with none of them in an error."""

from __future__ import annotations

import warnings
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d

from supm._errors import ParameterError, RecordError
from supm.estimators._labels import free_name
from supm.estimators._tables import check_bounds, quietly
from supm.schema import Continuous, Schema

__all__ = ["bounded_target", "declared_target", "read_numbers"]

_ABSENT: Final = "this regressor requires y to be passed, but the target y is None."
_UNREADABLE: Final = "y must be one number for each record, none missing."
_MOST: Final = 0.5


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
    if y is None:
        raise RecordError(_ABSENT)
    if declared:
        return target.read(y)
    numbers = quietly(lambda: _flat(y), otherwise=_UNREADABLE)
    if ((numbers < target.low) | (numbers > target.high)).mean() > _MOST:
        message = (
            f"most targets lie outside of target_bounds=({target.low:g}, {target.high:g}) and are "
            "clipped; give public bounds, or a schema."
        )
        warnings.warn(message, UserWarning, stacklevel=4)
    return target.read(numbers)


def _flat(y: object) -> NDArray[np.float64]:
    flat = column_or_1d(y, warn=True)
    numbers: NDArray[np.float64] = np.asarray(flat).astype(np.float64)
    assert_all_finite(numbers, input_name="y")
    return numbers
