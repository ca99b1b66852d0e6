"""How long `supm --help` takes, against a process of Python that does nothing, in the same run.

    python benchmarks/startup.py

Both are started in turn, so that a busy machine slows both; the medians are compared.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 40
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "supm --help": ["-m", "supm", "--help"],
    "supm plan --help": ["-m", "supm", "plan", "--help"],
}
LOADED = "import sys; from supm.cli import main; main(['--help']); print('numpy' in sys.modules)"


def seconds(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)  # noqa: S603  no word of the command comes from outside
    return time.perf_counter() - start


def main() -> None:
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, arguments in COMMANDS.items():
            taken[name].append(seconds(arguments))
    bare = statistics.median(taken["python -c pass"])
    for name, found in taken.items():
        middle = statistics.median(found)
        print(f"{name:17} {middle * 1000:7.1f} ms  {middle / bare:5.1f} times")
    shown = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, check=True)  # noqa: S603  the same
    print(f"NumPy is loaded for the help: {shown.stdout.decode().splitlines()[-1]}")


if __name__ == "__main__":
    main()
