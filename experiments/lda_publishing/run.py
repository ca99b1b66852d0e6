"""Measure paper 002: the projected data that it publishes, and a release that is private.

Usage: python -m experiments.lda_publishing.run [--quick] [--output DIR] [--tables]

Needs the data sets that SUPM_DATA names, or the network; for PrivBayes a package index and Python
3.11. A run that was stopped goes on where it
was: finished tasks are kept in results.csv.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The folder of a script is on the path by itself; the modules of this one are imported by their
# full names, so that folders of other papers can have modules of the same names.
sys.path[0] = str(ROOT)
# Other packages are run in environments that the benchmarks make.
sys.path.append(str(ROOT / "benchmarks"))

if __name__ == "__main__":
    from experiments.lda_publishing.program import main

    sys.exit(main())
