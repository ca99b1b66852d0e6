"""Choices that are true or false: what only looks like one is refused."""

from __future__ import annotations

import numpy as np

from supm._errors import ParameterError

__all__ = ["check_flag"]


def check_flag(name: str, value: object) -> bool:
    """Return a choice as a bool, or raise ParameterError.

    Examples
    --------
    >>> check_flag("latent", np.False_)
    False
    >>> check_flag("latent", "no")
    Traceback (most recent call last):
    supm._errors.ParameterError: latent must be True or False, got 'no'.
    """
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(name, "True or False", value)
    return bool(value)
