"""The columns of an answer: how each is read from a record, and what randomises it.

Reading is public arithmetic; the randomizer is the only thing between what was read and what
leaves. Owner and aggregator hold the same columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import MessageError, ParameterError, RecordError
from supm._random import RandomSource
from supm._validation import Integers
from supm.mechanisms import GeneralizedRandomizedResponse, Reports
from supm.mechanisms.thresholds import WORDS, threshold_for
from supm.owner.interviews import Leaving
from supm.schema import Attribute, Categorical, Continuous, EqualWidth, Records, Regrouped
from supm.schema.discretizer import Discretizer

if TYPE_CHECKING:
    from supm.mechanisms import Piecewise

_SIZE: Final = Integers("size", 2, 1 << 40)
_LISTED: Final = Integers("entries of the channel", 1, 1 << 22)


@dataclass(frozen=True)
class Unchanged:
    """What is told is what is held. It promises nothing, and says so: its epsilon is infinite.

    Parameters
    ----------
    size : int
        Number of symbols.

    Examples
    --------
    >>> Unchanged(2).epsilon
    inf
    """

    size: int

    def __post_init__(self) -> None:
        _SIZE.check(self.size)

    @property
    def epsilon(self) -> float:
        """No finite number: a report excludes every other value."""
        return math.inf

    @property
    def outcomes(self) -> int:
        """As many as symbols."""
        return self.size

    def inputs(self) -> NDArray[np.int64]:
        """Return the symbols in order."""
        return np.arange(self.size, dtype=np.int64)

    def exact_channel(self) -> list[list[Fraction]]:
        """Return the identity."""
        _LISTED.check(self.size**2)
        symbols = range(self.size)
        return [[Fraction(int(held == told)) for told in symbols] for held in symbols]

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Return the values; nothing is drawn."""
        told = np.asarray(values, dtype=np.int64)
        return Reports(symbols=told, simulation=source.simulation)


Randomizer: TypeAlias = "GeneralizedRandomizedResponse | Piecewise | Unchanged"


def likelihood_ratio(randomizer: Randomizer) -> Fraction | None:
    """Return the exact e^epsilon of a randomizer, or None where it is infinite.

    Examples
    --------
    >>> float(likelihood_ratio(GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)))
    2.718281828459045
    """
    if isinstance(randomizer, Unchanged):
        return None
    if isinstance(randomizer, GeneralizedRandomizedResponse):
        return randomizer.hit / randomizer.miss
    inside = Fraction(randomizer.threshold, randomizer.window)
    return inside / Fraction(WORDS - randomizer.threshold, randomizer.steps)


@dataclass(frozen=True, kw_only=True)
class Classes:
    """An attribute by its class.

    Parameters
    ----------
    discretizer : Discretizer
        The public classes.
    randomizer : GeneralizedRandomizedResponse or Unchanged
        What is between a class and what leaves.
    """

    discretizer: Discretizer
    randomizer: GeneralizedRandomizedResponse | Unchanged

    def read(self, records: Records) -> NDArray[np.int64]:
        """Return the class numbers."""
        return self.discretizer.classify(records.columns[self.discretizer.attribute.name])

    def name(self, _: Attribute) -> str:
        """Return what it is about."""
        return self.discretizer.attribute.name

    def field(self, _: Attribute) -> dict[str, Any]:
        """Return how a page reads it."""
        return class_field(self.discretizer)


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """An attribute by its number on [-1, 1], where the public bounds become -1 and 1.

    A missing number, and the middle of the range, are 0.

    Parameters
    ----------
    attribute : Attribute
        A continuous or ordinal attribute, or one of two values.
    randomizer : Piecewise or Unchanged
        What is between a number and what leaves; where nothing is, the grid has that many points.
    """

    attribute: Attribute
    randomizer: Piecewise | Unchanged

    def __post_init__(self) -> None:
        if isinstance(self.attribute, Categorical) and len(self.attribute.values) > 2:
            raise MessageError(
                f"{self.attribute.name} has no order, so it is not a number: ask for classes."
            )

    def read(self, records: Records) -> NDArray[Any]:
        """Return numbers in [-1, 1], or the points of the grid where nothing is randomised."""
        held = records.columns[self.attribute.name]
        if isinstance(self.attribute, Continuous):
            scaled = self.attribute.scaled(held)
            scaled = np.nan_to_num(scaled, nan=0.0)
        else:
            last = len(self.attribute.values) - 1
            scaled = np.where(held <= last, 2 * np.minimum(held, last) / max(last, 1) - 1, 0.0)
        scaled = np.clip(scaled, -1.0, 1.0)
        if not isinstance(self.randomizer, Unchanged):
            return scaled
        points: NDArray[Any] = np.rint((scaled + 1) / 2 * (self.randomizer.size - 1))
        return points.astype(np.int64)

    def name(self, _: Attribute) -> str:
        """Return what it is about."""
        return self.attribute.name

    def field(self, _: Attribute) -> dict[str, Any]:
        """Return how a page reads it."""
        points = self.randomizer.size if isinstance(self.randomizer, Unchanged) else None
        return outline(self.attribute) | {"read": {"how": "number", "points": points}}


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The target by its place in the list of labels; it never goes through a discretizer.

    Parameters
    ----------
    randomizer : GeneralizedRandomizedResponse or Unchanged
        What is between the label and what leaves.
    """

    randomizer: GeneralizedRandomizedResponse | Unchanged

    def read(self, records: Records) -> NDArray[np.int64]:
        """Return the label numbers."""
        return labels_of(records)

    def name(self, target: Attribute) -> str:
        """Return what it is about."""
        return target.name

    def field(self, target: Attribute) -> dict[str, Any]:
        """Return how a page reads it."""
        return place_field(target, self.randomizer.size)


@dataclass(frozen=True, kw_only=True)
class Signs:
    """A target of two labels as the numbers -1 and 1, as the papers put it through PW.

    Parameters
    ----------
    randomizer : Piecewise
        What is between the number and what leaves.
    """

    randomizer: Piecewise

    def read(self, records: Records) -> NDArray[np.float64]:
        """Return -1 for the first label and 1 for the second."""
        return 2.0 * labels_of(records).astype(np.float64) - 1.0

    def name(self, target: Attribute) -> str:
        """Return what it is about."""
        return target.name

    def field(self, target: Attribute) -> dict[str, Any]:
        """Return how a page reads it."""
        return outline(target) | {"read": {"how": "sign"}}


Column: TypeAlias = Classes | Numbers | Labels | Signs


def labels_of(records: Records) -> NDArray[np.int64]:
    """Return the label numbers, or raise where the records have none."""
    return _typed(records, np.dtype(np.int64))


def numbers_of(records: Records) -> NDArray[np.float64]:
    """Return the targets that are numbers, or raise where the records have none."""
    return _typed(records, np.dtype(np.float64))


def _typed(records: Records, kind: np.dtype[Any]) -> NDArray[Any]:
    if records.target is None:
        raise ParameterError("records", "labelled for this phase", "records without a target")
    held = records.target
    if held.dtype.kind not in "iuf":
        # The error of a conversion would show what could not be converted.
        raise RecordError("the target must be read by its schema first.")
    return held.astype(kind, copy=False)


@lru_cache(maxsize=4096)
def randomized_response(size: int, share: Fraction) -> GeneralizedRandomizedResponse:
    """Return the response that keeps an exact share of a budget; many attributes have the same."""
    words = threshold_for(share, inside=1, outside=size - 1)
    return GeneralizedRandomizedResponse(size=size, keep_words=words)


def leaving_through(what: str, randomizer: Randomizer) -> Leaving:
    """Say what leaves through one randomizer."""
    if isinstance(randomizer, Unchanged):
        return Leaving.certain(what, randomizer.size, 1.0)
    if isinstance(randomizer, GeneralizedRandomizedResponse):
        return Leaving.certain(what, randomizer.size, float(randomizer.hit))
    return Leaving.certain(what, randomizer.outcomes, None)


def named_classes(
    discretizers: Sequence[Discretizer], symbols: Sequence[int], sampled: int | None
) -> list[tuple[str, str]]:
    """Name the classes that are told: those of the places that come first, or all in order."""
    places = range(len(discretizers)) if sampled is None else symbols[:sampled]
    told = zip(places, symbols if sampled is None else symbols[sampled:], strict=False)
    return [
        (discretizers[place].attribute.name, discretizers[place].labels[symbol])
        for place, symbol in told
    ]


def named_label(target: Attribute, labels: int, symbol: int) -> tuple[str, str]:
    """Name the target and the label that is told of it, or which of so many levels."""
    if isinstance(target, Continuous):
        return target.name, f"level {symbol + 1} of {labels}"
    return target.name, str(target.values[symbol])


def outline(attribute: Attribute) -> dict[str, Any]:
    """Return what a page's form shows of an attribute."""
    kind = type(attribute).__name__.lower()
    shown = {"name": attribute.name, "kind": kind, "missing": attribute.missing == "class"}
    if isinstance(attribute, Continuous):
        return shown | {"low": attribute.low, "high": attribute.high}
    return shown | {"values": list(attribute.values)}


def place_field(target: Attribute, size: int) -> dict[str, Any]:
    """Return how a page reads a label."""
    return outline(target) | {"read": {"how": "place", "size": size}}


def class_field(discretizer: Discretizer) -> dict[str, Any]:
    """Return an attribute with the table from intervals or places to classes.

    The last entry of the table is that of a missing value, where one is allowed. A number is in
    interval k where k of the cuts are below it: a cut belongs to the interval that it ends.
    """
    attribute = discretizer.attribute
    read: dict[str, Any] = {"how": "class", "size": discretizer.size}
    if isinstance(attribute, Continuous):
        read |= _cuts(discretizer)
    else:
        places = np.arange(len(attribute.values) + (attribute.missing == "class"))
        read |= {"cuts": None, "table": discretizer.classify(places).tolist()}
    return outline(attribute) | {"read": read}


def _cuts(discretizer: Discretizer) -> dict[str, Any]:
    finer = discretizer.finer if isinstance(discretizer, Regrouped) else discretizer
    if not isinstance(finer, EqualWidth):
        raise MessageError("a page can ask for classes of equal width only.")
    table = discretizer.groups if isinstance(discretizer, Regrouped) else range(finer.size)
    return {"cuts": list(finer.cuts), "table": list(table)}


def describe_randomizer(randomizer: Randomizer) -> dict[str, Any]:
    """Return a randomizer's whole numbers; thresholds as decimal texts, which a page compares."""
    if isinstance(randomizer, Unchanged):
        return {"kind": "unchanged", "size": randomizer.size}
    if isinstance(randomizer, GeneralizedRandomizedResponse):
        words = str(randomizer.keep_words)
        return {"kind": "response", "size": randomizer.size, "keep": words}
    steps, window, words = randomizer.steps, randomizer.window, str(randomizer.threshold)
    return {"kind": "window", "steps": steps, "window": window, "inside": words}
