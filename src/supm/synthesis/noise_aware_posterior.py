"""Coefficients of a model from moments whose noise is known: Bayes' rule, on a grid.

The covariance ``c`` of functions and target is ``G g`` for the coefficients ``g`` and the gram
matrix ``G``, plus noise of known covariance. A priori the model explains a share of the target's
variance, evenly divided among the columns, by straight lines, by smooth curves, or by both. Each
combination has a likelihood; coefficients are averaged over all of them. Where the noise covers the
signal, a share of nothing is the likeliest, and the model is the constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag, eigh

from supm.synthesis.noise_aware_columns import ColumnReading

__all__ = ["Coefficients", "Form", "Problem", "priors_for", "solve"]

Form = Literal["auto", "linear", "additive"]
Table = NDArray[np.float64]

# What curves may add to lines, as shares of what is explained.
_CURVED: Final[dict[str, tuple[float, ...]]] = {
    "auto": (0.0, 0.02, 0.1, 0.3),
    "linear": (0.0,),
    "additive": (0.3,),
}
_SHARES: Final = np.square(np.linspace(0.0, 1.0, 16))
# A quarter of the belief is that nothing is explained.
_BELIEF: Final = np.append(5.0, np.ones(_SHARES.size - 1)) / (4.0 + _SHARES.size)
# How often the noise is measured again, with what the coefficients explain taken off.
_ROUNDS: Final = 5
_TINY: Final = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Problem:
    """Moments, and what is believed about coefficients before they are seen.

    Parameters
    ----------
    covariance : ndarray of float, shape (q,)
        Of functions and target.
    gram : ndarray of float, shape (q, q)
        Of the functions.
    noise : ndarray of float, shape (q, q)
        Covariance of the noise of ``covariance``, for a target reading of variance 1.
    priors : tuple of ndarray of float, each of shape (q, q)
        Covariances of the coefficients of models that explain a variance of 1.
    residual : tuple of float, ndarray of shape (q,) and ndarray of shape (q, q)
        Mean square of the target's readings, their mean products with those of the functions, and
        the mean products of these: what coefficients leave of the target follows from them.
    """

    covariance: Table
    gram: Table
    noise: Table
    priors: tuple[Table, ...]
    residual: tuple[float, Table, Table]

    def left(self, coefficients: Table) -> float:
        """Return the mean square of what coefficients leave of the target's noisy readings."""
        square, products, readings = self.residual
        rest = square + float(coefficients @ (readings @ coefficients - 2 * products))
        return max(rest, _TINY)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Coefficients:
    """What is known about the coefficients.

    Parameters
    ----------
    mean : ndarray of float, shape (q,)
        The coefficients.
    covariance : ndarray of float, shape (q, q)
        How uncertain they are.
    beliefs : ndarray of float
        In each of the priors.
    told : float
        Share of the target's variance that predictions have: what they are expected to explain.
    """

    mean: Table
    covariance: Table
    beliefs: Table
    told: float


def priors_for(columns: Sequence[ColumnReading], form: Form) -> tuple[Table, ...]:
    """Return the covariances of coefficients to choose among.

    Parameters
    ----------
    columns : sequence of ColumnReading
        Each explains the same, a priori.
    form : {"auto", "linear", "additive"}
        Straight lines, smooth curves, or what the reports make likelier.

    Returns
    -------
    tuple of ndarray of float
    """
    straight = block_diag(*(each.straight for each in columns)) / len(columns)
    smooth = block_diag(*(each.smooth for each in columns)) / len(columns)
    return tuple((1 - part) * straight + part * smooth for part in _CURVED[form])


def solve(problem: Problem) -> Coefficients:
    """Return the coefficients that moments and belief lead to.

    Parameters
    ----------
    problem : Problem
        Moments and priors.

    Returns
    -------
    Coefficients
    """
    parts = [_Part.of(problem, prior) for prior in problem.priors]
    mean = np.zeros(len(problem.covariance))
    for turn in range(_ROUNDS):
        left = problem.left(mean)
        weights = _weights(parts, left)
        found = sum(each.mean(left, own) for each, own in zip(parts, weights, strict=True))
        # Halfway, because coefficients that grow let the noise grow, which shrinks them.
        mean = np.asarray(found if turn == 0 else (mean + found) / 2)
    return _collect(problem, parts, left, mean)


def _collect(problem: Problem, parts: list[_Part], left: float, mean: Table) -> Coefficients:
    weights = _weights(parts, left)
    pairs = zip(parts, weights, strict=True)
    second = np.sum([each.second_moment(left, own) for each, own in pairs], axis=0)
    expected = np.sum([p.mean(left, own) for p, own in zip(parts, weights, strict=True)], axis=0)
    covariance = second - np.outer(expected, expected)
    told = float(mean @ problem.gram @ mean)
    beliefs = np.array([each.sum() for each in weights])
    return Coefficients(mean=mean, covariance=covariance, beliefs=beliefs, told=told)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Part:
    """One prior, in the directions in which signal and noise are both uncorrelated."""

    prior: Table
    carried: Table  # prior, seen through the gram matrix, in those directions
    strength: Table  # signal in units of the noise, for a share of 1
    seen: Table  # the covariance in those directions

    @classmethod
    def of(cls, problem: Problem, prior: Table) -> _Part:
        through = prior @ problem.gram
        strength, directions = eigh(problem.gram @ through, problem.noise)
        return cls(
            prior=prior,
            carried=through @ directions,
            strength=np.maximum(strength, 0.0),
            seen=directions.T @ problem.covariance,
        )

    def log_likelihoods(self, left: float) -> Table:
        """Return one number for each share, up to a constant that all priors have."""
        variance = left + np.outer(_SHARES, self.strength)
        exponent = np.square(self.seen) / variance + np.log(variance)
        likelihoods: Table = -exponent.sum(axis=1) / 2
        return likelihoods

    def mean(self, left: float, weights: Table) -> Table:
        """Return the part of the posterior mean that these weights of the shares give."""
        variance = left + np.outer(_SHARES, self.strength)
        factor = (weights * _SHARES) @ (self.seen / variance)
        found: Table = self.carried @ factor
        return found

    def second_moment(self, left: float, weights: Table) -> Table:
        """Return the part of the posterior second moment that these weights give."""
        total = float(weights @ _SHARES) * self.prior
        for share, weight in zip(_SHARES, weights, strict=True):
            inverse = 1 / (left + share * self.strength)
            mean = self.carried @ (share * inverse * self.seen)
            lost = (self.carried * inverse) @ self.carried.T
            total = total + weight * (np.outer(mean, mean) - share**2 * lost)
        return np.asarray(total)


def _weights(parts: list[_Part], left: float) -> list[Table]:
    """Return the belief in each share under each prior, given the moments."""
    logs = np.array([each.log_likelihoods(left) for each in parts])
    belief = np.exp(logs - logs.max()) * _BELIEF
    return list(belief / belief.sum())
