from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from supm.service import kept
from supm.service.kept import OpenQuestions, Shared

GUARD = 60.0


class NoStore:
    """Finds whatever is asked for."""

    def find(self, name: str) -> str:
        return name


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run where no other loop runs: Playwright keeps one in the main thread."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, main).result()


class Work:
    """Counts how often it is done; waits for `go`, and fails where it is told to."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.times, self.error = 0, ""

    def __call__(self) -> int:
        self.times += 1
        times = self.times
        self.begun.set()
        self.go.wait(GUARD)
        if self.error:
            raise ValueError(self.error)
        return times


@pytest.fixture
def work() -> Work:
    return Work()


async def begun(held: Shared[int], work: Work, askers: int) -> list[asyncio.Task[int]]:
    """Let some ask, and return when the work is under way."""
    tasks = [asyncio.create_task(held.get("one", work)) for _ in range(askers)]
    assert await asyncio.to_thread(work.begun.wait, GUARD)
    return tasks


def test_many_who_ask_at_once_share_one_result(work: Work) -> None:
    async def main() -> None:
        tasks = await begun(Shared(), work, 100)
        work.go.set()
        assert await asyncio.gather(*tasks) == [1] * 100

    run(main())
    assert work.times == 1


def test_an_error_goes_to_all_who_wait_and_is_not_kept(work: Work) -> None:
    async def main() -> None:
        held: Shared[int] = Shared()
        work.error = "broken"
        tasks = await begun(held, work, 3)
        work.go.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [str(each) for each in found] == ["broken"] * 3
        work.error = ""
        assert await held.get("one", work) == 2

    run(main())


def test_who_goes_away_does_not_take_the_result_from_the_others(work: Work) -> None:
    async def main() -> None:
        first, second = await begun(Shared(), work, 2)
        first.cancel()
        work.go.set()
        assert await second == 1
        assert first.cancelled()

    run(main())


def test_a_result_is_kept_so_long_and_no_longer(work: Work) -> None:
    async def main() -> None:
        now = [0.0]
        held: Shared[int] = Shared(seconds=1.0, clock=lambda: now[0])
        work.go.set()
        found = []
        for moment in (0.0, 1.0, 1.5, 2.5, 2.6):
            now[0] = moment
            found.append(await held.get("one", work))
        assert found == [1, 1, 2, 2, 3]

    run(main())


def test_what_is_forgotten_is_made_anew_even_while_it_is_made(work: Work) -> None:
    async def main() -> None:
        held: Shared[int] = Shared()
        [old] = await begun(held, work, 1)
        held.forget("one")
        work.begun.clear()
        [new] = await begun(held, work, 1)
        work.go.set()
        assert (await old, await new, await held.get("one", work)) == (1, 2, 2)

    run(main())


def test_no_more_is_kept_than_is_allowed(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr(kept, "_MOST_KEPT", 3)
        held: Shared[int] = Shared()
        work.go.set()
        for key in range(10):
            await held.get(key, work)
            assert len(held._kept) <= 3
        assert set(held._kept) == {7, 8, 9}
        assert not held._under_way

    run(main())


def test_a_study_is_found_while_mechanisms_are_built(work: Work) -> None:
    """Those who build hold all threads of their kind; a look-up takes none of them."""

    async def main() -> None:
        questions = OpenQuestions(NoStore())  # type: ignore[arg-type]  # it is only looked up in
        building = [
            asyncio.create_task(questions._asked.get(number, work))  # type: ignore[arg-type]  # no interview
            for number in range(100)
        ]
        assert await asyncio.to_thread(work.begun.wait, GUARD)
        # Where it had to wait for a thread of theirs, it would wait for ever.
        await asyncio.wait_for(questions.expect("name"), GUARD)
        work.go.set()
        await asyncio.gather(*building)

    run(main())
