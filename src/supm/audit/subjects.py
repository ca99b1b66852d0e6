"""What the checks ask of a mechanism: its inputs by number, and reports as numbered cells.

A finite channel has its outcomes for cells. The Laplace mechanism reports any whole number, so its
reports are sorted into runs between quantiles, with the places around the owner's own grid point
kept single. Inputs are known by number, so that a list of 2^40 of them is never made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError, SupmError
from supm._random import RandomSource
from supm.audit.findings import ImpossibleReportError
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import (
    FiniteChannel,
    FrequencyRandomizer,
    IndependentReports,
    JointReport,
    Laplace,
    NumericRandomizer,
    OrderedDiscretePerturbation,
    Reports,
    SquareWave,
    record_numbers,
)

_RUNS = 64
_INPUTS = 256

Auditable: TypeAlias = FiniteChannel | Laplace
"""What the suite takes."""
Readable: TypeAlias = (
    FrequencyRandomizer
    | IndependentReports
    | JointReport
    | NumericRandomizer
    | OrderedDiscretePerturbation
)
"""What estimates something, without bias."""
Estimating: TypeAlias = Readable | SquareWave
"""What estimates something."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Cells of reports and their exact probabilities for a few inputs."""

    # Of each cell for each input: inputs, cells.
    probabilities: NDArray[np.float64]
    number: Callable[[Reports], NDArray[np.int64]]

    def draw(
        self, mechanism: Auditable, values: NDArray[Any], source: RandomSource
    ) -> NDArray[np.int64]:
        """Draw one cell per value, or raise ImpossibleReportError."""
        reports = mechanism.randomize(values, source)
        if len(reports) != len(values):
            raise ImpossibleReportError(f"{len(values)} values gave {len(reports)} reports")
        if reports.symbols.dtype.kind not in "iu":
            raise ImpossibleReportError(f"reports are {reports.symbols.dtype}, not whole numbers")
        try:
            cells = self.number(reports)
        except SupmError as refusal:
            raise ImpossibleReportError(
                f"the mechanism refuses its own report: {refusal}"
            ) from None
        columns = self.probabilities.shape[1]
        if cells.min() < 0 or cells.max() >= columns:
            raise ImpossibleReportError(
                f"a report lies outside the {columns} outcomes of the channel"
            )
        return cells

    def fit(
        self,
        mechanism: Auditable,
        values: NDArray[Any],
        source: RandomSource,
        expected: NDArray[np.float64],
    ) -> float:
        """Return the p-value of the cells that are drawn, where these are expected."""
        drawn = self.draw(mechanism, values, source)
        return goodness_of_fit(np.bincount(drawn, minlength=expected.size), expected)


def cells_of(mechanism: Auditable, inputs: Sequence[int]) -> Cells:
    """Return the cells of a mechanism, with probabilities for the inputs of the given numbers.

    Examples
    --------
    >>> meter = Laplace.for_epsilon(low=0, high=1, steps=4, epsilon=1.0)
    >>> bool(np.allclose(cells_of(meter, [0, 4]).probabilities.sum(axis=1), 1))
    True
    """
    if isinstance(mechanism, FiniteChannel):
        rows = mechanism.channel()[np.array(inputs)]
        return Cells(probabilities=rows, number=mechanism.outcome)
    cuts = np.unique(np.concatenate([_cuts(mechanism, index) for index in inputs]))
    below = [mechanism.cumulative(index, cuts) for index in inputs]
    rows = np.diff(np.array(below), axis=1, prepend=0.0, append=1.0)
    least, greatest = mechanism.alphabet

    def number(reports: Reports) -> NDArray[np.int64]:
        symbols = reports.symbols
        if symbols.min() < least or symbols.max() > greatest:
            raise ImpossibleReportError(f"a report lies outside {least} … {greatest}")
        return np.searchsorted(cuts, symbols)

    return Cells(probabilities=np.maximum(rows, 0.0), number=number)


def grid_points(mechanism: Auditable) -> NDArray[Any]:
    """Return one value per input: what `randomize` takes."""
    if isinstance(mechanism, FiniteChannel):
        return mechanism.inputs()
    return mechanism.grid.points()


def _cuts(mechanism: Laplace, index: int) -> NDArray[np.int64]:
    """Find the quantiles by bisection, and keep the places around the owner's own point single."""
    levels = np.arange(1, _RUNS) / _RUNS
    least, greatest = mechanism.alphabet
    low, high = np.full(levels.size, least), np.full(levels.size, greatest)
    while (low < high).any():
        middle = (low + high) // 2
        reached = mechanism.cumulative(index, middle) >= levels
        low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
    return np.concatenate((low, np.arange(index - 2, index + 2)))


def count_inputs(mechanism: Auditable) -> int:
    """Return how many inputs there are; it may be as many as 2^40.

    Examples
    --------
    >>> count_inputs(JointReport.for_epsilon(sizes=(2, 3), epsilon=1.0))
    6
    """
    if isinstance(mechanism, FrequencyRandomizer):
        return mechanism.size
    if isinstance(mechanism, JointReport | IndependentReports):
        return math.prod(mechanism.sizes)
    return len(grid_points(mechanism))


def count_symbols(mechanism: Auditable) -> int:
    """Return how many symbols a tally counts one by one: none where it sums numbers instead."""
    by_symbol = isinstance(mechanism, FrequencyRandomizer | JointReport)
    return count_inputs(mechanism) if by_symbol else 0


def is_listed(mechanism: FiniteChannel, most: int) -> bool:
    """Tell whether the channel has at most so many entries."""
    # The number of outcomes first: where it is huge, so may be the list of inputs.
    return mechanism.outcomes <= most and mechanism.outcomes * len(mechanism.inputs()) <= most


def randomizers_of(mechanism: Any) -> tuple[Any, ...]:  # noqa: ANN401  each kind has its own
    """Return what draws the reports: an inner response, one for each attribute, or itself."""
    if isinstance(mechanism, JointReport):
        return (mechanism.randomizer,)
    if isinstance(mechanism, OrderedDiscretePerturbation):
        return (mechanism.response,)
    return mechanism.responses if isinstance(mechanism, IndependentReports) else (mechanism,)


def tallied(mechanism: Any, reports: Reports) -> tuple[tuple[Any, ...], tuple[Any, ...]]:  # noqa: ANN401  each kind has its own
    """Return the tallies and the estimates of reports, one of each for each randomizer."""
    tally = mechanism.tally(reports)
    return _each(tally), _each(mechanism.estimate(tally))


def _each(result: Any) -> tuple[Any, ...]:  # noqa: ANN401  a tuple where there are several attributes
    return result if isinstance(result, tuple) else (result,)


def values_of(mechanism: Auditable, numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Return the inputs of the given numbers, as `randomize` takes them.

    Examples
    --------
    >>> joint = JointReport.for_epsilon(sizes=(2, 3), epsilon=1.0)
    >>> values_of(joint, np.array([0, 5])).tolist()
    [[0, 0], [1, 2]]
    """
    if isinstance(mechanism, FrequencyRandomizer):
        return numbers
    if isinstance(mechanism, JointReport | IndependentReports):
        return record_numbers(numbers, mechanism.sizes)
    return grid_points(mechanism)[numbers]


def some_inputs(mechanism: Auditable, most: int, source: RandomSource) -> NDArray[np.int64]:
    """Return the numbers of all inputs, or of the first, the last and random ones.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.mechanisms import LocalHashing
    >>> hashing = LocalHashing.for_epsilon(size=1000, epsilon=1.0)
    >>> some_inputs(hashing, 5000, simulation(1)).size
    1000
    >>> some_inputs(hashing, 10, simulation(1)).max()
    np.int64(999)
    """
    count = count_inputs(mechanism)
    if count <= most:
        return np.arange(count, dtype=np.int64)
    chosen = source.below(count, most).astype(np.int64)
    return np.unique(np.append(chosen[2:], (0, count - 1)))


def crowd(mechanism: Auditable, draws: int, source: RandomSource) -> NDArray[Any]:
    """Return values of so many owners, who hold all inputs in turn, or some of them."""
    return values_of(mechanism, np.resize(some_inputs(mechanism, _INPUTS, source), draws))


def collect(mechanism: Any, draws: int, source: RandomSource) -> Reports:  # noqa: ANN401  what cannot be collected from is refused
    """Return reports of a crowd of a mechanism whose inputs can be numbered."""
    if not isinstance(mechanism, Auditable):
        raise ParameterError("mechanism", "finite or Laplace", type(mechanism).__name__)
    return mechanism.randomize(crowd(mechanism, draws, source), source)
