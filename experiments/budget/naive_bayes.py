"""Locally private naive Bayes, from the paper of Yilmaz, Al-Rubaie and Chang (2019).

An owner reports the class of an attribute together with the label, as one symbol. With many
attributes the budget can be split over all of them, or an owner is asked about one, drawn at
random, with the whole budget. This is the second way, the one with less noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from experiments.budget.data import label_count
from numpy.typing import NDArray

from supm import RandomSource
from supm._validation import Integers
from supm.mechanisms import (
    FrequencyRandomizer,
    GeneralizedRandomizedResponse,
    JointReport,
    UnaryEncoding,
)
from supm.schema import Attribute, Continuous, Discretizer, Records, Schema, discretize

__all__ = ["NaiveBayes", "NaiveBayesModel", "question"]


def question(*, classes: int, labels: int, epsilon: float) -> JointReport:
    """Return what randomises (class of the attribute, label), with the whole budget.

    Parameters
    ----------
    classes, labels : int
        How many there are of each.
    epsilon : float
        What the report may cost.

    Returns
    -------
    JointReport
        By the paper's direct encoding, symmetric or optimised unary encoding, whichever has the
        least variance for that many symbols.

    Examples
    --------
    >>> type(question(classes=4, labels=2, epsilon=4.0).randomizer).__name__
    'GeneralizedRandomizedResponse'
    >>> type(question(classes=8, labels=10, epsilon=2.0).randomizer).__name__
    'UnaryEncoding'
    """
    size = classes * labels
    randomizers: tuple[FrequencyRandomizer, ...] = (
        GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=epsilon),
        UnaryEncoding.symmetric(size=size, epsilon=epsilon),
        UnaryEncoding.optimised(size=size, epsilon=epsilon),
    )
    best = min(randomizers, key=lambda each: each.variance(1 / size))
    return JointReport(sizes=(classes, labels), randomizer=best)


@dataclass(frozen=True, kw_only=True, eq=False)
class NaiveBayesModel:
    """What the aggregator publishes.

    Parameters
    ----------
    discretizers : tuple of Discretizer
        One for each attribute.
    prior : ndarray of float
        Logarithm of the share of each label.
    tables : tuple of ndarray of float
        For each attribute, the logarithm of the share of each class (rows) within each label.
    """

    discretizers: tuple[Discretizer, ...]
    prior: NDArray[np.float64]
    tables: tuple[NDArray[np.float64], ...]

    def predict(self, records: Records) -> NDArray[np.int64]:
        """Return the likeliest label of each record."""
        classes = records.encode(self.discretizers)
        odds = np.tile(self.prior, (records.rows, 1))
        for column, table in zip(classes.T, self.tables, strict=True):
            odds += table[column]
        return np.asarray(odds.argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class NaiveBayes:
    """Naive Bayes from one report of (one attribute, label) per owner.

    Parameters
    ----------
    bins : int, default 4
        The most classes of equal width that a continuous attribute gets: see `classes`. The others
        keep all their values.
    smoothing : float, default 1
        What Laplace's smoothing adds to each count.

    Notes
    -----
    **Guarantee.** epsilon-LDP for a training record: one report with the whole budget about an
    attribute that the record does not choose.

    **Estimates.** Debiased, negative shares set to 0, smoothed; the share of a label is that in the
    reports about all attributes. The paper's Gaussian estimates of continuous attributes, its
    thresholded histogram encoding and its reduction of dimension are not here.

    References
    ----------
    E. Yilmaz, M. Al-Rubaie, J. M. Chang, Locally differentially private naive Bayes classification,
    arXiv:1905.01039 (2019).

    Examples
    --------
    >>> from supm import simulation
    >>> from experiments.budget.data import load
    >>> schema, records = load("wine")
    >>> model = NaiveBayes().fit(schema, records, 8.0, simulation(1))
    >>> model.predict(records).shape
    (178,)
    """

    bins: int = 4
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        Integers("bins", 2, 1 << 10).check(self.bins)

    @property
    def name(self) -> str:
        """What tables call it."""
        return "naive Bayes"

    def classes(self, *, people: float, epsilon: float) -> int:
        """Return the classes of a continuous attribute, from public numbers alone.

        Two where the budget is small (e^(epsilon/2) below 3) or an attribute has fewer than three
        people for each label, else as many as people, up to ``bins``.

        Parameters
        ----------
        people : float
            Owners who are asked about an attribute, divided by the number of labels.
        epsilon : float
            What a report may cost.
        """
        return max(2, min(self.bins, int(people), int(math.exp(min(epsilon, 40.0) / 2))))

    def fit(
        self, schema: Schema, records: Records, epsilon: float, source: RandomSource
    ) -> NaiveBayesModel:
        """Ask every owner once and publish the estimates."""
        labels, count = np.asarray(records.target), label_count(schema)
        cells = len(schema.attributes) * count
        bins = self.classes(people=records.rows / cells, epsilon=epsilon)
        discretizers = tuple(_classes(each, bins) for each in schema.attributes)
        classes = records.encode(discretizers)
        groups = np.array_split(source.permutation(records.rows), len(discretizers))
        tables = []
        for place, (discretizer, group) in enumerate(zip(discretizers, groups, strict=True)):
            asked = question(classes=discretizer.size, labels=count, epsilon=epsilon)
            pairs = np.column_stack((classes[group, place], labels[group]))
            reports = asked.randomize(pairs, source)
            shares = asked.estimate(asked.tally(reports)).values
            tables.append(np.maximum(shares * len(group), 0.0))
        return self._model(discretizers, tables)

    def _model(
        self, discretizers: tuple[Discretizer, ...], counts: list[NDArray[np.float64]]
    ) -> NaiveBayesModel:
        people = sum(table.sum(axis=0) for table in counts) + self.smoothing
        smooth = [table + self.smoothing for table in counts]
        return NaiveBayesModel(
            discretizers=discretizers,
            prior=np.log(people / people.sum()),
            tables=tuple(np.log(table / table.sum(axis=0)) for table in smooth),
        )


def _classes(attribute: Attribute, bins: int) -> Discretizer:
    if isinstance(attribute, Continuous):
        return discretize(attribute, bins)
    return discretize(attribute, len(attribute.values))
