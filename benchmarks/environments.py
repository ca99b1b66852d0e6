"""The other packages' environments: made on first use, one each, in .bench at the root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["PEERS", "Environment", "Peer", "PeerError", "run"]

_HERE = Path(__file__).resolve().parent
_ENVIRONMENTS = _HERE.parent / ".bench"
_PATIENCE = 900


class PeerError(Exception):
    """A package could not be installed or run; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Another package, in an environment of its own."""

    name: str

    @property
    def requirements(self) -> Path:
        """What its environment holds."""
        return _HERE / "peers" / f"requirements-{self.name}.txt"

    def prepare(self) -> None:
        """Make its environment unless one with the same content is there."""
        wanted, ready = self.requirements.read_text(), self._folder / "ready"
        if ready.is_file() and ready.read_text() == wanted:
            return
        run([sys.executable, "-m", "venv", "--clear", str(self._folder)])
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([str(self._python), *pip, "-r", str(self.requirements)])
        ready.write_text(wanted)

    def answer(self, script: str, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a script of the peers says to a question."""
        told = run([str(self._python), "-m", f"peers.{script}", json.dumps(dict(question))])
        found: dict[str, Any] = json.loads(told.splitlines()[-1])
        return found

    @property
    def _folder(self) -> Path:
        return _ENVIRONMENTS / self.name

    @property
    def _python(self) -> Path:
        windows = os.name == "nt"
        return self._folder / ("Scripts" if windows else "bin") / "python"


@dataclass(frozen=True, kw_only=True)
class Peer(Environment):
    """Another package, the script that times it and the cases that it has."""

    script: str
    how: str
    cases: tuple[str, ...]
    slow: bool = False

    def measure(self, counts: Mapping[str, int]) -> tuple[str, dict[str, float]]:
        """Return its version and the seconds that each case took."""
        answer = self.answer(self.script, counts)
        return answer["version"], answer["seconds"]


PEERS = (
    Peer(
        name="pure-ldp",
        script="pure_ldp_loops",
        how="loop, not secure",
        cases=(
            "randomized response",
            "symmetric unary encoding",
            "optimised unary encoding",
            "local hashing",
            "Hadamard response",
        ),
    ),
    Peer(
        name="multi-freq-ldpy",
        script="multi_freq_ldpy_loops",
        how="loop of compiled calls, not secure",
        cases=(
            "randomized response",
            "subset selection",
            "symmetric unary encoding",
            "optimised unary encoding",
            "local hashing",
            "independent reports",
        ),
    ),
    Peer(
        name="opendp",
        script="opendp_loops",
        how="loop (Laplace: one vector), secure",
        cases=("randomized response", "symmetric unary encoding", "Laplace"),
        slow=True,
    ),
)


def run(command: Sequence[str]) -> str:
    """Return what the command printed; raise PeerError with its own reason if it fails."""
    try:
        done = subprocess.run(  # noqa: S603  the command is made of our own names and paths
            command, cwd=_HERE, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerError(type(error).__name__) from error
    if done.returncode:
        raise PeerError(_reason(done.stderr) or f"exit code {done.returncode}")
    return done.stdout


def _reason(complaint: str) -> str:
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or [""])[-1][:120]
