"""A SuperLink for the tests that need one, and parties that connect to it from threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from supm.engines.flower import NodeKey, SuperLink

MISSING = "pip install 'supm[federated]' to run the tests of Flower"
SECRET = b"what nobody else may see"


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
        return {n: b"turn %d for %d" % (len(self.heard), n) for n in range(self._parties)}


class Teller:
    """Answer with what came, what is remembered, and a secret."""

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        return state + b"+", message + b" " + state + SECRET


class Parties:
    """Threads that each do what a party does; what each returned or raised is kept."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self.ended: dict[str, Any] = {}

    def start(self, name: str, part: Callable[[], Any]) -> None:
        def run() -> None:
            try:
                self.ended[name] = part()
            except Exception as error:  # noqa: BLE001  kept for the test to look at
                self.ended[name] = error

        self._threads.append(threading.Thread(target=run, daemon=True))
        self._threads[-1].start()

    def join(self) -> dict[str, Any]:
        for thread in self._threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in self._threads)
        return self.ended


@pytest.fixture(scope="session")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SuperLink]:
    """Run one SuperLink for the whole session."""
    if not os.environ.get("SUPM_REQUIRE_ALL"):
        pytest.importorskip("flwr", reason=MISSING)
    from supm.engines.flower import SuperLink, free_port  # noqa: PLC0415  where it is installed

    folder = tmp_path_factory.mktemp("superlink")
    with SuperLink(folder / "run", host="127.0.0.1", port=free_port()) as started:
        yield started


@pytest.fixture
def parties() -> Parties:
    return Parties()


@pytest.fixture
def collector() -> Callable[[int, int], Collector]:
    return Collector


@pytest.fixture
def teller() -> type[Teller]:
    return Teller


@pytest.fixture
def keys(tmp_path: Path) -> Callable[[int], tuple[list[NodeKey], list[bytes]]]:
    """Return a function that makes so many node keys, with their public halves."""
    from supm.engines.flower import NodeKey  # noqa: PLC0415  where it is installed
    from supm.engines.flower.certificates import read_public_key  # noqa: PLC0415  the same

    def make(count: int) -> tuple[list[NodeKey], list[bytes]]:
        names = [f"party{number}" for number in range(count)]
        made = [NodeKey.made(tmp_path / name) for name in names]
        return made, [read_public_key(tmp_path / f"{name}.pub") for name in names]

    return make
