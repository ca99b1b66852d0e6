"""The exact edges of uniform integers, and what a secure source is keyed with."""

from __future__ import annotations

import os
import secrets
import signal

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._random import RandomSource, secure

WORDS = 1 << 64
BOUNDS = [3, 5, 6, 1000, 2**40 - 1, WORDS // 3 + 1, 2**63 - 1]


class ScriptedSource(RandomSource):
    """Hands over the given words, then real ones."""

    __slots__ = ("script",)

    def __init__(self, script: list[int]) -> None:
        super().__init__(bytes(32))
        self.script = np.array(script, dtype=np.uint64)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next words."""
        taken, self.script = self.script[:count], self.script[count:]
        return np.concatenate((taken, super().words(count - taken.size)))


@pytest.mark.parametrize("bound", BOUNDS)
def test_every_integer_has_its_run_of_words(bound: int) -> None:
    run = WORDS // bound
    script = [0, run - 1, run, 2 * run - 1, (bound - 1) * run, bound * run - 1]
    drawn = ScriptedSource(script).below(bound, len(script))
    assert drawn.tolist() == [0, 0, 1, 1, bound - 1, bound - 1]


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("times", [1, 2, 5])
def test_the_first_word_after_the_last_run_is_drawn_again_each_time(bound: int, times: int) -> None:
    run = WORDS // bound
    assert bound * run < WORDS
    for left_over in (bound * run, WORDS - 1):
        source = ScriptedSource([left_over] * times + [(bound - 1) * run])
        assert source.below(bound, 1).tolist() == [bound - 1]


class Keys:
    """Stands in for the operating system: hands over known bytes and notes how many were asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def token_bytes(self, count: int) -> bytes:
        self.asked.append(count)
        return self.key(len(self.asked))[:count]

    @staticmethod
    def key(number: int) -> bytes:
        return bytes((37 * number + place) % 256 for place in range(32))


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Keys:
    known = Keys()
    monkeypatch.setattr(secrets, "token_bytes", known.token_bytes)
    return known


def stream(key: bytes) -> list[int]:
    return [int(word) for word in RandomSource(key).words(100)]


def test_a_secure_source_is_keyed_with_32_bytes_of_the_system(keys: Keys) -> None:
    assert secure().words(100).tolist() == stream(keys.key(1))
    assert keys.asked == [32]


def test_a_child_of_a_secure_source_takes_32_bytes_of_its_own(keys: Keys) -> None:
    parent = secure()
    assert parent.child("worker").words(100).tolist() == stream(keys.key(2))
    assert parent.words(100).tolist() == stream(keys.key(1))
    assert keys.asked == [32, 32]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_is_keyed_with_32_bytes_of_the_system(keys: Keys) -> None:
    source = secure()
    # Other sources that are alive take keys of their own, in any order.
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        # A child that waits for a lost lock dies by this alarm, and the test sees no words.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        try:
            os.write(writing, source.words(100).tobytes() + bytes(keys.asked))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        received = pipe.read()
    os.waitpid(process, 0)
    words, asked = np.frombuffer(received[:800], dtype=np.uint64).tolist(), list(received[800:])
    assert len(asked) > 1
    assert set(asked) == {32}
    assert words in [stream(keys.key(number)) for number in range(2, len(asked) + 1)]
