"""The dual of a weighted support vector machine, by a primal-dual interior-point method.

The dual is: minimise s'Ks / 2 - sum(a) over 0 <= a <= limits with sum(signs a) = 0, where K is the
kernel matrix of the distinct places and s adds up ``signs a`` at each place. The number of steps,
about a dozen, does not depend on the limits, which grow with the number of people; the steps of
libsvm do (docs/design/decisions.md). Each step costs one Cholesky factorisation of the size of K,
by Mehrotra's predictor and corrector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

__all__ = ["solve_dual"]

Vector = NDArray[np.float64]
_STEPS = 100
_TOLERANCE = 1e-9
# The residual is in units of the margin, which is 1. libsvm stops at 1e-3; with millions of records
# a double holds no more than this.
_MARGIN = 1e-4
_BOUNDARY = 0.995


@dataclass
class _State:
    """A point strictly inside: amounts, room above them, and a multiplier for each of the two."""

    amount: Vector
    room: Vector
    lower: Vector
    upper: Vector
    shift: float

    @property
    def gap(self) -> float:
        return float(self.amount @ self.lower + self.room @ self.upper)

    def move(self, step: _State, length: float) -> None:
        self.amount = self.amount + length * step.amount
        self.room = self.room + length * step.room
        self.lower = self.lower + length * step.lower
        self.upper = self.upper + length * step.upper
        self.shift += length * step.shift

    def longest(self, step: _State) -> float:
        """Return how far the step can be taken before a coordinate reaches zero, at most 1."""
        here = np.concatenate((self.amount, self.room, self.lower, self.upper))
        change = np.concatenate((step.amount, step.room, step.lower, step.upper))
        falling = change < 0
        return float(np.min(-here[falling] / change[falling], initial=1.0))


def solve_dual(
    kernel: NDArray[np.float64], place: NDArray[np.int64], signs: Vector, limits: Vector
) -> tuple[Vector, float]:
    """Return the sum of signed amounts at each place, and the constant of the decision function."""
    half = limits / 2
    state = _State(half, half.copy(), np.ones_like(half), np.ones_like(half), 0.0)
    for _ in range(_STEPS):
        sums = _add_up(place, signs * state.amount, len(kernel))
        slope = signs * (kernel @ sums)[place] - 1.0
        residual = slope + state.shift * signs - state.lower + state.upper
        balance = float(signs @ state.amount)
        if _is_solved(state, residual, balance, float(state.amount.sum())):
            break
        _improve(state, _Newton(kernel, place, signs, state), residual, balance)
    return _add_up(place, signs * state.amount, len(kernel)), state.shift


def _is_solved(state: _State, residual: Vector, balance: float, total: float) -> bool:
    small = _TOLERANCE * max(1.0, total)
    return state.gap < small and abs(balance) < small and float(np.abs(residual).max()) < _MARGIN


def _improve(state: _State, newton: _Newton, residual: Vector, balance: float) -> None:
    """Look ahead without centring, then take the step that the look suggests."""
    products = state.amount * state.lower, state.room * state.upper
    ahead = newton.step(residual, balance, *products)
    reach = state.longest(ahead)
    centre = state.gap / (2 * len(residual))
    left = _gap_after(state, ahead, reach) / (2 * len(residual))
    target = centre * (left / centre) ** 3
    step = newton.step(
        residual,
        balance,
        products[0] + ahead.amount * ahead.lower - target,
        products[1] + ahead.room * ahead.upper - target,
    )
    state.move(step, min(1.0, _BOUNDARY * state.longest(step)))


def _gap_after(state: _State, step: _State, length: float) -> float:
    lower = (state.amount + length * step.amount) @ (state.lower + length * step.lower)
    upper = (state.room + length * step.room) @ (state.upper + length * step.upper)
    return float(lower + upper)


class _Newton:
    """One factorisation, used for two steps.

    The matrix is D + Y P K P' Y with D diagonal. With E = 1 / (P' D^-1 P), one number per place,
    its inverse needs a factorisation of K + E only, which stays well conditioned where K is not.
    """

    def __init__(
        self, kernel: NDArray[np.float64], place: NDArray[np.int64], signs: Vector, state: _State
    ) -> None:
        self._place, self._signs, self._state = place, signs, state
        self._diagonal = state.lower / state.amount + state.upper / state.room
        self._held = 1.0 / _add_up(place, 1.0 / self._diagonal, len(kernel))
        matrix = kernel + np.diag(self._held)
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        self._solve: Callable[[Vector], Vector] = lambda right: cho_solve(
            factor, right, check_finite=False
        )
        self._constant = self._inverse(signs)

    def step(self, residual: Vector, balance: float, lower: Vector, upper: Vector) -> _State:
        """Return the step that removes the residuals and brings the two products to zero."""
        state = self._state
        amount = self._inverse(-residual - lower / state.amount + upper / state.room)
        signs = self._signs
        shift = float((signs @ amount + balance) / (signs @ self._constant))
        amount = amount - shift * self._constant
        return _State(
            amount=amount,
            room=-amount,
            lower=(-lower - state.lower * amount) / state.amount,
            upper=(-upper + state.upper * amount) / state.room,
            shift=shift,
        )

    def _inverse(self, right: Vector) -> Vector:
        scaled = right / self._diagonal
        sums = self._held * _add_up(self._place, self._signs * scaled, len(self._held))
        inner = sums - self._held * self._solve(sums)
        return scaled - self._signs * inner[self._place] / self._diagonal


def _add_up(place: NDArray[np.int64], amounts: Vector, places: int) -> Vector:
    sums: Vector = np.bincount(place, weights=amounts, minlength=places).astype(np.float64)
    return sums
