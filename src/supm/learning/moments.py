"""How often classes were told together, and what that says about the people behind it.

Everybody told a few attributes and the label, as one symbol that is the truth with a known
probability (its gap) and otherwise any combination alike. Counts of pairs are then straight lines
in what is true of the people, and are turned back here, each with its own slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

# Shares of classes differ from even ones about so much, in units of a share's own variance.
_UNEVEN: Final = 0.3


@dataclass(frozen=True, kw_only=True, eq=False)
class Gaps:
    """How often a report is the truth, on average over what was drawn.

    Parameters
    ----------
    overall : float
        Over all reports.
    single : ndarray, shape (attributes,)
        Over the reports that tell an attribute.
    pair : ndarray, shape (attributes, attributes)
        Over the reports that tell two attributes; those of one attribute are not used.
    """

    overall: float
    single: Floats
    pair: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Counts of classes and labels that were told together.

    Parameters
    ----------
    together : ndarray of int, shape (classes + labels, classes + labels)
        For each two classes, how many reports told both; the classes of all attributes in order,
        then the labels.
    reports : int
        How many reports there were.
    sizes : tuple of int
        The number of classes of each attribute.
    ordered : tuple of int
        How many of the first classes of each attribute have an order: all, all but that of missing
        values, or none.
    sampled : int
        How many attributes each report told.
    gaps : Gaps
        How often reports are the truth.
    by_label : ndarray of int, shape (labels, classes + labels, classes + labels), optional
        The same counts for the reports of each label, where they are kept apart.
    """

    together: NDArray[np.int64]
    reports: int
    sizes: tuple[int, ...]
    ordered: tuple[int, ...]
    sampled: int
    gaps: Gaps
    by_label: NDArray[np.int64] | None = None

    @property
    def classes(self) -> int:
        """How many classes all attributes have together."""
        return sum(self.sizes)

    @property
    def labels(self) -> int:
        """How many labels there are."""
        return len(self.together) - self.classes

    @cached_property
    def of(self) -> NDArray[np.int64]:
        """The attribute of each class."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Which pairs of classes are of one attribute."""
        return np.asarray(self.of[:, np.newaxis] == self.of)

    @cached_property
    def tables(self) -> Floats:
        """Counts of each class with each label."""
        return self.together[: self.classes, self.classes :].astype(np.float64)

    @cached_property
    def told(self) -> Floats:
        """How many reports told the attribute of each class; never 0, which would be divided by."""
        counts = np.bincount(self.of, weights=self.tables.sum(axis=1), minlength=len(self.sizes))
        return np.maximum(counts, 1.0)[self.of]

    @property
    def pairs(self) -> float:
        """How many reports tell two given attributes, expected."""
        count = len(self.sizes)
        rate = self.sampled * (self.sampled - 1) / max(count * (count - 1), 1)
        return self.reports * rate

    @cached_property
    def frequencies(self) -> Floats:
        """The share of each class among the reports that told its attribute."""
        return np.asarray(self.tables.sum(axis=1) / self.told)

    @cached_property
    def label_shares(self) -> Floats:
        """The share of each label among all reports."""
        return np.diag(self.together)[self.classes :] / max(self.reports, 1)

    @cached_property
    def slope(self) -> Floats:
        """How often a report that tells the attribute of each class is the truth."""
        return self.gaps.single[self.of]

    @cached_property
    def even(self) -> Floats:
        """The share of each class where all classes of its attribute are alike."""
        return 1.0 / np.array(self.sizes, dtype=np.float64)[self.of]

    @cached_property
    def held(self) -> Floats:
        """Estimated share of people of each class with each label; noise may make it negative."""
        slope, alike = self.slope[:, np.newaxis], self.even[:, np.newaxis] / self.labels
        return (self.tables / self.told[:, np.newaxis] - (1.0 - slope) * alike) / slope

    @cached_property
    def held_noise(self) -> Floats:
        """The standard deviation of those shares, one row for each class."""
        noise: Floats = np.sqrt(self.even / self.labels / self.told) / self.slope
        return noise[:, np.newaxis]

    @cached_property
    def told_spread(self) -> Floats:
        """Second moments of told classes about the people's, within each attribute."""
        away = self.frequencies - self.centre
        return self._within(self.frequencies) + np.where(self.inside, np.outer(away, away), 0.0)

    @cached_property
    def spread(self) -> Floats:
        """Covariances of classes within each attribute, among the people."""
        return self._within(self.centre)

    @cached_property
    def even_spread(self) -> Floats:
        """Covariances of classes within each attribute, where all are alike."""
        return self._within(self.even)

    def _within(self, frequencies: Floats) -> Floats:
        outer = np.where(self.inside, np.outer(frequencies, frequencies), 0.0)
        return np.diag(frequencies) - outer

    @cached_property
    def centre_noise(self) -> Floats:
        """The variance of the estimated share of each class."""
        return self.even * (1.0 - self.even) / (self.told * np.square(self.slope))

    @cached_property
    def centre_left(self) -> Floats:
        """The variance that is left in the share of each class once it is shrunk."""
        usual = _UNEVEN * self.even * (1.0 - self.even)
        return self.centre_noise * usual / (usual + self.centre_noise)

    @cached_property
    def centre(self) -> Floats:
        """Estimated share of each class among the people, shrunk to even ones by its noise."""
        apart = self.centre_left / self.centre_noise * (self.frequencies - self.even) / self.slope
        held = np.maximum(self.even + apart, 0.05 * self.even)
        sums = np.bincount(self.of, weights=held)[self.of]
        return held / sums

    @cached_property
    def origin(self) -> Floats:
        """Estimated share of each class, shrunk to what is usual among attributes of its kind.

        Where many attributes are skewed alike, as sizes and incomes are, this says where people
        are on the whole; `centre` does not lean on the likeness.
        """
        usual = _UNEVEN * self.even * (1.0 - self.even)
        apart = (self.frequencies - self.even) / self.slope
        mean, count = self._by_kind(apart)
        common = usual / (usual + self.centre_noise / count) * mean
        return self.even + common + usual / (usual + self.centre_noise) * (apart - common)

    def _by_kind(self, apart: Floats) -> tuple[Floats, Floats]:
        """Return the mean over attributes of as many classes, and how many those are."""
        place = np.concatenate([np.arange(size) for size in self.sizes])
        kinds = np.array(list(zip(self.sizes, self.ordered, strict=True)))[self.of]
        _, kind = np.unique(np.column_stack((kinds, place)), axis=0, return_inverse=True)
        count = np.bincount(kind.ravel()).astype(np.float64)
        sums = np.bincount(kind.ravel(), weights=apart)
        return (sums / count)[kind.ravel()], count[kind.ravel()]

    @cached_property
    def across(self) -> Floats:
        """Covariances of classes of two attributes, among the people."""
        if self.pairs <= 0:
            return np.zeros((self.classes, self.classes))
        counts = np.where(self.inside, 0, self.together[: self.classes, : self.classes])
        member = (np.arange(len(self.sizes))[:, np.newaxis] == self.of).astype(np.float64)
        with_attribute = member @ counts
        both = (with_attribute @ member.T)[np.ix_(self.of, self.of)]
        # With the attribute of the row told too, how often the class of the column was.
        met = self.centre[:, np.newaxis] * with_attribute[self.of]
        seen = counts - met - met.T + np.outer(self.centre, self.centre) * both
        gap = self.gaps.pair[np.ix_(self.of, self.of)]
        away = self.even - self.centre
        true = (seen - (1.0 - gap) * np.outer(away, away) * both) / gap
        return np.where(self.inside, 0.0, true) / self.pairs

    @cached_property
    def with_label(self) -> Floats:
        """Covariances of classes with labels, among the people."""
        by_label = np.zeros((len(self.sizes), self.labels))
        np.add.at(by_label, self.of, self.tables)
        told, slope = self.told[:, np.newaxis], self.slope[:, np.newaxis]
        centre, share = self.centre[:, np.newaxis], self.frequencies[:, np.newaxis]
        seen = self.tables / told - centre * by_label[self.of] / told
        seen -= (share - centre) * self.shares
        # What mixing the truth with even answers would show, were nothing related to the label.
        mixed = (self.even[:, np.newaxis] - centre) * (1.0 / self.labels - self.shares)
        return (seen - (1.0 - slope) * mixed) / slope

    @cached_property
    def shares(self) -> Floats:
        """Estimated shares of the labels among the people, shrunk to equal ones by their noise."""
        equal = 1.0 / self.labels
        gap = self.gaps.overall
        apart = (self.label_shares - equal) / gap
        told = self.label_shares
        noise = float((told * (1.0 - told)).sum()) / max(self.reports, 1) / gap**2
        size = float(np.square(apart).sum())
        # What is left keeps the order of the shares, however small.
        kept = max(1e-3, 1.0 - noise / size) if size > 0 else 0.0
        shares = np.clip(equal + kept * apart, 1.0 / (self.reports + self.labels), None)
        return np.asarray(shares / shares.sum())
