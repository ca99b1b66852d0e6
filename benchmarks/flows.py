"""Through how many of our files a call passes, and how often it comes back to one that it left.

    python benchmarks/flows.py [FLOW …]

A file counts where one of its functions runs; what runs while modules are imported does not, and
what finds a name of a package on demand is an import.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import supm
from owner import RECORD, serving
from supm import simulation
from supm.cli import main as main_of_supm
from supm.datasets import load_wdbc
from supm.federation import plan_federation
from supm.mechanisms import ContinuousLaplace, ContinuousPiecewise, GeneralizedRandomizedResponse
from supm.owner import Contribution, Wallet
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn

__all__ = ["FLOWS", "Walk", "walked"]

_OURS = str(Path(supm.__file__).parent)
_ON_DEMAND = f"{_OURS}/_lazy.py"


@dataclass
class Walk:
    """The files in which functions of ours ran, and how often each was come back to."""

    files: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)

    def note(self, path: str, name: str, last: str | None) -> None:
        self.functions[f"{path}:{name}"] += 1
        self.files[path] += path != last


def walked(call: Callable[[], object]) -> Walk:
    """Run a call, with all threads that begin meanwhile, and note where functions of ours run."""
    walk, here = Walk(), threading.local()

    def profile(frame: FrameType, event: str, _: object) -> None:
        path, name = frame.f_code.co_filename, frame.f_code.co_name
        if event != "call" or not path.startswith(_OURS) or _importing(frame):
            return
        walk.note(path[len(_OURS) + 1 :], name, getattr(here, "last", None))
        here.last = path[len(_OURS) + 1 :]

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return walk


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        path = frame.f_code.co_filename
        if path == _ON_DEMAND or (frame.f_code.co_name == "<module>" and path.startswith(_OURS)):
            return True
        frame = frame.f_back
    return False


def contribute() -> Walk:
    """Walk through one answer to a study of an aggregator."""
    with tempfile.TemporaryDirectory() as folder, serving(folder) as url:

        def answer() -> None:
            with Wallet(f"{folder}/wallet.db") as wallet:
                contribution = Contribution(url)
                contribution.words(wallet)
                contribution.leaving()
                contribution.check(RECORD, wallet)
                contribution.send(RECORD, wallet)

        return walked(answer)


def federate_run() -> Walk:
    """Walk through a run of three parties with all tables here, as the command line makes it."""
    with tempfile.TemporaryDirectory() as folder:
        wdbc = load_wdbc()
        study = plan_federation(wdbc.schema, "lda", epsilon=1.0, delta=1e-5, parties=3)
        Path(folder, "study.json").write_text(study.to_json())
        paths = [f"{folder}/{number}.csv" for number in range(3)]
        for start, path in enumerate(paths):
            with Path(path).open("w", newline="") as file:
                rows = zip(*(column[start::3] for column in wdbc.columns.values()), strict=True)
                csv.writer(file).writerows([wdbc.columns, *rows])
        words = ["federate", "run", f"{folder}/study.json", *paths, "-o", f"{folder}/release.json"]
        return walked(lambda: main_of_supm(words))


def synthesize() -> Walk:
    """Walk through synthetic rows and the page about them, as the command line makes them."""
    columns = (
        NumberColumn("age", ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=2.0)),
        NumberColumn("weight", ContinuousPiecewise.for_epsilon(low=20, high=140, epsilon=2.0)),
        ClassColumn("sex", ("f", "m"), GeneralizedRandomizedResponse.with_keep(size=2, keep=0.9)),
    )
    schema = ArchiveSchema(columns=columns, target="weight")
    held = {
        "age": [20, 40, 60, 80] * 250,
        "weight": [50, 60, 80, 90] * 250,
        "sex": ["f", "m"] * 500,
    }
    noisy = Archive.noised(held, schema, simulation(1)).table()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "archive.json").write_text(schema.to_json())
        with Path(folder, "noisy.csv").open("w", newline="") as file:
            csv.writer(file).writerows([noisy, *zip(*noisy.values(), strict=True)])
        words = ["synthesize", f"{folder}/noisy.csv", "--schema", f"{folder}/archive.json"]
        words += ["-o", f"{folder}/rows.csv", "--report", f"{folder}/quality.html"]
        return walked(lambda: main_of_supm(words))


FLOWS: dict[str, Callable[[], Walk]] = {
    "contribute": contribute,
    "federate_run": federate_run,
    "synthesize": synthesize,
}


def main() -> None:
    for name in sys.argv[1:] or FLOWS:
        walk = FLOWS[name]()
        again = sum(count - 1 for count in walk.files.values())
        print(f"{name}: {len(walk.files)} files, come back to {again} times")
        for path, count in walk.files.most_common():
            print(f"  {count:5}  {path}")
        often = ", ".join(f"{where} {count}" for where, count in walk.functions.most_common(6))
        print(f"  called most: {often}")


if __name__ == "__main__":
    main()
