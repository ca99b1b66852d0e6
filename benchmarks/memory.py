"""Peak memory of one randomisation, in a process that does nothing else.

Usage: python memory.py NAME TYPE COUNT, with a name from joint.py; prints one JSON line.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joint import ONE, randomizers
from numpy.typing import NDArray
from ours import records

from supm._random import secure

__all__ = ["megabytes"]

_STATUS = Path("/proc/self/status")
_BLOCK = 1000


def megabytes(field: str) -> float:
    """Return VmRSS (held now) or VmHWM (held at most) of this process.

    Linux starts a child's ``ru_maxrss`` at its parent's size, so it is the second choice.
    """
    if _STATUS.exists():
        mark = re.search(rf"{field}:\s+(\d+) kB", _STATUS.read_text())
        if mark:
            return int(mark[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _input(name: str, kind: str, count: int) -> NDArray[Any]:
    """Fill the table block by block: a temporary copy would hide what the randomizer needs."""
    block = records(_BLOCK).astype(kind)
    block = block[:, 0] if name == ONE else block
    values = np.empty((count, *block.shape[1:]), dtype=kind)
    for start in range(0, count, _BLOCK):
        values[start : start + _BLOCK] = block[: count - start]
    return values


def _measure(randomize: Callable[..., object], values: NDArray[Any]) -> dict[str, float]:
    source = secure()
    before = megabytes("VmRSS")
    reports = randomize(values, source)
    peak = megabytes("VmHWM")
    del reports
    return {"extra": peak - before, "process": peak}


if __name__ == "__main__":
    name, kind, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    print(json.dumps(_measure(randomizers()[name].randomize, _input(name, kind, count))))
