"""A publisher that is killed at any moment: no torn log, and nothing acknowledged is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from supm import secure
from supm.publication.log import Log
from supm.publication.merkle import hash_leaf, root_by_inclusion
from supm.publication.monitoring import check_log
from supm.publication.signing import SignedCheckpoint

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

BATCH, KILLS, LONGEST_MICROSECONDS = 5, 20, 80_000
# A process is started once, and forks for each accident: to import takes longer than to crash.
# Asked for a number of microseconds, it kills a publisher after them, counted from its beginning or
# from its first stored step, and tells the last size that the publisher was told to be stored.
CRASHING = """
import hashlib, os, signal, sys, time
from dataclasses import replace
from pathlib import Path
from supm.publication.entry import read_entry
from supm.publication.signing import SigningKey
from supm.publication.log import Log

path, model = Path(sys.argv[1]), read_entry(sys.argv[2])
key = SigningKey("log.example", bytes([1]) * 32)

def entry(place):
    content = hashlib.sha256(str(place).encode()).hexdigest()
    return replace(model, name=f"{place}.json", content=content)

def publish_for_ever(told):
    with Log(path) as log:
        size = log.size
        while True:
            log.append([entry(size + each) for each in range({batch})], key)
            size += {batch}
            os.write(told, b"%d\\n" % size)

for line in sys.stdin:
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        publish_for_ever(told)
    os.close(told)
    wait, since_stored = map(int, line.split())
    first = os.read(ready, 1) if since_stored else b""
    time.sleep(wait / 1e6)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    with os.fdopen(ready, "rb") as pipe:
        print(int(((first + pipe.read()).split() or [0])[-1]), flush=True)
"""


@pytest.fixture
def crash(maker: Maker) -> Iterator[subprocess.Popen[str]]:
    maker.log().close()
    program = CRASHING.replace("{batch}", str(BATCH))
    command = [sys.executable, "-c", program, str(maker.folder / "log.db"), maker.release().text]
    with subprocess.Popen(  # noqa: S603  our own program
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


def killed_after(wait: int, process: subprocess.Popen[str], *, since_stored: bool) -> int:
    """Let a publisher be killed, and return the size that it was told to be stored."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{wait} {since_stored:d}\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def check_whole(log: Log, maker: Maker, known: SignedCheckpoint) -> None:
    size = log.size
    assert size % BATCH == 0
    assert len(list(check_log(log, maker.key().verifier, known=known))) == 4
    assert [log.find(content) for content in contents(log)] == list(range(size))
    for index in {0, size // 2, size - 1} if size else ():
        leaf = hash_leaf(log.entries(index, index + 1)[0].encode())
        found = root_by_inclusion(leaf, index, size, log.inclusion(index, size))
        assert found == log.checkpoint().root


def contents(log: Log) -> list[str]:
    texts = log.entries(0, log.size + 10)
    return [text.partition('"content":"')[2][:64] for text in texts]


def test_a_publisher_that_is_killed_leaves_whole_steps_and_all_it_was_told(
    maker: Maker, crash: subprocess.Popen[str]
) -> None:
    path = Path(maker.folder / "log.db")
    with Log(path) as log:
        known = log.checkpoint()
    for number, wait in enumerate(secure().below(LONGEST_MICROSECONDS, KILLS).tolist()):
        told = killed_after(wait, crash, since_stored=number % 2 == 1)
        assert told > 0 or number % 2 == 0
        with Log(path) as log:
            assert log.size >= max(told, known.size)
            check_whole(log, maker, known)
            known = log.checkpoint()
