"""Models that are learned from noised records directly, with no synthesis between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import RecordError, SchemaError
from supm._validation import Integers, check_kind
from supm.synthesis.archive import Archive
from supm.synthesis.columns import Column
from supm.synthesis.columns_learning import ColumnReading, pulled_mean, read_functions
from supm.synthesis.distributions import Channel
from supm.synthesis.noise_aware_moments import (
    Coefficients,
    Form,
    Problem,
    priors_for,
    solve,
    take_moments,
)

Table = NDArray[np.float64]
_FUNCTIONS: Final = 8
_CLASS_FUNCTIONS: Final = 24
_TARGET_FUNCTIONS: Final = 12
# What one function of one column is expected to share with the target, as a squared correlation.
_EXPECTED: Final = 0.05
# The variance of a number between 0 and 1 is at most 1/4; a priori it is known to this deviation.
_VARIANCE_DEVIATION: Final = 1 / 12
_RANK: Final = 1e-6
# No model explains all: what is left of the target's variance is at least this share.
_LEFT: Final = 0.05
_LEAST_PROBABILITY: Final = 1e-3
_ROWS = Integers("rows", 2, 1 << 32)
# A leaf stands for at least so many clean records.
_CLEAN_RECORDS: Final = 2.0
# Synthetic rows are made of smooth curves: nothing in them is finer than this share of them.
_FINEST: Final = 0.01
# Leaves of more rows than this leave next to nothing to split, where there is something to see.
_COARSEST: Final = 0.3


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NoisyColumn:
    """Reports of one column, and how they were noised."""

    channel: Channel
    reports: ArrayLike

    @property
    def cells(self) -> NDArray[np.int64]:
        """The cell of each report."""
        return self.channel.cells(self.reports)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Additive:
    """A sum of functions of clean values, each of mean 0."""

    columns: tuple[ColumnReading, ...]
    centres: Table

    def evaluate(self, values: Sequence[ArrayLike]) -> Table:
        pairs = zip(self.columns, values, strict=True)
        return np.hstack([column.evaluate(own) for column, own in pairs]) - self.centres


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NumberModel:
    """Predicts a number from clean values, in units of the target's public range."""

    functions: _Additive
    mean: float
    mean_variance: float
    spread: float
    variance: float
    coefficients: Coefficients

    @property
    def explained(self) -> float:
        """Share of the target's variance that predictions are expected to explain, 0 to 1.

        It is the variance of the predictions over itself and what they leave: 0 for a constant.
        """
        told = self.spread**2 * self.coefficients.told
        return told / (told + self._left)

    def predict(self, values: Sequence[ArrayLike]) -> Table:
        """Return a number between 0, the low bound, and 1 for each record."""
        moved = self.functions.evaluate(values) @ self.coefficients.mean
        return np.clip(self.mean + self.spread * moved, 0.0, 1.0)

    def deviation(self, values: Sequence[ArrayLike]) -> Table:
        """Return the standard deviation of the clean target about what is predicted.

        It has three parts: the mean and the coefficients are uncertain because the reports are
        noisy and few, and records that look alike have different targets.
        """
        table = self.functions.evaluate(values)
        fit = np.einsum("ij,jk,ik->i", table, self.coefficients.covariance, table)
        return np.asarray(
            np.sqrt(self.mean_variance + self.spread**2 * np.maximum(fit, 0.0) + self._left)
        )

    @property
    def _left(self) -> float:
        """Variance of the target that predictions do not explain."""
        told = self.spread**2 * self.coefficients.told
        return max(self.variance - told, _LEFT * self.variance)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClassModel:
    """Tells how probable each class is, from clean values."""

    functions: _Additive
    shares: Table
    coefficients: tuple[Coefficients, ...]

    def probabilities(self, values: Sequence[ArrayLike]) -> Table:
        """Return the probability of each class for each record."""
        weights = np.column_stack([each.mean for each in self.coefficients])
        moved = self.functions.evaluate(values) @ weights * _deviations(self.shares)
        raw = np.clip(self.shares + moved, _LEAST_PROBABILITY, 1.0)
        return np.asarray(raw / raw.sum(axis=1, keepdims=True))


def fit_number(
    columns: Sequence[NoisyColumn], target: NoisyColumn, *, form: Form = "auto"
) -> NumberModel:
    """Learn to predict a number.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import NumberColumn
    >>> law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=4.0)
    >>> channel, true = NumberColumn("x", law).channel(), np.linspace(0, 1, 20_000)
    >>> x, y = law.randomize(true, simulation(1)), law.randomize(1 - true, simulation(2))
    >>> column = NoisyColumn(channel=channel, reports=x)
    >>> model = fit_number([column], NoisyColumn(channel=channel, reports=y))
    >>> model.predict([[0.1, 0.9]]).round(1)
    array([0.9, 0.1])
    """
    cells = target.cells
    told = _told(cells)
    reading = read_functions(target.channel, cells, limit=_TARGET_FUNCTIONS)
    mean, mean_variance = pulled_mean(reading, cells)
    functions, fitted = _fit(columns, [_efficient(reading, cells)], told, form)
    return NumberModel(
        functions=functions,
        mean=mean,
        mean_variance=mean_variance,
        spread=reading.spread,
        variance=_variance(reading, cells, mean),
        coefficients=fitted[0],
    )


def fit_classes(
    columns: Sequence[NoisyColumn], target: NoisyColumn, *, form: Form = "auto"
) -> ClassModel:
    """Learn to tell how probable each class is."""
    cells = target.cells
    told = _told(cells)
    readings = np.asarray(np.linalg.inv(target.channel.matrix)[cells], dtype=np.float64)
    shares = _class_shares(readings[told > 0])
    centred = (readings - shares) / _deviations(shares) * told[:, np.newaxis]
    functions, fitted = _fit(columns, list(centred.T), told, form)
    return ClassModel(functions=functions, shares=shares, coefficients=tuple(fitted))


def _fit(
    columns: Sequence[NoisyColumn], targets: Sequence[Table], told: Table, form: Form
) -> tuple[_Additive, list[Coefficients]]:
    cells = [each.cells for each in columns]
    found = tuple(_read(each, own) for each, own in zip(columns, cells, strict=True))
    moments = take_moments(found, cells, np.column_stack(targets), told)
    gram, count = moments.gram(), float(told.sum())
    noise, told_products = moments.noise(gram), moments.told(gram, count)
    priors = priors_for(found, form)
    fitted = []
    for place, covariance in enumerate(moments.covariance().T):
        square = float(np.square(targets[place]).sum() / count)
        problem = Problem(
            covariance=covariance,
            gram=gram,
            noise=noise,
            priors=priors,
            residual=(square, moments.targets[:, place] / count, told_products),
        )
        fitted.append(solve(problem))
    return _Additive(columns=found, centres=moments.centres), fitted


def _read(column: NoisyColumn, cells: NDArray[np.int64]) -> ColumnReading:
    number = column.channel.kind == "number"
    return read_functions(column.channel, cells, limit=_FUNCTIONS if number else _CLASS_FUNCTIONS)


def _told(cells: NDArray[np.int64]) -> Table:
    told = (cells >= 0).astype(np.float64)
    if told.sum() < 2:
        raise RecordError("at least two records must have a report of the target.")
    return told


def _variance(reading: ColumnReading, cells: NDArray[np.int64], mean: float) -> float:
    """Return the variance of a number: debiased, pulled to that of the shares by its noise."""
    squares = np.square(reading.channel.places - mean)
    values = np.linalg.lstsq(reading.channel.matrix, squares, rcond=_RANK)[0][cells[cells >= 0]]
    noise = float(values.var() / values.size)
    kept = _VARIANCE_DEVIATION**2 / (_VARIANCE_DEVIATION**2 + noise)
    found = reading.spread**2 + kept * (float(values.mean()) - reading.spread**2)
    return max(reading.spread**2, min(found, mean * (1 - mean)))


def _efficient(reading: ColumnReading, cells: NDArray[np.int64]) -> Table:
    """Return readings of the target of variance 1, less those parts that are mostly noise.

    A part that the reports hardly tell adds more noise to a covariance than it can add signal.
    """
    reports = reading.shares @ reading.channel.matrix
    noisiness = reports @ np.square(reading.readings)
    known = (cells >= 0).sum() * _EXPECTED / noisiness
    kept = known / (1 + known)
    told = reading.tell(cells) @ (reading.line * kept / kept.max())
    there = cells >= 0
    return np.where(there, told - told[there].mean(), 0.0)


def _class_shares(readings: Table) -> Table:
    """Return the shares of the classes, pulled to equal ones as their noise demands."""
    size = readings.shape[1]
    prior = (size - 1) / (size**2 * (size + 1))
    noise = readings.var(axis=0) / len(readings)
    shares = 1 / size + prior / (prior + noise) * (readings.mean(axis=0) - 1 / size)
    shares = np.clip(shares, _LEAST_PROBABILITY, None)
    return np.asarray(shares / shares.sum())


def _deviations(shares: Table) -> Table:
    return np.sqrt(shares * (1 - shares))


def leaf_size(rows: int, archive: Archive) -> int:
    """Return the least number of synthetic rows that a leaf of a tree should hold.

    Synthetic rows can be drawn without end, but they say no more than the noised records that they
    were learned from. A tree with small leaves learns the noise of the model behind the rows. So a
    leaf must stand for some clean records: the more noise, the larger its share of the rows. Where
    all of the archive is worth no more than that, the leaf is the whole of the rows, and the tree a
    constant: the mean of the rows, or the commonest class.

    Parameters
    ----------
    rows : int
        How many synthetic rows the tree is trained on.
    archive : Archive
        What they were learned from; its schema names the target.

    Returns
    -------
    int
        For ``min_samples_leaf`` of a scikit-learn tree.

    Notes
    -----
    The share of the rows is 2 / `worth_of`, between 1 % and 30 %, or all of them where the archive
    is worth 2 clean records or less. These numbers were chosen by trial on Boston, Diabetes, Kung
    and Adult (epsilon 0.01 to 10 for each attribute, public bounds, 20,000 rows of the strict
    synthesizer). Leaves of 3 % to 10 % were best or near it where an archive was worth 7 to 50
    clean records, and of 1 % from 100 on. Between 2 and 7, leaves of 30 % had up to a third less
    error than those of 10 %. Below 2, whatever was split was mostly noise: trees with leaves of
    30 % had up to 1.9 times the error of one leaf, and hardly ever less. A leaf of one row, the
    default of trees, had up to four times the error. Rows of the paper's method, which does not
    pull correlations to nothing, want leaves of 30 % or 50 % where an archive is worth less than
    10.

    Examples
    --------
    >>> import numpy as np
    >>> from supm import simulation
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import ArchiveSchema, NumberColumn
    >>> def noised(epsilon):
    ...     law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=epsilon)
    ...     columns = NumberColumn("x", law), NumberColumn("y", law)
    ...     schema = ArchiveSchema(columns=columns, target="y")
    ...     true = np.linspace(0, 1, 500)
    ...     return Archive.noised({"x": true, "y": 1 - true}, schema, simulation(1))
    >>> [leaf_size(10_000, noised(epsilon)) for epsilon in (0.1, 20.0)]
    [10000, 100]
    """
    check_kind("archive", archive, Archive)
    _ROWS.check(rows)
    worth = worth_of(archive)
    if worth <= _CLEAN_RECORDS:
        return rows
    return math.ceil(rows * min(max(_CLEAN_RECORDS / worth, _FINEST), _COARSEST))


def worth_of(archive: Archive) -> float:
    """Return how many clean records would tell the dependence on the target as well as these do.

    Parameters
    ----------
    archive : Archive
        Its schema names the target.

    Returns
    -------
    float
        The covariance of two columns from noised records has the variance of one from clean
        records, divided by the share of signal in both: this is that share, on average over the
        columns, times the number of records.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import ArchiveSchema, NumberColumn
    >>> law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=1.0)
    >>> schema = ArchiveSchema(columns=(NumberColumn("x", law), NumberColumn("y", law)), target="y")
    >>> archive = Archive.noised({"x": [0, 1] * 500, "y": [1, 0] * 500}, schema, simulation(1))
    >>> 1 < worth_of(archive) < 100
    True
    """
    if archive.schema.target is None:
        raise SchemaError("the schema of the archive must name a target; set it to a column.")
    told = {each.name: _signal(each, archive) for each in archive.schema.columns}
    target = told.pop(archive.schema.target)
    others = sum(told.values()) / max(len(told), 1)
    return archive.rows * target * others


def _signal(column: Column, archive: Archive) -> float:
    """Return the share of signal in the reports of a column, for what they tell best."""
    channel = column.channel()
    cells = channel.cells(archive.reports[column.name])
    reading = read_functions(channel, cells, limit=1)
    reports = reading.shares @ channel.matrix
    number = channel.kind == "number"
    best = reading.readings @ reading.line if number else reading.readings[:, 0]
    return float((cells >= 0).mean() / (reports @ best**2))
