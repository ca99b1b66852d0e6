"""The best time of each of several pieces of work, measured in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

__all__ = ["Step", "Work", "best_seconds", "silent"]

Work = Callable[[], object]
Step = Callable[[str], object]
"""Told what is measured next."""

_Key = TypeVar("_Key")


def silent(_: str) -> None:
    """Show no progress."""


def best_seconds(works: Mapping[_Key, Work], repeats: int) -> dict[_Key, float]:
    """Return the least time of each piece of work.

    They take turns, so that a busy neighbour slows all of them and not only one; the least time is
    the one that was disturbed least.
    """
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        for key, work in works.items():
            start = time.perf_counter()
            work()
            best[key] = min(best[key], time.perf_counter() - start)
    return best
