"""From counts of sampled answers to a scorecard, with what is needed to judge a noisy answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from supm._errors import ParameterError
from supm.collection.counting import together_shape
from supm.collection.features import Floats
from supm.learning import (
    Gaps,
    Interaction,
    Line,
    Moments,
    conditional,
    fit_additive,
    fit_interactions,
    fit_line,
)
from supm.mechanisms import Tally
from supm.messages import PairPoints, Scorecard
from supm.owner import SampledInterview
from supm.schema import Discretizer

# Enough digits for any answer, and few enough for a page.
_DIGITS: Final = 9
_LARGEST: Final = 1e6


@dataclass(frozen=True, kw_only=True, eq=False)
class Card:
    """A scorecard, with what the aggregator knows beside it.

    Parameters
    ----------
    rule : Scorecard
        What is published.
    conditional : ndarray, shape (classes, labels)
        Estimated probability of each class given the label; for levels, where the target is a
        number.
    shares : ndarray, shape (labels,)
        Estimated shares of the labels.
    line : Line, optional
        How predictions spread, where the target is a number.
    answers : ndarray, shape (labels, labels), optional
        How often each label (column) gets each answer (row), where the target has labels.
    """

    rule: Scorecard
    conditional: Floats
    shares: Floats
    line: Line | None = None
    answers: Floats | None = None


def label_card(moments: Moments, weights: Floats | None) -> Card:
    """Return the card of a target with labels; labels count by their weights."""
    fitted, pairs = fit_additive(moments), fit_interactions(moments)
    counted = np.ones(moments.labels) if weights is None else weights
    rule = Scorecard(
        points=_split(_plain(fitted.points()), moments.sizes),
        offsets=_plain(fitted.offsets(counted)),
        pairs=tuple(_pair_points(each) for each in pairs),
    )
    return Card(
        rule=rule,
        conditional=conditional(moments),
        shares=fitted.shares,
        answers=fitted.answers(counted, pairs),
    )


def number_card(moments: Moments) -> Card:
    """Return the card of a target that is a number."""
    line = fit_line(moments, np.linspace(-1.0, 1.0, moments.labels))
    rule = Scorecard(
        points=_split(_plain(line.points[:, np.newaxis]), moments.sizes),
        offsets=_plain(np.array([line.offset])),
    )
    return Card(rule=rule, conditional=conditional(moments), shares=moments.shares, line=line)


def moments_of(asked: SampledInterview, counts: object) -> Moments:
    """Return the moments that counts of sampled answers show.

    Parameters
    ----------
    asked : SampledInterview
        The mechanism that the answers came from.
    counts : Tally
        What they add up to.

    Returns
    -------
    Moments
    """
    shape = together_shape(asked)
    if not isinstance(counts, Tally) or counts.counts.shape != shape:
        raise ParameterError("counts", "those of this question", type(counts).__name__)
    return Moments(
        together=counts.counts.sum(axis=0),
        reports=counts.reports,
        sizes=asked.sizes,
        ordered=tuple(_ordered(each) for each in asked.discretizers),
        sampled=asked.sampled,
        gaps=_gaps(asked),
        by_label=counts.counts if shape[0] > 1 else None,
    )


@lru_cache(maxsize=64)
def _gaps(asked: SampledInterview) -> Gaps:
    different = sorted(set(asked.sizes))
    single = {size: asked.gap(size) for size in different}
    pair = {
        (one, two): asked.gap(one, two)
        for one in different
        for two in different
        if asked.sampled > 1 and (one != two or asked.sizes.count(one) > 1)
    }
    pairs = [[pair.get((one, two), 1.0) for two in asked.sizes] for one in asked.sizes]
    return Gaps(
        overall=asked.gap(),
        single=np.array([single[size] for size in asked.sizes]),
        pair=np.array(pairs),
    )


def _ordered(discretizer: Discretizer) -> int:
    if discretizer.representatives is None:
        # Two classes are a step, whatever they hold.
        return 2 if discretizer.size == 2 else 0
    return discretizer.size - (discretizer.attribute.missing == "class")


def _plain(numbers: Floats) -> Floats:
    """Return numbers that a page can print; beyond the bound, they are nothing but noise."""
    return np.clip(numbers, -_LARGEST, _LARGEST).round(_DIGITS)


def _pair_points(pair: Interaction) -> PairPoints:
    return PairPoints(first=pair.first, second=pair.second, points=_plain(pair.points))


def _split(points: Floats, sizes: tuple[int, ...]) -> tuple[Floats, ...]:
    return tuple(np.split(points, np.cumsum(sizes)[:-1]))
