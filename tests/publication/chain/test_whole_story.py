"""Three hospitals, a strict release, a log, a real chain, and a reader who trusts none of them."""

from __future__ import annotations

import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from supm.cli import main
from supm.datasets import load_wdbc
from supm.publication.bundle import Bundle
from supm.publication.chain import read_account

if TYPE_CHECKING:
    from tests.publication.chain.conftest import Place

NAMES = ("north", "east", "south")
POLICY = {"version": 1, "epsilon": 1, "delta": 1e-5, "total": {"epsilon": 4, "delta": 1e-4}}
ETHER = 10**18
FLOWER = "pip install 'supm[federated]' to run the tests of Flower"


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "supm", *words]
    with subprocess.Popen(  # noqa: S603  the test's own words
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def tables(folder: Path) -> None:
    data = load_wdbc()
    (folder / "schema.json").write_text(data.schema.to_json())
    for start, name in enumerate(NAMES):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(data.columns)
            columns = [column[start::3] for column in data.columns.values()]
            writer.writerows(zip(*columns, strict=True))


def free_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def federate(port: str) -> None:
    """Run a server that records into a log, and three parties, each a process of its own."""
    keys = [word for name in NAMES for word in ("--party-key", f"{name}.key.pub")]
    where = ["--port", port, "--folder", "run", "--wait", "120", "--patience", "120"]
    publish = ["--publish", "releases.db", "-o", "release.json"]
    with ExitStack() as stack:
        server = stack.enter_context(
            started("federate", "server", "study.json", *where, *keys, *publish)
        )
        give_up = time.monotonic() + 300
        while not Path("run/ca.pem").exists() and time.monotonic() < give_up:
            time.sleep(0.05)
        parties = [stack.enter_context(started(*party(name, port))) for name in NAMES]
        told = [each.communicate(timeout=600)[0] for each in (*parties, server)]
        assert [each.returncode for each in (*parties, server)] == [0] * 4, told


def party(name: str, port: str) -> list[str]:
    Path(f"{name}.json").write_text(json.dumps(POLICY))
    return [
        *("federate", "party", f"{name}.csv", "--study", "study.json"),
        *("--server", f"127.0.0.1:{port}", "--ca", "run/ca.pem", "--key", f"{name}.key"),
        *("--policy", f"{name}.json", "--receipt", f"{name}.receipt.json", "--yes"),
        *("--wait", "120", "-o", f"{name}.release.json"),
    ]


def fund(place: Place, path: str) -> None:
    web3 = place.web3
    paid = {"from": web3.eth.accounts[0], "to": read_account(path).address, "value": ETHER}
    web3.eth.wait_for_transaction_receipt(web3.eth.send_transaction(paid))  # type: ignore[arg-type]


def test_from_three_tables_to_a_reader(
    tmp_path: Path, node: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not os.environ.get("SUPM_REQUIRE_ALL"):
        pytest.importorskip("flwr", reason=FLOWER)
    monkeypatch.chdir(tmp_path)
    tables(tmp_path)
    create = ["--protocol", "lda", "--epsilon", "1", "--delta", "1e-5", "--parties", "3"]
    common = ["--log", "releases.db", "--chain", node.where, "--account", "payer.key"]
    assert main(["federate", "create", "--schema", "schema.json", *create, "-o", "study.json"]) == 0
    for name in NAMES:
        assert main(["federate", "key", "-o", f"{name}.key"]) == 0
    assert main(["log", "create", "releases.db", "--name", "hospitals.example/releases"]) == 0
    assert main(["log", "account", "payer.key"]) == 0
    fund(node, "payer.key")
    assert main(["log", "deploy", *common]) == 0
    federate(free_port())
    capsys.readouterr()
    # The file is in the log already: to publish it again anchors, and writes the proof anew.
    bundle = ["--bundle", "release.zip"]
    assert main(["publish", "release.json", *common, *bundle, "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["index"], told["size"], told["entries"]) == (3, 4, 4)
    assert 20_000 < told["gas"] < 200_000
    check_receipts(capsys)
    check_reader(tmp_path, node, capsys)
    assert main(["log", "check", "--log", "releases.db", "--key", "releases.pub"]) == 0
    capsys.readouterr()
    checked = ["log", "check", "--log", "releases.db", "--key", "releases.pub"]
    assert main([*checked, "--chain", node.where]) == 0
    assert "agrees with every anchor on the chain: 1" in capsys.readouterr().out


def check_receipts(capsys: pytest.CaptureFixture[str]) -> None:
    """Each party finds what it sent, and nobody finds what was not sent."""
    for number, name in enumerate(NAMES):
        shutil.copy("release.json.proof", f"{name}.release.json.proof")
        words = ["verify", f"{name}.release.json", "--key", "releases.pub", "--receipt"]
        assert main([*words, f"{name}.receipt.json"]) == 0
        assert f"What party {number} sent is counted in all 2 rounds" in capsys.readouterr().out
    form = json.loads(Path("north.receipt.json").read_text())
    form["number"] = 1
    Path("wrong.json").write_text(json.dumps(form))
    assert main([*words, "wrong.json"]) == 1
    assert "was not counted" in capsys.readouterr().err


def check_reader(folder: Path, node: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """Check as a reader with one file, the log's public key and a node's address."""
    reader = folder / "reader"
    reader.mkdir()
    shutil.copy(folder / "release.zip", reader)
    assert [each.name for each in reader.iterdir()] == ["release.zip"]
    key = (folder / "releases.pub").read_text().strip()
    words = ["verify", str(reader / "release.zip"), "--key", key, "--chain", node.where]
    with started(*words) as process:
        told, _ = process.communicate(timeout=600)
    assert process.returncode == 0, told
    for said in (
        "The bundle holds release.json",
        "is the one of the entry",
        "signed by the key you gave",
        "derived anew",
    ):
        assert said in told
    assert "on chain 31337 since" in told
    check_altered(reader / "release.zip", words, capsys)


def check_altered(path: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Change what is in the bundle as a clumsy forger does, and as one who knows zips."""
    good = path.read_bytes()
    content = bytearray(good)
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    capsys.readouterr()
    assert main(words) == 1
    assert "is NOT verified: a member of the bundle is damaged" in capsys.readouterr().err
    bundle = Bundle.from_bytes(good)
    content = bytearray(bundle.content)
    content[-100] ^= 1
    path.write_bytes(replace(bundle, content=bytes(content)).to_bytes())
    assert main(words) == 1
    assert "is NOT verified: the file is not the one that was published" in capsys.readouterr().err
