"""The losses of margin classifiers, as functions of all scores at once.

Scores have one column for each output. Losses of one output against the rest fall apart into one
problem for each column; the softmax loss is one problem of all columns. Such problems are called
groups here: values, steps and products are kept apart for each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk
from scipy.special import expit, log_softmax

__all__ = ["HALF_WIDTH", "HuberLoss", "LogisticLoss", "MarginLoss", "SoftmaxLoss"]

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
        total: Floats = np.logaddexp(0.0, -self.signs * scores).sum(axis=0)
        return total

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
