"""The source of randomness among threads and after a fork."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._random import RandomSource, secure, simulation

needs_fork = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    # Python 3.12 and later warn of a fork among threads, which is what these tests are about.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


def drawn_in_a_child(draw: Callable[[], NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Fork, draw in the child, and bring the words back through a pipe."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        # A child that waits for a lost lock dies by this alarm, and the test sees no words.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        try:
            os.write(writing, draw().tobytes())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        received = pipe.read()
    os.waitpid(process, 0)
    return np.frombuffer(received, dtype=np.uint64)


@contextmanager
def held_by_another_thread(source: RandomSource) -> Iterator[None]:
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with source._lock:
            held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        yield
    finally:
        release.set()
        thread.join()


class TestFork:
    pytestmark = needs_fork

    def test_parent_and_child_of_a_secure_source_share_no_word(self) -> None:
        source = secure()
        source.words(10)
        child = drawn_in_a_child(lambda: source.words(4000))
        assert child.size == 4000
        assert not np.isin(child, source.words(8000)).any()

    def test_two_children_of_one_process_share_no_word(self) -> None:
        source = secure()
        source.words(10)
        first, second = (drawn_in_a_child(lambda: source.words(4000)) for _ in range(2))
        assert first.size == second.size == 4000
        assert not np.isin(first, second).any()

    def test_a_grandchild_shares_no_word_with_its_parent(self) -> None:
        source = secure()

        def in_the_child() -> NDArray[np.uint64]:
            grandchild = drawn_in_a_child(lambda: source.words(500))
            return np.concatenate([grandchild, source.words(500)])

        words = drawn_in_a_child(in_the_child)
        assert np.unique(np.concatenate([words, source.words(500)])).size == 1500

    def test_a_simulation_goes_on_with_its_stream(self) -> None:
        source = simulation(1)
        source.words(10)
        child = drawn_in_a_child(lambda: source.words(100))
        np.testing.assert_array_equal(child, simulation(1).words(110)[10:])

    @pytest.mark.parametrize("source", [secure(), simulation(2)], ids=repr)
    def test_a_lock_that_another_thread_holds_does_not_block_the_child(
        self, source: RandomSource
    ) -> None:
        with held_by_another_thread(source):
            child = drawn_in_a_child(lambda: source.words(100))
        assert child.size == 100


@pytest.mark.parametrize("count", [7, 1000, 9000])
@pytest.mark.parametrize("source", [secure(), simulation(3)], ids=repr)
def test_eight_threads_draw_no_word_twice(source: RandomSource, count: int) -> None:
    barrier = threading.Barrier(8)

    def draw(_: int) -> NDArray[np.uint64]:
        barrier.wait()
        return np.concatenate([source.words(count) for _ in range(20)])

    with ThreadPoolExecutor(8) as pool:
        words = np.concatenate(list(pool.map(draw, range(8))))
    assert words.size == 8 * 20 * count
    assert np.unique(words).size == words.size


def test_eight_threads_draw_below_a_bound_that_rejects_often() -> None:
    source, bound = secure(), (1 << 64) // 3 + 1

    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda _: source.below(bound, 5000), range(8)))
    assert all(int(numbers.max()) < bound for numbers in drawn)
