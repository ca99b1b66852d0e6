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
_BLOCKS = 20


def numbers(count: int, size: int) -> list[int]:
    """Return a fixed, well-mixed sequence of symbols 0 … size - 1."""
    return [(place * 2654435761 % (1 << 32)) * size >> 32 for place in range(count)]


def report(package: str, cases: Mapping[str, Prepare]) -> None:
    """Time the cases that the command line asks for: a JSON object of case and count."""
    asked: dict[str, int] = json.loads(sys.argv[1])
    seconds = {name: _seconds(cases[name], count) for name, count in asked.items()}
    print(json.dumps({"package": package, "version": version(package), "seconds": seconds}))


def _seconds(prepare: Prepare, count: int) -> float:
    """Work through so many values in blocks, and let the least disturbed block stand for each.

    A long loop meets more of a busy neighbour than the few milliseconds of a vectorised call do;
    blocks about as short as that call make the comparison fair.
    """
    # The first calls compile, import and cache; they are not what is compared.
    prepare(_WARM_UP)()
    work = prepare(count // _BLOCKS)
    return _BLOCKS * min(_once(work) for _ in range(_BLOCKS))


def _once(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
