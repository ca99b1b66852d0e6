"""How many attributes an owner of a new archive should report, and why.

Noise grows with the square of the number of reported attributes, since they share one budget; the
number of owners who tell a given pair grows with it too. For a covariance the first wins: where
noise is all that matters, two attributes are the best number (docs/proofs/collecting.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, get_args

import numpy as np

from supm._errors import ParameterError
from supm._validation import EPSILON, Integers, Reals
from supm.mechanisms import GeneralizedRandomizedResponse
from supm.schema import Attribute, Categorical, Continuous, Ordinal
from supm.synthesis.collecting import FINEST, Collection, NumberNoise, Part

# A correlation lies between -1 and 1: one that is known to half of that is not known.
_NOTHING: Final = 0.5
_USEFUL: Final = 0.1
_OWNERS: Final = Integers("owners", 2, 1 << 40)
_NOISES: Final[dict[NumberNoise, str]] = {"piecewise": "piecewise", "laplace": "Laplace"}


@dataclass(frozen=True, kw_only=True)
class CollectionOption:
    """One way to collect, and what it would let the analyst know.

    Parameters
    ----------
    collection : Collection
        What each owner would report.
    owners : int
        How many there are.

    Notes
    -----
    Errors are exact for independent attributes that are spread evenly over their ranges or values,
    which is a public assumption: a narrow attribute has larger ones.

    Examples
    --------
    >>> from supm.schema import Continuous
    >>> attributes = tuple(Continuous(name, low=0, high=1) for name in "abcd")
    >>> pairs = Collection(attributes=attributes, asked=2, budget=2.0, noise="laplace")
    >>> option = CollectionOption(collection=pairs, owners=60_000)
    >>> option.per_attribute, option.per_pair
    (30000.0, 10000.0)
    >>> round(option.correlation_error, 3)
    0.25
    """

    collection: Collection
    owners: int

    def __post_init__(self) -> None:
        _OWNERS.check(self.owners)

    @property
    def per_attribute(self) -> float:
        """How many owners report a given attribute, on average."""
        return self.owners * self.collection.asked / len(self.collection.parts)

    @property
    def per_pair(self) -> float:
        """How many owners report two given attributes, on average."""
        return self.per_attribute * (self.collection.asked - 1) / (len(self.collection.parts) - 1)

    @property
    def correlation_error(self) -> float:
        """The standard error of the correlation of two attributes, in the mean square of all."""
        grown = np.array(self._inflations)
        pairs = (grown.sum() ** 2 - np.square(grown).sum()) / (grown.size * (grown.size - 1))
        return math.sqrt(float(pairs) / self.per_pair)

    @property
    def mean_error(self) -> float:
        """The standard error of a mean in standard deviations, in the mean square of all."""
        return math.sqrt(float(np.mean(self._inflations)) / self.per_attribute)

    @property
    def _inflations(self) -> list[float]:
        return [inflation(part) for part in self.collection.parts]


@dataclass(frozen=True, kw_only=True)
class CollectionPlan:
    """The way to collect that was chosen, the reason and all that were considered.

    Parameters
    ----------
    collection : Collection
        What each owner reports: that of the least standard error of a correlation.
    reason : str
        One sentence.
    options : tuple of CollectionOption
        All that were considered, best first.
    """

    collection: Collection
    reason: str
    options: tuple[CollectionOption, ...]


def plan_collection(
    attributes: Sequence[Attribute],
    *,
    epsilon: float,
    owners: int,
    noise: NumberNoise | None = None,
) -> CollectionPlan:
    """Choose how many attributes each owner reports, for a budget of the whole record.

    Parameters
    ----------
    attributes : sequence of Continuous, Ordinal or Categorical
        What will be collected, the target included.
    epsilon : float
        The most that one RECORD may spend.
    owners : int
        How many owners there will be.
    noise : {"piecewise", "laplace"}, optional
        How numbers are randomised; by default whichever tells more.

    Returns
    -------
    CollectionPlan

    Examples
    --------
    >>> from supm.schema import Continuous
    >>> attributes = [Continuous(f"x{place}", low=0, high=1) for place in range(14)]
    >>> plan = plan_collection(attributes, epsilon=1.0, owners=10_000, noise="laplace")
    >>> print(plan.reason)
    Each owner reports 2 of 14 attributes, drawn at random, with epsilon 0.5 and Laplace noise each:
    the standard error of a correlation is then about 9.25, against 47.1 if everybody reported
    all 14 with epsilon 0.0714 each; next to nothing will be learnt of how attributes depend on each
    other, since an error of 0.1 needs about 86,000,000 owners.
    >>> plan.collection.asked
    2
    """
    kinds = _checked(attributes)
    # Every part of a whole record needs an epsilon that a mechanism can keep.
    budget = Reals("epsilon", len(kinds) / FINEST, EPSILON.high).check(epsilon)
    found = sorted(
        _options(kinds, budget, _OWNERS.check(owners), noise),
        key=lambda each: each.correlation_error,
    )
    return CollectionPlan(
        collection=found[0].collection, reason=_reason(found), options=tuple(found)
    )


def inflation(part: Part) -> float:
    """Return by what factor noise makes the variance of what is told larger than what is held.

    Examples
    --------
    >>> from supm.mechanisms import Laplace
    >>> round(inflation(Laplace.for_epsilon(low=0, high=1, epsilon=1.0)), 3)
    25.0
    """
    if isinstance(part, GeneralizedRandomizedResponse):
        return 1.0 / float(part.hit - part.miss) ** 2
    spread = part.grid.span / math.sqrt(12.0)
    # The variance is a square of the distance from the middle: its mean is its value at one s.d.
    return 1.0 + part.variance(part.low + part.grid.span / 2 + spread) / spread**2


def _checked(attributes: object) -> tuple[Attribute, ...]:
    kinds = tuple(attributes) if isinstance(attributes, Iterable) else ()
    wrong = [each for each in kinds if not isinstance(each, Continuous | Ordinal | Categorical)]
    if wrong or not isinstance(attributes, Iterable):
        wanted = "a sequence of Continuous, Ordinal or Categorical"
        raise ParameterError("attributes", wanted, type(wrong[0] if wrong else attributes))
    if len(kinds) < 2:
        raise ParameterError("attributes", "at least two", len(kinds))
    return kinds


def _options(
    kinds: tuple[Attribute, ...], epsilon: float, owners: int, noise: NumberNoise | None
) -> Iterator[CollectionOption]:
    for each in get_args(NumberNoise) if noise is None else (noise,):
        for asked in range(2, len(kinds) + 1):
            collection = Collection(attributes=kinds, asked=asked, budget=epsilon, noise=each)
            yield CollectionOption(collection=collection, owners=owners)


def _reason(found: list[CollectionOption]) -> str:
    error = found[0].correlation_error
    if error < _NOTHING:
        return f"{_comparison(found)}."
    needed = float(f"{found[0].owners * (error / _USEFUL) ** 2:.1e}")
    return (
        f"{_comparison(found)}; next to nothing will be learnt of how attributes depend on each "
        f"other, since an error of {_USEFUL:g} needs about {needed:,.0f} owners."
    )


def _comparison(found: list[CollectionOption]) -> str:
    best, count = found[0], len(found[0].collection.attributes)
    whole = next(each for each in found if each.collection.asked == count)
    pairs = next(each for each in found if each.collection.asked == 2)
    start = f"{_told(best.collection)}: the standard error of a correlation is then about"
    if best.collection.asked < count:
        share = best.collection.budget / count
        other = f"{whole.correlation_error:.3g} if everybody reported all {count} with epsilon "
        return f"{start} {best.correlation_error:.3g}, against {other}{share:.3g} each"
    if count == 2:
        return f"{start} {best.correlation_error:.3g}; of two attributes, a pair is all"
    other = f"{pairs.correlation_error:.3g} if each reported a random pair"
    return f"{start} {best.correlation_error:.3g}, against {other}, which fewer owners would tell"


def _told(collection: Collection) -> str:
    count, asked = len(collection.attributes), collection.asked
    which = f"all {count} attributes" if asked == count else f"{asked} of {count} attributes"
    drawn = "" if asked == count else ", drawn at random,"
    numbers = any(not isinstance(part, GeneralizedRandomizedResponse) for part in collection.parts)
    noise = f" and {_NOISES[collection.noise]} noise" if numbers else ""
    share = f"epsilon {collection.budget / asked:.3g}{noise} each"
    return f"Each owner reports {which}{drawn} with {share}"
