"""The verb audit: measure whether a promise is true."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from supm import __version__, secure
from supm.cli._arguments import epsilon, whole
from supm.cli._files import check_target, write_json
from supm.cli._output import progress, say, table

if TYPE_CHECKING:
    from supm.audit import Audit, Entry

__all__ = ["add_to"]

# A part in a hundred is no news.
_KEPT = 0.99
_EXAMPLES = """\
examples:
  supm audit --all                                  every shipped mechanism: about two minutes
  supm audit --all --json audit.json                the same, and a file for machines
  supm audit randomized-response                    one of them, at epsilon 1
  supm audit subset-selection --size 8 --epsilon 0.5

mechanisms:
  binary-response, duchi, hadamard-response, hybrid, independent-reports, joint-report, laplace,
  local-hashing, odp-continuous, odp-ordinal, optimised-unary, piecewise, randomized-response,
  square-wave, subset-selection, symmetric-unary
"""
_HEAD = ("mechanism", "parameters", "claimed", "exact", "lower bound", "verdict")
_NOT_DISPROVED = (
    "Not disproved: the channel is too large to write down, so its epsilon was not computed."
)
_BROKEN = 1


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "audit",
        help="measure whether the promised epsilon is kept",
        description="Compare what a mechanism claims with its exact channel, its sampler with the\n"
        "channel and its estimator with both, and attack it with a million samples. The exit code\n"
        "is 1 if a promise is broken.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("name", nargs="?", metavar="NAME", help="the mechanism to audit")
    which.add_argument("--all", action="store_true", help="audit every shipped mechanism")
    parser.add_argument("--epsilon", type=epsilon, metavar="E", help="with NAME; 1 by default")
    parser.add_argument(
        "--size", type=whole(1, 1 << 40), metavar="K", help="with NAME: symbols, classes or steps"
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write the findings to a file; - prints them"
    )
    parser.set_defaults(run=_run, parser=parser)


def _run(arguments: argparse.Namespace) -> int:
    check_target("--json", arguments.json)
    lines = _lines(arguments)
    start = time.monotonic()
    rows = _audit(lines) + (_audit_noises() + _audit_owners() if arguments.all else [])
    return _report(rows, time.monotonic() - start, arguments.json)


def _report(rows: list[Audit], seconds: float, json: str | None) -> int:
    if json != "-":
        _print(rows, seconds)
    if json:
        write_json(_for_machines(rows, seconds), json)
    if json and json != "-":
        print(f"The findings are in {json}.")
    return _BROKEN if any(row.verdict == "broken" for row in rows) else 0


def _lines(arguments: argparse.Namespace) -> list[Entry]:
    from supm.audit import catalogue, entry  # noqa: PLC0415  loaded when the verb runs

    if not arguments.all:
        asked = 1.0 if arguments.epsilon is None else arguments.epsilon
        line = entry(arguments.name, epsilon=asked, size=arguments.size)
        kept = line.mechanism.epsilon
        if kept < asked * _KEPT:
            told = f"64-bit words cannot hold more than epsilon {kept:.4g} here"
            say(f"{told}; {asked:g} was asked for.")
        return [line]
    if arguments.epsilon is not None or arguments.size is not None:
        arguments.parser.error("--epsilon and --size go with NAME, not with --all.")
    return catalogue()


def _audit(lines: list[Entry]) -> list[Audit]:
    from supm.audit import audit_all  # noqa: PLC0415  loaded when the verb runs

    return list(progress(audit_all(secure(), lines), total=len(lines), unit="audits"))


def _audit_noises() -> list[Audit]:
    """Audit all noise for sums, matrices and models; its epsilons are those at delta = 10^-6."""
    from supm.audit import audit_noises, noises  # noqa: PLC0415  loaded when the verb runs

    lines = noises()
    return list(progress(audit_noises(secure(), lines), total=len(lines), unit="audits"))


def _audit_owners() -> list[Audit]:
    """Audit all that leaves an owner, for every way in which a study can ask."""
    from supm.audit import (  # noqa: PLC0415  loaded when the verb runs
        audit_studies,
        large_studies,
        small_studies,
    )

    total = 2 * (len(small_studies()) + len(large_studies()))
    return list(progress(audit_studies(secure()), total=total, unit="owners"))


def _print(rows: list[Audit], seconds: float) -> None:
    print(table(_HEAD, [_cells(row) for row in rows], left=2))
    for row in rows:
        for finding in row.findings:
            if not finding.passed:
                print(f"\n{row.mechanism}, {row.parameters}: {finding}")
    kept, open_still, none, broken = _counts(rows).values()
    promises = "promise" if kept == 1 else "promises"
    print(
        f"\n{kept} {promises} kept exactly, {open_still} not disproved by samples, "
        f"{broken} broken, in {seconds:.0f} s."
    )
    if none:
        print(f"{none} owners are promised nothing, because a phase is trusted; the study says so.")
    if open_still:
        print(_NOT_DISPROVED)


def _counts(rows: list[Audit]) -> dict[str, int]:
    verdicts = [row.verdict for row in rows]
    return {
        "kept_exactly": verdicts.count("true") + verdicts.count("loose"),
        "not_disproved": verdicts.count("not disproved"),
        "no_guarantee": verdicts.count("no guarantee"),
        "broken": verdicts.count("broken"),
    }


def _cells(row: Audit) -> list[str]:
    return [row.mechanism, row.parameters, *row.figures(), row.verdict]


def _for_machines(rows: list[Audit], seconds: float) -> dict[str, Any]:
    return {
        "version": __version__,
        **_counts(rows),
        "seconds": round(seconds, 3),
        "audits": [
            {
                "mechanism": row.mechanism,
                "parameters": row.parameters,
                "claimed_epsilon": row.claimed,
                "exact_epsilon": row.exact,
                "empirical_lower_bound": row.lower_bound,
                "verdict": row.verdict,
                "findings": [asdict(finding) for finding in row.findings],
                "skipped": list(row.skipped),
            }
            for row in rows
        ],
    }
