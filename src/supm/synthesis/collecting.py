"""What leaves an owner of a new archive: a few attributes, drawn at random, each with its noise.

A table of such reports has empty cells by design: what an owner was not asked is not missing, it
was never told. In a file such a cell is empty, and the archive's schema says how many cells every
record has (``asked``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource, check_source
from supm._validation import EPSILON, Integers, Reals
from supm.mechanisms import (
    FiniteChannel,
    GeneralizedRandomizedResponse,
    Laplace,
    Piecewise,
    Reports,
)
from supm.mechanisms.randomizers.randomizer import ENTRIES, check_reports
from supm.mechanisms.thresholds import exact_share, least_reading, stated
from supm.schema import Attribute, Continuous, Ordinal
from supm.synthesis.archive import Archive, ArchiveSchema
from supm.synthesis.columns import ClassColumn, Column, NumberColumn

_STEPS: Final = 1024
FINEST: Final = 100_000
"""A part must have at least one over this as its share of the budget."""
NumberNoise: TypeAlias = Literal["laplace", "piecewise"]
# By so much the share lies above what is spent; what is stated lies between.
_SLACK: Final = 2.0**-40
Part: TypeAlias = Laplace | Piecewise | GeneralizedRandomizedResponse


@dataclass(frozen=True, kw_only=True)
class Collection(FiniteChannel):
    """Each owner draws ``asked`` attributes and reports them with an equal share of the budget.

    With two of them, every pair of attributes is seen by some owners, which is what a covariance
    needs; with all of them, everybody tells everything, with very little budget for each.

    Parameters
    ----------
    attributes : tuple of Continuous, Ordinal or Categorical
        What may be asked: public bounds and values. The target is one of them.
    asked : int
        How many attributes each owner reports, 2 to all. Which ones is told in clear: it does not
        depend on the record.
    budget : float
        The most that one record may spend.
    noise : {"piecewise", "laplace"}
        How numbers are randomised; classes are randomised by randomized response.
    steps : int, default 1024
        Steps of the public grid on which numbers are reported.

    Notes
    -----
    **Guarantee.** epsilon-LDP of the whole record, with the sum of the epsilons of the parts that
    are drawn, the largest over all draws: Theorem 1 of docs/proofs/collecting.md.

    **Utility.** A covariance is seen by a share asked (asked - 1) / (g (g - 1)) of the owners, with
    noise of budget / asked on either side; `plan_collection` finds the best number.

    **Cost.** One word for each attribute to draw them, and what the parts need: at most about ten
    words each. A report has 2 asked whole numbers.

    References
    ----------
    docs/proofs/collecting.md. Paper 004 adds noise to every attribute, and a record pays for all.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.schema import Categorical, Continuous
    >>> attributes = (
    ...     Continuous("age", low=0, high=100),
    ...     Continuous("weight", low=30, high=130),
    ...     Categorical("ill", values=("no", "yes")),
    ... )
    >>> pairs = Collection(attributes=attributes, asked=2, budget=2.0, noise="laplace")
    >>> pairs.guarantee.epsilon <= 2.0
    True
    >>> reports = pairs.randomize([[40, 70, 1]] * 1000, simulation(1))
    >>> pairs.archive(reports, target="ill").schema.asked
    2
    """

    attributes: tuple[Attribute, ...]
    asked: int
    budget: float
    noise: NumberNoise = "piecewise"
    steps: int = _STEPS

    def __post_init__(self) -> None:
        names = [each.name for each in self.attributes]
        if len(set(names)) < max(2, len(names)):
            raise ParameterError("attributes", "at least two of different names", names)
        refused = [each.name for each in self.attributes if each.missing != "refuse"]
        if refused:
            hint = "List a word for missing values among its values."
            raise ParameterError(refused[0], "of missing='refuse'", "missing='class'", hint)
        Integers("asked", 2, len(names)).check(self.asked)
        # Every part needs an epsilon that a mechanism can keep, also after rounding down.
        Reals("budget", self.asked / FINEST, EPSILON.high).check(self.budget)
        if self.noise not in get_args(NumberNoise):
            raise ParameterError("noise", "laplace or piecewise", self.noise)
        _ = self.parts

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The randomizer of each attribute, at an equal share of the budget."""
        share = at_most(exact_share(self.budget, self.asked))
        return tuple(
            make_part(each, share, noise=self.noise, steps=self.steps) for each in self.attributes
        )

    @property
    def epsilon(self) -> float:
        """What the dearest draw of attributes costs, rounded up."""
        dearest = sorted((least_reading(each.epsilon) for each in self.parts), reverse=True)
        return stated(sum(map(Fraction, dearest[: self.asked]), Fraction(0)))

    @property
    def width(self) -> int:
        """Places of the drawn attributes, then what they tell."""
        return 2 * self.asked

    @property
    def report_bits(self) -> int:
        """Enough bits to number the draws, and the longest parts."""
        longest = sorted((each.report_bits for each in self.parts), reverse=True)
        draws = math.comb(len(self.attributes), self.asked)
        return (draws - 1).bit_length() + sum(longest[: self.asked])

    @property
    def outcomes(self) -> int:
        """Over all draws of attributes, the number of things that can be told."""
        return sum(math.prod(self._sides(drawn)) for drawn in self._draws())

    def encode(self, columns: dict[str, Any]) -> NDArray[np.float64]:
        """Return records as `randomize` takes them: numbers clipped, classes as their places."""
        absent = [each.name for each in self.attributes if each.name not in columns]
        if absent:
            raise ParameterError("columns", f"with {absent[0]!r}", "none of that name")
        read = [each.read(columns[each.name]) for each in self.attributes]
        return np.column_stack([column.astype(np.float64) for column in read])

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Draw attributes for each owner, and randomise what the owner holds of them."""
        check_source(source)
        held = self._checked(values)
        places = self._draw_places(len(held), source)
        told = np.empty_like(places)
        for place, part in enumerate(self.parts):
            rows, sides = np.nonzero(places == place)
            if rows.size:
                whole = isinstance(part, GeneralizedRandomizedResponse)
                own = held[rows, place].astype(np.int64 if whole else np.float64)
                told[rows, sides] = part.randomize(own, source).symbols.reshape(-1)
        return Reports(symbols=np.hstack((places, told)), simulation=source.simulation)

    def schema(self, target: str | None = None) -> ArchiveSchema:
        """Return what is public about the archive that these reports make."""
        columns = map(column_of, self.attributes, self.parts)
        asked = None if self.asked == len(self.parts) else self.asked
        return ArchiveSchema(columns=tuple(columns), target=target, asked=asked)

    def archive(self, reports: Reports, target: str | None = None) -> Archive:
        """Return reports as an archive, with empty cells where an owner was not asked."""
        places, told = np.hsplit(self._told(reports), 2)
        columns = {}
        for place, (attribute, part) in enumerate(zip(self.attributes, self.parts, strict=True)):
            rows, sides = np.nonzero(places == place)
            whole = isinstance(part, GeneralizedRandomizedResponse)
            column = np.full(len(places), -1) if whole else np.full(len(places), np.nan)
            if rows.size:
                column[rows] = read_told(part, told[rows, sides], simulation=reports.simulation)
            columns[attribute.name] = column
        schema, simulation = self.schema(target), reports.simulation
        return Archive(schema=schema, reports=columns, rows=len(places), simulation=simulation)

    def inputs(self) -> NDArray[np.float64]:
        """Return all records on the grid."""
        held = [grid_inputs(part) for part in self.parts]
        ENTRIES.check(math.prod(map(len, held)))
        return np.array(list(product(*held)), dtype=np.float64)

    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return numbers of the reports: first by the attributes drawn, then by what they tell."""
        numbers = np.full(len(reports), -1, dtype=np.int64)
        places, told = np.hsplit(reports.symbols, 2)
        first = 0
        for drawn in self._draws():
            rows = np.flatnonzero((places == drawn).all(axis=1))
            sides = self._sides(drawn)
            numbers[rows] = first + np.ravel_multi_index(tuple(told[rows].T), sides)
            first += math.prod(sides)
        return numbers

    def exact_channel(self) -> list[list[Fraction]]:
        """Return the product of the parts' channels for each draw, with the draw's probability."""
        held = [range(len(grid_inputs(part))) for part in self.parts]
        ENTRIES.check(math.prod(map(len, held)) * self.outcomes)
        channels = [finite(part).exact_channel() for part in self.parts]
        draws = self._draws()
        return [
            [
                math.prod(chances, start=Fraction(1, len(draws)))
                for drawn in draws
                for chances in product(*(channels[place][record[place]] for place in drawn))
            ]
            for record in product(*held)
        ]

    def _checked(self, values: ArrayLike) -> NDArray[np.float64]:
        """Refuse a wrong cell also where it would not be drawn: a refusal must not tell which."""
        held = np.asarray(values)
        if held.dtype.kind not in "iuf" or held.ndim != 2 or held.shape[1] != len(self.parts):
            raise RecordError(f"records must be rows of {len(self.parts)} numbers; use encode.")
        for place, (attribute, part) in enumerate(zip(self.attributes, self.parts, strict=True)):
            if not holds(part, held[:, place]):
                raise RecordError(
                    f"{attribute.name!r} must be as the schema describes it; use encode."
                )
        return held.astype(np.float64, copy=False)

    def _told(self, reports: Reports) -> NDArray[np.int64]:
        """Return the reports, or refuse them: they come from strangers."""
        symbols = check_reports(reports).symbols
        if symbols.dtype.kind not in "iu" or symbols.shape[1:] != (self.width,):
            raise RecordError(f"reports must be rows of {self.width} whole numbers; use randomize.")
        places, told = np.hsplit(symbols, 2)
        good = (np.diff(places.astype(np.int64)) > 0).all(axis=1)
        good &= ((places >= 0) & (places < len(self.parts))).all(axis=1)
        for place, part in enumerate(self.parts):
            good &= ((places != place) | tells(part, told)).all(axis=1)
        if not good.all():
            raise RecordError(
                f"{np.count_nonzero(~good)} of {len(symbols)} reports cannot have been told: "
                "refuse those whose places do not rise or whose symbols no mechanism makes."
            )
        return symbols.astype(np.int64, copy=False)

    def _draw_places(self, rows: int, source: RandomSource) -> NDArray[np.int64]:
        count = len(self.parts)
        if self.asked == count:
            return np.tile(np.arange(count, dtype=np.int64), (rows, 1))
        keys = source.words(rows * count).reshape(rows, count)
        return np.sort(np.argsort(keys, axis=1)[:, : self.asked], axis=1)

    def _draws(self) -> list[tuple[int, ...]]:
        ENTRIES.check(math.comb(len(self.parts), self.asked))
        return list(combinations(range(len(self.parts)), self.asked))

    def _sides(self, drawn: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(finite(self.parts[place]).outcomes for place in drawn)


def make_part(attribute: Attribute, share: float, *, noise: NumberNoise, steps: int) -> Part:
    """Return the mechanism of an attribute at its share of the budget.

    A little less than the share, so that what `column_of` states in floats, which is never less
    than what is spent, is not more than the share either.
    """
    if not isinstance(attribute, Continuous):
        return GeneralizedRandomizedResponse.for_epsilon_in_floats(
            size=len(attribute.values), epsilon=share
        )
    low, high, less = attribute.low, attribute.high, share - _SLACK * max(share, 1.0)
    if noise == "laplace":
        return Laplace.for_epsilon(low=low, high=high, epsilon=less, steps=steps)
    return Piecewise.optimised(low=low, high=high, epsilon=less, steps=steps)


def at_most(share: Fraction) -> float:
    """Return the largest float that does not read as more than an exact share."""
    number = float(share)
    while Fraction(least_reading(number)) > share:
        number = math.nextafter(number, 0.0)
    return number


def finite(part: Part) -> Piecewise | GeneralizedRandomizedResponse:
    """Return a mechanism whose reports can be listed, or refuse it."""
    if isinstance(part, Laplace):
        hint = "Look at piecewise noise, whose reports can be listed."
        raise ParameterError("noise", "one with finitely many reports", "laplace", hint)
    return part


def grid_inputs(part: Part) -> NDArray[Any]:
    """Return all that can be held: points of the grid, or places of classes."""
    return part.grid.points() if isinstance(part, Laplace) else part.inputs()


def holds(part: Part, column: NDArray[Any]) -> bool:
    """Say whether all that is held is something that the mechanism takes."""
    if isinstance(part, GeneralizedRandomizedResponse):
        inside = (column >= 0) & (column < part.size) & (column == np.floor(column))
    else:
        inside = (part.low <= column) & (column <= part.high)
    return bool(inside.all())


def tells(part: Part, symbols: NDArray[Any]) -> NDArray[np.bool_]:
    """Say of each symbol whether the mechanism can have told it."""
    if isinstance(part, GeneralizedRandomizedResponse):
        return np.asarray((symbols >= 0) & (symbols < part.size))
    least, greatest = part.alphabet
    return np.asarray((symbols >= least) & (symbols <= greatest))


def read_told(part: Part, symbols: NDArray[np.int64], *, simulation: bool) -> NDArray[Any]:
    """Return reports as they stand in an archive."""
    if isinstance(part, GeneralizedRandomizedResponse):
        return symbols
    return part.decode(Reports(symbols=symbols, simulation=simulation))


def column_of(attribute: Attribute, part: Part) -> Column:
    """Describe the noise of a part; no less than is spent is stated."""
    if isinstance(part, GeneralizedRandomizedResponse):
        ordered = isinstance(attribute, Ordinal)
        return ClassColumn(attribute.name, getattr(attribute, "values", ()), part, ordered)
    return NumberColumn(attribute.name, part.continuous())
