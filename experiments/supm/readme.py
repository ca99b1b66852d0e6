"""The README: every printed number beside ours, and the tables behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from experiments.supm.bars import VERDICTS, bars
from experiments.supm.claims import Claim, claims_of
from experiments.supm.markdown import table
from experiments.supm.results import Results
from experiments.supm.schedule import entries_of
from experiments.supm.sections import SECTIONS
from experiments.supm.settings import Data
from experiments.supm.words import HEAD, RULES

__all__ = ["write_readme"]

_HEAD: Final = ("where", "claim", "printed", "ours", "gap", "holds", "note")


def write_readme(results: Results, pictures: Sequence[Path], path: Path) -> None:
    """Write the whole document."""
    claims = {data.name: claims_of(results, data) for data in results.scope.data}
    told = (claim.why for each in claims.values() for claim in each if claim.why)
    notes = list(dict.fromkeys(told))
    parts = [HEAD, _scope(results), bars(results, claims, notes), RULES]
    for data in results.scope.data:
        parts.append(f"## {data.title}\n")
        parts.append(_facts(results, data))
        parts.append(_claims(claims[data.name], notes))
        parts.extend(section(results, data) for section in SECTIONS)
    numbered = (f"{number}. {note}" for number, note in enumerate(notes, 1))
    parts.append(
        "## Notes: why we differ\n\nFigures are of the full run.\n\n" + "\n".join(numbered) + "\n"
    )
    parts.append(_pictures(pictures, path.parent))
    path.write_text("\n".join(part for part in parts if part).rstrip() + "\n")


def _scope(results: Results) -> str:
    seconds = sum(outcome.seconds for outcome in results.outcomes.values())
    planned = {entry.job: entry.purpose for entry in entries_of(results.scope)}
    words = (
        f"{len(results.outcomes)} of {len(planned)} settings, "
        f"processor time {seconds / 60:.1f} minutes.\n"
    )
    missing = Counter(
        f"{job.data} ({purpose})" for job, purpose in planned.items() if job not in results.outcomes
    )
    if missing:
        listed = ", ".join(f"{count} of {name}" for name, count in missing.items())
        words += f"\n**Not measured in this run:** {listed}.\n"
    if results.scope.name == "full":
        return f"This is the full run: {words}"
    return f"**This is the {results.scope.name} run, a look and no reproduction:** {words}"


def _facts(results: Results, data: Data) -> str:
    majority = results.majority(data.name)
    share = "" if majority is None else f" The majority class is {majority:.1f} %."
    return f"C = {data.penalty:g}, {data.repeats} repetitions.{share}\n"


def _claims(claims: Sequence[Claim], notes: Sequence[str]) -> str:
    rows = []
    for claim in claims:
        note = str(notes.index(claim.why) + 1) if claim.why else ""
        found = claim.found
        verdict = VERDICTS[found.holds]
        rows.append((claim.where, claim.text, claim.claimed, found.ours, found.gap, verdict, note))
    return table(_HEAD, rows)


def _pictures(pictures: Sequence[Path], folder: Path) -> str:
    shown = (f"![{path.stem}]({path.relative_to(folder).as_posix()})" for path in pictures)
    return "## Pictures\n\n" + "\n".join(shown) + "\n"
