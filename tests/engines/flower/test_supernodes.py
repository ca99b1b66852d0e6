"""A stock SuperLink and three stock SuperNodes, with TLS and node keys, in processes of their own.

They run what `write_app` wrote, and publish bit for bit what one process publishes.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import supm
from supm import simulation
from supm.cli import main

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("flwr", reason="pip install 'supm[federated]' to run the tests of Flower")

from supm.engines.files import load_study
from supm.engines.flower import QUIET, Authority, NodeKey, free_port
from supm.engines.flower.certificates import read_public_key
from supm.engines.flower.coordinating import admit
from supm.engines.program import write_program

SEED = 20
SIZES = (40, 55, 30)
NAMES = [f"party {number}" for number in range(len(SIZES))]
SCHEMA = {
    "version": 1,
    "attributes": [
        {"name": "age", "type": "continuous", "low": 0, "high": 120},
        {"name": "pressure", "type": "continuous", "low": 50, "high": 250},
        {"name": "ward", "type": "categorical", "values": ["north", "east", "south"]},
    ],
    "target": {"name": "diagnosis", "type": "categorical", "values": ["benign", "malignant"]},
}
POLICY = {"version": 1, "epsilon": 1, "delta": 1e-5, "total": {"epsilon": 4, "delta": 1e-4}}
PROGRAMS = Path(sys.executable).parent


class Machines:
    """Programs of Flower in process groups of their own, each with a home and a log."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._running = folder, list[subprocess.Popen[bytes]]()

    def environment(self, name: str) -> dict[str, str]:
        home = self.folder / f"home of {name}"
        home.mkdir(exist_ok=True)
        library = str(Path(supm.__file__).parents[1])
        # A SuperNode finds its programs on the path, and would look for work once a second.
        more = {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": library}
        more |= {"FLWR_HOME": str(home), "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.1"}
        return os.environ | QUIET | more

    def start(self, name: str, *words: str) -> None:
        with self.log(name).open("wb") as log:
            process = subprocess.Popen(  # noqa: S603  the test's own words
                [str(PROGRAMS / words[0]), *words[1:]],
                env=self.environment(name),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running.append(process)

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def ask(self, *words: str) -> str:
        """Run Flower's command line, and return what it prints."""
        done = subprocess.run(  # noqa: S603  the test's own words
            [str(PROGRAMS / "flwr"), *words],
            env=self.environment("owner"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def wait_for(self, what: Callable[[], bool], seconds: float) -> None:
        end = time.monotonic() + seconds
        while not what() and self.alive() and time.monotonic() < end:
            time.sleep(0.2)
        logs = "\n".join(each.read_text()[-3000:] for each in sorted(self.folder.glob("*.log")))
        assert what(), logs

    def alive(self) -> bool:
        return all(each.poll() is None for each in self._running)

    def stop(self) -> set[int]:
        """End all groups, and return them. A SuperLink starts its helper in a group of its own."""
        groups = {each.pid for each in self._running}
        parents = set(groups)
        while more := {pid for pid, parent, _ in processes() if parent in parents} - parents:
            parents |= more
        groups |= {group for pid, _, group in processes() if pid in parents}
        for group in groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        for each in self._running:
            each.wait()
        return groups


def processes() -> Iterator[tuple[int, int, int]]:
    """Yield the number, the parent and the group of each process that has not ended."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # After the name, which may hold anything.
            state, parent, group = path.read_text().rpartition(")")[2].split()[:3]
            if state != "Z":
                yield int(path.parent.name), int(parent), int(group)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    made = Machines(tmp_path)
    try:
        yield made
    finally:
        groups, end = made.stop(), time.monotonic() + 10
        while left_over(groups) and time.monotonic() < end:
            time.sleep(0.1)
        assert not left_over(groups)


def left_over(groups: set[int]) -> list[int]:
    return [pid for pid, _, group in processes() if group in groups]


def write_tables(folder: Path) -> list[str]:
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    for name, size in zip(NAMES, SIZES, strict=True):
        draws = simulation(SEED).child(name).below(1000, 4 * size).reshape(size, 4)
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["age", "pressure", "ward", "diagnosis"])
            writer.writerows(made_record(*each) for each in draws.tolist())
    return [f"{name}.csv" for name in NAMES]


def made_record(age: int, pressure: int, ward: int, diagnosis: int) -> tuple[object, ...]:
    words = ("north", "east", "south")[ward % 3], ("benign", "malignant")[diagnosis % 2]
    return (age * 0.12, 50 + pressure * 0.2, *words)


def write_party(folder: Path, name: str) -> None:
    form = {"version": 1, "name": name, "data": f"{name}.csv", "schema": "schema.json"}
    form |= {"study": "study.json", "policy": f"{name}.policy.json", "simulation": True}
    (folder / f"{name}.json").write_text(json.dumps(form))
    (folder / f"{name}.policy.json").write_text(json.dumps(POLICY))


def start_server(machines: Machines, authority: Authority) -> str:
    address = f"127.0.0.1:{free_port()}"
    machines.start(
        "server",
        *("flower-superlink", "--host", "127.0.0.1", "--port", address.partition(":")[2]),
        *("--ssl-ca-certfile", str(authority.certificate)),
        *("--ssl-certfile", str(authority.server_certificate)),
        *("--ssl-keyfile", str(authority.server_key)),
        *("--enable-supernode-auth", "--disable-runtime-dependency-installation"),
    )
    machines.environment("owner")
    (machines.folder / "home of owner" / "config.toml").write_text(
        f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "{address}"\n'
        f'root-certificates = "{authority.certificate}"\n'
    )
    log = machines.log("server")
    machines.wait_for(lambda: "Uvicorn running on https" in log.read_text(), 60)
    return address


def start_node(machines: Machines, authority: Authority, address: str, name: str) -> None:
    machines.start(
        name,
        *("flower-supernode", "--superlink", address),
        *("--root-certificates", str(authority.certificate)),
        *("--auth-supernode-private-key", str(machines.folder / f"{name}.key")),
        *("--host", "127.0.0.1", "--port", str(free_port())),
        *("--node-config", f'party-file="{machines.folder / name}.json"'),
    )


class StockLink:
    """What `admit` wants to know of a SuperLink; a stock one has no secret to tell."""

    def __init__(self, address: str, authority: Authority) -> None:
        self.address, self.authority = address, authority

    def intercept(self, context: Any, call_next: Any) -> Any:
        return call_next(context)


def made_keys(folder: Path) -> list[bytes]:
    for name in NAMES:
        NodeKey.made(folder / f"{name}.key")
    return [read_public_key(folder / f"{name}.key.pub") for name in NAMES]


def test_stock_supernodes_publish_what_one_process_publishes(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = machines.folder
    monkeypatch.chdir(folder)
    tables = write_tables(folder)
    # Components: the protocol with the fewest turns, since each starts a process for each party.
    wanted = ["--protocol", "pca", "--components", "2", "--parties", "3", "-o", "study.json"]
    common = ["federate", "create", "--schema", "schema.json", "--epsilon", "1", "--delta", "1e-5"]
    assert main([*common, *wanted]) == 0
    assert main(["federate", "run", "study.json", *tables, "--seed", "7", "-o", "here.json"]) == 0
    release = folder / "there.json"
    study = load_study(Path("study.json"))
    write_program(folder / "app", study, release=release, seed=7)

    authority = Authority.made(folder / "authority", "127.0.0.1")
    address = start_server(machines, authority)
    # What `flwr supernode register` does for each key.
    nodes = admit(cast("Any", StockLink(address, authority)), made_keys(folder))
    for name in NAMES:
        write_party(folder, name)
        start_node(machines, authority, address, name)
    machines.ask("run", "app", "here", "--run-config", f'nodes="{" ".join(map(str, nodes))}"')
    machines.wait_for(lambda: release.exists() and release.read_text().endswith("\n"), 300)

    assert release.read_text() == Path("here.json").read_text()
    for name in NAMES:
        [spent] = json.loads((folder / f"{name}.policy.spent.json").read_text())["spent"]
        assert np.isclose(spent["epsilon"], 1, atol=0.01)
        assert "Fingerprint of all parties' keys" in machines.log(name).read_text()
