"""Debiased moments of all readings together, and how noisy they are.

Noise of different columns is independent, so the mean product of two columns' readings is the mean
product of the functions that they read. Within a column the functions are orthonormal by
construction. Where owners told some columns only, a product is averaged over those who told both.
Records are read in one pass, a few thousand at a time: nothing of their number is kept.

The covariance ``c`` of functions and target is ``G g`` for the coefficients ``g`` and the gram
matrix ``G``, plus noise of known covariance. A priori the model explains a share of the target's
variance, evenly divided among the columns, by straight lines, by smooth curves, or by both. Each
combination has a likelihood; coefficients are averaged over all of them. Where the noise covers the
signal, a share of nothing is the likeliest, and the model is the constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag, eigh

from supm.synthesis.columns_learning import ColumnReading

Table = NDArray[np.float64]
Cells = NDArray[np.int64]
# The least variance of a combination of functions of unit variance.
_FLOOR: Final = 0.05
# Up to so many records for each column, all noise of readings is counted. Found by trial.
_ENOUGH: Final = 100.0
_CHUNK: Final = 1 << 14
Form = Literal["auto", "linear", "additive"]
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
class ReadingMoments:
    """Sums over all records of products of centred readings; a cell that is empty counts as 0."""

    centres: Table
    owner: Cells
    order: Cells
    products: Table
    squares: Table
    pairs: Table
    seen: Table
    both: Table
    targets: Table

    @property
    def within(self) -> NDArray[np.bool_]:
        """Which pairs of functions belong to one column."""
        return np.equal.outer(self.owner, self.owner)

    def gram(self) -> Table:
        """Return the correlations of all functions, each pulled to 0 as its noise demands.

        A pair's product has a standard error that the data show. Products of functions of the same
        two orders are taken for draws from one distribution, whose variance is what the noise does
        not explain: the known share of each is kept.
        """
        products = self.products / np.maximum(self.pairs, 1.0)
        return repair(np.where(self.within, np.eye(len(products)), self._kept() * products))

    def told(self, gram: Table, records: float) -> Table:
        """Return the mean products of readings, with as much of their noise as moments have.

        The noise of a column's readings is in the moments as far as its products with others were
        kept. But a gram matrix from few records is wrong in other ways, too, so that the less of
        them there are for each column, the more of the noise is counted.
        """
        across = ~self.within
        known = np.where(across, self._kept(), 0.0).sum(axis=0) / np.maximum(across.sum(axis=0), 1)
        doubt = min(1.0, _ENOUGH * len(np.unique(self.owner)) / records)
        share = np.sqrt(known + (1 - known) * doubt)
        counted = np.outer(share, share)
        return np.asarray(counted * self.seen / records + (1 - counted) * gram)

    def covariance(self) -> Table:
        """Return the mean product of each reading with those of the targets, shape (q, m)."""
        counts = np.maximum(np.diag(self.both), 1.0)
        return np.asarray(self.targets / counts[:, np.newaxis])

    def noise(self, gram: Table) -> Table:
        """Return the noise of `covariance`, for a target whose readings have variance 1."""
        # What was never told together with the target is as noisy as if one record had told it.
        both = np.maximum(self.both, np.eye(len(gram)))
        counts = np.diag(both)
        own = np.diag(self.products) / np.maximum(np.diag(self.pairs), 1.0)
        alike = np.where(self.within, np.diag(np.maximum(own, 1.0)), gram)
        return repair(alike * both / np.outer(counts, counts), unit=False)

    def _kept(self) -> Table:
        """Return which share of each mean product is believed."""
        pairs = np.maximum(self.pairs, 1.0)
        squares = np.square(self.products / pairs)
        noise = np.maximum(self.squares / pairs - squares, 0.0) / pairs
        return _kept_share(squares, noise, self._kinds())

    def _kinds(self) -> Cells:
        kinds = self.order[:, np.newaxis] * (self.order.max() + 1) + self.order
        return np.where(self.within, -1, kinds)


def take_moments(
    columns: Sequence[ColumnReading], cells: Sequence[Cells], targets: Table, told: Table
) -> ReadingMoments:
    """Read all records once."""
    widths = [each.readings.shape[1] for each in columns]
    owner = np.repeat(np.arange(len(widths)), widths)
    centres = np.concatenate([_means(*pair) for pair in zip(columns, cells, strict=True)])
    size, count = len(owner), len(columns)
    products, squares, seen = (np.zeros((size, size)) for _ in range(3))
    pairs, both = np.zeros((count, count)), np.zeros((count, count))
    sums = np.zeros((size, targets.shape[1]))
    for rows, table, there in _chunks(columns, cells, centres):
        known = told[rows, np.newaxis]
        products += table.T @ table
        squares += np.square(table).T @ np.square(table)
        seen += (table * known).T @ table
        pairs += there.T @ there
        both += (there * known).T @ there
        sums += table.T @ targets[rows]
    return ReadingMoments(
        centres=centres,
        owner=owner,
        order=np.concatenate([np.arange(width) for width in widths]),
        products=products,
        squares=squares,
        pairs=pairs[np.ix_(owner, owner)],
        seen=seen,
        both=both[np.ix_(owner, owner)],
        targets=sums,
    )


def repair(matrix: Table, *, unit: bool = True) -> Table:
    """Return the nearest matrix in its own directions that is positive definite.

    Examples
    --------
    >>> repair(np.array([[1.0, 1.5], [1.5, 1.0]])).round(3)
    array([[1.   , 0.961],
           [0.961, 1.   ]])
    """
    scale = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    mended = (vectors * np.maximum(values, _FLOOR)) @ vectors.T
    if unit:
        scale = 1 / np.sqrt(np.diag(mended))
    return np.asarray(mended * np.outer(scale, scale))


def _means(column: ColumnReading, cells: Cells) -> Table:
    counts = np.bincount(cells[cells >= 0], minlength=len(column.readings))
    means: Table = counts @ column.readings / max(int(counts.sum()), 1)
    return means


def _chunks(
    columns: Sequence[ColumnReading], cells: Sequence[Cells], centres: Table
) -> Iterator[tuple[slice, Table, Table]]:
    """Yield centred readings of some records at a time, and which columns they told."""
    widths = [each.readings.shape[1] for each in columns]
    for start in range(0, len(cells[0]), _CHUNK):
        rows = slice(start, start + _CHUNK)
        there = (np.column_stack([own[rows] for own in cells]) >= 0).astype(np.float64)
        pairs = zip(columns, cells, strict=True)
        table = np.hstack([each.tell(own[rows]) for each, own in pairs])
        yield rows, (table - centres) * np.repeat(there, widths, axis=1), there


def _kept_share(squares: Table, noise: Table, kinds: Cells) -> Table:
    """Return signal / (signal + noise) of each pair, with one signal for all pairs of a kind."""
    signal = np.zeros_like(noise)
    for kind in np.unique(kinds[kinds >= 0]):
        alike = kinds == kind
        signal[alike] = max(float((squares - noise)[alike].mean()), 0.0)
    return np.divide(signal, signal + noise, out=np.zeros_like(noise), where=signal > 0)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Problem:
    """ReadingMoments, and what is believed about coefficients before they are seen."""

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
    """What is known about the coefficients."""

    mean: Table
    covariance: Table
    beliefs: Table
    told: float


def priors_for(columns: Sequence[ColumnReading], form: Form) -> tuple[Table, ...]:
    """Return the covariances of coefficients to choose among."""
    straight = block_diag(*(each.straight for each in columns)) / len(columns)
    smooth = block_diag(*(each.smooth for each in columns)) / len(columns)
    return tuple((1 - part) * straight + part * smooth for part in _CURVED[form])


def solve(problem: Problem) -> Coefficients:
    """Return the coefficients that moments and belief lead to."""
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
