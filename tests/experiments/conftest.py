from __future__ import annotations

import sys
from pathlib import Path

# The experiments run other packages in environments that the benchmarks make.
sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
