"""What synthetic rows are worth: before and after, and what the noise does not let anybody know."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, Final

import numpy as np

from supm._validation import check_kind
from supm.privacy import ApproximateDP, Guarantee, PureLDP
from supm.reporting import Result, Table, counted
from supm.reporting.text import Cell
from supm.synthesis.archive import Archive, ArchiveSchema
from supm.synthesis.columns import NumberColumn
from supm.synthesis.quality_columns import ColumnQuality, compare_columns
from supm.synthesis.quality_dependence import (
    KNOWN,
    Dependence,
    Plain,
    as_told,
    dependence,
    noise_doubts,
    plain_readings,
    plain_table,
    unbiased_readings,
)
from supm.synthesis.quality_models import ModelReport, estimated_models, measured_models
from supm.synthesis.synthetic_model import SyntheticModel

_SIX_DIGITS_UP: Final = Context(prec=6, rounding=ROUND_CEILING)
_LARGE: Final = 10.0
_FAR: Final = 5.0
_FEW: Final = 30
_NAMED: Final = 5


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Quality(Result):
    """The report: distributions, dependence and models, before and after.

    Parameters
    ----------
    schema : ArchiveSchema
        How each column was noised.
    rows, synthetic_rows : int
        How many noised records there are, and how many synthetic rows.
    columns : tuple of ColumnQuality
        One for each column.
    noisy : Dependence
        Of the reports as they are: what methods that do not know of the noise see.
    estimate : Dependence
        Of what the owners held, as far as it can be known.
    synthetic : Dependence
        Of the synthetic rows.
    clean : Dependence or None
        Of the clean rows, where the caller has them.
    models : ModelReport or None
        Errors of models of the target, where they can be known.
    doubts : mapping of str to str
        Columns that cannot have been noised as the schema says, each with a sentence.
    """

    schema: ArchiveSchema
    rows: int
    synthetic_rows: int
    columns: tuple[ColumnQuality, ...]
    noisy: Dependence
    estimate: Dependence
    synthetic: Dependence
    clean: Dependence | None
    models: ModelReport | None
    doubts: Mapping[str, str] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """How many rows and records there are."""
        rows = counted(self.synthetic_rows, "synthetic row")
        return f"{rows} beside {counted(self.rows, 'noised record')}"

    def tables(self) -> tuple[Table, ...]:
        """Return the figures of all columns, before and after."""
        head = ["column", "figure", "noisy", "known", "± s.e.", "synthetic"]
        rows: list[list[Cell]] = []
        for column in self.columns:
            for each in column.figures:
                clean = [] if each.clean is None else [each.clean]
                numbers = [each.noisy, each.estimate, each.error, each.synthetic, *clean]
                rows.append([column.name, each.what, *numbers])
        clean_head = [] if self.clean is None else ["clean"]
        formats = ["", "", *[".3g"] * (4 + len(clean_head))]
        return (Table(head=head + clean_head, rows=rows, formats=formats, words=2),)

    def pair_table(self) -> Table:
        """Return the dependence of all pairs of columns, before and after."""
        clean = [] if self.clean is None else ["clean"]
        head = ["pair", "noisy", "known", "± s.e.", "synthetic", *clean]
        return Table(head=head, rows=[self._pair_row(pair) for pair in self.estimate.pairs()])

    def _pair_row(self, pair: tuple[int, int]) -> list[str]:
        tables = (self.noisy, self.estimate, self.synthetic, self.clean)
        found = (f"{each.strength[pair]:.2f}" for each in tables if each is not None)
        noisy, known, *others = found
        if not self.estimate.known[pair]:
            known += " (not known)"
        names = " and ".join(self.estimate.names[place] for place in pair)
        # No correlation is beyond one, so a doubt as large as that leaves every one possible.
        error = self.estimate.error[pair]
        doubt = f"{error:.2f}" if error < 1 else "any"
        return [names, noisy, known, doubt, *others]

    def words(self) -> tuple[str, ...]:
        """Return what can and cannot be known."""
        return self.sentences

    @property
    def guarantee(self) -> Guarantee:
        """What each record had spent before; synthesis and this report spend nothing more."""
        return self.schema.guarantee

    @property
    def spent(self) -> str:
        """What each record had spent, in words; and what a very large factor is worth."""
        words = _in_words(self.guarantee)
        large = self.schema.epsilon > _LARGE
        return f"{words} A factor as large as that protects nobody by itself." if large else words

    @property
    def known_pairs(self) -> int:
        """Of how many pairs of columns it is known that they depend on each other."""
        return int(np.triu(self.estimate.known, 1).sum())

    @property
    def all_pairs(self) -> int:
        """How many pairs of columns there are."""
        return len(self.estimate.names) * (len(self.estimate.names) - 1) // 2

    @property
    def agreeing_pairs(self) -> int:
        """In how many pairs the synthetic rows are within two standard errors of what is known."""
        doubt = np.hypot(self.estimate.error, self.synthetic.error)
        near = np.abs(self.estimate.strength - self.synthetic.strength) <= KNOWN * doubt
        return int(np.triu(near, 1).sum())

    @property
    def dependence_errors(self) -> tuple[float, float] | None:
        """Mean distance from the clean dependence, before and after; None without clean rows."""
        if self.clean is None or not self.all_pairs:
            return None
        upper = np.triu_indices(len(self.clean.names), 1)
        found = [
            float(np.abs(each.strength - self.clean.strength)[upper].mean())
            for each in (self.noisy, self.synthetic)
        ]
        return found[0], found[1]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What cannot be known because of the noise, and what can, in plain words."""
        parts = (
            self._of_few,
            self._of_pairs,
            self._of_one_pair,
            self._of_one_column,
            self.of_shapes,
            self._of_columns,
            self._of_models,
        )
        told = tuple(capital(each) for each in self.doubts.values())
        return told + tuple(each for each in parts if each)

    @property
    def _of_few(self) -> str:
        if self.rows >= _FEW:
            return ""
        return f"{self.rows} records say almost nothing about what their owners held."

    @property
    def _of_pairs(self) -> str:
        if not self.all_pairs:
            return ""
        hidden, count = self.all_pairs - self.known_pairs, self.all_pairs
        if not hidden:
            pairs = "the only pair" if count == 1 else f"all {count} pairs"
            return f"Of {pairs} of columns it is known that they depend."
        if count == 1:
            start = "Of the only pair of columns it is not known"
        elif hidden == count:
            start = f"Of none of the {count} pairs of columns is it known"
        else:
            start = f"Of {hidden} of the {count} pairs of columns it is not known"
        return (
            f"{start} whether they depend: zero lies within {KNOWN:g} standard errors of what was "
            "found."
        )

    @property
    def _of_one_pair(self) -> str:
        order = self.estimate.pairs()
        hidden = [pair for pair in order if not self.estimate.known[pair]]
        told = self.estimate.sentence(*(hidden or order)[0]) if order else ""
        return f"For example, {told}." if told else ""

    @property
    def _of_one_column(self) -> str:
        if self.all_pairs:
            return ""
        (column,) = self.columns
        told = [f"{each.what} {each.estimate:.3g} ± {each.error:.2g}" for each in column.figures]
        return f"By the records {column.name} has {', '.join(told)}."

    @property
    def of_shapes(self) -> str:
        """Which columns have a shape that is not known, or nothing."""
        hidden = [each.name for each in self.columns if not each.shape.known]
        if not hidden:
            return ""
        more = len(hidden) - _NAMED
        named = hidden[:_NAMED] + ([f"{more} more"] if more > 0 else [])
        words = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
        return (
            f"The shape of the distribution of {words} is not known: peaks and gaps that the "
            "synthetic rows show there may come from the noise."
        )

    @property
    def _of_columns(self) -> str:
        """Name the figure that is farthest off, where neither noise nor the schema explains it."""
        found = [
            (each.apart, column.name, each)
            for column in self.columns
            for each in column.figures
            if column.name not in self.doubts
        ]
        apart, name, worst = max(found, key=lambda each: each[0], default=(0.0, "", None))
        if worst is None or apart < _FAR:
            return ""
        return (
            f"The {worst.what} of {name} is {worst.synthetic:.3g} in the synthetic rows and "
            f"{worst.estimate:.3g} ± {worst.error:.2g} by the records: the rows do not fit them."
        )

    @property
    def _of_models(self) -> str:
        return _why_no_models(self.schema) if self.models is None else self.models.sentence

    def to_form(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        return {
            "rows": self.rows,
            "synthetic_rows": self.synthetic_rows,
            "guarantee": self.guarantee.to_form(),
            "columns": [each.to_form() for each in self.columns],
            "agreeing_pairs": self.agreeing_pairs,
            "pairs": [self._pair_form(*pair) for pair in self.estimate.pairs()],
            "models": None if self.models is None else self.models.to_form(),
            "doubts": dict(self.doubts),
            "unknown": list(self.sentences),
        }

    def _pair_form(self, first: int, second: int) -> dict[str, Any]:
        clean = None if self.clean is None else float(self.clean.strength[first, second])
        error = float(self.estimate.error[first, second])
        return {
            "columns": [self.estimate.names[first], self.estimate.names[second]],
            "signed": bool(self.estimate.signed[first, second]),
            "noisy": float(self.noisy.strength[first, second]),
            "estimate": float(self.estimate.strength[first, second]),
            "standard_error": error if math.isfinite(error) else None,
            "known": bool(self.estimate.known[first, second]),
            "synthetic": float(self.synthetic.strength[first, second]),
            "clean": clean,
        }


def assess(
    archive: Archive,
    synthetic: object,
    clean: object = None,
    *,
    model: SyntheticModel | None = None,
) -> Quality:
    """Compare an archive with synthetic rows made from it, and say what the noise hides.

    It is computed from what was told already, so it spends nothing.

    Parameters
    ----------
    archive : Archive
        The noised records.
    synthetic : table
        Synthetic rows with the same columns.
    clean : table, optional
        Records without noise, as there are in a simulation; then distances to them are measured.
    model : SyntheticModel, optional
        What the rows were drawn from; then distributions are not estimated again.

    Returns
    -------
    Quality

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.mechanisms import ContinuousLaplace
    >>> from supm.synthesis import NumberColumn
    >>> law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=1.0)
    >>> schema = ArchiveSchema(columns=(NumberColumn("age", law), NumberColumn("weight", law)))
    >>> true = np.linspace(0, 1, 400)
    >>> archive = Archive.noised({"age": true, "weight": true}, schema, simulation(1))
    >>> found = assess(archive, {"age": true, "weight": true})
    >>> print(found.sentences[0])
    Of the only pair of columns it is not known whether they depend: zero lies within 2 standard
    errors of what was found.
    """
    check_kind("archive", archive, Archive)
    schema = archive.schema
    made = plain_table(synthetic, schema, "synthetic")
    true = None if clean is None else plain_table(clean, schema, "clean")
    return Quality(
        schema=schema,
        rows=archive.rows,
        synthetic_rows=len(next(iter(made.values()))),
        columns=compare_columns(archive, made, true),
        noisy=dependence(plain_readings(as_told(archive), schema)),
        estimate=dependence(
            unbiased_readings(archive, None if model is None else model.variances())
        ),
        synthetic=dependence(plain_readings(made, schema)),
        clean=None if true is None else dependence(plain_readings(true, schema)),
        models=_models(archive, made, true),
        doubts=noise_doubts(archive),
    )


def _models(archive: Archive, synthetic: Plain, clean: Plain | None) -> ModelReport | None:
    """Return the errors of models of the target, or None where they cannot be known."""
    schema = archive.schema
    if schema.target is None or len(schema.columns) < 2:
        return None
    if clean is not None:
        return measured_models(archive, synthetic, clean)
    numbers = all(isinstance(each, NumberColumn) for each in schema.columns)
    return estimated_models(archive, synthetic) if numbers and schema.asked is None else None


def _why_no_models(schema: ArchiveSchema) -> str:
    """Say why noisy records alone do not tell what a model of the target is worth."""
    if schema.target is None or len(schema.columns) < 2:
        return ""
    target = schema.column(schema.target)
    numbers = isinstance(target, NumberColumn)
    if not numbers:
        reason = f"{target.name} has classes"
    elif schema.asked is not None:
        reason = "each owner told some columns only"
    else:
        reason = f"{schema.classes[0].name} has classes"
    made = "NoiseAwareRegressor" if numbers else "NoiseAwareClassifier"
    return (
        f"What a model of {target.name} is worth is not told, since {reason}: noisy records alone "
        "tell it where all columns are numbers and everybody told all of them. Models of such "
        f"records: {made} of supm.estimators."
    )


def _in_words(promise: Guarantee) -> str:
    """Return the sentence of a promise with an epsilon of few digits, rounded up."""
    if isinstance(promise, PureLDP | ApproximateDP):
        short = float(_SIX_DIGITS_UP.plus(Decimal(promise.epsilon)))
        promise = replace(promise, epsilon=short)
    return re.sub(r"(?<=\d)\.0(?!\d)", "", promise.sentence)


def capital(text: str) -> str:
    """Return words as a sentence begins; the name of a column stays as it is."""
    return text[:1].upper() + text[1:] if text.startswith("the ") else text
