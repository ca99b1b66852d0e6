"""Group commit: what arrives while one transaction is written goes into the next."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._validation import Integers
from supm.service.errors import Busy, StoreError
from supm.service.store import Store, Submission, Verdict

_LOGGER: Final = logging.getLogger("supm.service")
_MOST_WAITING: Final = Integers("most_waiting", 1, 1 << 40)
# More would make the others wait longer than it saves.
_MOST_AT_ONCE: Final = 1 << 16
# After so many reports of a phase its answers are folded into counts.
_FOLD_AFTER: Final = 1 << 17


@dataclass(frozen=True, eq=False)
class _Waiting:
    submission: Submission
    future: asyncio.Future[Verdict]


_Settled: TypeAlias = tuple[asyncio.Future[Verdict], Verdict | StoreError]


class Writer:
    """Takes submissions from coroutines and stores them from one thread, many at a time.

    A receipt is given after the transaction is committed, never before. A second thread folds what
    is stored into counts, so that counting is quick whenever it is asked for, and looks up what is
    sent again after its phase.
    """

    def __init__(self, store: Store, *, most_waiting: int) -> None:
        self._store = store
        self._most_waiting = _MOST_WAITING.check(most_waiting)
        self._queue: deque[_Waiting] = deque()
        self._reports = 0
        self._changed = threading.Condition()
        self._running = False
        self._thread: threading.Thread | None = None
        self._folding: ThreadPoolExecutor | None = None
        self._unfolded: Counter[tuple[str, str]] = Counter()

    @property
    def waiting(self) -> int:
        """How many reports are not committed yet."""
        return self._reports

    async def start(self) -> None:
        """Begin to take submissions."""
        self._running = True
        self._folding = ThreadPoolExecutor(1, thread_name_prefix="supm-fold")
        # What is not committed is not acknowledged, so the thread may end with the process.
        self._thread = threading.Thread(target=self._run, name="supm-write", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Store what waits, then end both threads."""
        with self._changed:
            self._running = False
            self._changed.notify()
        if self._thread is not None and self._folding is not None:
            await asyncio.to_thread(self._thread.join)
            await asyncio.to_thread(self._folding.shutdown)
        self._thread = self._folding = None

    async def submit(self, submission: Submission) -> Verdict:
        """Store a submission with others, and return when it is committed."""
        future: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        with self._changed:
            self._admit(submission)
            self._queue.append(_Waiting(submission, future))
            self._changed.notify()
        return await future

    async def recall(self, submission: Submission) -> NDArray[np.bool_]:
        """Say of each report whether it is stored, also after the end of its phase.

        One question at a time, in the second thread: whoever asks much does not keep the others
        from being stored.
        """
        with self._changed:
            self._admit(submission)
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._folding, self._store.recall, submission)
        finally:
            with self._changed:
                self._reports -= len(submission)

    def _admit(self, submission: Submission) -> None:
        # One submission alone is always taken, however large.
        full = self._reports and self._reports + len(submission) > self._most_waiting
        if full or not self._running:
            raise Busy("too many reports wait for the database; send again later.")
        self._reports += len(submission)

    def _run(self) -> None:
        self._prepare()
        while group := self._take():
            self._commit(group)

    def _prepare(self) -> None:
        """Do before the first report what it would have to wait for."""
        try:
            self._store.warm()
        except StoreError as error:
            _LOGGER.warning("%s", error)

    def _take(self) -> list[_Waiting]:
        """Return what waits, once anything does; nothing means that the end has come."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or not self._running)
            group: list[_Waiting] = []
            reports = 0
            while self._queue and reports < _MOST_AT_ONCE:
                group.append(self._queue.popleft())
                reports += len(group[-1].submission)
            return group

    def _commit(self, group: list[_Waiting]) -> None:
        try:
            receipts = self._store.add([each.submission for each in group])
        except StoreError as error:
            self._refuse(group, str(error))
        except Exception as error:  # noqa: BLE001  whatever it is, those who wait must hear of it
            # The kind only: what an unforeseen error says may hold what was sent.
            _LOGGER.error("a transaction failed with %s", type(error).__name__)  # noqa: TRY400  as above
            self._refuse(group, "the reports could not be stored; send again later.")
        else:
            self._tell(group, receipts)
            self._fold_when_due(group, receipts)

    def _fold_when_due(self, group: list[_Waiting], receipts: list[Verdict]) -> None:
        for each, receipt in zip(group, receipts, strict=True):
            phase = each.submission.name, each.submission.phase
            self._unfolded[phase] += int(receipt.new.sum())
            if self._unfolded[phase] >= _FOLD_AFTER and self._folding is not None:
                self._unfolded[phase] = 0
                self._folding.submit(self._fold, *phase)

    def _fold(self, name: str, phase: str) -> None:
        try:
            self._store.fold(name, phase)
        except StoreError as error:
            _LOGGER.warning("%s", error)

    def _refuse(self, group: list[_Waiting], sentence: str) -> None:
        _LOGGER.warning("%s", sentence)
        self._tell(group, [StoreError(sentence) for _ in group])

    def _tell(self, group: list[_Waiting], outcomes: Sequence[Verdict | StoreError]) -> None:
        # First, so that nobody who has heard is still counted among those who wait.
        with self._changed:
            self._reports -= sum(len(each.submission) for each in group)
        _wake(group, outcomes)


def _wake(group: list[_Waiting], outcomes: Sequence[Verdict | StoreError]) -> None:
    """Wake each loop once, not once for each submission."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Settled]] = {}
    for each, outcome in zip(group, outcomes, strict=True):
        by_loop.setdefault(each.future.get_loop(), []).append((each.future, outcome))
    for loop, settled in by_loop.items():
        # A loop that was closed meanwhile, which is a RuntimeError, has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, settled)


def _settle(settled: list[_Settled]) -> None:
    for future, outcome in settled:
        if future.done():
            continue  # whoever waited has gone
        if isinstance(outcome, Verdict):
            future.set_result(outcome)
        else:
            future.set_exception(outcome)
