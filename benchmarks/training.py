"""Training on weighted cells: our solver beside libsvm, as the number of people grows.

Run ``python benchmarks/training.py``. Cells of five attributes with four classes and two labels
hold people whose records are noisy; only the weights of the cells grow with people.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import numpy as np

from supm import simulation
from supm.learning import WeightedCells
from supm.learning.svm import Machine, by_interior_point, by_libsvm

_ATTRIBUTES, _CLASSES, _PENALTY = 5, 4, 2.1
_LIBSVM_PEOPLE = 1_000_000


def main() -> None:
    """Print one row for each number of people."""
    print("| people | cells | libsvm, seconds | interior point, seconds |")
    print("| --- | --- | --- | --- |")
    for people in (10**4, 10**5, 10**6, 10**7):
        cells = _cells(people)
        gamma = float(1 / (_ATTRIBUTES * cells.variances.max()))
        libsvm = "-"
        if people <= _LIBSVM_PEOPLE:
            libsvm = f"{_seconds(by_libsvm, cells, gamma):.2f}"
        ours = _seconds(by_interior_point, cells, gamma)
        print(f"| {people:,} | {len(cells.weights):,} | {libsvm} | {ours:.2f} |", flush=True)


def _cells(people: int) -> WeightedCells:
    """Lean each cell to a label by the sum of its places, with every third label wrong."""
    middles = (np.arange(_CLASSES) + 0.5) * 2 / _CLASSES - 1
    places = np.array(list(itertools.product(middles, repeat=_ATTRIBUTES)))
    each = people / len(places)
    lean = 0.5 + np.clip(places.sum(axis=1), -1, 1) / 6
    noise = simulation(1).below(1000, len(places)).astype(np.float64) / 1000
    counts = np.outer(each * (0.5 + noise), (1, 1)) * np.column_stack((1 - lean, lean))
    return WeightedCells.from_counts(places, np.rint(counts))


def _seconds(
    solve: Callable[[WeightedCells, float, float], Machine], cells: WeightedCells, gamma: float
) -> float:
    start = time.perf_counter()
    solve(cells, gamma, _PENALTY)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
