"""Newton's method for regularised margin losses, down to a gradient of a required length.

Scores have one column for each output. Losses of one output against the rest fall apart into one
problem for each column; the softmax loss is one problem of all columns. Such problems are called
groups here: values, steps and products are kept apart for each. A step solves a linear system: by
Cholesky where the coefficients are few, else by conjugate gradients whose matrix is never formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk
from scipy.special import expit, log_softmax

Floats = NDArray[np.float64]

HALF_WIDTH: Final = 0.5
"""How far on either side of the margin the Huber loss is bent."""


class MarginLoss(ABC):
    """A convex loss of the scores of records whose classes are known."""

    groups: int

    @abstractmethod
    def values(self, scores: Floats) -> Floats:
        """Return the sum of the losses of each group."""

    @abstractmethod
    def slopes(self, scores: Floats) -> Floats:
        """Return the derivative of each record's loss by each of its scores."""

    @abstractmethod
    def weights(self, scores: Floats) -> Floats:
        """Return what `bent` and `curvature` need to know of a point."""

    @abstractmethod
    def bent(self, weights: Floats, moves: Floats) -> Floats:
        """Return how the slopes change when scores move a little."""

    @abstractmethod
    def curvature(self, weights: Floats, rows: Floats, group: int) -> Floats:
        """Return the second derivative of a group's sum by its coefficients."""


class _Signed(MarginLoss):
    """One class against the rest: the loss depends on the score times a sign."""

    def __init__(self, signs: Floats) -> None:
        self.signs = signs
        self.groups = signs.shape[1]

    def bent(self, weights: Floats, moves: Floats) -> Floats:
        return weights * moves

    def curvature(self, weights: Floats, rows: Floats, group: int) -> Floats:
        column = weights[:, group]
        # Most records of a hinge lie where it is straight.
        held = np.flatnonzero(column)
        return _gram(rows[held] * np.sqrt(column[held])[:, None])


class HuberLoss(_Signed):
    """The hinge with a bend of a half on either side of its corner."""

    def values(self, scores: Floats) -> Floats:
        lack = 1.0 + HALF_WIDTH - self.signs * scores
        inner = np.clip(lack, 0.0, 2.0 * HALF_WIDTH)
        # The square up to the end of the bend, and a straight line after it.
        total: Floats = (inner * (2.0 * np.maximum(lack, 0.0) - inner)).sum(axis=0)
        return total / (4.0 * HALF_WIDTH)

    def slopes(self, scores: Floats) -> Floats:
        lack = (1.0 + HALF_WIDTH - self.signs * scores) / (2.0 * HALF_WIDTH)
        return -self.signs * np.clip(lack, 0.0, 1.0)

    def weights(self, scores: Floats) -> Floats:
        inside = np.abs(1.0 - self.signs * scores) <= HALF_WIDTH
        return inside / (2.0 * HALF_WIDTH)


class LogisticLoss(_Signed):
    """The logarithm of one plus the exponential of minus the margin."""

    def values(self, scores: Floats) -> Floats:
        return np.asarray(np.logaddexp(0.0, -self.signs * scores).sum(axis=0))

    def slopes(self, scores: Floats) -> Floats:
        return np.asarray(-self.signs * expit(-self.signs * scores))

    def weights(self, scores: Floats) -> Floats:
        return np.asarray(expit(scores) * expit(-scores))


class SoftmaxLoss(MarginLoss):
    """Minus the logarithm of the softmax share of the right class."""

    def __init__(self, members: Floats) -> None:
        self.members = members
        self.groups = 1

    def values(self, scores: Floats) -> Floats:
        return np.array([-(self.members * log_softmax(scores, axis=1)).sum()])

    def slopes(self, scores: Floats) -> Floats:
        return self.weights(scores) - self.members

    def weights(self, scores: Floats) -> Floats:
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(shares)

    def bent(self, weights: Floats, moves: Floats) -> Floats:
        return np.asarray(weights * (moves - (weights * moves).sum(axis=1, keepdims=True)))

    def curvature(self, weights: Floats, rows: Floats, group: int) -> Floats:
        del group
        outputs, width = weights.shape[1], rows.shape[1]
        spread = (weights[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
        whole = -_gram(spread)
        # One product of matrices for all blocks: many small ones wait for each other's threads.
        blocks = (spread.T @ rows).reshape(outputs, width, width)
        for output in range(outputs):
            block = slice(output * width, (output + 1) * width)
            whole[block, block] += blocks[output]
        return whole


def _gram(rows: Floats) -> Floats:
    """Return the products of all columns; BLAS computes one half only."""
    upper: Floats = dsyrk(1.0, rows.T) if len(rows) else np.zeros((rows.shape[1],) * 2)
    return np.triu(upper) + np.triu(upper, 1).T


_STEPS: Final = 500
_HALVINGS: Final = 60
# So many coefficients at most are solved for by Cholesky.
_DENSE: Final = 320
_PRODUCTS: Final = 2000
# What rounding may do to a sum of many losses.
_ROUNDING: Final = 1e-14


@dataclass(frozen=True, eq=False)
class Point:
    """Coefficients with what is known there."""

    coefficients: Floats
    scores: Floats
    values: Floats
    gradient: Floats

    @property
    def norm(self) -> float:
        """Length of the gradient."""
        return float(np.linalg.norm(self.gradient))


class Objective:
    """(1/n) sum of losses + strength/2 |B|^2 + <tilt, B>/n over coefficients B."""

    def __init__(self, rows: Floats, loss: MarginLoss, strength: float, tilt: Floats) -> None:
        self.rows, self.loss, self.strength, self.tilt = rows, loss, strength, tilt
        self.size = max(len(rows), 1)
        self._gram: Floats | None = None

    def at(self, coefficients: Floats, scores: Floats | None = None) -> Point:
        """Return the point of these coefficients."""
        scores = self.rows @ coefficients.T if scores is None else scores
        gradient = (self.loss.slopes(scores).T @ self.rows + self.tilt) / self.size
        gradient += self.strength * coefficients
        return Point(coefficients, scores, self.values(coefficients, scores), gradient)

    def values(self, coefficients: Floats, scores: Floats) -> Floats:
        """Return the objective of each group."""
        rest = self.strength / 2 * coefficients**2 + self.tilt * coefficients / self.size
        return self.loss.values(scores) / self.size + self.per_group(rest)

    def per_group(self, numbers: Floats) -> Floats:
        """Add up what belongs to one group."""
        return np.asarray(numbers.reshape(self.loss.groups, -1).sum(axis=1))

    def spread(self, numbers: Floats) -> Floats:
        """Return one number for each group as a column that fits the coefficients."""
        outputs = len(self.tilt) // self.loss.groups
        return np.repeat(numbers, outputs)[:, None]

    def direction(self, point: Point) -> Floats:
        """Return Newton's step."""
        weights = self.loss.weights(point.scores)
        if self.tilt.size // self.loss.groups <= _DENSE:
            return self._by_cholesky(weights, -point.gradient)
        return self._by_conjugate_gradients(weights, -point.gradient)

    def _by_cholesky(self, weights: Floats, target: Floats) -> Floats:
        parts = target.reshape(self.loss.groups, -1)
        solved = np.empty_like(parts)
        for group, part in enumerate(parts):
            matrix = self.loss.curvature(weights, self.rows, group) / self.size
            matrix[np.diag_indices_from(matrix)] += self.strength
            solved[group] = cho_solve(cho_factor(matrix, overwrite_a=True), part)
        return solved.reshape(target.shape)

    def _by_conjugate_gradients(self, weights: Floats, target: Floats) -> Floats:
        factor = self._preconditioner(weights)
        solved, rest = np.zeros_like(target), target.copy()
        ready = cho_solve(factor, rest.T).T
        way, size = ready.copy(), self.per_group(rest * ready)
        goal = self.per_group(target**2) * min(0.01, float(np.linalg.norm(target))) ** 2
        for _ in range(_PRODUCTS):
            product = self._product(weights, way)
            stride = self.spread(_ratio(size, self.per_group(way * product)))
            solved += stride * way
            rest -= stride * product
            if (self.per_group(rest**2) <= goal).all():
                break
            ready = cho_solve(factor, rest.T).T
            before, size = size, self.per_group(rest * ready)
            way = ready + self.spread(_ratio(size, before)) * way
        return solved

    def _product(self, weights: Floats, way: Floats) -> Floats:
        bent = self.loss.bent(weights, self.rows @ way.T)
        return np.asarray(bent.T @ self.rows / self.size + self.strength * way)

    def _preconditioner(self, weights: Floats) -> tuple[Floats, bool]:
        if self._gram is None:
            self._gram = self.rows.T @ self.rows / self.size
        shape = weights.shape[1]
        mean = float(weights.mean()) * (1.0 - 1.0 / shape if self.loss.groups < shape else 1.0)
        matrix = mean * self._gram
        matrix[np.diag_indices_from(matrix)] += self.strength
        factor: tuple[Floats, bool] = cho_factor(matrix, overwrite_a=True)
        return factor


def minimise(objective: Objective, start: Floats, tolerance: float) -> tuple[Point, int]:
    """Return a point whose gradient is short enough, or the last one, and the number of steps."""
    point = objective.at(start)
    for step in range(_STEPS):
        if point.norm <= tolerance:
            return point, step
        point = _search(objective, point, objective.direction(point))
    return point, _STEPS


def _search(objective: Objective, point: Point, direction: Floats) -> Point:
    """Go along the direction, each group half as far until its objective falls enough."""
    moves = objective.rows @ direction.T
    fall = objective.per_group(point.gradient * direction)
    stride = np.ones(objective.loss.groups)
    allowed = _ROUNDING * (1.0 + np.abs(point.values))
    for _ in range(_HALVINGS):
        step = objective.spread(stride)
        coefficients = point.coefficients + step * direction
        scores = point.scores + moves * step.T
        high = (
            objective.values(coefficients, scores) > point.values + 1e-4 * stride * fall + allowed
        )
        if not high.any():
            break
        stride = np.where(high, stride / 2, stride)
    # Scores are computed anew, so that their rounding does not add up.
    return objective.at(coefficients)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return quotients, 0 where a group is solved to the last digit."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
