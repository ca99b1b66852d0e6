"""What is measured over HTTP: servers in processes of their own, and a PostgreSQL of our own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Host", "aggregator", "bare", "postgresql"]

_BARE = Path(__file__).resolve().parent / "peers" / "orm_insert.py"


@dataclass(frozen=True, kw_only=True)
class Host:
    """A server: its process, and where it answers."""

    process: int
    url: str

    def megabytes(self) -> float:
        """Return the most memory that the process held; 0 where the system does not tell."""
        status = Path(f"/proc/{self.process}/status")
        mark = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
        return int(mark[1]) * 1024 / 1e6 if mark else 0.0


@contextmanager
def aggregator(database: str, folder: Path) -> Iterator[Host]:
    """Run `supm serve`; the limit for one client is raised, as all load comes from one."""
    words = ["-m", "supm", "serve", "--db", database, "--port", "0", "--rate", "1000000"]
    with _server(words, folder) as host:
        yield host


@contextmanager
def bare(database: str, folder: Path) -> Iterator[Host]:
    """Run the plain server that we are compared with."""
    with _server([str(_BARE), database], folder) as host:
        yield host


@contextmanager
def _server(words: Sequence[str], folder: Path) -> Iterator[Host]:
    place = folder / "address.json"
    place.unlink(missing_ok=True)
    command = [sys.executable, *words, "--json", str(place)]
    with (folder / "log.txt").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603  our own words
    try:
        while not place.exists() or not place.read_text().endswith("}\n"):
            if process.poll() is not None:
                raise subprocess.CalledProcessError(process.returncode, command)
            time.sleep(0.02)
        yield Host(process=process.pid, url=json.loads(place.read_text())["url"])
    finally:
        process.terminate()
        process.wait()


@contextmanager
def postgresql() -> Iterator[str | None]:
    """Run a PostgreSQL with its own durable defaults; None where it is not installed."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    programs += [Path(on_path).parent] if on_path else []
    if not programs:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="supm-pg-") as home:
        cluster = _Cluster(programs[0], Path(home))
        cluster.begin()
        try:
            yield f"postgresql://supm@/postgres?host={home}"
        finally:
            cluster.control("stop", "-m", "immediate")


class _Cluster:
    def __init__(self, programs: Path, home: Path) -> None:
        self._programs, self._home = programs, home
        self._prefix: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            self._prefix = ["runuser", "-u", "postgres", "--"]
            shutil.chown(home, "postgres")

    def begin(self) -> None:
        self._run("initdb", "-D", f"{self._home}/data", "-A", "trust", "-U", "supm", "-E", "UTF8")
        options = f"-c listen_addresses= -c unix_socket_directories={self._home}"
        self.control("start", "-o", options, "-l", f"{self._home}/log")

    def control(self, *words: str) -> None:
        self._run("pg_ctl", "-w", "-s", "-D", f"{self._home}/data", *words)

    def _run(self, program: str, *words: str) -> None:
        command = [*self._prefix, str(self._programs / program), *words]
        # Not captured: the server would keep the pipe open, and the call would never return.
        subprocess.run(command, cwd=self._home, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  our own words
