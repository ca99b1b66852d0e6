"""Measure what a budget buys: ours, the papers' and the academic baselines'.

Usage: python -m experiments.budget.run [--quick] [--output DIR] [--tables] [--again VARIANT ...]

Needs the data sets that SUPM_DATA names, or the network. A run that was stopped goes on where it
was: finished rows are kept in results.csv.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The folder of a script is on the path by itself; the modules of this one are imported by their
# full names, so that folders of other papers can have modules of the same names.
sys.path[0] = str(ROOT)

if __name__ == "__main__":
    from experiments.budget.program import main

    sys.exit(main())
