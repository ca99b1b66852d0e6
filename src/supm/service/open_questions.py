"""Which reports a study takes now; what is needed to check them is kept between requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
from fastapi.concurrency import run_in_threadpool
from numpy.typing import NDArray

from supm._errors import MessageError
from supm.messages import Study
from supm.owner import interview
from supm.owner.interviews import Interview
from supm.service.answers import Refused
from supm.service.errors import UnknownStudy
from supm.service.received_reports import ReceivedReports
from supm.service.shared import Shared
from supm.service.store import Opened, Store

_MOST_KEPT: Final = 256
_FRESH_SECONDS: Final = 1.0
_LONGEST_NAME: Final = 32


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """A question of a study, the open one or one that was, with its mechanism.

    ``ended`` says why nothing new is taken; what was stored before is acknowledged again.
    """

    opened: Opened
    study: Study
    phase: str
    asked: Interview
    ended: Refused | None = None

    def judge(self, given: ReceivedReports) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the rows that could have been told, and of each report whether its row could.

        A row of another length is not unfolded: few bytes would become as wide as the question.
        """
        known = given.fits(self.asked.width)
        table = given.table(self.asked.width)
        known[known] = accepted = self.asked.accepts(table)
        return table[accepted], known


class OpenQuestions:
    """The studies that were asked for lately, and the mechanisms of their questions.

    The store has the last word: it refuses what came for a phase that is over.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._studies: dict[str, tuple[float, Opened]] = {}
        self._asked: Shared[Interview] = Shared()

    async def expect(self, name: str) -> None:
        """Raise UnknownStudy where there is none, before anything that comes for it is read."""
        if name not in self._studies:
            await self._find(name)

    async def find(self, name: str, given: ReceivedReports) -> AskedQuestion:
        """Return the question that reports answer, also where it has closed behind them."""
        since, known = self._studies.get(name, (0.0, None))
        if known is not None and time.monotonic() - since <= _FRESH_SECONDS:
            # Where it is refused, it may have been opened a moment ago, here or by another server.
            with suppress(Refused):
                return await self._open(known, given)
        opened = await self._find(name)
        try:
            return await self._open(opened, given)
        except Refused as refused:
            return await self._ended(opened, given, refused)

    def forget(self, name: str) -> None:
        """Look the study up anew at the next report."""
        self._studies.pop(name, None)

    async def _open(self, opened: Opened, given: ReceivedReports) -> AskedQuestion:
        study, phase = opened.study, opened.open_phase
        question = None if phase is None else study.question(phase)
        if phase is None or question is None:
            raise Refused(409, "the study takes no reports now.")
        if self._clock() > opened.deadlines.get(phase, np.inf):
            raise Refused(409, f"the deadline of the {phase} phase has passed.")
        if given.study != study.hash:
            raise Refused(409, "another document was answered; fetch the study's current one.")
        if (given.phase, given.group) != (phase, question.group):
            sentence = f"the study asks group {question.group} in the {phase} phase now."
            raise Refused(409, sentence)
        asked = await self._interview(study, phase)
        return AskedQuestion(opened=opened, study=study, phase=phase, asked=asked)

    async def _ended(
        self, opened: Opened, given: ReceivedReports, refused: Refused
    ) -> AskedQuestion:
        """Return a question that was asked before, or raise the refusal."""
        study = next((each for each in opened.documents if each.hash == given.study), None)
        question = None if study is None else study.question(given.phase)
        if study is None or question is None or given.group != question.group:
            raise refused
        try:
            asked = await self._interview(study, given.phase)
        except MessageError:
            # It was not asked yet: first attributes have to be chosen, or a model trained.
            raise refused from None
        return AskedQuestion(
            opened=opened, study=study, phase=given.phase, asked=asked, ended=refused
        )

    async def _find(self, name: str) -> Opened:
        opened = await run_in_threadpool(find_study, self._store, name)
        if len(self._studies) >= _MOST_KEPT:
            self._studies.clear()
        self._studies[name] = (time.monotonic(), opened)
        return opened

    async def _interview(self, study: Study, phase: str) -> Interview:
        return await self._asked.get((study.hash, phase), lambda: interview(study, phase))


def find_study(store: Store, name: str) -> Opened:
    """Return a study, if the name could be one's."""
    if not (name.isascii() and name.isalnum() and len(name) <= _LONGEST_NAME):
        raise UnknownStudy
    return store.find(name)
