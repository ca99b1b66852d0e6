from __future__ import annotations

from collections.abc import Mapping

import pytest

from supm._errors import ParameterError
from supm.engines import carry_in_process


class Collector:
    """Ask so many times, and keep what was heard."""

    def __init__(self, parties: int, turns: int) -> None:
        self._parties, self._turns = parties, turns
        self.heard: list[Mapping[int, bytes]] = []

    def begin(self) -> dict[int, bytes]:
        return self._messages()

    def receive(self, replies: Mapping[int, bytes]) -> dict[int, bytes] | None:
        self.heard.append(dict(replies))
        return self._messages() if len(self.heard) < self._turns else None

    def _messages(self) -> dict[int, bytes]:
        return {number: b"turn %d" % len(self.heard) for number in range(self._parties)}


class Counter:
    """Remember how many messages came."""

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        return state + b"+", message + b" " + state


class Refuser:
    def answer(self, _state: bytes, _message: bytes) -> tuple[bytes, bytes]:
        message = "not with me"
        raise RuntimeError(message)


def test_each_party_gets_its_messages_and_its_own_state() -> None:
    collector = Collector(2, 2)
    carry_in_process(collector, [Counter(), Counter()])
    assert collector.heard == [{0: b"turn 0 ", 1: b"turn 0 "}, {0: b"turn 1 +", 1: b"turn 1 +"}]


def test_a_lost_reply_is_missing_but_was_answered() -> None:
    collector = Collector(2, 3)
    carry_in_process(
        collector, [Counter(), Counter()], lost=lambda turn, number: (turn, number) == (1, 0)
    )
    assert collector.heard[1] == {1: b"turn 1 +"}
    assert collector.heard[2] == {0: b"turn 2 ++", 1: b"turn 2 ++"}


def test_the_error_of_a_party_is_seen() -> None:
    with pytest.raises(RuntimeError, match="not with me"):
        carry_in_process(Collector(2, 1), [Counter(), Refuser()])


def test_a_message_to_nobody_is_refused() -> None:
    with pytest.raises(ParameterError, match="more than the party number 1, got 1"):
        carry_in_process(Collector(2, 1), [Counter()])
