"""Newton's method for regularised margin losses, down to a gradient of a required length.

A step solves a linear system: by Cholesky where the coefficients are few, else by conjugate
gradients whose matrix is never formed. Groups of coefficients that have nothing to do with each
other share the products with the rows and keep steps of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from supm.learning._margins_losses import MarginLoss

__all__ = ["Objective", "Point", "minimise"]

Floats = NDArray[np.float64]

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
        total: Floats = numbers.reshape(self.loss.groups, -1).sum(axis=1)
        return total

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
