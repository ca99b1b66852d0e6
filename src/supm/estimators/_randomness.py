"""What ``random_state`` means here: nothing given is secure, a whole number is a simulation."""

from __future__ import annotations

import numbers

from supm._errors import ParameterError
from supm._random import RandomSource, secure, simulation

__all__ = ["source_for"]

_HINT = "None draws secure randomness; a whole number is a public seed, for simulations."


def source_for(random_state: object, step: str) -> RandomSource:
    """Return the source of one step: new and secure, or the beginning of the seed's stream.

    Parameters
    ----------
    random_state : None or int
        The parameter of the estimator.
    step : str
        Which step draws. Different steps of one seed draw independently; the same step draws the
        same again.

    Returns
    -------
    RandomSource

    Examples
    --------
    >>> source_for(None, "predict")
    RandomSource(secure)
    >>> source_for(7, "predict").words(1) == source_for(7, "predict").words(1)
    array([ True])
    """
    if random_state is None:
        return secure()
    if isinstance(random_state, bool) or not isinstance(random_state, numbers.Integral):
        kind = type(random_state).__name__
        raise ParameterError("random_state", "None or a whole number", f"a {kind}", _HINT)
    return simulation(int(random_state)).child(step)
