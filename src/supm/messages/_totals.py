"""A total cannot promise more than one of its parts."""

from __future__ import annotations

from collections.abc import Iterable

from supm._errors import ParameterError
from supm.privacy import Guarantee, NoGuarantee

__all__ = ["check_total"]


def check_total(name: str, total: Guarantee, parts: Iterable[Guarantee]) -> None:
    """Raise ParameterError where a total promises strictly more than a part of it.

    What cannot be compared passes: a Gaussian promise under a total of another kind, say, or a part
    that promises nothing.

    Examples
    --------
    >>> from supm.privacy import PureLDP
    >>> check_total("training", PureLDP(2.0), [PureLDP(1.0), PureLDP(2.0)])
    >>> check_total("training", PureLDP(1.5), [PureLDP(2.0)])
    Traceback (most recent call last):
    supm._errors.ParameterError: training must be no stronger than the promise of each part, got 'a
    stronger one'.
    """
    for part in parts:
        if not isinstance(part, NoGuarantee) and total < part:
            wanted = "no stronger than the promise of each part"
            raise ParameterError(name, wanted, "a stronger one")
