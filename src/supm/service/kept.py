"""What is kept between requests: results that many ask for, open questions, trained models."""

from __future__ import annotations

import asyncio
import math
import time
from asyncio import to_thread
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from starlette.concurrency import run_in_threadpool

from supm._errors import MessageError
from supm.collection import Trained, answer_reports, train
from supm.collection.testing import asked_in_test, report_chances
from supm.learning import RadialSVM
from supm.mechanisms import Reports
from supm.messages import Study
from supm.owner import interview
from supm.owner.interviews import Interview
from supm.schema import Continuous
from supm.service.actions import NotReady, document_of, stored_counts
from supm.service.answers import Refused
from supm.service.received_reports import ReceivedReports
from supm.service.store import Opened, Store

_MOST_KEPT: Final = 256
_FRESH_SECONDS: Final = 1.0
_MOST_TRAININGS: Final = 2
_Value = TypeVar("_Value")


class Shared(Generic[_Value]):
    """Values by key, each made once, beside the loop, and kept for a while.

    Who asks while one is made waits for it, and holds no thread.

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
        beside: Callable[[Callable[[], _Value]], Awaitable[_Value]] = to_thread,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds, self._beside, self._clock = seconds, beside, clock
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
            value = await self._beside(make)
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
        # By other threads than mechanisms are built in: nobody's report waits for them.
        self._studies: Shared[Opened] = Shared(seconds=_FRESH_SECONDS, beside=run_in_threadpool)
        self._asked: Shared[Interview] = Shared()

    async def expect(self, name: str) -> None:
        """Raise UnknownStudy where there is none, before anything that comes for it is read."""
        await self._find(name)

    async def find(self, name: str, given: ReceivedReports) -> AskedQuestion:
        """Return the question that reports answer, also where it has closed behind them."""
        # Where it is refused, it may have been opened a moment ago, here or by another server.
        with suppress(Refused):
            return await self._open(await self._find(name), given)
        self._studies.forget(name)
        opened = await self._find(name)
        try:
            return await self._open(opened, given)
        except Refused as refused:
            return await self._ended(opened, given, refused)

    def forget(self, name: str) -> None:
        """Look the study up anew at the next report."""
        self._studies.forget(name)

    async def _open(self, opened: Opened, given: ReceivedReports) -> AskedQuestion:
        study, phase = opened.study, opened.open_phase
        question = None if phase is None else study.question(phase)
        if phase is None or question is None:
            raise Refused(409, "the study takes no reports now.")
        if opened.is_late(self._clock()):
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
        return await self._studies.get(name, lambda: self._store.find(name))

    async def _interview(self, study: Study, phase: str) -> Interview:
        return await self._asked.get((study.hash, phase), lambda: interview(study, phase))


class Models:
    """Trained models with what answers to reports need, made anew from counts after a restart."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # Of their own: others must not wait for a thread until a model is trained.
        self._threads = ThreadPoolExecutor(_MOST_TRAININGS, thread_name_prefix="supm-train")
        self._shared: Shared[Trained] = Shared(beside=self._train)

    async def find(self, opened: Opened) -> Trained:
        """Return the trained model of a study that has one."""
        return await self._shared.get(opened.name, lambda: self._again(opened))

    def stop(self) -> None:
        """Begin no other training."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _train(self, make: Callable[[], Trained]) -> Trained:
        return await asyncio.get_running_loop().run_in_executor(self._threads, make)

    def _again(self, opened: Opened) -> Trained:
        if opened.model is None:
            raise NotReady("the study has no model yet; train it first.")
        counts = stored_counts(self._store, opened.name, "train")
        study = document_of(opened, "train")
        return train(study, counts, RadialSVM(), weights=opened.weights)


def predictions(trained: Trained, symbols: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the answer to each report."""
    reports = Reports(symbols=symbols, simulation=trained.simulation)
    found = answer_reports(trained, reports)
    target = trained.study.schema.target
    if isinstance(target, Continuous):
        return [{"answer": float(each), "probability": None} for each in found]
    chances = report_chances(trained, asked_in_test(trained), reports)
    probable = [None] * len(found) if chances is None else chances.max(axis=1).tolist()
    pairs = zip(found.tolist(), probable, strict=True)
    return [{"answer": target.values[label], "probability": chance} for label, chance in pairs]
