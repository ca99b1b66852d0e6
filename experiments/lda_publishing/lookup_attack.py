"""Reading records from published scores: why scores of single records are not released."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["LookupAttack"]

Floats: TypeAlias = NDArray[np.float64]

# Two computations of one score differ by a few last bits.
_LAST_BITS: Final = 1e-14


@dataclass(frozen=True, kw_only=True, eq=False)
class LookupAttack:
    """Look each published score up in a table of the scores of all possible records.

    The direction is published, and the records live in a finite public domain; so whoever wants to
    can score the whole domain. That a score is one equation for many unknowns does not help, since
    hardly two records of the domain share it.

    Parameters
    ----------
    domain : ndarray of float64, shape (records, width)
        All records that there can be, distinct, as the owners encode them.
    direction : ndarray of float64, shape (width,)
        As published.

    Examples
    --------
    >>> domain = np.array([[0.0, 1.0], [0.6, 0.8], [1.0, 0.0]])
    >>> attack = LookupAttack(domain=domain, direction=np.array([0.3, -0.2]))
    >>> attack.recover(domain[[2, 0]] @ attack.direction).tolist()
    [2, 0]
    >>> attack.recover(np.array([0.123])).tolist()
    [-1]
    """

    domain: Floats
    direction: Floats

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self.domain @ self.direction, kind="stable")

    @cached_property
    def _sorted(self) -> Floats:
        return np.asarray((self.domain @ self.direction)[self._order])

    def recover(self, scores: Floats) -> NDArray[np.int64]:
        """Return which record of the domain each score is of, -1 where it is of none or several."""
        room = _LAST_BITS * max(float(np.abs(self._sorted).max(initial=0.0)), 1e-300)
        first = np.searchsorted(self._sorted, scores - room, side="left")
        last = np.searchsorted(self._sorted, scores + room, side="right")
        found = self._order[np.minimum(first, self._order.size - 1)]
        return np.where(last - first == 1, found, -1)
