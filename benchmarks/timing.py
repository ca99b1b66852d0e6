"""The best time of each of several pieces of work, measured in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

__all__ = ["Race", "Step", "Work", "silent"]

Work = Callable[[], object]
Step = Callable[[str], object]
"""Told what is measured next."""

_Key = TypeVar("_Key")


def silent(_: str) -> None:
    """Show no progress."""


class Race(Generic[_Key]):
    """Pieces of work that take turns, and the least seconds of each.

    A busy neighbour then slows all of them and not only one; the least time is the one that was
    disturbed least. More turns may follow later, when the neighbour may have gone.
    """

    def __init__(
        self, works: Mapping[_Key, Work], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._works = works
        self._clock = clock
        self.seconds = dict.fromkeys(works, float("inf"))

    def take_turns(self, repeats: int) -> None:
        """Run each piece of work so many times more."""
        for _ in range(repeats):
            for key, work in self._works.items():
                start = self._clock()
                work()
                self.seconds[key] = min(self.seconds[key], self._clock() - start)
