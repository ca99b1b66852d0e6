"""One column before and after: figures, and how well the shape of its distribution is known.

Of a fine histogram noise leaves nothing, of a blurred one a lot. So the histogram is blurred just
as far as makes its band narrow, and how far that is says what can be known: peaks nearer to each
other than the blur cannot be told apart. The band holds for any distribution within the bounds.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wasserstein_distance

from supm.synthesis.archive import Archive
from supm.synthesis.columns import ClassColumn, Column, NumberColumn
from supm.synthesis.quality_dependence import KNOWN, Plain, as_told, spread_of

_BINS: Final = 30
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


@dataclass(frozen=True, kw_only=True)
class FigureComparison:
    """One figure of a column: as the reports have it, as it can be known, and as rows have it.

    Parameters
    ----------
    what : str
        Which figure: "mean", "standard deviation" or "share of …".
    noisy : float
        Of the reports as they are.
    estimate, error : float
        Without bias from the reports, and its standard error.
    synthetic, sampling : float
        Of the synthetic rows, and the standard error that it has for being a sample.
    clean : float or None
        Of the clean rows, where the caller has them.
    """

    what: str
    noisy: float
    estimate: float
    error: float
    synthetic: float
    sampling: float = 0.0
    clean: float | None = None

    def to_form(self) -> dict[str, Any]:
        """Return the figure as plain values for JSON."""
        return {
            "what": self.what,
            "noisy": self.noisy,
            "estimate": self.estimate,
            "standard_error": self.error,
            "synthetic": self.synthetic,
            "clean": self.clean,
        }

    @property
    def apart(self) -> float:
        """How many standard errors the synthetic rows are from the estimate."""
        distance = abs(self.synthetic - self.estimate)
        doubt = math.hypot(self.error, self.sampling)
        return 0.0 if distance == 0 else distance / doubt if doubt else math.inf


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnQuality:
    """One column: shares of its bins or classes, and figures.

    Parameters
    ----------
    name : str
        The column.
    edges : ndarray of float or None
        Borders of the bins of a number.
    labels : tuple of str
        The classes; empty for a number.
    noisy, synthetic : ndarray of float
        Shares of the reports as they are, and of the synthetic rows.
    clean : ndarray of float or None
        Shares of the clean rows, where the caller has them.
    beyond : float
        The share of the reports beyond the public bounds, where no true value can be.
    figures : tuple of FigureComparison
        Mean and standard deviation, or the share of each class.
    shape : DistributionShape
        What can be known of the distribution, bin by bin or class by class.
    noisy_distance, synthetic_distance : float or None
        How far each is from the clean rows: for numbers the mean distance that values have to move
        (Wasserstein), as a share of the range; for classes the share that has to move.
    """

    name: str
    edges: Table | None
    labels: tuple[str, ...]
    noisy: Table
    synthetic: Table
    clean: Table | None
    beyond: float
    figures: tuple[FigureComparison, ...]
    shape: DistributionShape
    noisy_distance: float | None = None
    synthetic_distance: float | None = None

    def to_form(self) -> dict[str, Any]:
        """Return the column as plain values for JSON."""
        return {
            "name": self.name,
            "beyond_bounds": self.beyond,
            "noisy_distance": self.noisy_distance,
            "synthetic_distance": self.synthetic_distance,
            "figures": [each.to_form() for each in self.figures],
            "shape": {
                "known": self.shape.known,
                "blur": self.shape.blur,
                "low": self.shape.low.tolist(),
                "high": self.shape.high.tolist(),
            },
        }


def compare_columns(
    archive: Archive, synthetic: Plain, clean: Plain | None
) -> tuple[ColumnQuality, ...]:
    """Compare every column before and after."""
    told = as_told(archive)
    return tuple(
        _compared(each, archive, _Three.of(each.name, told, synthetic, clean))
        for each in archive.schema.columns
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Three:
    """One column three times."""

    noisy: Table
    synthetic: Table
    clean: Table | None

    @classmethod
    def of(cls, name: str, told: Plain, synthetic: Plain, clean: Plain | None) -> _Three:
        """Take the column of a name out of three tables."""
        return cls(
            noisy=told[name][~np.isnan(told[name])],
            synthetic=synthetic[name],
            clean=None if clean is None else clean[name],
        )

    def each(self, figure: Callable[[Table], Any]) -> dict[str, Any]:
        """Return a figure of all three, by the name of each."""
        clean = None if self.clean is None else figure(self.clean)
        return {"noisy": figure(self.noisy), "synthetic": figure(self.synthetic), "clean": clean}

    def distances(self, distance: Callable[[Table, Table], float]) -> dict[str, Any]:
        """Return how far the others are from the clean rows, where there are any."""
        if self.clean is None:
            return {}
        return {
            "noisy_distance": distance(self.noisy, self.clean),
            "synthetic_distance": distance(self.synthetic, self.clean),
        }


def _compared(column: Column, archive: Archive, three: _Three) -> ColumnQuality:
    if isinstance(column, NumberColumn):
        return _number(column, archive, three)
    return _classes(column, archive, three)


def _number(column: NumberColumn, archive: Archive, three: _Three) -> ColumnQuality:
    law = column.mechanism
    edges = law.edges(_BINS)
    return ColumnQuality(
        name=column.name,
        edges=edges,
        labels=(),
        **three.each(lambda held: np.histogram(held, edges)[0] / max(1, held.size)),
        beyond=float(np.mean((three.noisy < law.low) | (three.noisy > law.high))),
        figures=_number_figures(column, archive.unbiased(column.name), three),
        shape=shape_of_number(column, three.noisy, _BINS),
        **three.distances(lambda held, clean: float(wasserstein_distance(held, clean)) / law.span),
    )


def _number_figures(
    column: NumberColumn, told: Table, three: _Three
) -> tuple[FigureComparison, ...]:
    known, rows = told[~np.isnan(told)], three.synthetic.size
    found, doubt = spread_of(column, told)
    noise = column.mechanism.noise_variance(float(known.mean()), found)
    mean = FigureComparison(
        what="mean",
        **three.each(lambda held: float(held.mean())),
        estimate=float(known.mean()),
        error=math.sqrt(max(float(known.var()), noise) / known.size),
        sampling=max(float(three.synthetic.std()), math.sqrt(found)) / math.sqrt(rows),
    )
    spread = FigureComparison(
        what="standard deviation",
        **three.each(lambda held: float(held.std())),
        estimate=math.sqrt(found),
        error=math.sqrt(found + doubt) - math.sqrt(found),
        # Few rows may all be alike; what the records have is then the better guide.
        sampling=max(_spread_error(three.synthetic), math.sqrt(found / rows)),
    )
    return mean, spread


def _classes(column: ClassColumn, archive: Archive, three: _Three) -> ColumnQuality:
    size, told = len(column.values), three.noisy.size
    shares = three.each(
        lambda held: np.bincount(held.astype(np.int64), minlength=size) / max(1, held.size)
    )
    parts = _Three(**shares)
    noisy, estimate = parts.noisy, archive.class_counts(column.name) / told
    error = np.sqrt(noisy * (1 - noisy) / told) / column.gap
    figures = tuple(
        _class_figure(str(value), place, parts, (estimate[place], error[place]), three)
        for place, value in enumerate(column.values)
    )
    return ColumnQuality(
        name=column.name,
        edges=None,
        labels=tuple(str(value) for value in column.values),
        **shares,
        beyond=0.0,
        figures=figures,
        shape=shape_of_classes(estimate, error, told),
        **parts.distances(lambda own, clean: float(np.abs(own - clean).sum() / 2)),
    )


def _class_figure(
    name: str, place: int, shares: _Three, known: tuple[float, float], three: _Three
) -> FigureComparison:
    estimate, error = map(float, known)
    likely = float(shares.synthetic[place]), min(max(estimate, 0.0), 1.0)
    return FigureComparison(
        what=f"share of {name}",
        **shares.each(lambda own: float(own[place])),
        estimate=estimate,
        error=error,
        sampling=max(_share_error(share, three.synthetic.size) for share in likely),
    )


def _share_error(share: float, rows: int) -> float:
    """Return the standard error of a share of few rows, none of which may be in the class."""
    likely = (share * rows + 1) / (rows + 2)
    return math.sqrt(likely * (1 - likely) / rows)


def _spread_error(values: Table) -> float:
    """Return the standard error of the standard deviation of a sample."""
    spread = float(values.std())
    if not spread:
        return 0.0
    squares = ((values - values.mean()) / spread) ** 2
    return spread * float(squares.std()) / math.sqrt(values.size) / 2


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
        target, (values, vectors) = self._target(blur), self._axes
        _, ridge = self._best(target)
        solved = (target @ vectors / (values + ridge)) @ vectors.T
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
        """Signal in each of the directions in which cells tell bins apart, and the directions."""
        seen = self._flat > 0
        found = self.channel[:, seen] / np.sqrt(self._flat[seen])
        values, vectors = np.linalg.eigh(found @ found.T)
        return np.maximum(values, 0.0), vectors

    def _target(self, blur: float) -> Table:
        """Return what each fine bin adds to each bin of the blurred distribution."""
        fine = blur_kernel(len(self.channel), blur)
        return np.asarray(fine.reshape(self.bins, _FINE, -1).sum(axis=1))

    def _best(self, target: Table) -> tuple[float, float]:
        """Return half the band's width, as a mean over the bins, and the ridge that leads to it."""
        turned = target @ self._axes[1]
        return min((self._reach(turned, float(ridge)), float(ridge)) for ridge in _RIDGES)

    def _reach(self, turned: Table, ridge: float) -> float:
        values, vectors = self._axes
        left = ridge / (values + ridge)
        bias = np.abs((turned * left) @ vectors.T).max(axis=1)
        squares = (turned**2) @ (values / (values + ridge) ** 2)
        doubt = np.sqrt(np.maximum(squares - 1 / self.bins**2, 0.0) / self.reports)
        return float((KNOWN * doubt + bias).mean())


def _variances(weights: Table, rates: Table) -> Table:
    """Return the variances of the weight of one report."""
    return np.asarray(np.maximum(weights**2 @ rates - (weights @ rates) ** 2, 0.0))
