"""What is promised, as values: five kinds, ordered, printable, and readable by a machine.

``a <= b`` reads "a promises at least as much as b". The order is partial: two promises that cannot
be compared give False both ways. `NoGuarantee` is the greatest element, since everything promises
at least nothing. Two spellings of one promise, such as ``PureDP`` with epsilon 1 and
``ApproximateDP`` with epsilon 1 and delta 0, are below each other without being equal.

Within one neighbouring relation, epsilon and delta are compared one by one, mu with mu, and mu with
(epsilon, delta) by the exact curve. Between relations two theorems are used, and no others. Both
are proved in ``docs/proofs/gaussian-composition.md``.

- Any records implies replace one, with the same numbers (equation 11). Two tables of independent
  reports that differ in one owner's record differ in the distribution of one report. The other
  reports follow the same distribution on both sides, so the worst event is one of that report.
- Add or remove one, with a pure epsilon, implies replace one with twice that epsilon (equation 12).
  To replace a record is to take it out and to put another in: two factors of at most e^epsilon.

The numbers of a promise are floats that name decimals, as `supm.privacy.promise_numbers` explains.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.privacy.promise_numbers import (
    EPSILON,
    MU,
    Neighbours,
    PromiseNumbers,
    delta_above,
    delta_number,
    epsilon_above,
    factor_sentence,
    gaussian_sentence,
    implies,
    mu_below,
    number,
    positive_delta,
)


class Guarantee(ABC):
    """A promise about what an output reveals. ``a <= b``: a promises at least as much as b."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The promise in one sentence of plain words."""

    @abstractmethod
    def _numbers(self) -> PromiseNumbers | None:
        """Return the numbers of the promise, or None where nothing is promised."""

    def __str__(self) -> str:
        return self.sentence

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Guarantee):
            return NotImplemented
        mine, theirs = self._numbers(), other._numbers()
        return theirs is None or (mine is not None and implies(mine, theirs))

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Guarantee):
            return NotImplemented
        return self <= other and not other <= self

    def to_form(self) -> dict[str, str | float]:
        """Return the promise as a JSON object.

        Examples
        --------
        >>> PureLDP(1.0).to_form()
        {'type': 'pure-ldp', 'epsilon': 1.0}
        """
        document: dict[str, str | float] = {"type": self.kind}
        for name in _KINDS[self.kind][1]:
            value = getattr(self, name)
            document[name] = value.value if isinstance(value, Neighbours) else value
        return document

    @staticmethod
    def from_form(document: object) -> Guarantee:
        """Return the promise that `to_form` wrote; an unknown type or field is refused.

        Examples
        --------
        >>> Guarantee.from_form({"type": "pure-ldp", "epsilon": 1.0})
        PureLDP(epsilon=1.0)
        """
        fields = dict(document) if isinstance(document, Mapping) else {}
        kind = fields.pop("type", None)
        if not isinstance(kind, str) or kind not in _KINDS:
            wanted = f"an object whose type is one of {', '.join(_KINDS)}"
            raise ParameterError("guarantee", wanted, document)
        make, names = _KINDS[kind]
        if set(fields) != set(names):
            raise ParameterError(kind, f"an object of type, {', '.join(names)}", document)
        if "neighbours" in fields:
            fields["neighbours"] = Neighbours.named(fields["neighbours"])
        return make(**fields)


class _Factor(Guarantee):
    """A promise about the factor by which probabilities change."""

    notion: ClassVar[str]

    @property
    def sentence(self) -> str:
        """The promise in one sentence of plain words."""
        return factor_sentence(self.notion, self._numbers())

    @abstractmethod
    def _numbers(self) -> PromiseNumbers: ...


@dataclass(frozen=True)
class PureLDP(_Factor):
    """Pure local differential privacy, of one record that never leaves its owner.

    Parameters
    ----------
    epsilon : float
        From 0 (the report says nothing) to 1e12. Never infinite: no privacy is `NoGuarantee`.

    Examples
    --------
    >>> print(PureLDP(1.0))
    If the owner held any other record, the probability of anything that the output can show would
    change by a factor of at most 2.72 (local differential privacy, epsilon = 1.0).
    """

    epsilon: float
    kind: ClassVar[str] = "pure-ldp"
    notion: ClassVar[str] = "local differential privacy"
    neighbours: ClassVar[Neighbours] = Neighbours.ANY_RECORDS
    delta: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number(EPSILON, self.epsilon))

    def _numbers(self) -> PromiseNumbers:
        return PromiseNumbers(self.neighbours, epsilon=self.epsilon)


@dataclass(frozen=True, kw_only=True)
class PureDP(_Factor):
    """Pure differential privacy, of a table.

    Parameters
    ----------
    epsilon : float
        From 0 to 1e12.
    neighbours : Neighbours
        Replace one, or add or remove one. For any records of one owner there is `PureLDP`.

    Examples
    --------
    >>> print(PureDP(epsilon=0.5, neighbours=Neighbours.REPLACE_ONE))
    If one record of the table were any other, the probability of anything that the output can show
    would change by a factor of at most 1.65 (differential privacy, epsilon = 0.5).
    """

    epsilon: float
    neighbours: Neighbours
    kind: ClassVar[str] = "pure-dp"
    notion: ClassVar[str] = "differential privacy"
    delta: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number(EPSILON, self.epsilon))
        if Neighbours.check(self.neighbours) is Neighbours.ANY_RECORDS:
            hint = "For the records of one owner use PureLDP(epsilon)."
            raise ParameterError("neighbours", "a relation of tables", self.neighbours, hint)

    def _numbers(self) -> PromiseNumbers:
        return PromiseNumbers(self.neighbours, epsilon=self.epsilon)


@dataclass(frozen=True, kw_only=True)
class ApproximateDP(_Factor):
    """Approximate differential privacy: a factor e^epsilon, plus delta.

    Parameters
    ----------
    epsilon : float
        From 0 to 1e12.
    delta : float
        In [0, 1).
    neighbours : Neighbours
        Any relation.

    Examples
    --------
    >>> table = Neighbours.REPLACE_ONE
    >>> pure = PureDP(epsilon=1.0, neighbours=table)
    >>> pure <= ApproximateDP(epsilon=1.0, delta=1e-6, neighbours=table)
    True
    """

    epsilon: float
    delta: float
    neighbours: Neighbours
    kind: ClassVar[str] = "approximate-dp"
    notion: ClassVar[str] = "approximate differential privacy"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number(EPSILON, self.epsilon))
        object.__setattr__(self, "delta", delta_number(self.delta))
        Neighbours.check(self.neighbours)

    def _numbers(self) -> PromiseNumbers:
        return PromiseNumbers(self.neighbours, epsilon=self.epsilon, delta=self.delta)


FactorDP: TypeAlias = PureLDP | PureDP | ApproximateDP


@dataclass(frozen=True, kw_only=True)
class GaussianDP(Guarantee):
    """Gaussian differential privacy: at least as hard to tell apart as two normals mu apart.

    Gaussian noise of standard deviation sigma on a statistic of L2 sensitivity S keeps this promise
    with mu = S / sigma, and with no smaller mu.

    Parameters
    ----------
    mu : float
        From 0 to 1e6.
    neighbours : Neighbours
        Any relation.

    References
    ----------
    J. Dong, A. Roth, W. Su, "Gaussian differential privacy", JRSS B 84 (2022).
    B. Balle, Y.-X. Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018.

    Examples
    --------
    >>> mean = GaussianDP(mu=0.5, neighbours=Neighbours.REPLACE_ONE)
    >>> round(mean.to_approximate(1e-6).epsilon, 4)
    2.2541
    """

    mu: float
    neighbours: Neighbours
    kind: ClassVar[str] = "gaussian-dp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", number(MU, self.mu))
        Neighbours.check(self.neighbours)

    @classmethod
    def for_approximate(cls, *, epsilon: float, delta: float, neighbours: Neighbours) -> GaussianDP:
        """Return the promise with the largest mu that keeps (epsilon, delta), rounded down.

        Examples
        --------
        >>> table = Neighbours.REPLACE_ONE
        >>> mean = GaussianDP.for_approximate(epsilon=1.0, delta=1e-4, neighbours=table)
        >>> round(1 / mean.mu, 2)
        3.19
        """
        largest = mu_below(number(EPSILON, epsilon), positive_delta(delta))
        return cls(mu=largest, neighbours=neighbours)

    def delta_at(self, epsilon: float) -> float:
        """Return the least delta that holds with this epsilon, rounded up.

        Examples
        --------
        >>> round(GaussianDP(mu=1.0, neighbours=Neighbours.REPLACE_ONE).delta_at(1.0), 6)
        0.126937
        """
        return delta_above(number(EPSILON, epsilon), self.mu)

    def to_approximate(self, delta: float) -> ApproximateDP:
        """Return the promise with the least epsilon at this delta, rounded up."""
        delta = positive_delta(delta)
        epsilon = epsilon_above(delta, self.mu)
        return ApproximateDP(epsilon=epsilon, delta=delta, neighbours=self.neighbours)

    @property
    def sentence(self) -> str:
        """The promise in one sentence of plain words."""
        return gaussian_sentence(self._numbers())

    def _numbers(self) -> PromiseNumbers:
        return PromiseNumbers(self.neighbours, mu=self.mu)


@dataclass(frozen=True)
class NoGuarantee(Guarantee):
    """Nothing is promised, and why.

    Parameters
    ----------
    reason : str
        Not empty.

    Examples
    --------
    >>> print(NoGuarantee("the classes are sent as they are"))
    No privacy is promised (the classes are sent as they are).
    """

    reason: str
    kind: ClassVar[str] = "none"

    def __post_init__(self) -> None:
        reason: object = self.reason
        # It is printed on terminals of strangers, so it must not command one.
        if not isinstance(reason, str) or not reason.strip() or not reason.isprintable():
            raise ParameterError("reason", "a sentence that says why nothing is promised", reason)

    @property
    def sentence(self) -> str:
        """The absence of a promise in one sentence of plain words."""
        return f"No privacy is promised ({self.reason})."

    def _numbers(self) -> None:
        return None


_KINDS: Final[dict[str, tuple[type[Guarantee], tuple[str, ...]]]] = {
    one.kind: (one, tuple(field.name for field in dataclasses.fields(one)))
    for one in (PureLDP, PureDP, ApproximateDP, GaussianDP, NoGuarantee)
}
_SIMULATION: Final = NoGuarantee(
    "simulation: the randomness came from a seed, so it is not private"
)


class KeepsEpsilon(ABC):
    """What is told of one owner's record at an epsilon that follows from its own parameters."""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """What one report costs its owner."""

    @property
    def guarantee(self) -> FactorDP:
        """The promise to each owner, by the epsilon that follows from the parameters."""
        return PureLDP(self.epsilon)


def pure(epsilon: float, neighbours: Neighbours) -> Guarantee:
    """Return the promise of a pure epsilon under a relation."""
    if Neighbours.check(neighbours) is Neighbours.ANY_RECORDS:
        return PureLDP(epsilon)
    return PureDP(epsilon=epsilon, neighbours=neighbours)


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
