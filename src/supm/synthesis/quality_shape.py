"""How well the shape of a distribution can be known through the noise: a band, and how blurred.

Of a fine histogram noise leaves nothing, of a blurred one a lot. So the histogram is blurred just
as far as makes its band narrow, and how far that is says what can be known: peaks nearer to each
other than the blur cannot be told apart. The band holds for any distribution within the bounds.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm.synthesis.columns import NumberColumn
from supm.synthesis.quality_dependence import KNOWN

Table = NDArray[np.float64]

# Each bin that is drawn is so many fine ones, in which a value may lie anywhere.
_FINE: Final = 4
# Half the band's width, in shares of a bin or class of a flat distribution.
_NARROW: Final = 0.5
# Standard deviations of a normal curve between the two places where it is half as high.
_WIDTH: Final = math.sqrt(8 * math.log(2))
_BLURS: Final = np.geomspace(1 / 120, 0.5, 24)
_RIDGES: Final = np.geomspace(1e-8, 1.0, 17)
_WIDEST: Final = 0.25
_FEWEST: Final = 30
_NAMED: Final = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class DistributionShape:
    """What can be known of a distribution's shape."""

    low: Table
    high: Table
    blur: float
    known: bool


def shape_of_number(column: NumberColumn, reports: Table, bins: int) -> DistributionShape:
    """Return what can be known of the shape of a number's distribution.

    Notes
    -----
    The blurred share of each bin is estimated by a weighted mean of counts of reports. The weights
    depend on the law and on the number of reports only; the band is two standard errors and the
    most that the bias can be, whatever the owners held.
    """
    binned = column.mechanism.bin_reports(reports, column.mechanism.edges(_FINE * bins))
    plan = _Plan(channel=binned.channel, reports=reports.size, bins=bins)
    # Farther blurs are known better, so the least one that is narrow enough is between two.
    blur = _BLURS[min(bisect_left(_BLURS, True, key=plan.narrow), _BLURS.size - 1)]
    estimate, reach = plan.band(binned.counts, float(blur))
    width = min(float(_WIDTH * blur), 1.0)
    return DistributionShape(
        low=np.clip(estimate - reach, 0.0, 1.0),
        high=np.clip(estimate + reach, 0.0, 1.0),
        blur=width,
        known=width <= _WIDEST and reports.size >= _FEWEST,
    )


def shape_of_classes(estimate: Table, error: Table, reports: int) -> DistributionShape:
    """Return what can be known of the shares of classes."""
    reach = KNOWN * error
    narrow = float(reach.max()) <= _NARROW / estimate.size
    low, high = np.clip(estimate - reach, 0.0, 1.0), np.clip(estimate + reach, 0.0, 1.0)
    return DistributionShape(low=low, high=high, blur=0.0, known=narrow and reports >= _FEWEST)


def shapes_in_words(shapes: dict[str, DistributionShape]) -> str:
    """Name the columns of which the shape is not known, or return nothing."""
    hidden = [name for name, shape in shapes.items() if not shape.known]
    if not hidden:
        return ""
    more = len(hidden) - _NAMED
    named = hidden[:_NAMED] + ([f"{more} more"] if more > 0 else [])
    words = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return (
        f"The shape of the distribution of {words} is not known: peaks and gaps that the synthetic "
        "rows show there may come from the noise."
    )


def blur_kernel(count: int, blur: float) -> Table:
    """Return what a normal curve makes of the shares of equal bins; both ends reflect it."""
    # Cosines are what reflecting ends leave unchanged but for a factor.
    waves = np.arange(count)
    cosines = np.cos(np.pi * np.outer(waves, waves + 0.5) / count)
    cosines *= np.sqrt(np.where(waves == 0, 1.0, 2.0) / count)[:, np.newaxis]
    left = np.exp(-((np.pi * waves * blur) ** 2) / 2)
    return np.asarray(cosines.T @ (left[:, np.newaxis] * cosines))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Plan:
    """Weights of cells of reports for each bin, from the law and the number of reports alone."""

    channel: Table
    reports: int
    bins: int

    def narrow(self, blur: float) -> bool:
        """Say whether the band would be narrow if the values were spread evenly."""
        return self._best(self._target(blur))[0] <= _NARROW / self.bins

    def band(self, counts: NDArray[np.int64], blur: float) -> tuple[Table, Table]:
        """Return the shares of the blurred bins, and how far they may be off."""
        target = self._target(blur)
        _, ridge = self._best(target)
        solved = (target @ self._vectors / (self._values + ridge)) @ self._vectors.T
        weights = np.zeros((self.bins, self._flat.size))
        np.divide(solved @ self.channel, self._flat, out=weights, where=self._flat > 0)
        bias = np.abs(weights @ self.channel.T - target).max(axis=1)
        rates = counts / self.reports
        # Few reports may all be alike; what an even spread would have is then the better guide.
        variances = np.maximum(*(_variances(weights, each) for each in (rates, self._flat)))
        return weights @ rates, KNOWN * np.sqrt(variances / self.reports) + bias

    @cached_property
    def _flat(self) -> Table:
        """The probability of each cell where the values are spread evenly."""
        return np.asarray(self.channel.mean(axis=0))

    @cached_property
    def _axes(self) -> tuple[Table, Table]:
        seen = self._flat > 0
        found = self.channel[:, seen] / np.sqrt(self._flat[seen])
        values, vectors = np.linalg.eigh(found @ found.T)
        return np.maximum(values, 0.0), vectors

    @property
    def _values(self) -> Table:
        return self._axes[0]

    @property
    def _vectors(self) -> Table:
        return self._axes[1]

    def _target(self, blur: float) -> Table:
        """Return what each fine bin adds to each bin of the blurred distribution."""
        fine = blur_kernel(len(self.channel), blur)
        return np.asarray(fine.reshape(self.bins, _FINE, -1).sum(axis=1))

    def _best(self, target: Table) -> tuple[float, float]:
        """Return half the band's width, as a mean over the bins, and the ridge that leads to it."""
        turned = target @ self._vectors
        return min((self._reach(turned, float(ridge)), float(ridge)) for ridge in _RIDGES)

    def _reach(self, turned: Table, ridge: float) -> float:
        left = ridge / (self._values + ridge)
        bias = np.abs((turned * left) @ self._vectors.T).max(axis=1)
        squares = (turned**2) @ (self._values / (self._values + ridge) ** 2)
        doubt = np.sqrt(np.maximum(squares - 1 / self.bins**2, 0.0) / self.reports)
        return float((KNOWN * doubt + bias).mean())


def _variances(weights: Table, rates: Table) -> Table:
    """Return the variances of the weight of one report."""
    return np.asarray(np.maximum(weights**2 @ rates - (weights @ rates) ** 2, 0.0))
