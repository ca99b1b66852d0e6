"""Run the command line as ``python -m supm``."""

from __future__ import annotations

import sys

from supm.cli import main

if __name__ == "__main__":
    sys.exit(main())
