from __future__ import annotations

import sys
from pathlib import Path

# The experiments are no part of the package; they are imported by their place in the repository.
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
# They run other packages in environments that the benchmarks make.
sys.path.append(str(ROOT / "benchmarks"))
