"""Run the command line as ``python -m supm``."""

from __future__ import annotations

import sys

from supm.cli import main

sys.exit(main())
