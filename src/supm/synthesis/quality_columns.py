"""One column before and after: its distribution, and the figures that describe it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wasserstein_distance

from supm.synthesis.archive import Archive
from supm.synthesis.columns import ClassColumn, Column, NumberColumn
from supm.synthesis.quality_dependence import Plain, as_told, spread_of
from supm.synthesis.quality_shape import DistributionShape, shape_of_classes, shape_of_number

_BINS: Final = 30


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
    edges: NDArray[np.float64] | None
    labels: tuple[str, ...]
    noisy: NDArray[np.float64]
    synthetic: NDArray[np.float64]
    clean: NDArray[np.float64] | None
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

    noisy: NDArray[np.float64]
    synthetic: NDArray[np.float64]
    clean: NDArray[np.float64] | None

    @classmethod
    def of(cls, name: str, told: Plain, synthetic: Plain, clean: Plain | None) -> _Three:
        """Take the column of a name out of three tables."""
        return cls(
            noisy=told[name][~np.isnan(told[name])],
            synthetic=synthetic[name],
            clean=None if clean is None else clean[name],
        )


def _compared(column: Column, archive: Archive, three: _Three) -> ColumnQuality:
    if isinstance(column, NumberColumn):
        return _number(column, archive, three)
    return _classes(column, archive, three)


def _number(column: NumberColumn, archive: Archive, three: _Three) -> ColumnQuality:
    law = column.mechanism
    edges = law.edges(_BINS)
    distances = [_moved(each, three.clean, law.span) for each in (three.noisy, three.synthetic)]
    return ColumnQuality(
        name=column.name,
        edges=edges,
        labels=(),
        noisy=_shares(three.noisy, edges),
        synthetic=_shares(three.synthetic, edges),
        clean=None if three.clean is None else _shares(three.clean, edges),
        beyond=float(np.mean((three.noisy < law.low) | (three.noisy > law.high))),
        figures=_number_figures(column, archive.unbiased(column.name), three),
        shape=shape_of_number(column, three.noisy, _BINS),
        noisy_distance=distances[0],
        synthetic_distance=distances[1],
    )


def _number_figures(
    column: NumberColumn, told: NDArray[np.float64], three: _Three
) -> tuple[FigureComparison, ...]:
    known = told[~np.isnan(told)]
    found, doubt = spread_of(column, told)
    clean, rows = three.clean, three.synthetic.size
    noise = column.mechanism.noise_variance(float(known.mean()), found)
    mean = FigureComparison(
        what="mean",
        noisy=float(three.noisy.mean()),
        estimate=float(known.mean()),
        error=math.sqrt(max(float(known.var()), noise) / known.size),
        synthetic=float(three.synthetic.mean()),
        sampling=max(float(three.synthetic.std()), math.sqrt(found)) / math.sqrt(rows),
        clean=None if clean is None else float(clean.mean()),
    )
    spread = FigureComparison(
        what="standard deviation",
        noisy=float(three.noisy.std()),
        estimate=math.sqrt(found),
        error=math.sqrt(found + doubt) - math.sqrt(found),
        synthetic=float(three.synthetic.std()),
        # Few rows may all be alike; what the records have is then the better guide.
        sampling=max(_spread_error(three.synthetic), math.sqrt(found / rows)),
        clean=None if clean is None else float(clean.std()),
    )
    return mean, spread


def _classes(column: ClassColumn, archive: Archive, three: _Three) -> ColumnQuality:
    size = len(column.values)
    noisy, synthetic = (_counted(each, size) for each in (three.noisy, three.synthetic))
    clean = None if three.clean is None else _counted(three.clean, size)
    estimate = archive.class_counts(column.name) / three.noisy.size
    error = np.sqrt(noisy * (1 - noisy) / three.noisy.size) / column.gap
    figures = tuple(
        FigureComparison(
            what=f"share of {value}",
            noisy=float(noisy[place]),
            estimate=float(estimate[place]),
            error=float(error[place]),
            synthetic=float(synthetic[place]),
            sampling=max(
                _share_error(float(share), three.synthetic.size)
                for share in (synthetic[place], min(max(estimate[place], 0.0), 1.0))
            ),
            clean=None if clean is None else float(clean[place]),
        )
        for place, value in enumerate(column.values)
    )
    return ColumnQuality(
        name=column.name,
        edges=None,
        labels=tuple(str(value) for value in column.values),
        noisy=noisy,
        synthetic=synthetic,
        clean=clean,
        beyond=0.0,
        figures=figures,
        shape=shape_of_classes(estimate, error, three.noisy.size),
        noisy_distance=None if clean is None else float(np.abs(noisy - clean).sum() / 2),
        synthetic_distance=None if clean is None else float(np.abs(synthetic - clean).sum() / 2),
    )


def _share_error(share: float, rows: int) -> float:
    """Return the standard error of a share of few rows, none of which may be in the class."""
    likely = (share * rows + 1) / (rows + 2)
    return math.sqrt(likely * (1 - likely) / rows)


def _spread_error(values: NDArray[np.float64]) -> float:
    """Return the standard error of the standard deviation of a sample."""
    spread = float(values.std())
    if not spread:
        return 0.0
    squares = ((values - values.mean()) / spread) ** 2
    return spread * float(squares.std()) / math.sqrt(values.size) / 2


def _shares(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.histogram(values, edges)[0] / max(1, values.size))


def _counted(places: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return np.asarray(np.bincount(places.astype(np.int64), minlength=size) / max(1, places.size))


def _moved(
    values: NDArray[np.float64], clean: NDArray[np.float64] | None, span: float
) -> float | None:
    return None if clean is None else float(wasserstein_distance(values, clean)) / span
