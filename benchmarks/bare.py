"""A study is answered by what `pip install supm` alone brings, in an environment of its own.

    python benchmarks/bare.py .bare/bin/supm

The aggregator runs in the Python that runs this; the owner is the command that is named. `make
bare` builds the environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from owner import RECORD, serving

__all__ = ["answer"]


def answer(supm: str, folder: str, url: str) -> dict[str, object]:
    """Take part with one record, and return what the command wrote."""
    mine, receipt = Path(folder) / "mine.csv", Path(folder) / "receipt.json"
    mine.write_text(f"{','.join(RECORD)}\n{','.join(map(str, RECORD.values()))}\n")
    words = [supm, "contribute", str(mine), "--study", url, "--yes", "--json", str(receipt)]
    here = os.environ | {"SUPM_WALLET": f"{folder}/wallet.db"}
    subprocess.run(words, check=True, env=here)  # noqa: S603  our own program
    told: dict[str, object] = json.loads(receipt.read_text())
    return told


def main() -> None:
    supm = str(Path(sys.argv[1]).absolute())
    with tempfile.TemporaryDirectory() as folder, serving(folder) as url:
        told = answer(supm, folder, url)
    if told["verdict"] != "accepted":
        sys.exit(f"the aggregator did not take the report: {told['verdict']}")
    packages = Path(supm).parents[1] / "lib"
    size = sum(each.stat().st_size for each in packages.rglob("*") if each.is_file()) / 1e6
    print(f"answered, spent and sent in an environment of {size:.0f} MB.")


if __name__ == "__main__":
    main()
