"""LDA-DP and Mul-LDA-DP as their paper has them, to compare with; they are not private.

Strict is `Discriminant`. What is wrong with the paper's proofs is in docs/proofs/discriminant.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource, check_source
from supm._validation import EPSILON, Reals
from supm.mechanisms.noise import (
    GaussianNoise,
    ZeroSumNoise,
    information_coalition,
    information_eavesdropper,
    information_publisher,
    mirrored_triangle,
)
from supm.privacy import Guarantee, NoGuarantee

__all__ = ["PaperLDA", "PaperPublication", "PaperTable", "paper_sigmas"]

Floats: TypeAlias = NDArray[np.float64]
Line11: TypeAlias = Literal["local", "global"]

_DELTA: Final = Reals("delta", 1e-300, math.sqrt(2 / math.pi) - 1e-6)
_REASON: Final = "Xw and labels are released as they are"
_CLASSES: Final = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperTable:
    """The records of one owner, each of length one, in two classes.

    Parameters
    ----------
    vectors : ndarray of float64, shape (rows, width)
        Divided by their lengths here; what is zero stays zero.
    labels : ndarray of int64
        0 or 1.

    Examples
    --------
    >>> table = PaperTable(vectors=np.array([[3.0, 4.0]]), labels=np.array([1]))
    >>> table.vectors.tolist(), table.counts.tolist()
    ([[0.6, 0.8]], [0.0, 1.0])
    """

    vectors: Floats
    labels: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.labels.size and not 0 <= self.labels.min() <= self.labels.max() < _CLASSES:
            raise RecordError("each label must be 0 or 1: the paper has two classes.")
        lengths = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        unit = np.divide(self.vectors, lengths, out=np.zeros_like(self.vectors), where=lengths > 0)
        object.__setattr__(self, "vectors", unit)

    @cached_property
    def counts(self) -> Floats:
        """How many records each class has."""
        return np.bincount(self.labels, minlength=_CLASSES).astype(np.float64)

    @cached_property
    def sums(self) -> Floats:
        """The sum of the records of each class."""
        return np.array([self.vectors[self.labels == one].sum(axis=0) for one in range(_CLASSES)])

    @cached_property
    def products(self) -> Floats:
        """The sum of each record's products with itself."""
        return np.asarray(self.vectors.T @ self.vectors)


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperPublication:
    """What the paper publishes: the direction, every record's score, and every label.

    Parameters
    ----------
    direction : ndarray of float64, shape (width,)
        The paper's w.
    scores : ndarray of float64
        The paper's Xw, all owners' records in order.
    labels : ndarray of int64
        As they are.
    sigmas : tuple of float
        The noise on class sums, and on the scatter.
    views : dict of str to float
        The mu that holds for the noisy moments, for records that keep their class, by who sees
        them: the publisher, an eavesdropper, and the publisher with all owners but one.
    """

    direction: Floats
    scores: Floats
    labels: NDArray[np.int64]
    sigmas: tuple[float, float]
    views: dict[str, float]

    @property
    def guarantee(self) -> Guarantee:
        """None at all: `lookup_attack.LookupAttack` reads records from scores."""
        return NoGuarantee(_REASON)


def paper_sigmas(*, width: int, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the paper's noise on sums and on the scatter, half the budget for each.

    Parameters
    ----------
    width : int
        How many numbers a record has, the paper's p.
    epsilon, delta : float
        The total.

    Returns
    -------
    tuple of float
        By equations 15 and 19 of the paper; lines 2 and 6 of its algorithm misplace brackets.

    Examples
    --------
    >>> [round(sigma) for sigma in paper_sigmas(width=15, epsilon=0.2, delta=0.001)]
    [4462, 615]
    """
    half, tail = EPSILON.check(epsilon) / 2, _DELTA.check(delta) / 2
    log = math.log(2 / (math.pi * tail**2))
    cube, edge = width**3 * log, (width + 1) ** 2 * log
    first = (math.sqrt(cube) + math.sqrt(cube + 2 * half)) / half
    second = (math.sqrt(edge) + math.sqrt(edge + 4 * half)) / (2 * half)
    return first, second


@dataclass(frozen=True, kw_only=True)
class PaperLDA:
    """LDA-DP for one owner, Mul-LDA-DP for several.

    Parameters
    ----------
    epsilon, delta : float
        What the paper claims.
    line11 : {"local", "global"}
        Whether each owner subtracts its own noisy means from its scatter, as line 11 of the paper's
        algorithm has it, or the publisher the means of all. The former loses the scatter between
        owners and adds their noise once more.

    Notes
    -----
    **Guarantee.** None. Every score and every label is published without noise, and counts of
    classes are exact. The noisy moments alone keep ``views`` for records that stay in their class.

    **Utility.** At the paper's noise the direction is close to a random one for all budgets of its
    figures: experiments/lda_publishing/README.md.

    **Cost.** That of one pass over the records.

    References
    ----------
    Z. Gu, K. Zhang, G. Zhang, Multiparty data publishing via blockchain and differential privacy,
    2022: algorithms 1 and 2, with the brackets of equations 15 and 19.

    Examples
    --------
    >>> from supm import simulation
    >>> table = PaperTable(vectors=np.eye(4), labels=np.array([0, 0, 1, 1]))
    >>> published = PaperLDA(epsilon=1.0, delta=0.001).publish([table], simulation(1))
    >>> published.scores.shape, str(published.guarantee)
    ((4,), 'No privacy is promised (Xw and labels are released as they are).')
    """

    epsilon: float
    delta: float
    line11: Line11 = "local"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", EPSILON.check(self.epsilon))
        object.__setattr__(self, "delta", _DELTA.check(self.delta))
        if self.line11 not in ("local", "global"):
            raise ParameterError("line11", "'local' or 'global'", self.line11)

    def publish(self, tables: Sequence[PaperTable], source: RandomSource) -> PaperPublication:
        """Publish the records of all owners.

        Parameters
        ----------
        tables : sequence of PaperTable
            One for each owner.
        source : RandomSource
            Where randomness comes from.

        Returns
        -------
        PaperPublication
        """
        if not tables:
            raise ParameterError("tables", "at least one", 0)
        sigmas = paper_sigmas(
            width=tables[0].vectors.shape[1], epsilon=self.epsilon, delta=self.delta
        )
        direction = self._direction(tables, sigmas, check_source(source))
        return PaperPublication(
            direction=direction,
            scores=np.concatenate([table.vectors @ direction for table in tables]),
            labels=np.concatenate([table.labels for table in tables]),
            sigmas=sigmas,
            views=_views(len(tables), sigmas),
        )

    def _direction(
        self, tables: Sequence[PaperTable], sigmas: tuple[float, float], source: RandomSource
    ) -> Floats:
        """Return the paper's w."""
        width = tables[0].vectors.shape[1]
        sums = _messages([table.sums for table in tables], _vectors(width, sigmas[0]), source)
        counts = np.array([table.counts for table in tables])
        owners = slice(1, None)
        scatters = [table.products for table in tables]
        if self.line11 == "local":
            pairs = zip(scatters, sums[owners], counts, strict=True)
            scatters = [one - _about(total, count) for one, total, count in pairs]
        noisy = _messages(scatters, _matrices(width, sigmas[1]), source)
        total, classes = np.sum(sums, axis=0), counts.sum(axis=0)
        within = np.sum(noisy, axis=0)
        if self.line11 == "global":
            within = within - _about(total, classes)
        first, second = total / np.maximum(classes, 1.0)[:, np.newaxis]
        return _solved(within, second - first)


class _Noise:
    """Noise of one shape: an owner's own, and what a generator deals to all."""

    def __init__(self, shape: tuple[int, ...], sigma: float, *, mirrored: bool) -> None:
        self.shape, self.sigma, self.mirrored = shape, sigma, mirrored

    def own(self, scale: float, source: RandomSource) -> Floats:
        """Return one owner's own noise."""
        if self.mirrored:
            return mirrored_triangle(self.shape[0], self.sigma * scale, source)
        count = math.prod(self.shape)
        return GaussianNoise(self.sigma * scale).draw(count, source).reshape(self.shape)

    def dealt(self, parties: int, source: RandomSource) -> Floats:
        """Return the generator's noise: the publisher's, then each owner's."""
        drawn = ZeroSumNoise(parties=parties, sigma=self.sigma).draw(math.prod(self.shape), source)
        each = drawn.reshape(parties + 1, *self.shape)
        return np.triu(each) + np.triu(each, 1).transpose(0, 2, 1) if self.mirrored else each


def _vectors(width: int, sigma: float) -> _Noise:
    return _Noise((_CLASSES, width), sigma, mirrored=False)


def _matrices(width: int, sigma: float) -> _Noise:
    return _Noise((width, width), sigma, mirrored=True)


def _messages(exact: Sequence[Floats], noise: _Noise, source: RandomSource) -> list[Floats]:
    """Return what the publisher holds itself, then what each owner sends."""
    if len(exact) == 1:
        return [np.zeros(noise.shape), exact[0] + noise.own(1.0, source)]
    dealt, scale = noise.dealt(len(exact), source), 1 / math.sqrt(len(exact))
    sent = [one + noise.own(scale, source) + dealt[n] for n, one in enumerate(exact, start=1)]
    return [dealt[0], *sent]


def _about(sums: Floats, counts: Floats) -> Floats:
    """Return what is taken off products to have them about the means; empty classes have none."""
    weights = np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0)
    return np.asarray((sums.T * weights) @ sums)


def _solved(within: Floats, apart: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(within, apart))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(within) @ apart)


def _views(parties: int, sigmas: tuple[float, float]) -> dict[str, float]:
    first, second = (1 / sigma**2 for sigma in sigmas)
    # Sums twice as far apart and scatters sqrt(2) apart, never both at once: see the proof.
    worst = 4 * first if 2 * second < first else 2 * (first + second) + first**2 / (2 * second)
    mu = math.sqrt(worst)
    if parties == 1:
        return {"publisher": mu}
    return {
        "publisher": mu * information_publisher(parties),
        "eavesdropper": mu * information_eavesdropper(parties),
        "coalition": mu * information_coalition(parties, parties - 1),
    }
