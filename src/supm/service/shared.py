"""What many ask for at the same time: worked out once, beside the loop, and kept for a while."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from typing import Final, Generic, TypeVar

_MOST_KEPT: Final = 256
_Value = TypeVar("_Value")


class Shared(Generic[_Value]):
    """Values by key. Who asks while one is made waits for it, and holds no thread.

    Examples
    --------
    >>> async def ask() -> int:
    ...     shared: Shared[int] = Shared()
    ...     return sum(await asyncio.gather(*(shared.get("six", lambda: 6) for _ in range(7))))
    >>> asyncio.run(ask())
    42
    """

    def __init__(
        self,
        *,
        seconds: float = math.inf,
        executor: Executor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds, self._executor, self._clock = seconds, executor, clock
        self._kept: dict[Hashable, tuple[float, _Value]] = {}
        self._under_way: dict[Hashable, asyncio.Task[_Value]] = {}

    async def get(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Return the value of a key."""
        kept = self._kept.get(key)
        if kept is not None and self._clock() - kept[0] <= self._seconds:
            return kept[1]
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._make(key, make))
        # Who goes away must not take it from the others.
        return await asyncio.shield(task)

    def forget(self, key: Hashable) -> None:
        """Make the value anew when it is asked for next; what is under way is not kept."""
        self._kept.pop(key, None)
        self._under_way.pop(key, None)

    async def _make(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        me = asyncio.current_task()
        try:
            value = await asyncio.get_running_loop().run_in_executor(self._executor, make)
            if self._under_way.get(key) is me:
                self._keep(key, value)
        finally:
            if self._under_way.get(key) is me:
                del self._under_way[key]
        return value

    def _keep(self, key: Hashable, value: _Value) -> None:
        self._kept.pop(key, None)
        if len(self._kept) >= _MOST_KEPT:
            # The one that was made first.
            del self._kept[next(iter(self._kept))]
        self._kept[key] = self._clock(), value
