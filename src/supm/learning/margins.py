"""Linear classifiers that minimise a regularised convex loss, to a gradient of a required length.

The objective is (1/n) sum of losses + strength/2 |B|^2 + <tilt, B>/n. The tilt, which is zero for
an ordinary classifier, is where objective perturbation puts its noise; the promise of that
mechanism rests on how near the minimum the result is, so the length of the gradient is returned and
a longer one than asked for is an error.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from threadpoolctl import threadpool_limits

from supm._errors import ParameterError, PromiseError
from supm._validation import Integers, Reals
from supm.learning._margin_solver import (
    HuberLoss,
    LogisticLoss,
    MarginLoss,
    Objective,
    SoftmaxLoss,
    minimise,
)

Loss: TypeAlias = Literal["huber", "logistic", "softmax"]
LOSSES: Final[tuple[Loss, ...]] = ("huber", "logistic", "softmax")

Floats = NDArray[np.float64]

_CLASSES: Final = Integers("classes", 1, 1 << 10)
_STRENGTH: Final = Reals("strength", 1e-9, 1e12)
_TOLERANCE: Final = Reals("tolerance", 1e-13, 1.0)
_TWO: Final = 2
_NARROW: Final = 128


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginFit:
    """Coefficients at the minimum.

    Parameters
    ----------
    coefficients : ndarray of float64, shape (outputs, width)
        One row for each output.
    gradient_norm : float
        Length of the gradient there, of all outputs together.
    steps : int
        How many steps it took.
    """

    coefficients: Floats
    gradient_norm: float
    steps: int


def outputs_of(loss: Loss, classes: int) -> int:
    """Return how many rows of coefficients a loss has.

    Two classes are told apart by one row, positive for the second, except by softmax, which has one
    for each class.

    Examples
    --------
    >>> outputs_of("huber", 2), outputs_of("huber", 10), outputs_of("softmax", 2)
    (1, 10, 2)
    """
    if loss not in LOSSES:
        raise ParameterError("loss", f"one of {', '.join(LOSSES)}", loss)
    classes = _CLASSES.check(classes)
    if loss == "logistic" and classes != _TWO:
        hint = "For more classes there is 'softmax'."
        raise ParameterError("classes", "2 for the logistic loss", classes, hint)
    return 1 if classes == _TWO and loss != "softmax" else classes


def fit_margins(  # noqa: PLR0913  the data, the objective and how well it is to be solved
    rows: Floats,
    labels: NDArray[np.int64],
    *,
    loss: Loss,
    classes: int,
    strength: float,
    tilt: Floats | None = None,
    tolerance: float = 1e-10,
) -> MarginFit:
    """Minimise ``(1/n) sum of losses + strength/2 |B|^2 + <tilt, B>/n``.

    Parameters
    ----------
    rows : ndarray of float64, shape (n, width)
        The records.
    labels : ndarray of int64
        Their classes, 0 … classes - 1; a class may have no record.
    loss : {"huber", "logistic", "softmax"}
        The Huber loss is the hinge with a bend of half-width 0.5, one class against the rest.
    classes : int
        How many classes there are.
    strength : float
        How strongly long coefficients are held back; positive, so that the minimum is unique.
    tilt : ndarray of float64, shape (outputs, width), optional
        What the objective is tilted by; zero if not given.
    tolerance : float
        How long the gradient may be.

    Returns
    -------
    MarginFit

    Raises
    ------
    PromiseError
        If the gradient is longer than the tolerance after 500 steps. Newton's method takes a dozen.

    Notes
    -----
    A step costs O(n width outputs) for each product and O(n width^2) where the system is solved by
    Cholesky, up to 320 coefficients in a group.

    References
    ----------
    O. Chapelle, Training a support vector machine in the primal, Neural Computation 19 (2007).

    Examples
    --------
    >>> rows = np.array([[-1.0, 1.0], [-0.5, 1.0], [0.5, 1.0], [1.0, 1.0]])
    >>> fit = fit_margins(rows, np.array([0, 0, 1, 1]), loss="huber", classes=2, strength=0.01)
    >>> winners(rows @ fit.coefficients.T).tolist(), fit.gradient_norm <= 1e-10
    ([0, 0, 1, 1], True)
    """
    outputs = outputs_of(loss, classes)
    shape = (outputs, rows.shape[1])
    tilt = np.zeros(shape) if tilt is None else tilt
    if tilt.shape != shape:
        raise ParameterError("tilt", f"of shape {shape}", tilt.shape)
    objective = Objective(rows, _loss(loss, labels, outputs), _STRENGTH.check(strength), tilt)
    with _threads(rows.shape[1]):
        point, steps = minimise(objective, np.zeros(shape), _TOLERANCE.check(tolerance))
    if not point.norm <= tolerance:
        raise PromiseError(
            f"the minimum must be reached to {tolerance:g}, and was not; nothing is returned."
        )
    return MarginFit(coefficients=point.coefficients, gradient_norm=point.norm, steps=steps)


def _threads(width: int) -> AbstractContextManager[object]:
    """Keep products of narrow rows to one thread: several would mostly wait for each other."""
    return threadpool_limits(1, user_api="blas") if width <= _NARROW else nullcontext()


def winners(scores: Floats) -> NDArray[np.int64]:
    """Return the class of each row of scores: the sign of a single score, else the largest.

    Examples
    --------
    >>> winners(np.array([[-1.0], [2.0]])).tolist(), winners(np.array([[0.0, 3.0, 1.0]])).tolist()
    ([0, 1], [1])
    """
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)


def probabilities(scores: Floats) -> Floats:
    """Return the shares that the logistic or the softmax model gives to each class.

    Examples
    --------
    >>> probabilities(np.array([[0.0]])).tolist()
    [[0.5, 0.5]]
    """
    if scores.shape[1] == 1:
        return np.asarray(np.column_stack((expit(-scores[:, 0]), expit(scores[:, 0]))))
    return np.asarray(softmax(scores, axis=1))


def _loss(loss: Loss, labels: NDArray[np.int64], outputs: int) -> MarginLoss:
    classes = np.arange(outputs) if outputs > 1 else np.array([1])
    members = labels[:, None] == classes[None, :]
    if loss == "softmax":
        return SoftmaxLoss(members.astype(np.float64))
    signs = np.where(members, 1.0, -1.0)
    return HuberLoss(signs) if loss == "huber" else LogisticLoss(signs)
