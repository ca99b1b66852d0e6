"""What several promises amount to together.

Sequential composition is for the same people: what each release costs them adds up. Parallel
composition is for different people: nobody pays for a release that does not touch them.

The numbers of several promises are held as exact fractions and rounded up to a promise once, at the
end, so a composed claim is never below the truth. What may be put together with what is the same
for both.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Final

from supm._errors import ParameterError
from supm.privacy.guarantee import ApproximateDP, FactorDP, GaussianDP, Guarantee, NoGuarantee, pure
from supm.privacy.promise_numbers import (
    DELTA,
    EPSILON,
    MU,
    Neighbours,
    decimal,
    float_at_least,
    root_at_least,
)

_ZERO: Final = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class ExactPromise:
    """The exact numbers of promises about the same people.

    Examples
    --------
    >>> from supm.privacy import PureLDP
    >>> tenth = ExactPromise.of(PureLDP(0.1))
    >>> tenth.plus(tenth).plus(tenth).rounded()
    PureLDP(epsilon=0.3)
    """

    kind: type[Guarantee]
    neighbours: Neighbours | None = None
    epsilon: Fraction = _ZERO
    delta: Fraction = _ZERO
    mu_squared: Fraction = _ZERO
    reasons: tuple[str, ...] = ()

    @classmethod
    def of(cls, guarantee: object) -> ExactPromise:
        """Return the exact numbers of one promise."""
        if isinstance(guarantee, NoGuarantee):
            return cls(kind=NoGuarantee, reasons=(guarantee.reason,))
        if isinstance(guarantee, GaussianDP):
            mu_squared = decimal(guarantee.mu) ** 2
            return cls(kind=GaussianDP, neighbours=guarantee.neighbours, mu_squared=mu_squared)
        if isinstance(guarantee, FactorDP):
            return cls(
                kind=type(guarantee),
                neighbours=guarantee.neighbours,
                epsilon=decimal(guarantee.epsilon),
                delta=decimal(guarantee.delta),
            )
        raise ParameterError("guarantee", "a promise such as PureLDP(1.0)", guarantee)

    def plus(self, other: ExactPromise) -> ExactPromise:
        """Return both, one after the other on the same people."""
        return self._combine(other, operator.add)

    def beside(self, other: ExactPromise) -> ExactPromise:
        """Return both, on people of whom nobody is in both."""
        return self._combine(other, max)

    def rounded(self) -> Guarantee:
        """Return the promise that this amounts to, no number below its exact value."""
        if self.reasons:
            return NoGuarantee("; ".join(dict.fromkeys(self.reasons)))
        if self._is_meaningless() or self.neighbours is None:
            return NoGuarantee("taken together, the promises are too weak to mean anything")
        if self.kind is GaussianDP:
            return GaussianDP(mu=root_at_least(self.mu_squared), neighbours=self.neighbours)
        epsilon = float_at_least(self.epsilon)
        if self.kind is not ApproximateDP:
            return pure(epsilon, self.neighbours)
        delta = float_at_least(self.delta)
        return ApproximateDP(epsilon=epsilon, delta=delta, neighbours=self.neighbours)

    def _combine(
        self, other: ExactPromise, how: Callable[[Fraction, Fraction], Fraction]
    ) -> ExactPromise:
        reasons = self.reasons + other.reasons
        if reasons:
            return ExactPromise(kind=NoGuarantee, reasons=reasons)
        return ExactPromise(
            kind=_common_kind(self, other),
            neighbours=self.neighbours,
            epsilon=how(self.epsilon, other.epsilon),
            delta=how(self.delta, other.delta),
            mu_squared=how(self.mu_squared, other.mu_squared),
        )

    def _is_meaningless(self) -> bool:
        return (
            self.epsilon > decimal(EPSILON.high)
            or self.delta > decimal(DELTA.high)
            or self.mu_squared > decimal(MU.high) ** 2
        )


def _common_kind(first: ExactPromise, second: ExactPromise) -> type[Guarantee]:
    if first.neighbours is not second.neighbours:
        relations = (first.neighbours, second.neighbours)
        hint = "A promise about one relation says nothing, or something else, about another."
        raise ParameterError("neighbours", "the same in all promises", relations, hint)
    if first.kind is second.kind:
        return first.kind
    if GaussianDP in (first.kind, second.kind):
        kinds = f"{first.kind.__name__} with {second.kind.__name__}"
        hint = "Convert the sum of the Gaussian ones first, with to_approximate(delta)."
        raise ParameterError("guarantees", "all Gaussian or none of them", kinds, hint)
    return ApproximateDP


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
        raise ParameterError("guarantees", "at least one promise", guarantees)
    return [ExactPromise.of(one) for one in guarantees]
