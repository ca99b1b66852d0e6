"""Measure the noise-aware regressor on Boston, Diabetes and Adult, with public bounds.

Usage: python experiments/noise_aware/run.py [REPETITIONS]

Prints a table for experiments/noise_aware/README.md. Needs the data sets that SUPM_DATA names, or
the network. Ten repetitions of five folds take a few minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[2]
# The folder of a script is on the path by itself; modules are imported by their full names.
sys.path[0] = str(ROOT)

EPSILONS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
HEAD: Final = (
    "| table | epsilon per attribute | per record | constant (clean mean) | noisy mean | "
    "own mean alone | model | model / constant | model / own mean | held of 90 % |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)
CLASSES: Final = (
    "\n| table | epsilon per attribute | per record | majority (clean labels) | classifier |\n"
    "|---|---|---|---|---|"
)


def main(repetitions: int = 10) -> int:
    """Print one line for each table and budget."""
    from experiments.noise_aware.measuring import measure, measure_classes  # noqa: PLC0415  the path is set above
    from experiments.noise_aware.tables import TABLES, load_table  # noqa: PLC0415  the same

    print(HEAD)  # noqa: T201  a script that prints a table
    for name in TABLES:
        table = load_table(name)
        for epsilon in EPSILONS:
            found = measure(table, epsilon, repetitions)
            cells = (
                *(name, f"{epsilon:g}", f"{epsilon * table.shape[1]:g}"),
                *(f"{e:.4f}" for e in (found.constant, found.noisy, found.alone, found.model)),
                f"{found.model / found.constant:.3f}",
                f"{found.model / found.alone:.3f}",
                f"{100 * found.held:.0f} %",
            )
            print(f"| {' | '.join(cells)} |", flush=True)  # noqa: T201  the same
    print(CLASSES)  # noqa: T201  the same
    adult = load_table("adult")
    for epsilon in EPSILONS:
        majority, model = measure_classes(adult, epsilon, repetitions)
        cells = ("adult", f"{epsilon:g}", f"{epsilon * adult.shape[1]:g}")
        line = (*cells, f"{majority:.4f}", f"{model:.4f}")
        print(f"| {' | '.join(line)} |", flush=True)  # noqa: T201  the same
    return 0


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in sys.argv[1:])))
