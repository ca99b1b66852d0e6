"""A wallet under crashes and races: no answer is drawn twice, and nothing is spent twice."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from supm.owner import Wallet, contribute

if TYPE_CHECKING:
    from tests.owner.conftest import FarEnd

RECORD = {"age": 61.5, "pulse": 88.7, "ill": "yes"}
# A process is started once, and forks for each accident: to import takes longer than to crash.
CRASHING = """
import os, sys
from supm.owner import Contribution, Wallet

def before_sending():
    contribution.answer({record}, Wallet(sys.argv[2]))

def within_the_step():
    wallet = Wallet(sys.argv[3])
    with wallet.step():
        contribution.answer({record}, wallet)
        os._exit(9)

contribution = Contribution(sys.argv[1])
for accident in (before_sending, within_the_step):
    if os.fork() == 0:
        accident()
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 9
"""
SENDING = """
import sys
from supm.owner import Wallet, contribute
with Wallet(sys.argv[2]) as wallet:
    contribute(sys.argv[1], {record}, wallet=wallet)
"""
RACING = """
import os, sys
from pathlib import Path
from supm.owner import Contribution, Wallet

contribution = Contribution(sys.argv[1])
ready, go = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        os.close(go)
        os.read(ready, 1)
        for number in range(12):
            with Wallet(Path(sys.argv[2]) / f"{number}.db") as wallet:
                contribution.send({record}, wallet)
        os._exit(0)
os.close(go)
assert [os.wait()[1] for _ in range(3)] == [0, 0, 0]
"""


def start(program: str, *arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", program.replace("{record}", repr(RECORD))]
    return subprocess.Popen([*command, *map(str, arguments)], stderr=subprocess.PIPE)  # noqa: S603  our own program


def finish(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    _, complaint = process.communicate(timeout=60)
    return process.returncode, complaint


def test_a_crash_before_sending_leaves_the_report_or_nothing_at_all(
    far_end: FarEnd, tmp_path: Path
) -> None:
    spent_path, clean_path = tmp_path / "spent.db", tmp_path / "clean.db"
    assert finish(start(CRASHING, far_end.url, spent_path, clean_path)) == (0, b"")
    assert far_end.posts == []
    with Wallet(clean_path) as wallet:
        assert (list(wallet), wallet.answers(), wallet.spent()) == ([], (), 0.0)
    with Wallet(spent_path) as wallet:
        [kept] = wallet.answers()
        assert kept.acknowledged is None
        spent = wallet.spent()
        receipt = contribute(far_end.url, RECORD, wallet=wallet)
        assert receipt.verdict == "accepted"
        assert list(far_end.reports) == [kept.report]
        assert wallet.spent() == spent > 0


def test_a_client_that_is_killed_while_it_sends_counts_once(
    far_end: FarEnd, tmp_path: Path
) -> None:
    path = tmp_path / "wallet.db"
    # The far end never answers: the client waits for it, and is killed there.
    far_end.faults = ["lost"] * 100
    process = start(SENDING, far_end.url, path)
    deadline = time.monotonic() + 60
    while not far_end.posts and time.monotonic() < deadline:
        time.sleep(0.005)
    process.kill()
    assert finish(process)[0] == -9
    far_end.faults = []
    with Wallet(path) as wallet:
        spent = wallet.spent()
        receipt = contribute(far_end.url, RECORD, wallet=wallet)
        assert receipt.verdict == "sent before"
        assert len(far_end.reports) == len(wallet.answers()) == 1
        assert wallet.spent() == spent > 0


def test_processes_that_answer_at_once_draw_once(far_end: FarEnd, tmp_path: Path) -> None:
    assert finish(start(RACING, far_end.url, tmp_path)) == (0, b"")
    assert len(far_end.posts) == 36
    assert len(far_end.reports) == 12
    for number in range(12):
        with Wallet(tmp_path / f"{number}.db") as wallet:
            [kept] = wallet.answers()
            assert kept.report in far_end.reports
            assert kept.acknowledged is not None
            assert kept.epsilon == wallet.spent() > 0
