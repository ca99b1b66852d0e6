"""Which reports a study takes now; what is needed to check them is kept between requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from fastapi.concurrency import run_in_threadpool
from numpy.typing import NDArray

from supm.collection import Interview, interview
from supm.service.answers import Refused
from supm.service.errors import UnknownStudy
from supm.service.shared import Shared
from supm.service.store import Opened, Store
from supm.service.wire import Told

__all__ = ["Door", "Doors", "find"]

_MOST_KEPT: Final = 256
_FRESH_SECONDS: Final = 1.0
_LONGEST_NAME: Final = 32


@dataclass(frozen=True, kw_only=True)
class Door:
    """The open question of a study.

    Parameters
    ----------
    opened : Opened
        The study as stored.
    phase : str
        The open phase.
    asked : Interview
        Its mechanism.
    group : int
        The group that is asked.
    """

    opened: Opened
    phase: str
    asked: Interview
    group: int

    def check(self, told: Told) -> None:
        """Raise Refused where reports answer another question."""
        if told.study != self.opened.study.hash:
            raise Refused(409, "another document was answered; fetch the study's current one.")
        if told.phase != self.phase or told.group != self.group:
            raise Refused(409, f"the study asks group {self.group} in the {self.phase} phase now.")

    def judge(self, told: Told) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the rows that could have been told, and of each report whether its row could.

        A row of another length is not unfolded: few bytes would become as wide as the question.
        """
        known = told.fits(self.asked.width)
        table = told.table(self.asked.width)
        known[known] = accepted = self.asked.accepts(table)
        return table[accepted], known


class Doors:
    """The studies that were asked for lately, and the mechanisms of their questions.

    The store has the last word: it refuses what came for a phase that is over.

    Parameters
    ----------
    store : Store
        Where studies are.
    clock : callable, optional
        Unix seconds, for deadlines; `time.time` by default.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._studies: dict[str, tuple[float, Opened]] = {}
        self._asked: Shared[Interview] = Shared()

    async def expect(self, name: str) -> None:
        """Raise UnknownStudy where there is none, before anything that comes for it is read."""
        if name not in self._studies:
            await self._find(name)

    async def open(self, name: str, told: Told) -> Door:
        """Return the door at which reports arrive.

        Parameters
        ----------
        name : str
            The study.
        told : Told
            What arrives.

        Returns
        -------
        Door

        Raises
        ------
        Refused
            If the study does not ask this now.
        UnknownStudy
            If there is no such study.
        """
        since, opened = self._studies.get(name, (0.0, None))
        if opened is None or time.monotonic() - since > _FRESH_SECONDS:
            return await self._checked(await self._find(name), told)
        try:
            return await self._checked(opened, told)
        except Refused:
            # It may have been opened a moment ago, here or by another server.
            return await self._checked(await self._find(name), told)

    def forget(self, name: str) -> None:
        """Look the study up anew at the next report."""
        self._studies.pop(name, None)

    async def _checked(self, opened: Opened, told: Told) -> Door:
        phase = opened.open_phase
        question = None if phase is None else opened.study.question(phase)
        if phase is None or question is None:
            raise Refused(409, "the study takes no reports now.")
        if self._clock() > opened.deadlines.get(phase, np.inf):
            raise Refused(409, f"the deadline of the {phase} phase has passed.")
        asked = await self._interview(opened, phase)
        door = Door(opened=opened, phase=phase, asked=asked, group=question.group)
        door.check(told)
        return door

    async def _find(self, name: str) -> Opened:
        opened = await run_in_threadpool(find, self._store, name)
        if len(self._studies) >= _MOST_KEPT:
            self._studies.clear()
        self._studies[name] = (time.monotonic(), opened)
        return opened

    async def _interview(self, opened: Opened, phase: str) -> Interview:
        key = opened.study.hash, phase
        return await self._asked.get(key, lambda: interview(opened.study, phase))


def find(store: Store, name: str) -> Opened:
    """Return a study, if the name could be one's.

    Parameters
    ----------
    store : Store
        Where studies are.
    name : str
        What stood in the address.

    Returns
    -------
    Opened
    """
    if not (name.isascii() and name.isalnum() and len(name) <= _LONGEST_NAME):
        raise UnknownStudy
    return store.find(name)
