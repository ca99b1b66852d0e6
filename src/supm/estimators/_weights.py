"""Class weights as scikit-learn writes them, brought to the order of the labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError

__all__ = ["label_order"]

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
