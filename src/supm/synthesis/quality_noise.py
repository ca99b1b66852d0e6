"""Records that cannot have been noised as their schema says: the stated noise is checked.

Noise has a variance of its own, and no true value adds less than nothing to it. Where the records
vary less than their noise, or lie where no true value can be, epsilon or bounds are wrong.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm.synthesis._additive_law import AdditiveLaw
from supm.synthesis.archive import Archive
from supm.synthesis.archive_schema import ClassColumn, Column, NumberColumn

__all__ = ["noise_doubts"]

_FAR: Final = 5.0
# Of fewer reports, means are too far from normal for a rule of standard errors.
_FEWEST: Final = 30
# Of noises without bounds the squares of Laplace's vary most: by five times their squared mean.
_TAILS: Final = 5.0
_ADVICE: Final = "check epsilon and bounds in the schema"


def noise_doubts(archive: Archive) -> dict[str, str]:
    """Say which columns cannot have been noised as the schema says.

    Parameters
    ----------
    archive : Archive
        The noised records.

    Returns
    -------
    dict of str to str
        A sentence for each such column, by its name; no chance explains it.

    Examples
    --------
    >>> from supm.synthesis import ArchiveSchema, LaplaceLaw
    >>> law = LaplaceLaw.for_epsilon(low=0, high=100, epsilon=1.0)
    >>> schema = ArchiveSchema(columns=(NumberColumn("age", law),))
    >>> print(noise_doubts(Archive.read({"age": np.linspace(20, 60, 500)}, schema))["age"])
    age varies less than the noise that the schema states: check epsilon and bounds in the schema.
    """
    found = {each.name: _doubt(each, archive.reports[each.name]) for each in archive.schema.columns}
    return {name: f"{doubt}: {_ADVICE}." for name, doubt in found.items() if doubt}


def _doubt(column: Column, reports: NDArray[Any]) -> str:
    if isinstance(column, NumberColumn):
        return _of_number(column, reports)
    return _of_classes(column, reports)


def _of_number(column: NumberColumn, reports: NDArray[np.float64]) -> str:
    law, told = column.law, column.law.unbiased(reports[~np.isnan(reports)])
    if told.size < _FEWEST:
        return ""
    mean, spread, root = float(told.mean()), float(told.var()), math.sqrt(told.size)
    middle = min(max(mean, law.low), law.high)
    noise = law.noise_variance(middle, 0.0)
    room = (middle - law.low) * (law.high - middle)
    least = _variation(column, noise) / root
    # In units of the larger variance: squares of squares are beyond floats for bounds of 1e100.
    unit = max(spread, noise)
    doubt = max(least, float(((told - mean) ** 2 / unit).std()) * unit / root)
    if spread < noise - _FAR * least:
        return f"{column.name} varies less than the noise that the schema states"
    if abs(mean - middle) > _FAR * math.sqrt(max(spread, noise)) / root:
        error = math.sqrt(spread) / root
        return f"the mean of {column.name} is {mean:.3g} ± {error:.2g}, beyond its bounds"
    if spread > law.noise_variance(middle, room) + room + _FAR * doubt:
        return f"{column.name} varies more than its bounds and the stated noise allow"
    return ""


def _variation(column: NumberColumn, noise: float) -> float:
    """Return the most that the standard deviation of squares of noise can be."""
    law = column.law
    if isinstance(law, AdditiveLaw):
        return math.sqrt(_TAILS) * noise
    # Where reports have bounds, noise may be rare and large.
    reports = law.report_cells(law.edges(1))
    return math.sqrt(noise) * float(np.ptp(law.unbiased(reports[np.isfinite(reports)])))


def _of_classes(column: ClassColumn, reports: NDArray[np.int64]) -> str:
    told, lie = reports[reports >= 0], column.law.lie
    if told.size < _FEWEST:
        return ""
    shares = np.bincount(told, minlength=len(column.values)) / told.size
    if shares.min() < lie - _FAR * math.sqrt(lie * (1 - lie) / told.size):
        return f"{column.name} has a class that is rarer than the stated noise alone would make it"
    return ""
