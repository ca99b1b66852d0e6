"""Scorecards from counts of pairs: points for each class of each attribute, shrunk by their noise.

A card is the mean of two opinions. One is a ridge regression on the classes, in which pairs of
attributes count only as far as enough reports tell both; how far the labels are apart along it, and
how widely people spread about them, follows from the same counts, and what noise alone would show
is taken off. The other adds up what each attribute says by itself, as far as attributes do not
repeat each other. Where noise is all there is, the card answers with the commonest label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri

from supm.learning.interactions import Interaction
from supm.learning.moments import Floats, Moments

# Beside the spread that was seen, attributes are taken to be correlated this much at least: where
# reports tell one attribute each, nothing is seen of it.
_CORRELATED: Final = 0.03
# Noise leaves at least so much of the distance between labels: the order of scores is worth more
# than their size.
_LEAST_SIGNAL: Final = 0.3
# The mean of a number lies about so far from the middle of its bounds, squared, on [-1, 1].
_MEANS: Final = 0.03
# However surely attributes cancel each other out, so much of their own spread is left.
_LEAST_SPREAD: Final = 1e-3
_POINTS: Final = 10  # the logarithm of how many made-up people stand for a label


@dataclass(frozen=True, kw_only=True, eq=False)
class Additive:
    """Directions in which labels differ, with what is known about people along them.

    Parameters
    ----------
    directions : ndarray, shape (classes, labels)
        Points of each class before they are scaled.
    centre : ndarray, shape (classes,)
        Estimated share of each class, from which scores are measured.
    means : ndarray, shape (labels, labels)
        For each label (column) the mean score of its people, measured from the mean of all.
    variance : float
        Variance of a score about the mean of its label, with that of the estimates.
    shares : ndarray, shape (labels,)
        Estimated shares of the labels.
    opinions : ndarray, shape (classes, labels)
        What each class says about the label by itself, less where attributes repeat each other.
    """

    directions: Floats
    centre: Floats
    means: Floats
    variance: float
    shares: Floats
    opinions: Floats

    def points(self) -> Floats:
        """Return the points of each class (row) for each label (column)."""
        return 0.5 * self._together() + 0.5 * self.opinions

    def offsets(self, weights: Floats) -> Floats:
        """Return where the sums start, if labels count by their shares times these weights."""
        half = 0.5 * (self._half() + self.centre @ self._together())
        return np.log(self.shares * weights) - half

    def answers(self, weights: Floats, pairs: Sequence[Interaction] = ()) -> Floats:
        """Return how often each label (column) gets each answer (row), as shares of all people."""
        count = self.shares.size
        even = _even_points(count + len(pairs))
        normal = ndtri(even[:, :count]) * np.sqrt(self.variance)
        found = np.zeros((count, count))
        for label in range(count):
            scores = (normal + self.means[:, label]) @ self.means / self.variance
            for pair, places in zip(pairs, even[:, count:].T, strict=True):
                scores += _drawn_points(pair, label, places)
            told = (scores - self._half() + np.log(self.shares * weights)).argmax(axis=1)
            found[:, label] = np.bincount(told, minlength=count) / len(told)
        return _doubted(found * self.shares, self.shares, weights)

    def _together(self) -> Floats:
        return self.directions @ self.means / self.variance

    def _half(self) -> Floats:
        return np.asarray(0.5 * np.square(self.means).sum(axis=0) / self.variance)


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """A straight line from points to a number on [-1, 1].

    Parameters
    ----------
    points : ndarray, shape (classes,)
        The points of each class.
    offset : float
        Where the sum starts.
    variance : float
        Variance of the predictions over the people.
    mean : float
        Their mean, which is the target's.
    """

    points: Floats
    offset: float
    variance: float
    mean: float


def fit_additive(moments: Moments) -> Additive:
    """Return the directions in which labels differ.

    Parameters
    ----------
    moments : Moments
        How often classes and labels were told together.

    Returns
    -------
    Additive

    Examples
    --------
    >>> from supm.learning.moments import Gaps, Moments
    >>> together = np.array([[40, 0, 30, 10], [0, 60, 20, 40], [30, 20, 50, 0], [10, 40, 0, 50]])
    >>> gaps = Gaps(overall=0.8, single=np.array([0.8]), pair=np.array([[0.8]]))
    >>> moments = Moments(
    ...     together=together, reports=100, sizes=(2,), ordered=(2,), sampled=1, gaps=gaps
    ... )
    >>> fit_additive(moments).points().argmax(axis=1)
    array([0, 1])
    """
    told, shares = moments.label_shares, moments.shares
    variance = float((told * (1.0 - told)).sum() + np.square(told - shares).sum())
    directions, signal = _ridge(moments, moments.with_label, variance)
    means = max(signal, _LEAST_SIGNAL) * (directions.T @ moments.with_label) / moments.shares
    between = float(np.trace((means * moments.shares) @ means.T))
    free = max(moments.labels - 1, 1)
    spread = _spread(moments, directions, between) / free
    return Additive(
        directions=directions,
        centre=moments.origin,
        means=means,
        variance=max(spread, 1e-12),
        shares=moments.shares,
        opinions=_unrepeated(moments),
    )


def fit_line(moments: Moments, levels: Floats) -> Line:
    """Return the line that predicts a number whose levels were told.

    Parameters
    ----------
    moments : Moments
        How often classes and levels were told together.
    levels : ndarray, shape (labels,)
        The number of each level, on [-1, 1] and balanced about 0.

    Returns
    -------
    Line
        It shrinks to the estimated mean where the reports show nothing but noise.
    """
    shares, gap = moments.label_shares, moments.gaps.overall
    told = float(shares @ levels)
    noise = (float(shares @ np.square(levels)) - told**2) / max(moments.reports, 1) / gap**2
    mean = told / gap * _MEANS / (_MEANS + noise)
    mean = min(max(mean, -1.0), 1.0)  # noise may carry it beyond what a number can be
    with_target = moments.with_label @ (levels - mean)[:, np.newaxis]
    second = float(shares @ np.square(levels - told))
    directions, signal = _ridge(moments, with_target, second, luck=2.0)
    shared = signal * float(directions[:, 0] @ with_target[:, 0])
    spread = max(_spread(moments, directions, 0.0), 1e-12)
    slope = max(shared, 0.0) / spread
    points = slope * directions[:, 0]
    return Line(
        points=points,
        offset=mean - float(moments.origin @ points),
        variance=slope**2 * spread,
        mean=mean,
    )


def _doubted(sure: Floats, shares: Floats, weights: Floats) -> Floats:
    """Return answers (rows) and labels half way to the least that the answers could mean.

    Normal curves make answers look right too often. Somebody who answers a label on the device
    takes it for the likeliest, so it is at least that.
    """
    told = sure.sum(axis=1, keepdims=True)
    right = np.where(told > 0, sure / np.where(told > 0, told, 1.0), shares) * weights
    lead = np.diag(right)[:, np.newaxis] - right
    behind = shares * weights - (shares * weights)[:, np.newaxis]
    needed = np.where(behind > 0, lead / np.maximum(lead + behind, 1e-300), 1.0)
    doubt = 0.5 * np.clip(needed.min(axis=1, keepdims=True), 0.0, 1.0)
    return np.asarray((1.0 - doubt) * sure + doubt * told * shares)


def _unrepeated(moments: Moments) -> Floats:
    """Return what each class says by itself, as far as attributes do not repeat each other."""
    opinions = single_opinions(moments)
    centred = opinions - opinions.mean(axis=1, keepdims=True)
    alone = float((moments.spread @ centred * centred).sum())
    means = (centred.T @ moments.with_label) / moments.shares
    between = float(np.trace((means * moments.shares) @ means.T))
    together = _spread(moments, centred, between)
    return opinions * min(1.0, alone / max(together, 1e-300))


def _ridge(
    moments: Moments, with_target: Floats, variance: float, luck: float = 0.0
) -> tuple[Floats, float]:
    """Return points in the direction of the target, and which part of their fit is not noise."""
    code = csr_array(_coding(moments))
    width = code.shape[1]
    own = code.T @ moments.spread @ code
    # The noise of so many pairs has about this norm; it must not outweigh the attributes' own.
    trusted = min(1.0, float(np.sqrt(moments.pairs / width)) / 2.0)
    seen = own + trusted * (code.T @ moments.across @ code)
    # What is told is mixed with even answers, and as much is added to the spread of the truth.
    mixed = np.sqrt((1.0 - moments.slope) / moments.slope)
    even = csr_array(code.multiply(mixed[:, np.newaxis]))
    ridge = even.T @ moments.even_spread @ even
    ridge += np.trace(own) / width / moments.gaps.overall * np.eye(width)
    ridge *= _fading(moments, width)
    target = code.T @ with_target
    noisy = csr_array(code.multiply(1.0 / moments.slope[:, np.newaxis]))
    noise = noisy.T @ moments.told_spread @ noisy
    solved = np.linalg.solve(_solvable(seen, ridge), np.hstack((target, noise)))
    weights, fitted = solved[:, : target.shape[1]], solved[:, target.shape[1] :]
    # What a target of pure noise would seem to share with the fit, if it had so much luck.
    told = moments.reports * moments.sampled / len(moments.sizes)
    lucky = 1.0 + luck * float(np.sqrt(2.0 / width))
    chance = lucky * float(np.trace(fitted)) * variance / told
    shared = max(float(np.trace(weights.T @ target)), 1e-300)
    return code @ weights, min(max(0.0, 1.0 - chance / shared), 1.0)


def _solvable(seen: Floats, ridge: Floats) -> Floats:
    """Return the sum, without directions in which noise has made a spread negative."""
    try:
        np.linalg.cholesky(seen + ridge)
    except np.linalg.LinAlgError:
        sizes, axes = np.linalg.eigh(seen)
        seen = (axes * np.maximum(sizes, 0.0)) @ axes.T
    return seen + ridge


def _fading(moments: Moments, width: int) -> float:
    """Return which part of the ridge is left: the more people tell pairs, the less is needed."""
    if moments.pairs <= 0:
        return 1.0
    return min(1.0, 2.0 * float(np.sqrt(width / moments.pairs)) / moments.gaps.overall)


def _coding(moments: Moments) -> Floats:
    """Return columns that sum to 0 over each attribute: steps along an order, else one for each."""
    columns = []
    starts = np.cumsum((0, *moments.sizes))
    for start, size, ordered in zip(starts, moments.sizes, moments.ordered, strict=False):
        places = np.arange(size)
        steps = [(places > step) & (places < ordered) for step in range(ordered - 1)]
        alone = [places == place for place in range(ordered if ordered > 1 else 0, size)]
        for held in (*steps, *alone):
            column = np.zeros(moments.classes)
            column[start : start + size] = 2.0 * (held - held.mean())
            columns.append(column)
    return np.stack(columns, axis=1)


def _spread(moments: Moments, directions: Floats, between: float) -> float:
    """Return the variance of scores about the labels' means, and of what they are measured from."""
    within = moments.spread @ directions * directions
    single = np.zeros((len(moments.sizes), directions.shape[1]))
    np.add.at(single, moments.of, within)
    single = np.maximum(single, 0.0)
    own = float(single.sum())
    aligned = float(np.square(np.sqrt(single).sum(axis=0)).sum())
    least = own + _CORRELATED * max(aligned - own, 0.0)
    # Attributes may cancel each other out, and many people who tell pairs show it.
    least *= _fading(moments, moments.classes - len(moments.sizes))
    seen = 0.0
    if moments.pairs > 0:
        seen = own + float(np.trace(directions.T @ moments.across @ directions)) - between
    # Points of an attribute add up to 0, so the errors of its shares do not cancel.
    left = (moments.centre_left / (1.0 - moments.even))[:, np.newaxis]
    return max(seen, least, _LEAST_SPREAD * own) + float((np.square(directions) * left).sum())


def _even_points(axes: int) -> Floats:
    """Return points that fill a cube evenly; the same ones each time."""
    from scipy.stats import qmc  # noqa: PLC0415  who only plans does without

    even = qmc.Sobol(axes, scramble=False).random_base2(_POINTS)
    return np.asarray((even * (1 << _POINTS) + 0.5) / ((1 << _POINTS) + 1.0))


def _drawn_points(pair: Interaction, label: int, places: Floats) -> Floats:
    """Return the points of a pair for people of one label, who are spread evenly over places."""
    chances = pair.chances[:, :, label].ravel()
    cells = np.searchsorted(np.cumsum(chances), places).clip(max=chances.size - 1)
    return np.asarray(pair.points.reshape(chances.size, -1)[cells])


def conditional(moments: Moments) -> Floats:
    """Return the probability of each class (row) given the label (column), smoothed by its noise.

    Parameters
    ----------
    moments : Moments
        How often classes and labels were told together.

    Returns
    -------
    ndarray, shape (classes, labels)
        Those of one attribute add up to 1 for each label.
    """
    smoothed = np.maximum(moments.held, 0.0) + moments.held_noise * moments.shares
    totals = np.zeros((len(moments.sizes), moments.labels))
    np.add.at(totals, moments.of, smoothed)
    return smoothed / totals[moments.of]


def single_opinions(moments: Moments) -> Floats:
    """Return the logarithm of how much likelier each class is under each label than on the whole.

    Parameters
    ----------
    moments : Moments
        How often classes and labels were told together.

    Returns
    -------
    ndarray, shape (classes, labels)
        Added up over attributes they are the points of a naive Bayes classifier.
    """
    chances = conditional(moments)
    overall = (chances * moments.shares).sum(axis=1, keepdims=True)
    return np.asarray(np.log(chances) - np.log(overall))
