"""The reduce phase: which attributes the rest of the study is about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.collection.cards import moments_of
from supm.collection.counting import Counts
from supm.collection.features import Floats, Ints, class_numbers
from supm.learning import Split, best_split
from supm.mechanisms import Tally
from supm.messages import REDUCE_FORMS, Study
from supm.owner import SampledInterview, SeparateInterview, interview
from supm.owner.columns import Classes, Numbers, Signs
from supm.schema import Discretizer


class Reduction(Protocol):
    """A way of one's own to choose attributes from what the reports of the reduce phase add up to.

    It sees nothing but noisy counts, so that it costs no privacy whatever it does with them.
    """

    asks: str
    """What owners are asked: a reduction of `supm.messages.REDUCTIONS`, such as "rank"."""

    def choose(self, study: Study, counts: Counts | None, source: RandomSource) -> Sequence[str]:
        """Return the names of ``study.keep`` attributes."""
        ...


def reduce_study(
    study: Study, counts: Counts | None, source: RandomSource, *, reduction: Reduction | None = None
) -> Study:
    """Return the study with its attributes chosen.

    Parameters
    ----------
    study : Study
        One whose attributes are still to be chosen.
    counts : Tally, optional
        What the reports of the reduce phase add up to; None where they are drawn at random.
    source : RandomSource
        Where the random choice comes from.
    reduction : Reduction, optional
        Who chooses instead.

    Returns
    -------
    Study
        With the ``keep`` attributes of the strongest association with the target, in the order of
        the schema; the earlier ones where two are alike. Where classes are regrouped, each has two
        groups of classes, those that tell the labels apart best.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> study = plan(load_wdbc().schema, epsilon=8.0, mode="faithful", keep=2)
    >>> reduced = reduce_study(study, None, simulation(1))
    >>> len(reduced.attributes), reduced.previous == study.hash
    (2, True)
    """
    if reduction is not None:
        chosen = set(reduction.choose(study, counts, source))
        return study.reduced(tuple(name for name in study.schema.names if name in chosen))
    if study.reduction == "rand":
        return study.reduced(draw_attributes(study, source))
    if counts is None:
        raise ParameterError("counts", "the reduce phase's", None, "Collect its reports first.")
    if REDUCE_FORMS.get(study.reduction) == "sample":
        return _by_splits(study, counts)
    best = _strongest(associations(study, counts), study.keep)
    return study.reduced(tuple(study.schema.names[place] for place in best))


def _strongest(strength: Floats, keep: int) -> NDArray[np.intp]:
    # In the schema's order: the same attributes are the same question, however they were ranked.
    return np.sort(np.argsort(-strength, kind="stable")[:keep])


def _by_splits(study: Study, counts: Counts) -> Study:
    splits = _splits(study, counts)
    best = _strongest(np.array([split.strength for split in splits]), study.keep)
    names = tuple(study.schema.names[place] for place in best)
    merged = tuple(splits[place].groups for place in best)
    return study.reduced(names, merged if study.reduction == "regroup" else None)


def _splits(study: Study, counts: Counts) -> list[Split]:
    """Return for each attribute the two groups of classes that tell the labels apart best."""
    moments = moments_of(_sampled(study), counts)
    starts = np.cumsum(moments.sizes)[:-1]
    noise = [float(each[0, 0]) for each in np.split(moments.held_noise, starts)]
    tables = np.split(moments.held, starts)
    return [best_split(*each) for each in zip(tables, noise, moments.ordered, strict=True)]


def _sampled(study: Study) -> SampledInterview:
    asked = interview(study, "reduce")
    if not isinstance(asked, SampledInterview):
        raise ParameterError("study", "one that draws attributes to be told", "another")
    return asked


def draw_attributes(study: Study, source: RandomSource) -> tuple[str, ...]:
    """Return ``keep`` attributes drawn at random; no record has a say in it."""
    names = study.schema.names
    drawn = np.sort(source.permutation(len(names))[: study.keep])
    return tuple(names[place] for place in drawn)


def associations(study: Study, counts: Counts) -> Floats:
    """Return how strongly each attribute goes with the target, between 0 and 1.

    Parameters
    ----------
    study : Study
        The study whose reduce phase was counted.
    counts : Tally
        What its reports add up to.

    Returns
    -------
    ndarray of float
        The correlation ratio of an ordered attribute given the label, and Cramér's V of an
        unordered one. For two labels both are the absolute correlation that the papers rank by.
        An attribute that nobody told, or that does not vary, has 0. Where a few attributes were
        told as one symbol, it is the association of the two groups of classes that differ most,
        less what noise would show.
    """
    asked = interview(study, "reduce")
    if isinstance(asked, SampledInterview):
        splits = _splits(study, counts)
        strengths: Floats = np.array([split.strength for split in splits])
        return np.sqrt(np.clip(strengths, 0.0, 1.0))
    if not isinstance(asked, SeparateInterview) or not isinstance(counts, Tally):
        raise ParameterError("counts", "those of the reduce phase", type(counts).__name__)
    axes = 2 if isinstance(asked.label, Signs) else 3
    if counts.counts.ndim != axes or len(counts.counts) != len(asked.columns):
        raise ParameterError("counts", "those of the reduce phase", counts.counts.shape)
    found = [
        _association(asked, column, counts.counts[place])
        for place, column in enumerate(asked.columns)
    ]
    return np.array(found)


def _association(asked: SeparateInterview, column: object, held: Ints) -> float:
    if isinstance(column, Numbers):
        if isinstance(asked.label, Signs):
            return _correlation([int(each) for each in held])
        return _ratio_of_sums(held.astype(np.float64))
    if isinstance(column, Classes):
        table = held[: column.discretizer.size].astype(np.float64)
        return _of_table(table, column.discretizer)
    raise ParameterError("column", "a column of the reduce phase", type(column).__name__)


def _of_table(table: Floats, discretizer: Discretizer) -> float:
    # On [-1, 1] the sums keep their digits, whatever the unit and the zero of the attribute.
    scale = class_numbers(discretizer)
    if scale is None:
        return _cramer(table)
    moments = [table.sum(axis=0), scale @ table, np.square(scale) @ table]
    return _ratio_of_sums(np.stack(moments, axis=1))


def _correlation(sums: list[int]) -> float:
    """Return the absolute correlation, in whole numbers up to the last division."""
    people, first, first_square, second, second_square, both = sums
    shared = people * both - first * second
    spread = (people * first_square - first**2) * (people * second_square - second**2)
    return math.sqrt(shared**2 / spread) if spread else 0.0


def _ratio_of_sums(by_label: NDArray[Any]) -> float:
    """Return the correlation ratio from count, sum and sum of squares within each label."""
    by_label = by_label[by_label[:, 0] > 0]
    people, total, squares = by_label.sum(axis=0) if len(by_label) else (0.0, 0.0, 0.0)
    if not people:
        return 0.0
    mean = total / people
    between = (by_label[:, 0] * np.square(by_label[:, 1] / by_label[:, 0] - mean)).sum() / people
    spread = squares / people - mean**2
    # A smaller variance is the rounding of the sums that it comes from.
    if spread <= 1e-12 * squares / people:
        return 0.0
    return math.sqrt(min(between / spread, 1.0))


def _cramer(table: Floats) -> float:
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return 0.0
    people = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / people
    chi = (np.square(table - expected) / expected).sum()
    return math.sqrt(min(chi / people / (min(table.shape) - 1), 1.0))
