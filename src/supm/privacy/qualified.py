"""What is left of a promise once it is known where the randomness came from."""

from __future__ import annotations

from typing import Final

from supm._random import RandomSource
from supm.privacy.guarantee import Guarantee, NoGuarantee

__all__ = ["realised"]

_SIMULATION: Final = NoGuarantee(
    "simulation: the randomness came from a seed, so it is not private"
)


def realised(guarantee: Guarantee, source: RandomSource) -> Guarantee:
    """Return the promise as it holds for output made with this source.

    Parameters
    ----------
    guarantee : Guarantee
        What the mechanism promises with secure randomness.
    source : RandomSource
        What the mechanism drew from.

    Returns
    -------
    Guarantee
        The same promise, or `NoGuarantee` if the source is a simulation: whoever knows the seed can
        undo the noise.

    Examples
    --------
    >>> from supm._random import secure, simulation
    >>> from supm.privacy import PureLDP
    >>> realised(PureLDP(1.0), secure())
    PureLDP(epsilon=1.0)
    >>> print(realised(PureLDP(1.0), simulation(seed=7)).reason)
    simulation: the randomness came from a seed, so it is not private
    """
    return _SIMULATION if source.simulation else guarantee
