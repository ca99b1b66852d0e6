"""What one record can do to the gradient and the curvature of a margin loss.

For two records the difference of their gradients is a convex combination of finitely many vectors,
the corners, which are fixed before any noise is drawn (docs/proofs/objective-perturbation.md). So
the promise of Gaussian noise follows from how many corners of which length there are.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from supm._errors import ParameterError
from supm._validation import Integers, Reals, keep_checked

LossName: TypeAlias = Literal["huber", "logistic", "softmax"]

_CLASSES: Final = Integers("classes", 2, 1 << 10)
_CURVATURE: Final = Reals("curvature", 1e-12, 1e18)
_BEND: Final = {"huber": 1.0, "logistic": 0.25}
_TWO: Final = 2


@dataclass(frozen=True, kw_only=True)
class LossBounds:
    """A loss on rows of norm at most one.

    Parameters
    ----------
    loss : {"huber", "logistic", "softmax"}
        Huber with a bend of half-width 0.5, one class against the rest, all of them together.
    classes : int
        How many classes; two for the logistic loss.
    intercept : bool
        Whether rows are (x, 1) / sqrt(2); then no two of them have a negative product.

    Examples
    --------
    >>> LossBounds(loss="huber", classes=2).corners
    ((0, 1), (1, 2), (4, 1))
    >>> round(LossBounds(loss="softmax", classes=10).reach ** 2, 9)
    8.0
    """

    loss: LossName
    classes: int
    intercept: bool = False

    def __post_init__(self) -> None:
        if self.loss not in (*_BEND, "softmax"):
            raise ParameterError("loss", "'huber', 'logistic' or 'softmax'", self.loss)
        keep_checked(self, _CLASSES)
        if self.loss == "logistic" and self.classes != _TWO:
            raise ParameterError("classes", "2 for the logistic loss", self.classes)

    @property
    def outputs(self) -> int:
        """How many rows of coefficients there are."""
        return 1 if self.classes == _TWO and self.loss != "softmax" else self.classes

    @property
    def reach(self) -> float:
        """The longest difference of two records' gradients."""
        return math.sqrt(self.corners[-1][0]) * (1 + 1e-15)

    @cached_property
    def corners(self) -> tuple[tuple[int, int], ...]:
        """Squared length and number of the corners, shortest first."""
        if self.loss == "softmax":
            found = _softmax_corners(self.classes, intercept=self.intercept)
        else:
            found = _signed_corners(self.outputs, intercept=self.intercept)
        return tuple(sorted((square, count) for square, count in found.items() if count))

    def log_determinant(self, curvature: float) -> float:
        """Return how much one record changes the logarithm of the Jacobian, at the most."""
        held = _CURVATURE.check(curvature)
        if self.loss == "softmax":
            most = (self.classes - 1) * math.log1p(1 / (self.classes * held))
        else:
            most = self.outputs * math.log1p(_BEND[self.loss] / held)
        return most * (1 + 1e-12)

    def curvature_for(self, log_determinant: float) -> float:
        """Return the least curvature that keeps a change of the logarithm.

        Examples
        --------
        >>> bounds = LossBounds(loss="huber", classes=2)
        >>> bounds.log_determinant(bounds.curvature_for(0.01)) <= 0.01
        True
        """
        if self.loss == "softmax":
            parts, bend = self.classes - 1, 1 / self.classes
        else:
            parts, bend = self.outputs, _BEND[self.loss]
        return bend / math.expm1(log_determinant / parts) * (1 + 1e-11)


def _signed_corners(outputs: int, *, intercept: bool) -> Counter[int]:
    """Count corners of one or more problems of one class against the rest.

    In each problem a record's slope is between nothing and its signed row, so a corner takes none,
    one of two, or both of the records. Both are at most 2 long if their signed rows oppose.
    """
    if outputs == 1 or not intercept:
        return _powers(Counter({0: 1, 1: 2, 4: 1}), outputs)
    # Signs differ in two problems. There a pair has 2 + 2t, elsewhere 2 - 2t, for a product t >= 0
    # of the rows; a corner's length is largest at t = 0 or at t = 1.
    found: Counter[int] = Counter()
    for differing in range(3):
        for alike in range(outputs - 1):
            pairs = max(4 * differing, 2 * differing + 2 * alike)
            free = outputs - differing - alike
            ways = math.comb(2, differing) * math.comb(outputs - 2, alike)
            for single in range(free + 1):
                found[pairs + single] += ways * math.comb(free, single) * 2**single
    return found


def _powers(one: Counter[int], times: int) -> Counter[int]:
    whole = Counter({0: 1})
    for _ in range(times):
        more: Counter[int] = Counter()
        for square, count in whole.items():
            for extra, ways in one.items():
                more[square + extra] += count * ways
        whole = more
    return whole


def _softmax_corners(classes: int, *, intercept: bool) -> Counter[int]:
    """Count corners: each record's shares are all on one class, right or wrong."""
    others = classes - 1
    found = Counter({0: 1, 2: 2 * others})
    if intercept:
        found += Counter({8: 1, 6: 2 * (classes - 2)})
        found[4] += others**2 - 1 - 2 * (classes - 2)
    else:
        found += Counter({8: others, 6: others * (classes - 2)})
    return found
