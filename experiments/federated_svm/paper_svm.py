"""DPDR, DPML and their federation as paper 003 has them, to compare with.

Strict is `Margin`. The listings of the paper are pictures; they are read from its prose and from
Chaudhuri, Monteleoni and Sarwate (2011). Where it is ambiguous there is a switch. What it promises
is not always what it keeps: `PaperOutcome.guarantee` says what it costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource, check_source
from supm._validation import EPSILON, Integers, Reals
from supm.federation.rows import Rows, shortened
from supm.learning.directions import principal_components
from supm.learning.margins import fit_margins, winners
from supm.mechanisms.noise import GammaNorm, classical_sigma, mirrored_triangle
from supm.privacy import GaussianDP, Guarantee, Neighbours, NoGuarantee, PureDP, sequential

__all__ = ["Method", "PaperOutcome", "PaperSVM"]

Floats: TypeAlias = NDArray[np.float64]
Method: TypeAlias = Literal["non-private", "dpml", "dpdr-dpml", "federated"]

_METHODS: Final = ("non-private", "dpml", "dpdr-dpml", "federated")
_TABLE: Final = Neighbours.REPLACE_ONE
_COMPONENTS: Final = Integers("components", 1, 1 << 14)
_DELTA: Final = Reals("delta", 1e-300, 0.5)
_STRENGTH: Final = Reals("regularisation", 1e-6, 1e3)
_HALF: Final = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperOutcome:
    """A support vector machine for each class against the rest, and what it really costs.

    Parameters
    ----------
    projection : ndarray of float64, shape (width, components), or None
        The paper's U.
    coefficients : ndarray of float64, shape (outputs, components)
        The paper's beta, one row for each class.
    guarantee : Guarantee
        What holds for replacing one record, with all classes counted. It rests on noise drawn on
        floats and on a minimum taken as exact.
    """

    projection: Floats | None
    coefficients: Floats
    guarantee: Guarantee

    def decision(self, vectors: Floats) -> Floats:
        """Return the scores of vectors."""
        rows = shortened(vectors)
        return (rows if self.projection is None else rows @ self.projection) @ self.coefficients.T

    def predict(self, vectors: Floats) -> NDArray[np.int64]:
        """Return the class of each vector."""
        return winners(self.decision(vectors))


@dataclass(frozen=True, kw_only=True)
class PaperSVM:
    """Fed_DPDR-DPML and what the paper compares it with.

    Parameters
    ----------
    epsilon, delta : float
        What the paper says it spends, half on components and half on the machine.
    components : int, default 20
        The paper's k.
    regularisation : float, default 0.01
        The paper's lambda.
    order : {"svd", "eigen"}
        By what the top components are the top: a singular value is the size of an eigenvalue, so
        "svd", which the paper says, also takes strongly negative ones.
    over_parties : bool, default True
        Whether averages are divided by the number of parties although their weights sum to one.
    class_budget : {"paper", "split"}
        Whether each class spends all of the budget, or an equal part of it.

    Notes
    -----
    **Guarantee.** That of the outcome. Each record is in all C problems, so "paper" costs C times
    its half; the classical noise, meant for adding a record, is told for replacing one.

    **Utility.** experiments/federated_svm/README.md.

    **Cost.** The exact minimum of C problems for each party.

    Examples
    --------
    >>> from supm._random import simulation
    >>> from supm.federation.rows import grid_rows
    >>> grid = np.array([[1.0, 0.0], [-1.0, 0.0]] * 500)
    >>> rows = grid_rows(grid, np.array([1, 0] * 500), classes=2)
    >>> paper = PaperSVM(epsilon=2.0, delta=1e-4, components=1)
    >>> outcome = paper.run([rows, rows], "federated", simulation(1))
    >>> outcome.predict(grid[:2]).tolist()
    [1, 0]
    """

    epsilon: float
    delta: float
    components: int = 20
    regularisation: float = 0.01
    order: Literal["svd", "eigen"] = "svd"
    over_parties: bool = True
    class_budget: Literal["paper", "split"] = "paper"

    def __post_init__(self) -> None:
        EPSILON.check(self.epsilon)
        _DELTA.check(self.delta)
        _COMPONENTS.check(self.components)
        _STRENGTH.check(self.regularisation)
        if self.order not in ("svd", "eigen"):
            raise ParameterError("order", "'svd' or 'eigen'", self.order)
        if self.class_budget not in ("paper", "split"):
            raise ParameterError("class_budget", "'paper' or 'split'", self.class_budget)

    def run(self, tables: Sequence[Rows], method: Method, source: RandomSource) -> PaperOutcome:
        """Train by one of the paper's methods; all but "federated" use the first table alone."""
        check_source(source)
        if method not in _METHODS:
            raise ParameterError("method", f"one of {', '.join(_METHODS)}", method)
        used = tables if method == "federated" else tables[:1]
        projection = None if method == "dpml" else self._projection(used, method, source)
        noisy = {"non-private": 0.0, "dpml": self.epsilon}.get(method, self.epsilon / 2)
        weights = np.array([rows.size for rows in used], dtype=np.float64)
        weights /= weights.sum() * (len(used) if self.over_parties else 1)
        parts = [
            weight * self._machine(rows, projection, noisy, source.child(f"machine {number}"))
            for number, (rows, weight) in enumerate(zip(used, weights, strict=True))
        ]
        outputs = parts[0].shape[0]
        promise = self._promise(method, noisy, outputs)
        return PaperOutcome(
            projection=projection, coefficients=np.asarray(sum(parts)), guarantee=promise
        )

    def _projection(self, tables: Sequence[Rows], method: Method, source: RandomSource) -> Floats:
        """Average the parties' matrices of components, as they come."""
        sizes = np.array([rows.size for rows in tables], dtype=np.float64)
        weights = sizes / sizes.sum() / (len(tables) if self.over_parties else 1)
        noisy = method != "non-private"
        found = [
            weight * self._top(rows, source.child(f"components {number}"), noisy=noisy)
            for number, (rows, weight) in enumerate(zip(tables, weights, strict=True))
        ]
        return np.asarray(sum(found))

    def _top(self, rows: Rows, source: RandomSource, *, noisy: bool) -> Floats:
        products = rows.unit.T @ rows.unit
        if noisy:
            products = products + mirrored_triangle(rows.width, self._sigma, source)
        if self.order == "eigen":
            return principal_components(products, self.components)[0].T
        largest, _ = principal_components(products @ products, self.components)
        return largest.T

    @property
    def _sigma(self) -> float:
        return classical_sigma(sensitivity=1.0, epsilon=self.epsilon / 2, delta=self.delta)

    def _machine(
        self, rows: Rows, projection: Floats | None, epsilon: float, source: RandomSource
    ) -> Floats:
        vectors = rows.unit if projection is None else rows.unit @ projection
        outputs = 1 if rows.classes == 2 else rows.classes
        tilt, extra = np.zeros((outputs, vectors.shape[1])), 0.0
        if epsilon:
            share = epsilon / outputs if self.class_budget == "split" else epsilon
            rate, extra = self._rate(rows.size, share)
            noise = GammaNorm(vectors.shape[1], rate * _HALF)
            tilt = noise.draws(outputs, source)
        strength = self.regularisation + extra
        return fit_margins(
            vectors, rows.labels, loss="huber", classes=rows.classes, strength=strength, tilt=tilt
        ).coefficients

    def _rate(self, size: int, epsilon: float) -> tuple[float, float]:
        """Return the paper's epsilon' and what it adds to the regularisation."""
        left = epsilon - 2 * math.log1p(1 / (size * self.regularisation))
        if left > 0:
            return left, 0.0
        return epsilon / 2, 1 / (size * math.expm1(epsilon / 4)) - self.regularisation

    def _promise(self, method: Method, epsilon: float, outputs: int) -> Guarantee:
        if method == "non-private":
            return NoGuarantee("components and machine are learned without noise")
        each = epsilon if self.class_budget == "paper" else epsilon / outputs
        machine = PureDP(epsilon=each * outputs * (1 + 1e-12), neighbours=_TABLE)
        if method == "dpml":
            return machine
        mu = math.sqrt(2.0) / self._sigma
        components = GaussianDP(mu=mu, neighbours=_TABLE).to_approximate(self.delta)
        return sequential(components, machine)
