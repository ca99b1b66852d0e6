"""What happened: one frozen value for each kind of release, from which its promise follows.

An event holds what is necessary and sufficient to account for a release, and no data.

**Events are never re-meant.** An event class and its fields are never removed; a field is added
only with a default under which old events keep their meaning; a release with other mathematics gets
a new class. Whoever meets an event they do not know must refuse it.

An event can be handed to Google's dp-accounting (the extra ``supm[accounting]``). Three things
differ there, and are translated here.

- Its randomized response is given by the probability of a uniform *redraw*, ours by the probability
  to *keep* the value: redraw = (1 - keep) size / (size - 1).
- Its noise multiplier is relative to the norm of one record. Two records of norm C differ by up to
  2 C, so its replace-one accountant doubles the sensitivity; ours is the sensitivity under the
  relation that is asked for, and the multiplier is doubled in turn.
- It knows no event for "any mechanism with this epsilon". Binary randomized response with that
  epsilon dominates every such mechanism, so it stands for them: exact at delta 0, an upper bound
  elsewhere. Where only add-remove events are allowed, discrete Laplace noise of sensitivity 1 has
  the same two privacy losses with the same probabilities. Laplace noise under replace one, which
  the accountant does not support, is translated as such a mechanism.

A composed event is translated as a list of its parts and never as one event with a count, because
the accountant of version 0.6 ignores the count for randomized response. An accountant must be made
with the relation that `accountant_relation` returns, or its figures mean something else.
"""

from __future__ import annotations

import importlib
import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING, Final

from supm._errors import ParameterError
from supm._validation import Integers, Reals, keep_checked
from supm.privacy.composition import sequential
from supm.privacy.guarantee import GaussianDP, Guarantee, NoGuarantee, pure
from supm.privacy.promise_numbers import (
    EPSILON,
    Neighbours,
    decimal,
    float_at_least,
    float_at_most,
    number,
)

if TYPE_CHECKING:
    from dp_accounting import DpEvent, NeighboringRelation

_SIZE: Final = Integers("size", 2, 1 << 63)
_SCALE: Final = Reals("scale_over_sensitivity", 1e-12, 1e12)
_SIGMA: Final = Reals("sigma_over_sensitivity", 1e-6, 1e12)
_KEEP: Final = Reals("keep", 0.0, 1.0)
_LEAST_LIE: Final = Fraction(1, 1 << 512)


class Event(ABC):
    """Something that was released about records."""

    @abstractmethod
    def guarantee(self, neighbours: Neighbours) -> Guarantee:
        """Return what the release promises under a neighbouring relation."""

    @abstractmethod
    def to_dp_accounting(self, neighbours: Neighbours) -> DpEvent:
        """Return the event for a dp-accounting accountant of ``accountant_relation(neighbours)``.

        It is the same release or one that reveals more, so the accountant never claims too little.
        """


@dataclass(frozen=True, kw_only=True)
class RandomizedResponseEvent(Event):
    """One symbol of a finite alphabet was kept, or else replaced by another, each alike likely.

    Parameters
    ----------
    size : int
        The number of symbols, 2 to 2^63.
    keep : float or Fraction
        The probability that the symbol was sent as it is, at least 1 / size and below 1. A
        `Fraction` is taken exactly.

    Examples
    --------
    >>> event = RandomizedResponseEvent(size=4, keep=0.75)
    >>> round(event.guarantee(Neighbours.ANY_RECORDS).epsilon, 6) == round(math.log(9), 6)
    True
    """

    size: int
    keep: float | Fraction

    def __post_init__(self) -> None:
        keep_checked(self, _SIZE)
        checked = _KEEP.check(self.keep)
        if not Fraction(1, self.size) <= _exact(self.keep) <= 1 - _LEAST_LIE:
            wanted = f"a probability in [1/{self.size}, 1 - 2^-512]"
            raise ParameterError("keep", wanted, self.keep)
        if not isinstance(self.keep, numbers.Rational):
            object.__setattr__(self, "keep", checked)

    @property
    def epsilon(self) -> float:
        """The log of the greatest ratio of probabilities, rounded up."""
        keep = _exact(self.keep)
        excess = keep * (self.size - 1) / (1 - keep) - 1
        return _above(math.log1p(float(excess)))

    def guarantee(self, neighbours: Neighbours) -> Guarantee:
        """Return pure epsilon; under add or remove one there is none, as a report would be seen."""
        _refuse_add_remove(neighbours)
        return pure(self.epsilon, neighbours)

    def to_dp_accounting(self, neighbours: Neighbours) -> DpEvent:
        """Return a randomized response with the redraw probability."""
        _refuse_add_remove(neighbours)
        redraw = (1 - _exact(self.keep)) * self.size / (self.size - 1)
        if redraw == 1:
            return _dp_accounting().NoOpDpEvent()
        below_one = min(float_at_most(redraw), math.nextafter(1.0, 0.0))
        return _dp_accounting().RandomizedResponseDpEvent(below_one, self.size)


@dataclass(frozen=True)
class LaplaceEvent(Event):
    """Laplace noise was added to a statistic.

    Parameters
    ----------
    scale_over_sensitivity : float
        The scale b of the density ``exp(-|x| / b) / 2b`` over the L1 sensitivity of the statistic
        under the relation that is asked for; 1e-12 to 1e12.

    Examples
    --------
    >>> LaplaceEvent(2.0).guarantee(Neighbours.REPLACE_ONE).epsilon
    0.5
    """

    scale_over_sensitivity: float

    def __post_init__(self) -> None:
        keep_checked(self, _SCALE)

    @property
    def epsilon(self) -> float:
        """The sensitivity over the scale, rounded up."""
        return float_at_least(1 / decimal(self.scale_over_sensitivity))

    def guarantee(self, neighbours: Neighbours) -> Guarantee:
        """Return pure epsilon."""
        return pure(self.epsilon, neighbours)

    def to_dp_accounting(self, neighbours: Neighbours) -> DpEvent:
        """Return Laplace noise, or under replace one any mechanism with the same epsilon."""
        if Neighbours.check(neighbours) is Neighbours.ADD_REMOVE:
            return _dp_accounting().LaplaceDpEvent(self.scale_over_sensitivity)
        return _worst_pure_event(self.epsilon, neighbours)


@dataclass(frozen=True)
class GaussianEvent(Event):
    """Gaussian noise was added to a statistic.

    Parameters
    ----------
    sigma_over_sensitivity : float
        The standard deviation over the L2 sensitivity of the statistic under the relation that is
        asked for; 1e-6 to 1e12.

    Examples
    --------
    >>> GaussianEvent(4.0).guarantee(Neighbours.REPLACE_ONE).mu
    0.25
    """

    sigma_over_sensitivity: float

    def __post_init__(self) -> None:
        keep_checked(self, _SIGMA)

    def guarantee(self, neighbours: Neighbours) -> GaussianDP:
        """Return Gaussian differential privacy, which is exact."""
        mu = float_at_least(1 / decimal(self.sigma_over_sensitivity))
        return GaussianDP(mu=mu, neighbours=neighbours)

    def to_dp_accounting(self, neighbours: Neighbours) -> DpEvent:
        """Return Gaussian noise, the multiplier relative to the norm of one record."""
        records = 1.0 if Neighbours.check(neighbours) is Neighbours.ADD_REMOVE else 2.0
        return _dp_accounting().GaussianDpEvent(records * self.sigma_over_sensitivity)


@dataclass(frozen=True)
class PureEvent(Event):
    """Any mechanism with a pure epsilon was run.

    Parameters
    ----------
    epsilon : float
        0 to 1e12.

    Examples
    --------
    >>> PureEvent(1.5).guarantee(Neighbours.ANY_RECORDS)
    PureLDP(epsilon=1.5)
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number(EPSILON, self.epsilon))

    def guarantee(self, neighbours: Neighbours) -> Guarantee:
        """Return pure epsilon."""
        return pure(self.epsilon, neighbours)

    def to_dp_accounting(self, neighbours: Neighbours) -> DpEvent:
        """Return the worst mechanism with this epsilon; infinite for the accountant above 700."""
        return _worst_pure_event(self.epsilon, Neighbours.check(neighbours))


@dataclass(frozen=True)
class ComposedEvent(Event):
    """Several events happened to the same people, later ones perhaps chosen by earlier outputs.

    Parameters
    ----------
    events : sequence of Event
        At least one.

    Examples
    --------
    >>> ComposedEvent([PureEvent(0.1), PureEvent(0.2)]).guarantee(Neighbours.ANY_RECORDS)
    PureLDP(epsilon=0.3)
    """

    events: Sequence[Event]

    def __post_init__(self) -> None:
        given: object = self.events
        listed = given if isinstance(given, list | tuple) else ()
        if not listed or not all(isinstance(one, Event) for one in listed):
            raise ParameterError("events", "a list of one event or more", given)
        object.__setattr__(self, "events", tuple(listed))

    def guarantee(self, neighbours: Neighbours) -> Guarantee:
        """Return the sequential composition of the parts."""
        return sequential(*(event.guarantee(neighbours) for event in self.events))

    def to_dp_accounting(self, neighbours: Neighbours) -> DpEvent:
        """Return the list of the parts, each by itself."""
        parts = [event.to_dp_accounting(neighbours) for event in self.events]
        return _dp_accounting().ComposedDpEvent(parts)


@dataclass(frozen=True)
class NonPrivateEvent(Event):
    """Something was released without any promise.

    Parameters
    ----------
    reason : str
        Not empty.

    Examples
    --------
    >>> print(NonPrivateEvent("classes were sent as they are").guarantee(Neighbours.ANY_RECORDS))
    No privacy is promised (classes were sent as they are).
    """

    reason: str

    def __post_init__(self) -> None:
        NoGuarantee(self.reason)

    def guarantee(self, neighbours: Neighbours) -> NoGuarantee:
        """Return no guarantee, for the reason given."""
        Neighbours.check(neighbours)
        return NoGuarantee(self.reason)

    def to_dp_accounting(self, neighbours: Neighbours) -> DpEvent:
        """Return a non-private event: every accountant answers infinity."""
        Neighbours.check(neighbours)
        return _dp_accounting().NonPrivateDpEvent()


def _refuse_add_remove(neighbours: Neighbours) -> None:
    if Neighbours.check(neighbours) is Neighbours.ADD_REMOVE:
        hint = "Randomized response hides what a report says, not that one was sent."
        wanted = "replace-one or any-records"
        raise ParameterError("neighbours", wanted, neighbours.value, hint)


def _exact(value: float | Fraction) -> Fraction:
    return Fraction(value) if isinstance(value, numbers.Rational) else decimal(value)


def accountant_relation(neighbours: Neighbours) -> NeighboringRelation:
    """Return the relation that a dp-accounting accountant of translated events must be made with.

    Parameters
    ----------
    neighbours : Neighbours
        The relation that the events were translated for.

    Returns
    -------
    dp_accounting.NeighboringRelation
        Add or remove one for itself, replace one for the two others.

    Examples
    --------
    >>> accountant_relation(Neighbours.ANY_RECORDS).name
    'REPLACE_ONE'
    """
    relations = _dp_accounting().NeighboringRelation
    if Neighbours.check(neighbours) is Neighbours.ADD_REMOVE:
        return relations.ADD_OR_REMOVE_ONE
    return relations.REPLACE_ONE


def _dp_accounting() -> ModuleType:
    """Return the package, or say how to install it."""
    try:
        return importlib.import_module("dp_accounting")
    except ImportError as error:
        raise ImportError(
            "dp_accounting is not installed; run pip install 'supm[accounting]' first."
        ) from error


def _worst_pure_event(epsilon: float, neighbours: Neighbours) -> DpEvent:
    """Return an event that dominates every mechanism with this pure epsilon."""
    if epsilon == 0.0:
        return _dp_accounting().NoOpDpEvent()
    if neighbours is Neighbours.ADD_REMOVE:
        return _dp_accounting().dp_event.DiscreteLaplaceDpEvent(_above(epsilon), 1)
    rare = math.exp(-_above(epsilon))
    redraw = 2.0 * rare / (1.0 + rare) * (1.0 - 2.0**-50)
    return _dp_accounting().RandomizedResponseDpEvent(redraw, 2)


def _above(value: float) -> float:
    """Return a little more, for what was computed to within two units in the last place."""
    return value * (1.0 + 2.0**-50)
