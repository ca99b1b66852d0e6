"""Measure paper 004: models from records that were noised long ago, its way and ours.

Usage: python -m experiments.copula.run [--quick] [--output DIR] [--tables]

Needs the data sets that SUPM_DATA names, or the network. A run that was stopped goes on where it
was: finished cells are kept in files of each table.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The folder of a script is on the path by itself; the modules of this one are imported by their
# full names, so that folders of other papers can have modules of the same names.
sys.path[0] = str(ROOT)

if __name__ == "__main__":
    from experiments.copula.program import main

    sys.exit(main())
