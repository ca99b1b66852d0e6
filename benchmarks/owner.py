"""What a device holds once it has answered a study, spent and sent: modules, memory, packages.

    python benchmarks/owner.py

A real aggregator runs on loopback; a fresh process takes part with one record. Beside it, in the
same run, stands a process that loads NumPy, the ciphers and ssl, which no owner can do without.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from supm.collection import plan
from supm.schema import Categorical, Continuous, Schema
from supm.service import Store, make_app, running

__all__ = ["HEAVY", "RECORD", "measured", "serve", "serving"]

HEAVY = ("scipy", "sklearn", "pandas", "matplotlib", "pyarrow")
RECORD = {"age": 61.5, "pulse": 88.75, "ill": "yes"}
_PEAK = """
import json, sys
from pathlib import Path
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
held = {"modules": sorted(sys.modules), "megabytes": int(peak.split()[1]) * 1024 / 1e6}
print(json.dumps(held))
"""
_BARE = "import numpy, ssl, cryptography.hazmat.primitives.ciphers"
_OWNER = """
import json, sys
from supm.owner import Wallet, contribute
url, path, record = sys.argv[1:]
with Wallet(path) as wallet:
    receipt = contribute(url, json.loads(record), wallet=wallet)
    assert receipt.verdict == "accepted" and wallet.spent() > 0
"""


@contextmanager
def serving(folder: str) -> Iterator[str]:
    """Run an aggregator with one open study in a process of its own; yield the study's address."""
    command = [sys.executable, __file__, "serve", folder]
    pipe = subprocess.PIPE
    # It ends when its input is closed, which leaving this block does.
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:  # noqa: S603  this file
        yield process.stdout.readline().strip() if process.stdout else ""


def serve(folder: str) -> None:
    """Serve until nobody holds the other end of the input."""
    attributes = (Continuous("age", low=0, high=100), Continuous("pulse", low=0, high=220))
    schema = Schema(attributes=attributes, target=Categorical("ill", values=("no", "yes")))
    study = plan(schema, epsilon=1.0, attributes=["age", "pulse"])
    store = Store.open(f"sqlite:///{folder}/store.db")
    try:
        opened = store.create(study, token_hash="0" * 64, minimums={}, deadlines={})
        with running(make_app(store)) as base:
            print(f"{base}/studies/{opened.name}", flush=True)
            sys.stdin.read()
    finally:
        store.close()


def measured() -> dict[str, dict[str, Any]]:
    """Return what an owner's process and a bare one loaded, and the megabytes they held at most."""
    with tempfile.TemporaryDirectory() as folder, serving(folder) as url:
        wallet = str(Path(folder) / "wallet.db")
        owner = _run(_OWNER + _PEAK, url, wallet, json.dumps(RECORD))
    return {"owner": owner, "bare": _run(_BARE + _PEAK)}


def _run(program: str, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603  our own program
    held: dict[str, Any] = json.loads(done.stdout)
    ours = [name for name in held["modules"] if name == "supm" or name.startswith("supm.")]
    heavy = [name for name in HEAVY if name in held["modules"]]
    return {"ours": ours, "heavy": heavy, "megabytes": held["megabytes"]}


def main() -> None:
    for name, held in measured().items():
        heavy = ", ".join(held["heavy"]) or "none of " + ", ".join(HEAVY)
        count, peak = len(held["ours"]), held["megabytes"]
        print(f"{name:6} {count:4} modules of ours  {peak:6.1f} MB at most  {heavy}")


if __name__ == "__main__":
    serve(sys.argv[2]) if sys.argv[1:2] == ["serve"] else main()
