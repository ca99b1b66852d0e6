"""Reports that cannot have come from the noise that was stated: a warning says so."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm.synthesis import Archive, ArchiveSchema, NumberColumn
from supm.synthesis.archive_schema import Column
from supm.synthesis.quality_noise import noise_doubts

__all__ = ["warn_of_noise"]

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
    if isinstance(column, NumberColumn) and not column.law.supported(told).all():
        return True
    if not told.size:
        return False
    schema = ArchiveSchema(columns=(column,))
    return bool(noise_doubts(Archive(schema=schema, reports={column.name: told}, rows=told.size)))


def _stated(column: Column) -> str:
    noise = f"{column.law.mechanism.replace('_', ' ')} noise of epsilon {column.law.epsilon:g}"
    if isinstance(column, NumberColumn):
        return f"a number in [{column.law.low:g}, {column.law.high:g}] with {noise}"
    return f"one of {len(column.values)} classes with {noise}"
