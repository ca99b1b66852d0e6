"""The command: run what is missing, then write tables and pictures."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from experiments.lda_publishing.attacks import Attack, measure_attacks
from experiments.lda_publishing.data import TABLES
from experiments.lda_publishing.levers import Lever, measure_levers
from experiments.lda_publishing.measuring import measure_task
from experiments.lda_publishing.pictures import draw_all
from experiments.lda_publishing.privbayes import dpmm_rows, measure_budget
from experiments.lda_publishing.readme import Findings, write_readme
from experiments.lda_publishing.results import Results, add_rows, read_rows
from experiments.lda_publishing.settings import FULL, QUICK, Scope
from tqdm import tqdm

__all__ = ["main", "run"]

HERE: Final = Path(__file__).resolve().parent
_RIVALS: Final = "privbayes.csv"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; return 0 when everything is written."""
    parser = argparse.ArgumentParser(
        description="Measure paper 002: what it publishes, and a release that is private.",
        epilog="example: python -m experiments.lda_publishing.run --quick --output here",
    )
    parser.add_argument("--quick", action="store_true", help="a look, in seconds: two tasks")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write (here)")
    parser.add_argument("--tables", action="store_true", help="write from what is finished")
    options = parser.parse_args(arguments)
    scope = QUICK if options.quick else FULL
    output = options.output or (Path(tempfile.mkdtemp()) if options.quick else HERE)
    output.mkdir(parents=True, exist_ok=True)
    run(scope, output, measured=not options.tables)
    sys.stdout.write(f"Written to {output}\n")
    return 0


def run(scope: Scope, output: Path, *, measured: bool = True) -> Findings:
    """Measure what is missing, then write everything from what is there."""
    path = output / "results.csv"
    if measured:
        done = {row.task for row in read_rows(path)}
        for task in scope.tasks:
            if task not in done:
                add_rows(measure_task(task, scope), path)
        _measure_rivals(scope, output / _RIVALS)
    found = Findings(
        results=Results([*read_rows(path), *read_rows(output / _RIVALS)]),
        attacks=_kept(output / "attacks.json", Attack, lambda: measure_attacks(scope), measured),
        levers=_kept(output / "levers.json", Lever, lambda: measure_levers(scope), measured),
    )
    pictures = draw_all(found.results, scope, output / "figures")
    write_readme(found, scope, pictures, output / "README.md")
    return found


def _measure_rivals(scope: Scope, path: Path) -> None:
    """Measure what another package makes of the same tables; it is installed on first use."""
    done = {(row.task, row.epsilon) for row in read_rows(path)}
    missing = [
        (table, epsilon)
        for table, tasks in TABLES.items()
        for epsilon in scope.budgets
        if scope.rivals and (tasks[0], epsilon) not in done
    ]
    for table, epsilon in tqdm(missing, desc="PrivBayes", disable=None, mininterval=5.0):
        add_rows(measure_budget(table, epsilon, scope.rivals, dpmm_rows), path)


def _kept(path: Path, kind: Any, measure: Callable[[], list[Any]], measured: bool) -> list[Any]:  # noqa: ANN401, FBT001  either kind of finding
    """Return findings of a file, measured first where there is none."""
    if not path.exists() and measured:
        text = json.dumps([asdict(each) for each in measure()], indent=1)
        path.write_text(text + "\n")
    return [kind(**form) for form in json.loads(path.read_text())] if path.exists() else []
