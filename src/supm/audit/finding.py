"""What a check found: one frozen value, fit to be printed and stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["FAMILY_ERROR", "Finding"]

FAMILY_ERROR: Final = 1e-6
"""Chance that a true mechanism is called broken, over all statistical tests of one family."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The outcome of one check.

    Parameters
    ----------
    check : str
        Name of the check.
    passed : bool
        False if a promise is broken.
    detail : str
        What was compared, in public figures only: parameters, probabilities and counts of drawn
        reports.
    statistic : float or None
        The figure that decided: an exact epsilon, a p-value, or a largest difference.
    loose : bool
        True if the promise is kept but more privacy is given than is claimed.

    Examples
    --------
    >>> print(Finding(check="check_rows_sum_to_one", passed=True, detail="3 rows"))
    check_rows_sum_to_one: passed, 3 rows
    """

    check: str
    passed: bool
    detail: str
    statistic: float | None = None
    loose: bool = False

    def __str__(self) -> str:
        """Return one line."""
        word = ("loose" if self.loose else "passed") if self.passed else "BROKEN"
        return f"{self.check}: {word}, {self.detail}"
