from __future__ import annotations

import sys
from pathlib import Path

# The experiments are no part of the package; they are imported by their place in the repository.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
