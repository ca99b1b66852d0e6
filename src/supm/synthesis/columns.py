"""What is public about one column of an archive, how a file says it, and how reports are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import RecordError, SchemaError
from supm._json import check_fields
from supm._random import RandomSource
from supm._validation import check_kind, suggestion
from supm.mechanisms import (
    ContinuousGaussian,
    ContinuousLaplace,
    ContinuousPiecewise,
    ContinuousSquareWave,
    GeneralizedRandomizedResponse,
    NoisedNumber,
)
from supm.privacy import Guarantee
from supm.schema.columns import (
    RawColumn,
    Value,
    check_attribute_name,
    check_values,
    clipped_numbers,
    positions,
    raw_column,
)
from supm.synthesis.distributions import BinnedMarginal, Channel, Kind, OrderedMarginal
from supm.synthesis.tables import CellReports

_LARGEST: Final = 1e150


class ArchiveColumn(ABC):
    """A column and how it was noised; its subclasses know how to read its reports."""

    name: str
    mechanism: NoisedNumber | GeneralizedRandomizedResponse

    @abstractmethod
    def _checked(self, raw: RawColumn) -> NDArray[Any]:
        """Return cells as numbers or as places of classes, or raise RecordError."""

    @abstractmethod
    def _noised(self, raw: RawColumn, source: RandomSource) -> NDArray[Any]:
        """Return the reports of clean cells."""

    @property
    def noise(self) -> str:
        """What its mechanism is called in a file."""
        return self.mechanism.name

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one report."""
        return self.mechanism.guarantee

    @property
    def epsilon(self) -> float:
        """What one report cost its owner."""
        return self.mechanism.epsilon

    @property
    def method(self) -> str:
        """The mechanism and its epsilon, in words."""
        return f"{self.noise.replace('_', ' ')} with epsilon {self.epsilon:g}"

    def read(self, cells: object, *, some: bool) -> NDArray[Any]:
        """Check reports, of which some may be empty where owners were asked for some."""
        raw = raw_column(self.name, cells)
        empty = int(raw.missing.sum())
        if empty and not some:
            raise RecordError(
                f"{self.name}: {empty} of {raw.missing.size} cells are missing; an archive has a "
                "report in every cell, or its schema says how many were asked."
            )
        return self._reported(raw)

    def _reported(self, raw: RawColumn) -> NDArray[Any]:
        return self._checked(raw)

    def noised(self, cells: object, source: RandomSource) -> NDArray[Any]:
        """Noise clean cells, as the devices of their owners would have done."""
        raw = raw_column(self.name, cells)
        if raw.missing.any():
            raise RecordError(f"{self.name}: a clean record must have a value in every cell.")
        return self._noised(raw, source.child(self.name))

    def plain(self, cells: object, noun: str) -> NDArray[np.float64]:
        """Read cells without noise: numbers as they are, and classes as their places."""
        raw = raw_column(self.name, cells)
        if raw.missing.any():
            raise RecordError(
                f"{self.name}: a cell of the {noun} table is missing; every cell is needed."
            )
        return self._checked(raw).astype(np.float64)


@dataclass(frozen=True)
class NumberColumn(ArchiveColumn):
    """A number, and how it was noised.

    Parameters
    ----------
    name : str
        Of the column.
    mechanism : NoisedNumber
        Has the public bounds.

    Examples
    --------
    >>> from supm.mechanisms import ContinuousLaplace
    >>> NumberColumn("age", ContinuousLaplace(low=0, high=100, scale=50)).epsilon
    2.0
    """

    name: str
    mechanism: NoisedNumber
    kind: ClassVar[Kind] = "number"
    scalar: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", check_attribute_name(self.name))
        check_kind("mechanism", self.mechanism, NoisedNumber)

    def to_form(self) -> dict[str, Any]:
        """Return the column as plain values for JSON."""
        return {"name": self.name, "kind": "number", **self.mechanism.to_form()}

    def told(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Say of each record whether it has this cell."""
        return np.asarray(~np.isnan(reports))

    def in_file(self, reports: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers themselves."""
        return reports

    def unbiased(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Return a number for each report whose mean is the clipped truth."""
        return self.mechanism.unbiased(reports)

    def scaled(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Return the same between the low bound, 0, and the high bound, 1, but for the noise."""
        return (self.unbiased(reports) - self.mechanism.low) / self.mechanism.span

    def channel(self) -> Channel:
        """Return how values become cells of reports, as models of noised records need it.

        Examples
        --------
        >>> from supm.mechanisms import ContinuousLaplace
        >>> age = ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=2.0)
        >>> channel = NumberColumn("age", age).channel()
        >>> channel.matrix.shape, float(channel.matrix.sum(axis=1).min().round(9))
        ((50, 22), 1.0)
        >>> channel.cells([-500.0, 50.0, np.nan])
        array([ 0, 11, -1])
        """
        return Channel.of_number(self.mechanism)

    def cell_reports(self, reports: NDArray[Any], bins: int) -> CellReports:
        """Return the cells of reports that the mechanism advises, for so many bins."""
        edges = self.mechanism.edges(bins)
        return self.in_cells(reports, edges, self.mechanism.report_cells(edges))

    def in_cells(
        self, reports: NDArray[Any], edges: NDArray[np.float64], borders: NDArray[np.float64]
    ) -> CellReports:
        """Return the cells of reports between given borders."""
        places = np.searchsorted(borders[1:-1], reports, side="right")
        if np.isnan(reports).any():
            places[np.isnan(reports)] = -1
        return CellReports(places, self.mechanism.transition(edges, borders))

    def marginal(self, shares: NDArray[np.float64], *, tied: bool = False) -> BinnedMarginal:
        """Return the distribution that has these shares of bins."""
        return BinnedMarginal(self.mechanism.low, self.mechanism.high, shares, tied)

    def _checked(self, raw: RawColumn) -> NDArray[np.float64]:
        return clipped_numbers(self.name, raw, -_LARGEST, _LARGEST)

    def _reported(self, raw: RawColumn) -> NDArray[np.float64]:
        numbers = self._checked(raw)
        strange = int((~self.mechanism.supported(numbers) & ~np.isnan(numbers)).sum())
        if strange:
            raise RecordError(
                f"{self.name}: {strange} of {numbers.size} cells cannot have been reported by "
                f"{self.noise} with these parameters; check the bounds and the epsilon."
            )
        return numbers

    def _noised(self, raw: RawColumn, source: RandomSource) -> NDArray[np.float64]:
        held = clipped_numbers(self.name, raw, self.mechanism.low, self.mechanism.high)
        return self.mechanism.randomize(held, source)


@dataclass(frozen=True)
class ClassColumn(ArchiveColumn):
    """One of a public list of values, and how it was noised.

    Parameters
    ----------
    name : str
        Of the column.
    values : sequence
        All possible values, at least two.
    mechanism : GeneralizedRandomizedResponse
        Of as many values. Floats state its probability of the truth, up to an epsilon of about 36.
    ordered : bool, default False
        Whether the list goes from least to greatest.

    Examples
    --------
    >>> answer = GeneralizedRandomizedResponse.with_keep(size=2, keep=0.75)
    >>> sex = ClassColumn("sex", ("f", "m"), answer)
    >>> sex.counts(np.array([0, 0, 0, 1]))
    array([4., 0.])
    """

    name: str
    values: tuple[Value, ...]
    mechanism: GeneralizedRandomizedResponse
    ordered: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", check_attribute_name(self.name))
        object.__setattr__(self, "values", check_values(self.name, self.values))
        check_kind("mechanism", self.mechanism, GeneralizedRandomizedResponse)
        check_kind("ordered", self.ordered, bool)
        object.__setattr__(self, "mechanism", self.mechanism.in_floats())
        if self.mechanism.size != len(self.values):
            raise SchemaError(
                f"{self.name}: the mechanism is of {self.mechanism.size} values, "
                f"{len(self.values)} given."
            )

    @property
    def kind(self) -> Kind:
        """Whether its values have an order."""
        return "ordered" if self.ordered else "unordered"

    @property
    def scalar(self) -> bool:
        """Whether it can be read as one number for each row: two values always have an order."""
        return self.ordered or len(self.values) == 2

    @property
    def gap(self) -> float:
        """By how much the truth is likelier than a given other class."""
        return float(self.mechanism.hit - self.mechanism.miss)

    def to_form(self) -> dict[str, Any]:
        """Return the column as plain values for JSON."""
        described = {"values": list(self.values), "ordered": self.ordered}
        noise = {"mechanism": self.noise, "keep": float(self.mechanism.hit)}
        return {"name": self.name, "kind": "class", **described, **noise}

    def told(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Say of each record whether it has this cell."""
        return np.asarray(reports >= 0)

    def in_file(self, reports: NDArray[Any]) -> NDArray[Any]:
        """Return the values of the reported classes, None where there is none."""
        values = np.array([*self.values, None], dtype=object)
        named: NDArray[Any] = values[reports]
        return named

    def named(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values at places in the list, in an array of their own type."""
        kinds = {type(value) for value in self.values}
        values = np.array(self.values, dtype=None if len(kinds) == 1 else object)
        named: NDArray[Any] = values[codes]
        return named

    def matrix(self) -> NDArray[np.float64]:
        """Return the probability of each report (column) for each class (row)."""
        told = np.full((len(self.values), len(self.values)), float(self.mechanism.miss))
        np.fill_diagonal(told, float(self.mechanism.hit))
        return told

    def unbiased(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Return one row per report whose mean is the indicator of the true class."""
        rows = (np.eye(len(self.values)) - float(self.mechanism.miss)) / self.gap
        return np.where(reports[:, np.newaxis] < 0, np.nan, rows[reports])

    def counts(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Return counts of the true classes without bias; some may be below zero."""
        held = reports[reports >= 0]
        counts = np.bincount(held, minlength=len(self.values))
        return np.asarray((counts - held.size * float(self.mechanism.miss)) / self.gap)

    def scaled(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Return the unbiased place between the first class, 0, and the last one, 1."""
        scores = np.arange(len(self.values)) / (len(self.values) - 1)
        # Unbiased as the indicators are: scores less the mean of a random answer, stretched.
        stretched = (scores - float(self.mechanism.miss) * scores.sum()) / self.gap
        return np.where(reports < 0, np.nan, stretched[reports])

    def channel(self) -> Channel:
        """Return how classes become reported ones."""
        return Channel.of_classes(self.kind, self.matrix())

    def cell_reports(self, reports: NDArray[Any], bins: int) -> CellReports:
        """Return the reports themselves: a class is a cell."""
        del bins
        return CellReports(reports, self.matrix())

    def marginal(self, shares: NDArray[np.float64], *, tied: bool = False) -> OrderedMarginal:
        """Return the distribution that has these shares of classes."""
        del tied
        return OrderedMarginal(shares)

    def _checked(self, raw: RawColumn) -> NDArray[np.int64]:
        return np.where(raw.missing, -1, positions(self.name, raw, self.values))

    def _noised(self, raw: RawColumn, source: RandomSource) -> NDArray[np.int64]:
        return self.mechanism.outcome(self.mechanism.randomize(self._checked(raw), source))


Column: TypeAlias = NumberColumn | ClassColumn
_NUMBERS: Final = (ContinuousLaplace, ContinuousGaussian, ContinuousPiecewise, ContinuousSquareWave)
_RESPONSE: Final = GeneralizedRandomizedResponse
_Law = tuple[tuple[str, ...], Callable[..., Any], Callable[..., Any]]
# The mechanisms of each kind: their parameters, what makes them of those, and what of epsilon.
_LAWS: Final[dict[str, dict[str, _Law]]] = {
    "number": {each.name: (each.parameters, each, each.for_epsilon) for each in _NUMBERS},
    "class": {_RESPONSE.name: (("keep",), _RESPONSE.with_keep, _RESPONSE.for_epsilon_in_floats)},
}


def mechanism_from_form(form: dict[str, Any], own: tuple[str, ...], public: dict[str, Any]) -> Any:  # noqa: ANN401  of several kinds
    """Make a mechanism from its parameters, or from epsilon with what must stand beside it.

    ``own`` names the fields of this kind of column, ``public`` is what its mechanisms take of them.
    """
    parameters, make, make_for_epsilon = _law(form.get("mechanism"), form["kind"])
    fields = ("name", "kind", *own, "mechanism", "epsilon", *parameters)
    check_fields(form, fields, "a column", SchemaError)
    wanted = parameters
    if "epsilon" in form:
        # No epsilon of normal noise says anything without its delta.
        make, wanted = make_for_epsilon, ("epsilon", *(x for x in parameters if x == "delta"))
    _check_stated(form, parameters, (*own, *wanted))
    return make(**public, **{each: form[each] for each in wanted})


def _law(name: object, kind: str) -> _Law:
    known = _LAWS[kind]
    if name is None:
        raise SchemaError(f"its mechanism is not given; state one of {', '.join(known)}.")
    shown = str(name)[:60]
    if shown not in known:
        advice = suggestion(shown, known)
        raise SchemaError(f"its mechanism {shown!r} is not known for a {kind}. {advice}")
    return known[shown]


def _check_stated(
    form: dict[str, Any], parameters: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    if not any(each in form for each in ("epsilon", *parameters)):
        named = " and ".join(parameters)
        raise SchemaError(f"how much noise there is was not given; state epsilon or {named}.")
    for each in wanted:
        if each not in form:
            raise SchemaError(f"{each} is missing; {form['mechanism']} needs {', '.join(wanted)}.")
    for each in parameters:
        if each in form and each not in wanted:
            raise SchemaError(f"{each} does not go with epsilon; keep one of them.")
