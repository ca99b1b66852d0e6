"""Measure how many reports a second the aggregator stores, and how it answers when it holds many.

Usage: python benchmarks/ingest.py [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from hosts import Host, aggregator, bare, postgresql
from ingest_studies import create, run_load, study_of
from stored import Stored
from tables import Goal, Row, Table, as_json, as_text
from timing import Step, silent
from tqdm import tqdm

from supm.service.store import Store

__all__ = ["FULL", "QUICK", "Ingest", "Plan", "main", "measure"]

_SIZE = 1_000
_LINES, _SINGLE_LINES = 4, 32
_RATE = 750.0
_LIMITS = {
    ("SQLite", "Arrow"): 150_000.0,
    ("SQLite", "JSON"): 60_000.0,
    ("PostgreSQL", "Arrow"): 60_000.0,
    ("PostgreSQL", "JSON"): 30_000.0,
}
_SINGLE, _SLOW, _RATIO = 1_500.0, 0.05, 2.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much is sent: batches of 1,000 and single reports, how often, and what is stored."""

    batches: int
    singles: int
    rounds: int
    stored: int


FULL = Plan(batches=300, singles=6_000, rounds=5, stored=10**7)
QUICK = Plan(batches=60, singles=1_000, rounds=1, stored=200_000)


class Ingest:
    """Both databases, both formats and a plain server beside, in turn."""

    def __init__(self, plan: Plan, kinds: Sequence[str] = ("SQLite", "PostgreSQL")) -> None:
        self._plan, self._kinds = plan, kinds
        self._rates: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        self._single: dict[str, list[float]] = defaultdict(list)
        self._paced: dict[str, list[dict[str, float]]] = defaultdict(list)

    def measure(self, folder: Path, step: Step) -> None:
        """Send all of it, round after round; the middle round counts."""
        for kind in self._kinds:
            with ExitStack() as stack:
                place: str | None = f"sqlite:///{folder}/ours.db"
                if kind == "PostgreSQL":
                    place = stack.enter_context(postgresql())
                if place is not None:
                    self._measure_database(kind, place, stack, folder, step)

    def _measure_database(
        self, kind: str, place: str, stack: ExitStack, folder: Path, step: Step
    ) -> None:
        store = Store.open(place)
        stack.callback(store.close)
        ours = stack.enter_context(aggregator(place, folder))
        other = stack.enter_context(bare(place.replace("ours.db", "bare.db"), folder))
        for number in range(self._plan.rounds):
            step(f"{kind}: round {number + 1} of {self._plan.rounds}")
            self._round(kind, store, ours, other)

    def tables(self) -> list[Table]:
        """Return reports a second, and seconds until one is acknowledged."""
        rows = [self._row(*key) for key in self._rates]
        singles: list[Row] = [
            {
                "database": kind,
                "reports_a_second": median(rates),
                "best_round": max(rates),
                f"p50_seconds_at_{_RATE:.0f}_a_second": self._slow(kind, "p50", median),
                f"p99_seconds_at_{_RATE:.0f}_a_second": self._slow(kind, "p99", median),
                "p99_of_the_worst_round": self._slow(kind, "p99", max),
            }
            for kind, rates in self._single.items()
        ]
        return [
            Table(f"Batches of {_SIZE:,} reports, load from another process", rows),
            Table("Reports one by one", singles),
        ]

    def goals(self) -> list[Goal]:
        """Return the goals."""
        found = [
            Goal(
                name=f"{kind}, {form}: reports a second",
                measured=self._rate(kind, form, "SUPM"),
                limit=limit,
                at_least=True,
            )
            for (kind, form), limit in _LIMITS.items()
        ]
        found += [
            Goal(
                name=f"{kind}, JSON: times the plain server",
                measured=self._ratio(kind),
                limit=_RATIO,
                at_least=True,
            )
            for kind in ("SQLite", "PostgreSQL")
        ]
        for kind, rates in self._single.items():
            name, rate = f"{kind}, one by one", median(rates)
            slow = self._slow(kind, "p99", max)
            found.append(
                Goal(name=f"{name}: reports a second", measured=rate, limit=_SINGLE, at_least=True)
            )
            name = f"{name}: 99th percentile of the worst round, seconds"
            found.append(Goal(name=name, measured=slow, limit=_SLOW))
        return found

    def _round(self, kind: str, store: Store, ours: Host, other: Host) -> None:
        for form in ("Arrow", "JSON"):
            rate = self._send(store, ours, "batches", form)
            self._rates[kind, form, "SUPM"].append(rate)
        opened = create(store, study_of())
        wish = {"count": self._plan.batches, "size": _SIZE, "lines": _LINES}
        found = run_load("batches", other, opened, "train", wish | {"path": "/reports/batch"})
        self._rates[kind, "JSON", "plain server"].append(found["reports"] / found["seconds"])
        self._single[kind].append(self._send(store, ours, "one", "JSON"))
        opened = create(store, study_of())
        slowly = {"count": self._plan.singles // 2, "rate": _RATE, "lines": _SINGLE_LINES}
        self._paced[kind].append(run_load("paced", ours, opened, "train", slowly))

    def _send(self, store: Store, host: Host, what: str, form: str) -> float:
        opened = create(store, study_of())
        one = what == "one"
        wish = {
            "count": self._plan.singles if one else self._plan.batches,
            "size": _SIZE,
            "lines": _SINGLE_LINES if one else _LINES,
            "arrow": form == "Arrow",
        }
        found = run_load(what, host, opened, "train", wish)
        stored = store.reports(opened.name)["train"]
        if stored != found["reports"]:
            raise RuntimeError(
                f"{found['reports']:,} reports were acknowledged and {stored:,} are stored."
            )
        return found["reports"] / found["seconds"]

    def _rate(self, kind: str, form: str, who: str) -> float | None:
        rates = self._rates.get((kind, form, who))
        return median(rates) if rates else None

    def _slow(self, kind: str, name: str, of: Callable[[list[float]], float]) -> float:
        return of([each[name] for each in self._paced[kind]])

    def _ratio(self, kind: str) -> float | None:
        ours, plain = (self._rate(kind, "JSON", who) for who in ("SUPM", "plain server"))
        return None if ours is None or plain is None else ours / plain

    def _row(self, kind: str, form: str, who: str) -> Row:
        plain = median(self._rates[kind, "JSON", "plain server"])
        rates = self._rates[kind, form, who]
        ours = who == "SUPM"
        return {
            "database": kind,
            "body": form,
            "who": who if ours else "pydantic and ORM insert",
            "each_report_once": "yes" if ours else "no",
            "reports_a_second": median(rates),
            "best_round": max(rates),
            "times_the_plain_server": median(rates) / plain,
        }


def measure(plan: Plan, step: Step = silent) -> tuple[list[Table], list[Goal]]:
    """Measure everything once."""
    ingest, stored = Ingest(plan), Stored(plan.stored)
    with tempfile.TemporaryDirectory(prefix="supm-ingest-") as folder:
        ingest.measure(Path(folder), step)
        stored.measure(Path(folder), step)
    return [*ingest.tables(), stored.table()], [*ingest.goals(), *stored.goals()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables and the goals."""
    parser = argparse.ArgumentParser(
        description="Measure how many reports a second the aggregator stores.",
        epilog="example: python benchmarks/ingest.py --json ingest.json",
    )
    parser.add_argument("--quick", action="store_true", help="fewer reports: a look, not a figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else FULL
    with tqdm(total=2 * plan.rounds + 10, leave=False, file=sys.stderr) as bar:

        def step(doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.update()

        tables, goals = measure(plan, step)
    print(as_text(tables, goals))
    if options.json:
        options.json.write_text(json.dumps(as_json(tables, goals), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
