"""Checks that verbs print one by one: what holds, in words, and the first thing that does not."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from supm._errors import ParameterError, PublicationError, SupmError
from supm._json import read_object
from supm.cli._files import check_target, write_json
from supm.cli._output import paragraph
from supm.publication.chain.errors import OtherChainError, UnreachableNodeError
from supm.publication.remote import UnreachableError

__all__ = ["check_replaceable", "run_checks"]

_UNASKED: Final = (UnreachableError, UnreachableNodeError, OtherChainError)


def check_replaceable(option: str, target: str, read: Callable[[str], object]) -> None:
    """Refuse a target that is there and is something else than what would replace it.

    Parameters
    ----------
    option : str
        The option that names the file.
    target : str
        The name of the file.
    read : callable
        Reads a text of the right kind, and raises where it is another.
    """
    check_target(option, target)
    path = Path(target)
    if target == "-" or not path.exists():
        return
    try:
        read(path.read_text(encoding="utf-8"))
    except (SupmError, OSError, UnicodeDecodeError):
        wanted = "a new file, or one of the same kind, which is replaced"
        raise ParameterError(option, wanted, target) from None


def run_checks(
    checks: Iterator[str], arguments: argparse.Namespace, what: str, facts: dict[str, Any]
) -> int:
    """Print each check that holds; raise at the first that does not, with its evidence kept.

    Parameters
    ----------
    checks : iterator of str
        Yields a sentence for each check that holds, and raises.
    arguments : Namespace
        With the options ``--json`` and ``--evidence``.
    what : str
        What is checked.
    facts : dict
        For machines: what the checks found out, filled by them.

    Returns
    -------
    int
        The exit code of success.

    Raises
    ------
    PublicationError
        If a check does not hold.
    """
    for option, target in (("--json", arguments.json), ("--evidence", arguments.evidence)):
        if target is not None:
            check_replaceable(option, target, _json_of_ours)
    held: list[str] = []
    if arguments.json and arguments.json != "-":
        # What an earlier run found must not be taken for what this one did, however it ends.
        write_json({"verified": False, "outcome": "unknown", "checked": []}, arguments.json)
    outcome, problem = _tried(checks, held, arguments)
    if arguments.json:
        told = {"verified": problem is None, "outcome": outcome, "checked": held}
        write_json(told | {"problem": problem} | facts, arguments.json)
    if problem is not None:
        raise PublicationError(_complaint(what, problem, outcome, held))
    if arguments.json != "-":
        print(f"VERIFIED: {what}")
    return 0


def _tried(
    checks: Iterator[str], held: list[str], arguments: argparse.Namespace
) -> tuple[str, str | None]:
    """Run the checks; return the outcome in one word, and the problem."""
    try:
        for line in checks:
            held.append(line)
            if arguments.json != "-":
                print(_shown(line), flush=True)
    except ParameterError:
        raise
    except SupmError as error:
        _keep_evidence(error, arguments.evidence)
        return ("unknown" if isinstance(error, _UNASKED) else "refuted"), str(error)
    return "verified", None


def _shown(line: str) -> str:
    mark = "" if line.startswith("WARNING") else "ok: "
    # Lines after the first are set in, so that each check is seen to be one.
    return textwrap.indent(paragraph(mark + line), "    ").strip()


def _complaint(what: str, problem: str, outcome: str, held: list[str]) -> str:
    if outcome == "refuted":
        return f"{what} is NOT verified: {problem}"
    so_far = "what was checked before holds" if held else "nothing was checked"
    return f"{what} could not be checked to the end ({so_far}): {problem}"


def _json_of_ours(text: str) -> None:
    form = read_object(text, "file", PublicationError)
    if not {"outcome", "first"} & set(form):
        message = "another file."
        raise PublicationError(message)


def _keep_evidence(error: SupmError, target: str | None) -> None:
    evidence = getattr(error, "evidence", None)
    if evidence is not None and target is not None:
        write_json(evidence, target)
