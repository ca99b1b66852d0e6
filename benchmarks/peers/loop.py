"""Time another package on the cases it has, and print one JSON line.

This file imports nothing but the standard library: it runs in the other package's environment.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version

__all__ = ["Prepare", "numbers", "report"]

Prepare = Callable[[int], Callable[[], object]]
"""Makes the input of so many owners and returns the work on it, which alone is timed."""

_WARM_UP = 16


def numbers(count: int, size: int) -> list[int]:
    """Return a fixed, well-mixed sequence of symbols 0 … size - 1."""
    return [(place * 2654435761 % (1 << 32)) * size >> 32 for place in range(count)]


def report(package: str, cases: Mapping[str, Prepare]) -> None:
    """Time the cases that the command line asks for: a JSON object of case and count."""
    asked: dict[str, int] = json.loads(sys.argv[1])
    seconds = {name: _seconds(cases[name], count) for name, count in asked.items()}
    print(json.dumps({"package": package, "version": version(package), "seconds": seconds}))


def _seconds(prepare: Prepare, count: int) -> float:
    # The first calls compile, import and cache; they are not what is compared.
    prepare(_WARM_UP)()
    work = prepare(count)
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
