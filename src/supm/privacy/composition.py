"""What several promises amount to together.

Sequential composition is for the same people: what each release costs them adds up. Parallel
composition is for different people: nobody pays for a release that does not touch them.

Sums are exact and rounded up once, so a composed claim is never below the truth.
"""

from __future__ import annotations

from functools import reduce

from supm._errors import ParameterError
from supm.privacy._exact import ExactPromise
from supm.privacy.guarantee import Guarantee

__all__ = ["parallel", "sequential"]


def sequential(*guarantees: Guarantee) -> Guarantee:
    """Return what promises about the same people amount to.

    Epsilons and deltas add up, and so do the squares of mu, which is exact for Gaussian noise.
    Later releases may be chosen after seeing the earlier ones.

    Parameters
    ----------
    *guarantees : Guarantee
        At least one, all about the same neighbours. Gaussian promises compose with each other
        only; convert their sum with ``to_approximate(delta)`` to go on with others. Together with
        a `NoGuarantee` everything is `NoGuarantee`, for all the reasons given.

    Returns
    -------
    Guarantee
        Of the kind of its parts: pure if all are pure, Gaussian if all are, else approximate.

    Notes
    -----
    Equations 7 to 9 of ``docs/proofs/gaussian-composition.md``. Deltas that add up to 1 or more
    leave no promise, and that is what is returned.

    Examples
    --------
    >>> from supm.privacy import GaussianDP, Neighbours, PureLDP
    >>> sequential(*[PureLDP(0.1)] * 10)
    PureLDP(epsilon=1.0)
    >>> table = Neighbours.REPLACE_ONE
    >>> sequential(GaussianDP(mu=3, neighbours=table), GaussianDP(mu=4, neighbours=table)).mu
    5.0
    """
    return reduce(ExactPromise.plus, _exact_promises(guarantees)).rounded()


def parallel(*guarantees: Guarantee) -> Guarantee:
    """Return what promises about different people amount to for each of them.

    It is the weakest of them; where none is the weakest, it is the least promise of the same kinds
    that all of them imply: the greatest epsilon with the greatest delta.

    Parameters
    ----------
    *guarantees : Guarantee
        At least one, all about the same neighbours, each about people of whom nobody is in
        another. **Who is in which group must not depend on the records.** Under replace one, a
        record that changed its group by its content would touch two releases.

    Returns
    -------
    Guarantee
        Of the kind of its parts, as in `sequential`.

    Notes
    -----
    Equation 10 of ``docs/proofs/gaussian-composition.md``.

    Examples
    --------
    >>> from supm.privacy import PureLDP
    >>> parallel(PureLDP(1.0), PureLDP(2.0))
    PureLDP(epsilon=2.0)
    """
    return reduce(ExactPromise.beside, _exact_promises(guarantees)).rounded()


def _exact_promises(guarantees: tuple[Guarantee, ...]) -> list[ExactPromise]:
    if not guarantees:
        error = ParameterError("guarantees", "at least one promise", guarantees)
        raise error
    return [ExactPromise.of(one) for one in guarantees]
