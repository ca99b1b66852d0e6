"""Finished jobs, one line of JSON each: a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from experiments.supm.jobs import Job, Outcome

__all__ = ["Cache"]


class Cache:
    """Outcomes by job, kept in a file that only grows.

    Parameters
    ----------
    path : Path
        Where the lines are; made when the first job is finished.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.outcomes: dict[Job, Outcome] = {}
        if path.exists():
            self._load(path.read_text().splitlines())

    def _load(self, lines: list[str]) -> None:
        for line in lines:
            try:
                form = json.loads(line)
            except json.JSONDecodeError:
                continue  # the run was stopped while it wrote this line
            self.outcomes[Job.from_form(form["job"])] = Outcome.from_form(form["outcome"])

    def missing(self, jobs: tuple[Job, ...]) -> list[Job]:
        """Return the jobs that are not finished, each once."""
        return [job for job in dict.fromkeys(jobs) if job not in self.outcomes]

    def add(self, job: Job, outcome: Outcome) -> None:
        """Keep an outcome, in memory and in the file."""
        self.outcomes[job] = outcome
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"job": asdict(job), "outcome": asdict(outcome)})
        with self._path.open("a+b") as file:
            torn = file.seek(0, 2) and not self._ends_a_line()
            file.write(b"\n" * bool(torn) + line.encode() + b"\n")

    def _ends_a_line(self) -> bool:
        return self._path.read_bytes().endswith(b"\n")
