"""What the estimators of noise-aware models share: noise that is stated, moments, and a fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from supm._errors import ParameterError, RecordError, SchemaError
from supm.estimators._reading import NoisyEstimator, check_bounds, quietly, without_promise
from supm.estimators._targets import free_name
from supm.mechanisms import ContinuousLaplace
from supm.schema.columns import clipped_numbers, positions, raw_column, table_columns
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn
from supm.synthesis.archive import archive_statement
from supm.synthesis.columns import Column
from supm.synthesis.noise_aware import NoisyColumn
from supm.synthesis.noise_aware_moments import Form
from supm.synthesis.quality_dependence import noise_doubts

_ADVICE: Final = "check bounds and epsilon, or give a schema"
_ADVICE_OF_SCHEMA: Final = "check bounds and epsilon in the schema"


def warn_of_noise(columns: Mapping[str, tuple[Column, ArrayLike]], *, by_schema: bool) -> None:
    """Warn, in the name of the caller's caller's caller, of columns that are not as stated.

    scikit-learn demands that tables of any numbers can be learned from, so that nothing is refused.

    Parameters
    ----------
    columns : mapping of str to Column and array-like
        What a message calls each column, how it was noised, as stated, and its reports, with NaN or
        -1 where there is none.
    by_schema : bool
        Whether a schema describes them.
    """
    strange = {name: each for name, (each, own) in columns.items() if _strange(each, _told(own))}
    if strange:
        name, column = next(iter(strange.items()))
        others = f", nor can {len(strange) - 1} more be what is stated" if len(strange) > 1 else ""
        advice = _ADVICE_OF_SCHEMA if by_schema else _ADVICE
        message = f"{name} cannot be {_stated(column)}{others}: {advice}."
        warnings.warn(message, UserWarning, stacklevel=4)


def _told(reports: ArrayLike) -> NDArray[Any]:
    cells = np.asarray(reports)
    return cells[~np.isnan(cells) if cells.dtype.kind == "f" else cells >= 0]


def _strange(column: Column, told: NDArray[Any]) -> bool:
    if isinstance(column, NumberColumn) and not column.mechanism.supported(told).all():
        return True
    if not told.size:
        return False
    schema = ArchiveSchema(columns=(column,))
    return bool(noise_doubts(Archive(schema=schema, reports={column.name: told}, rows=told.size)))


def _stated(column: Column) -> str:
    noise = f"{column.noise.replace('_', ' ')} noise of epsilon {column.mechanism.epsilon:g}"
    if isinstance(column, NumberColumn):
        return f"a number in [{column.mechanism.low:g}, {column.mechanism.high:g}] with {noise}"
    return f"one of {len(column.values)} classes with {noise}"


_FORMS: Final = ("auto", "linear", "additive")
_CLEAN: Final = "the labels were not noised"
_TRUST: Final = (
    "The reports are taken to have been noised by their owners as described; nobody can check that "
    "afterwards. To learn from them spends nothing more."
)


_Target = TypeVar("_Target", NumberColumn, ClassColumn)


class NoiseAwareEstimator(NoisyEstimator):
    """Reads noised tables in ``fit`` and clean ones in ``predict``."""

    schema: ArchiveSchema | None
    epsilon: float | Sequence[float]
    bounds: tuple[float, float] | Sequence[tuple[float, float]]
    form: str
    columns_: tuple[Column, ...]

    def _target_apart(self, table: object, y: object) -> bool:
        """Say whether parameters describe the target: no schema does, and y is to hold it."""
        if isinstance(table, Archive) or self.schema is None:
            return not isinstance(table, Archive)
        return y is not None and self._checked_schema().target is None

    def _read_archive(self, table: object, y: object) -> Archive:
        """Return the noised records that an archive, or a table and a schema, hold."""
        if isinstance(table, Archive):
            if y is not None:
                raise ParameterError("y", "None where X is an archive", "another")
            return table
        schema = self._checked_schema()
        if y is None:
            return Archive.read(table, schema)
        names = self._features(schema)
        _check_one_target(table, str(schema.target))
        columns = table_columns(table, names)
        rows = raw_column(names[0], columns[names[0]]).missing.size
        check_lengths(raw_column("y", y).missing.size, rows)
        return Archive.read({**columns, str(schema.target): y}, schema)

    def _checked_schema(self) -> ArchiveSchema:
        if not isinstance(self.schema, ArchiveSchema):
            kind = type(self.schema).__name__
            raise ParameterError("schema", "a supm.synthesis.ArchiveSchema or None", kind)
        return self.schema

    def _features(self, schema: ArchiveSchema) -> tuple[str, ...]:
        """Return the names of the columns to predict from."""
        if schema.target is None:
            raise SchemaError("the schema of the archive must name a target; set it to a column.")
        names = tuple(name for name in schema.names if name != schema.target)
        if not names:
            raise SchemaError("the archive must have a column beside the target.")
        return names

    def _from_records(
        self, archive: Archive, kind: type[_Target], wanted: str
    ) -> tuple[list[NoisyColumn], _Target, NoisyColumn]:
        """Return the reports of an archive: of the columns, and of a target of a kind."""
        columns = self._keep(archive, self._features(archive.schema))
        target = archive.schema.column(str(archive.schema.target))
        if not isinstance(target, kind):
            raise SchemaError(f"{target.name}: {wanted} for a target.")
        reports = archive.reports[target.name]
        return columns, target, NoisyColumn(channel=target.channel(), reports=reports)

    def _inputs(self, table: object) -> list[NoisyColumn]:
        """Read a table without target, by the schema if there is one."""
        if self.schema is None:
            return self._from_array(table)
        archive = Archive.read(table, self._checked_schema())
        return self._keep(archive, archive.schema.names)

    def _keep(self, archive: Archive, names: Sequence[str]) -> list[NoisyColumn]:
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        self.columns_ = tuple(archive.schema.column(name) for name in names)
        self._by_name = True
        return [
            NoisyColumn(channel=each.channel(), reports=archive.reports[each.name])
            for each in self.columns_
        ]

    def _from_array(self, table: object) -> list[NoisyColumn]:
        """Read a table of numbers with Laplace noise, and keep what is public about it."""
        numbers = quietly(
            lambda: validate_data(self, table, dtype=np.float64, ensure_min_samples=2)
        )
        laws = [self._law(place, numbers.shape[1]) for place in range(numbers.shape[1])]
        self.columns_ = tuple(NumberColumn(f"x{place}", law) for place, law in enumerate(laws))
        self._by_name = False
        pairs = zip(self.columns_, numbers.T, strict=True)
        return [NoisyColumn(channel=each.channel(), reports=own) for each, own in pairs]

    def _epsilon_of_target(self, own: float | None) -> float:
        if own is not None:
            return own
        if self.schema is not None:
            raise ParameterError("target_epsilon", "given where the schema has no target", None)
        if isinstance(self.epsilon, Sequence | np.ndarray):
            raise ParameterError("target_epsilon", "given where columns have their own", None)
        return self.epsilon

    def _law(self, place: int, count: int) -> ContinuousLaplace:
        epsilon = _own("epsilon", self.epsilon, place, count)
        bounds: Any = self.bounds
        if isinstance(bounds, Sequence) and bounds and isinstance(bounds[0], Sequence):
            bounds = _own("bounds", bounds, place, count)
        low, high = check_bounds("bounds", bounds)
        return ContinuousLaplace.for_epsilon(low=low, high=high, epsilon=epsilon)

    def _clean(self, table: object) -> list[NDArray[Any]]:
        """Return the clean values of each column: numbers, or places in its list."""
        check_is_fitted(self)
        if not self._by_name:
            numbers = quietly(lambda: validate_data(self, table, dtype=np.float64, reset=False))
            return list(numbers.T)
        columns = table_columns(table, tuple(each.name for each in self.columns_))
        return [_clean_values(each, columns[each.name]) for each in self.columns_]

    def _checked_form(self) -> Form:
        if self.form not in _FORMS:
            raise ParameterError("form", f"one of {', '.join(_FORMS)}", self.form)
        return self.form  # type: ignore[return-value]  # checked in the line before

    def _state(
        self, target: Column | None, asked: int | None = None, *, simulation: bool = False
    ) -> None:
        """Keep what the owners of the records were promised; None is a target without noise."""
        held = self.columns_ if target is None else (*self.columns_, target)
        name = None if target is None else target.name
        described = ArchiveSchema(columns=held, target=name, asked=asked)
        told = archive_statement(described, simulation=simulation, trust=_TRUST)
        self.statement_ = told if target else without_promise(told, "not noised", _CLEAN)

    def _check_noise(
        self, columns: Sequence[NoisyColumn], target: Column | None, told: NoisyColumn
    ) -> None:
        """Compare the reports with the noise that was stated; a target of None has none."""
        pairs = zip(self.columns_, columns, strict=True)
        held: dict[str, tuple[Column, ArrayLike]] = {
            f"column {each.name}": (each, own.reports) for each, own in pairs
        }
        if target is not None:
            held["the target"] = target, told.reports
        warn_of_noise(held, by_schema=self._by_name)

    def _asked_with(self, target: Column | None) -> int | None:
        """Return how many cells a record has where all owners told a target of its own."""
        asked = None if self.schema is None else self.schema.asked
        return asked if asked is None or target is None else asked + 1

    def _free_name(self) -> str:
        return free_name(tuple(each.name for each in self.columns_))


def check_lengths(found: int, rows: int) -> None:
    """Refuse a target that is longer or shorter than the table."""
    if found != rows:
        raise RecordError(f"y has {found} values and the table {rows} records.")


def _check_one_target(table: object, target: str) -> None:
    """Refuse a table that holds the target beside y: they may differ."""
    if isinstance(table, np.ndarray):  # its columns have no names, and their number is checked
        return
    try:
        table_columns(table, (target,))
    except RecordError:
        return
    hint = "Drop the column, or leave y out."
    raise ParameterError("y", f"None where the table has a column {target!r}", "another", hint)


def _own(name: str, given: Any, place: int, count: int) -> Any:  # noqa: ANN401  either kind of parameter
    """Return the value for one column of a parameter that holds one for all, or one for each."""
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        return given
    if len(given) != count:
        raise ParameterError(name, f"one, or one for each of {count} columns", f"{len(given)}")
    return given[place]


def _clean_values(column: Column, cells: object) -> NDArray[Any]:
    raw = raw_column(column.name, cells)
    empty = int(raw.missing.sum())
    if empty:
        raise RecordError(f"{column.name}: {empty} of {raw.missing.size} cells are missing.")
    if isinstance(column, NumberColumn):
        return clipped_numbers(column.name, raw, column.mechanism.low, column.mechanism.high)
    return positions(column.name, raw, column.values)
