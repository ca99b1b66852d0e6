"""Crime and price in Boston: the best cut (figure 2) and the correlation (figure 11)."""

from __future__ import annotations

import numpy as np
from experiments.copula.data import names_of, real_columns, table
from experiments.copula.noising import Fold, noisy_table
from experiments.copula.results import Pair
from experiments.copula.settings import VERSIONS
from experiments.copula.synthesis import paper_rows, strict_rows
from numpy.typing import NDArray

__all__ = ["best_cut", "clean_pair", "measure_pair"]

Floats = NDArray[np.float64]


def measure_pair(epsilon: float, repetition: int, samples: int) -> list[Pair]:
    """Return what noisy, the paper's and our rows say about crime and price."""
    noisy = noisy_table("boston", 0, repetition, epsilon)
    fold = Fold(epsilon=epsilon, clean=noisy, noisy=noisy, test=noisy, seed=repetition)
    tables = {
        "noisy data": noisy,
        "paper": paper_rows(fold, samples),
        "strict copula": strict_rows(fold, samples),
    }
    return [_pair(name, rows, epsilon, repetition) for name, rows in tables.items()]


def clean_pair() -> Pair:
    """Return what the clean records say."""
    return _pair("clean", table("boston", 0, 0), float("inf"), 0)


def best_cut(inputs: Floats, target: Floats) -> float:
    """Return the middle between the two inputs where a cut leaves the least squared error."""
    order = np.argsort(inputs, kind="stable")
    x, y = inputs[order], target[order]
    left = np.arange(1, len(y))
    sums, total = np.cumsum(y)[:-1], y.sum()
    # The squared error left is that of all less what the two means explain.
    explained = sums**2 / left + (total - sums) ** 2 / (len(y) - left)
    explained[np.diff(x) <= 0] = -np.inf
    place = int(np.argmax(explained))
    return float((x[place] + x[place + 1]) / 2)


def _pair(method: str, rows: Floats, epsilon: float, repetition: int) -> Pair:
    crime = rows[:, names_of("boston").index("CRIM")]
    known = real_columns("boston")["CRIM"]
    cut = known.min() + np.ptp(known) * best_cut(crime, rows[:, -1])
    correlation = float(np.corrcoef(crime, rows[:, -1])[0, 1])
    return Pair(
        epsilon=epsilon,
        repetition=repetition,
        method=method,
        correlation=correlation,
        split=float(cut),
        version=VERSIONS["pairs"],
    )
