"""A limit on what may be promised away, enforced before anything happens."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from supm._errors import BudgetError, ParameterError
from supm.privacy.composition import ExactPromise
from supm.privacy.guarantee import ApproximateDP, FactorDP, GaussianDP, Guarantee, NoGuarantee, pure
from supm.privacy.promise_numbers import Neighbours, decimal, float_at_most, root_at_most


@dataclass(frozen=True, kw_only=True)
class Spending:
    """One entry of a budget's history.

    Parameters
    ----------
    guarantee : Guarantee
        What was promised away.
    purpose : str
        What for; not empty.
    """

    guarantee: Guarantee
    purpose: str

    def __post_init__(self) -> None:
        ExactPromise.of(self.guarantee)
        purpose: object = self.purpose
        if not isinstance(purpose, str) or not purpose.strip():
            raise ParameterError("purpose", "a text that says what it is for", purpose)


class Budget:
    """A limit, and what was spent of it. Safe in threads: a race never over-spends.

    What was spent is kept as exact decimal fractions, so ten spendings of 0.1 are exactly 1.0, and
    what a spending leaves does not depend on the order. The amount of a spending may depend on
    earlier outputs: the limit holds all the same, by equation 15 of
    ``docs/proofs/gaussian-composition.md`` and the works cited there.

    Parameters
    ----------
    limit : Guarantee
        The sequential composition of all spendings will be ``<=`` this. A limit of `NoGuarantee`
        refuses nothing and still records.

    Examples
    --------
    >>> from supm.privacy import PureLDP
    >>> wallet = Budget(PureLDP(1.0))
    >>> for day in range(10):
    ...     wallet.spend(PureLDP(0.1), purpose=f"day {day}")
    >>> wallet.spent, wallet.remaining()
    (PureLDP(epsilon=1.0), PureLDP(epsilon=0.0))
    >>> wallet.would_allow(PureLDP(0.1))
    False
    """

    def __init__(self, limit: Guarantee) -> None:
        ExactPromise.of(limit)
        self._limit = limit
        self._exact: ExactPromise | None = None
        self._history: list[Spending] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def __copy__(self) -> NoReturn:
        """Refuse to be copied: two holders of one budget would each spend the whole of it."""
        raise TypeError("a Budget cannot be copied or pickled; share the one object.")

    def __deepcopy__(self, memo: object) -> NoReturn:
        """Refuse for the same reason."""
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        """Refuse for the same reason."""
        self.__copy__()

    @property
    def limit(self) -> Guarantee:
        """What may be spent in all."""
        return self._limit

    @property
    def spent(self) -> Guarantee | None:
        """What was spent so far; None if nothing."""
        exact = self._exact
        return None if exact is None else exact.rounded()

    @property
    def history(self) -> tuple[Spending, ...]:
        """All spendings in their order."""
        with self._lock:
            return tuple(self._history)

    def would_allow(self, guarantee: Guarantee) -> bool:
        """Return whether a spending would be accepted now.

        Raises
        ------
        ParameterError
            If the promise cannot be composed with what was spent: another neighbouring relation, or
            Gaussian with others.
        """
        return self._after(self._exact, guarantee).rounded() <= self._limit

    def check(self, guarantee: Guarantee) -> None:
        """Raise BudgetError if a spending would not be accepted now."""
        if not self.would_allow(guarantee):
            raise BudgetError(self._refusal(Spending(guarantee=guarantee, purpose="an answer")))

    def spend(self, guarantee: Guarantee, *, purpose: str) -> None:
        """Spend, or raise and change nothing. Call it before drawing or sending anything.

        Parameters
        ----------
        guarantee : Guarantee
            What the release promises.
        purpose : str
            What it is for; it is kept in the history.

        Raises
        ------
        BudgetError
            If the limit would be exceeded, or in a forked child: parent and child would each spend
            what is left.
        ParameterError
            If the promise cannot be composed with what was spent.
        """
        entry = Spending(guarantee=guarantee, purpose=purpose)
        if self._process != os.getpid():
            raise BudgetError(
                "a budget cannot be spent in a forked process; spend in the one that made it."
            )
        with self._lock:
            exact = self._after(self._exact, guarantee)
            if not exact.rounded() <= self._limit:
                raise BudgetError(self._refusal(entry))
            self._exact = exact
            self._history.append(entry)

    def remaining(self) -> Guarantee:
        """Return the most that a next spending of the kind and relation of the past ones may be.

        Before the first spending it is the limit, and a limit of `NoGuarantee` remains itself.
        """
        exact = self._exact
        if exact is None or exact.neighbours is None or isinstance(self._limit, NoGuarantee):
            return self._limit
        if exact.kind is GaussianDP:
            square = max(_largest_mu(self._limit) ** 2 - exact.mu_squared, Fraction(0))
            return GaussianDP(mu=root_at_most(square), neighbours=exact.neighbours)
        return _remaining_factor(self._limit, exact, exact.neighbours)

    def __repr__(self) -> str:
        return f"Budget(limit={self._limit!r}, spent={self.spent!r})"

    @staticmethod
    def _after(exact: ExactPromise | None, guarantee: Guarantee) -> ExactPromise:
        more = ExactPromise.of(guarantee)
        return more if exact is None else exact.plus(more)

    def _refusal(self, entry: Spending) -> str:
        return (
            f"Spending {entry.guarantee!r} for {entry.purpose!r} would break the limit "
            f"{self._limit!r}, of which {self.remaining()!r} is left; nothing was spent: "
            f"ask for at most that, or for a larger limit."
        )


def _largest_mu(limit: Guarantee) -> Fraction:
    if isinstance(limit, GaussianDP):
        return decimal(limit.mu)
    if isinstance(limit, ApproximateDP) and limit.delta > 0.0:
        equivalent = GaussianDP.for_approximate(
            epsilon=limit.epsilon, delta=limit.delta, neighbours=limit.neighbours
        )
        return decimal(equivalent.mu)
    return Fraction(0)


def _remaining_factor(limit: Guarantee, exact: ExactPromise, neighbours: Neighbours) -> Guarantee:
    """Return the epsilon and delta left, in the relation of what was spent."""
    epsilon = delta = Fraction(0)
    if isinstance(limit, FactorDP):
        # What is spent under add or remove one counts twice under replace one, and takes no delta.
        doubled = neighbours is Neighbours.ADD_REMOVE and limit.neighbours is not neighbours
        epsilon = decimal(limit.epsilon) / (2 if doubled else 1) - exact.epsilon
        delta = Fraction(0) if doubled else decimal(limit.delta) - exact.delta
    left = float_at_most(epsilon)
    if delta > 0:
        return ApproximateDP(epsilon=left, delta=float_at_most(delta), neighbours=neighbours)
    return pure(left, neighbours)
