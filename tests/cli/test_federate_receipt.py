"""A server that drops a party is found out by the party that it dropped."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import supm
from supm.cli import main
from supm.datasets import load_wdbc
from supm.federation import Coordinator
from supm.messages import Update

NAMES = ("north", "east", "south")
DROPPED = 1
POLICY = {"version": 1, "epsilon": 1, "delta": 1e-5, "total": {"epsilon": 4, "delta": 1e-4}}
FLOWER = "pip install 'supm[federated]' to run the tests of Flower"


class Unfair(Coordinator):
    """A server that throws away what one party sent, and publishes with the others."""

    def receive(self, replies: Mapping[int, bytes]) -> dict[int, bytes] | None:
        kept = {
            number: reply
            for number, reply in replies.items()
            if number != DROPPED or Update.from_bytes(reply).kind != "masked"
        }
        return super().receive(kept)


@pytest.fixture
def study(wdbc: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a third of WDBC, a key and a policy there for each party; a study, and a log."""
    monkeypatch.setenv("PYTHONPATH", str(Path(supm.__file__).parents[1]))
    columns = load_wdbc().columns
    for start, name in enumerate(NAMES):
        with Path(f"{name}.csv").open("w", newline="") as file:
            rows = zip(*(column[start::3] for column in columns.values()), strict=True)
            csv.writer(file).writerows([columns, *rows])
        Path(f"{name}.json").write_text(json.dumps(POLICY))
        assert main(["federate", "key", "-o", f"{name}.key"]) == 0
    budget = ["--schema", "wdbc.json", "--epsilon", "1", "--delta", "1e-5", "--protocol", "lda"]
    circle = ["--parties", "3", "--colluders", "0", "--dropouts", "1"]
    assert main(["federate", "create", *budget, *circle, "-o", "study.json"]) == 0
    assert main(["log", "create", "releases.db", "--name", "log.example"]) == 0
    return wdbc.with_name("study.json")


def take_part(name: str, port: str) -> tuple[int, str]:
    """Run a party in a process of its own; return how it ended, and what it said."""
    end = time.monotonic() + 60
    while not Path("run/ca.pem").exists() and time.monotonic() < end:
        time.sleep(0.1)
    words = ["federate", "party", f"{name}.csv", "--study", "study.json", "--yes"]
    where = ["--server", f"127.0.0.1:{port}", "--ca", "run/ca.pem", "--key", f"{name}.key"]
    kept = ["--policy", f"{name}.json", "--receipt", f"{name}.receipt.json", "--wait", "60"]
    command = [sys.executable, "-m", "supm", *words, *where, *kept, "-o", f"{name}.out.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)  # noqa: S603  the test's own words
    return done.returncode, done.stdout + done.stderr


@pytest.mark.usefixtures("study")
def test_a_party_that_is_dropped_can_show_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not os.environ.get("SUPM_REQUIRE_ALL"):
        pytest.importorskip("flwr", reason=FLOWER)
    from supm.engines.flower import free_port  # noqa: PLC0415  where it is installed

    monkeypatch.setattr("supm.federation.study.Coordinator", Unfair)
    port = str(free_port())
    where = ["--port", port, "--folder", "run", "--wait", "60", "--patience", "60"]
    keys = [word for name in NAMES for word in ("--party-key", f"{name}.key.pub")]
    publish = ["--publish", "releases.db", "-o", "release.json"]
    with ThreadPoolExecutor(len(NAMES)) as pool:
        parts = [pool.submit(take_part, name, port) for name in NAMES]
        assert main(["federate", "server", "study.json", *where, *keys, *publish]) == 0
    ended = [each.result() for each in parts]
    assert [code for code, _ in ended] == [0, 1, 0], ended
    code, told = ended[DROPPED]
    assert "the server ended the run without a release" in told
    assert "east.receipt.json holds hashes of what is sent" in " ".join(told.split())
    capsys.readouterr()
    for name, code in (("north", 0), ("east", 1), ("south", 0)):
        receipt = ["--receipt", f"{name}.receipt.json"]
        assert main(["verify", "release.json", "--key", "releases.pub", *receipt]) == code
    told = " ".join(capsys.readouterr().err.split())
    assert "release.json is NOT verified: what party 1 sent was not counted" in told
    # Nothing else shows what was sent: another run takes another file.
    code, told = take_part("east", port)
    assert code == 2
    assert "--receipt must be a file that does not exist yet, got 'east.receipt.json'" in " ".join(
        told.split()
    )
