"""An archive: noised records, with what is public about them and how each column was noised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import supm
from supm._errors import ParameterError, RecordError, SchemaError
from supm._json import check_fields, read_object
from supm._random import RandomSource, check_source
from supm._validation import EPSILON, Integers, check_kind
from supm.messages import Part, ReleaseStatement
from supm.privacy import ApproximateDP, Guarantee, Neighbours, PureLDP, sequential
from supm.schema.columns import check_attribute_name, check_values, table_columns
from supm.schema.schema import load_form
from supm.synthesis.columns import ClassColumn, Column, NumberColumn, mechanism_from_form

_VERSION: Final = 1
_FIELDS: Final = ("version", "target", "asked", "columns")
_TRUST: Final = (
    "The reports are taken to have been noised by their owners as described; nobody can check that "
    "afterwards. Learning from them and drawing rows are post-processing: they spend nothing more, "
    "however many rows are drawn."
)


@dataclass(frozen=True, kw_only=True)
class ArchiveSchema:
    """The columns of an archive, how each was noised, and what is to be predicted.

    Parameters
    ----------
    columns : tuple of NumberColumn or ClassColumn
        At least one, with distinct names.
    target : str or None
        The column that a model is to predict, if there is one.
    asked : int or None
        How many cells each record has, where each owner told some columns only; the others are
        empty. None if every cell is there.

    Examples
    --------
    >>> text = '''{"version": 1, "target": "income", "columns": [
    ...   {"name": "age", "kind": "number", "low": 0, "high": 100, "mechanism": "laplace",
    ...    "epsilon": 1.0},
    ...   {"name": "income", "kind": "class", "values": ["low", "high"], "ordered": true,
    ...    "mechanism": "randomized_response", "epsilon": 2.0}]}'''
    >>> schema = ArchiveSchema.from_json(text)
    >>> round(schema.epsilon, 9)
    3.0
    >>> ArchiveSchema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[Column, ...]
    target: str | None = None
    asked: int | None = None

    def __post_init__(self) -> None:
        columns: tuple[object, ...] = tuple(self.columns)
        if not columns:
            raise SchemaError("an archive must have at least one column.")
        for each in columns:
            if not isinstance(each, Column):
                raise SchemaError(
                    f"a column must be a NumberColumn or ClassColumn, got {type(each).__name__}."
                )
        object.__setattr__(self, "columns", columns)
        self._check_names()
        if self.asked is not None:
            Integers("asked", 1, len(columns)).check(self.asked)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(each.name for each in self.columns)

    @property
    def numbers(self) -> tuple[NumberColumn, ...]:
        """The columns that hold numbers, in order."""
        return tuple(each for each in self.columns if isinstance(each, NumberColumn))

    @property
    def classes(self) -> tuple[ClassColumn, ...]:
        """The columns that hold classes, in order."""
        return tuple(each for each in self.columns if isinstance(each, ClassColumn))

    def column(self, name: str) -> Column:
        """Return the column of a name, or raise SchemaError."""
        for each in self.columns:
            if each.name == name:
                return each
        raise SchemaError(
            f"the archive has no column {name!r}; its columns are {', '.join(self.names)}."
        )

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to the owner of one record, for all of its cells together."""
        promises = [each.guarantee for each in self.columns]
        if self.asked is None:
            return sequential(*promises)
        epsilons = sorted((each.epsilon for each in self.columns), reverse=True)
        deltas = sorted((float(getattr(one, "delta", 0.0)) for one in promises), reverse=True)
        total = sequential(*(PureLDP(epsilon) for epsilon in epsilons[: self.asked]))
        if not any(deltas):
            return total
        return ApproximateDP(
            epsilon=_epsilon(total),
            delta=sum(deltas[: self.asked]),
            neighbours=Neighbours.ANY_RECORDS,
        )

    @property
    def epsilon(self) -> float:
        """What one record costs its owner in total."""
        return _epsilon(self.guarantee)

    def to_json(self) -> str:
        """Return the JSON form, one line for each column; equal schemas have equal text."""
        head = {"version": _VERSION, "target": self.target, "asked": self.asked}
        start = json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1]
        lines = ",\n  ".join(
            json.dumps(each.to_form(), ensure_ascii=False, allow_nan=False) for each in self.columns
        )
        return f'{start}, "columns": [\n  {lines}\n]}}\n'

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ArchiveSchema:
        """Read the JSON form from a file."""
        return load_form(path, cls.from_json)

    @classmethod
    def from_json(cls, text: str) -> ArchiveSchema:
        """Read the JSON form."""
        form = read_object(text, "archive schema", SchemaError)
        if "attributes" in form:
            raise SchemaError(
                "this is a schema of records, as supm schema writes it; an archive schema also "
                "says how each column was noised, see supm synthesize --help."
            )
        check_fields(form, _FIELDS, "an archive schema", SchemaError)
        if type(form.get("version")) is not int or form["version"] != _VERSION:
            raise SchemaError(f"version must be {_VERSION}; this release reads no other.")
        if not isinstance(form.get("columns"), list):
            raise SchemaError("columns must be a list of objects.")
        columns = tuple(column_from_form(each, place) for place, each in enumerate(form["columns"]))
        return cls(columns=columns, target=form.get("target"), asked=form.get("asked"))

    def _check_names(self) -> None:
        names = self.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise SchemaError(f"the name {twice!r} occurs twice; columns have distinct names.")
        if self.target is not None and self.target not in names:
            got = repr(self.target)[:60]
            raise SchemaError(f"target must be the name of a column, or null for none, got {got}.")


def column_from_form(form: object, place: int) -> Column:
    """Read what `to_form` writes, or epsilon in place of what follows from it.

    Examples
    --------
    >>> form = {"name": "age", "kind": "number", "low": 0, "high": 1, "mechanism": "laplace"}
    >>> column_from_form({**form, "epsilon": 2.0}, 0).mechanism
    ContinuousLaplace(low=0.0, high=1.0, scale=0.5)
    >>> column_from_form(form, 0)
    Traceback (most recent call last):
    supm._errors.SchemaError: columns[0] 'age': how much noise there is was not given; state epsilon
    or scale.
    """
    if not isinstance(form, dict):
        raise SchemaError(f"columns[{place}] must be a JSON object.")
    where = f"columns[{place}]"
    try:
        name = check_attribute_name(form.get("name"))
        where = f"{where} {name!r}"
        return _column(name, form)
    except ParameterError as error:
        # In a file nobody can say NoGuarantee.
        problem = str(error).removesuffix(EPSILON.hint).rstrip()
        problem += " Remove the quotes." if isinstance(form.get(error.name), str) else ""
    except SchemaError as error:
        problem = str(error)
    raise SchemaError(f"{where}: {problem}")


def _column(name: str, form: dict[str, Any]) -> Column:
    if form.get("kind") == "number":
        bounds = {"low": form.get("low"), "high": form.get("high")}
        return NumberColumn(name, mechanism_from_form(form, ("low", "high"), bounds))
    if form.get("kind") != "class":
        got = repr(form.get("kind"))[:60]
        raise SchemaError(f'kind must be "number" or "class", got {got}.')
    values = check_values(name, form.get("values"))
    form = {"ordered": False, **form}
    if not isinstance(form["ordered"], bool):
        raise SchemaError("ordered must be true or false.")
    mechanism = mechanism_from_form(form, ("values", "ordered"), {"size": len(values)})
    return ClassColumn(name, values, mechanism, form["ordered"])


def archive_statement(
    schema: ArchiveSchema, *, simulation: bool, trust: str = _TRUST
) -> ReleaseStatement:
    """Return what the noise of an archive promises to its records, whatever is learned from it."""
    return ReleaseStatement(
        study=hashlib.sha256(schema.to_json().encode()).hexdigest(),
        parts=tuple(
            Part(name=each.name, method=each.method, guarantee=each.guarantee)
            for each in schema.columns
        ),
        total=schema.guarantee,
        trust=trust,
        simulation=simulation,
        software=f"supm {supm.__version__}",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Archive:
    """Noised records in columns, with the schema that says how they were noised.

    Parameters
    ----------
    schema : ArchiveSchema
        Describes every column.
    reports : mapping of str to ndarray
        Numbers as floats, classes as places in their list of values. A cell that was not asked is
        NaN or -1.
    rows : int
        How many records there are.
    simulation : bool, default False
        Whether the noise is known to have come from a seed; then nothing is private.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.mechanisms import ContinuousLaplace
    >>> law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=2.0)
    >>> schema = ArchiveSchema(columns=(NumberColumn("share", law),))
    >>> archive = Archive.noised({"share": np.full(1000, 0.25)}, schema, simulation(1))
    >>> archive
    Archive(rows=1000, columns=1)
    >>> round(float(archive.unbiased("share").mean()), 1)
    0.2
    >>> archive.noise_variance("share")
    0.5
    """

    schema: ArchiveSchema
    reports: Mapping[str, NDArray[Any]]
    rows: int
    simulation: bool = False

    @classmethod
    def read(cls, table: object, schema: ArchiveSchema) -> Archive:
        """Check a table of noised records."""
        check_kind("schema", schema, ArchiveSchema)
        columns = table_columns(table, schema.names)
        some = schema.asked is not None
        reports = {each.name: each.read(columns[each.name], some=some) for each in schema.columns}
        return cls(schema=schema, reports=reports, rows=_check_rows(reports, schema))

    @classmethod
    def noised(cls, table: object, schema: ArchiveSchema, source: RandomSource) -> Archive:
        """Make an archive from clean records, as their owners' devices would have done."""
        check_kind("schema", schema, ArchiveSchema)
        check_source(source)
        if schema.asked is not None:
            raise SchemaError("asked must be null where every cell is to be reported.")
        columns = table_columns(table, schema.names)
        reports = {each.name: each.noised(columns[each.name], source) for each in schema.columns}
        rows = _check_rows(reports, schema)
        return cls(schema=schema, reports=reports, rows=rows, simulation=source.simulation)

    def unbiased(self, name: str) -> NDArray[np.float64]:
        """Return a number column without bias: the mean of each cell is the clipped truth."""
        return self._number(name).unbiased(self.reports[name])

    def noise_variance(self, name: str) -> float:
        """Return the mean squared noise of `unbiased`; it may depend on where the truth lies."""
        law, told = self._number(name).mechanism, self.unbiased(name)
        known = told[~np.isnan(told)]
        mean, variance = float(known.mean()), float(known.var())
        return law.noise_variance(mean, law.true_variance(mean, variance))

    def class_counts(self, name: str) -> NDArray[np.float64]:
        """Return unbiased counts of the true classes; some may be below zero."""
        return self._class(name).counts(self.reports[name])

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the reports as they would stand in a file: numbers, and values of classes."""
        return {each.name: each.in_file(self.reports[each.name]) for each in self.schema.columns}

    def __repr__(self) -> str:
        """Say how large it is, and show no cell."""
        return f"Archive(rows={self.rows}, columns={len(self.schema.columns)})"

    def _number(self, name: str) -> NumberColumn:
        column = self.schema.column(name)
        if isinstance(column, NumberColumn):
            return column
        raise SchemaError(f"{name}: a number column is needed, and this one holds classes.")

    def _class(self, name: str) -> ClassColumn:
        column = self.schema.column(name)
        if isinstance(column, ClassColumn):
            return column
        raise SchemaError(f"{name}: a class column is needed, and this one holds numbers.")


def _epsilon(promise: Guarantee) -> float:
    if isinstance(promise, PureLDP | ApproximateDP):
        return promise.epsilon
    raise SchemaError("the columns together promise nothing: their deltas add up to one or more.")


def _check_rows(reports: Mapping[str, NDArray[Any]], schema: ArchiveSchema) -> int:
    sizes = {len(column) for column in reports.values()}
    if len(sizes) > 1 or sizes == {0}:
        raise RecordError(
            "the columns of an archive must have the same number of rows, at least one."
        )
    asked = schema.asked
    if asked is not None:
        told = sum(each.told(reports[each.name]).astype(np.int64) for each in schema.columns)
        wrong = int((np.asarray(told) != asked).sum())
        if wrong:
            raise RecordError(
                f"{wrong} of {max(sizes)} records do not have {asked} non-empty cells, as asked."
            )
    return max(sizes)
