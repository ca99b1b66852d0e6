"""How good predictions are, always beside the constant that needs no data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError

__all__ = ["Scores", "score"]


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Accuracy, with the two figures without which it means little.

    Parameters
    ----------
    accuracy : float
        Share of right predictions.
    balanced_accuracy : float
        Mean over the classes of the share of right predictions within each: 1 / classes for any
        constant.
    majority : float
        Accuracy of always predicting the commonest class of these records.
    """

    accuracy: float
    balanced_accuracy: float
    majority: float


def score(truth: ArrayLike, predicted: ArrayLike) -> Scores:
    """Compare predicted class numbers with the true ones.

    Parameters
    ----------
    truth, predicted : array-like of int
        Class numbers from 0.

    Returns
    -------
    Scores
        Balanced over the classes that occur in the truth.

    Examples
    --------
    >>> score([0, 0, 0, 1], [0, 0, 0, 0])
    Scores(accuracy=0.75, balanced_accuracy=0.5, majority=0.75)
    """
    held, told = _classes(truth), _classes(predicted)
    if held.shape != told.shape:
        raise ParameterError("predicted", f"of length {held.size}", told.size)
    people = np.bincount(held)
    right = np.bincount(held[held == told], minlength=people.size)
    present = people > 0
    return Scores(
        accuracy=float(right.sum() / held.size),
        balanced_accuracy=float((right[present] / people[present]).mean()),
        majority=float(people.max() / held.size),
    )


def _classes(values: ArrayLike) -> NDArray[np.int64]:
    numbers = np.asarray(values)
    if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iu":
        got = f"{numbers.dtype} of shape {numbers.shape}"
        raise ParameterError("classes", "a flat array of at least one whole number", got)
    if int(numbers.min()) < 0:
        raise ParameterError("classes", "0 or more", "a negative number")
    return numbers.astype(np.int64, copy=False)
