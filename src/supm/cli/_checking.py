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
from supm.cli._targets import check_targets
from supm.publication.chain.errors import OtherChainError, UnreachableNodeError
from supm.publication.remote import UnreachableError

__all__ = ["check_replaceable", "run_checks"]

_READ: Final = {
    "FILE": "file",
    "--proof": "proof",
    "--receipt": "receipt",
    "--checkpoint": "checkpoint",
    "--keep": "keep",
    "--log": "log",
    "--key": "key",
}
_WRITTEN: Final = {"--json": "json", "--evidence": "evidence"}
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
    check_targets(_named(arguments, _READ), _named(arguments, _WRITTEN))
    for option, target in (("--json", arguments.json), ("--evidence", arguments.evidence)):
        if target is not None:
            check_replaceable(option, target, _report if option == "--json" else _found)
    held: list[str] = []
    if arguments.json and arguments.json != "-":
        # What an earlier run found must not be taken for what this one did, however it ends.
        write_json({"verified": False, "outcome": "unknown", "checked": []}, arguments.json)
    outcome, problem, found = _tried(checks, held, arguments)
    if arguments.json:
        told = {"verified": problem is None, "outcome": outcome, "checked": held}
        write_json(told | {"problem": problem} | facts, arguments.json)
    if problem is not None:
        complaint = _complaint(what, problem, outcome, held)
        raise PublicationError(f"{complaint} {found}".rstrip())
    if arguments.json != "-":
        print(f"VERIFIED: {what}")
    return 0


def _tried(
    checks: Iterator[str], held: list[str], arguments: argparse.Namespace
) -> tuple[str, str | None, str]:
    """Run the checks; return the outcome in one word, the problem, and where its evidence is."""
    try:
        for line in checks:
            held.append(line)
            if arguments.json != "-":
                print(_shown(line), flush=True)
    except ParameterError:
        raise
    except SupmError as error:
        found = _keep_evidence(error, arguments.evidence)
        return ("unknown" if isinstance(error, _UNASKED) else "refuted"), str(error), found
    return "verified", None, ""


def _shown(line: str) -> str:
    mark = "" if line.startswith("WARNING") else "ok: "
    # Lines after the first are set in, so that each check is seen to be one.
    return textwrap.indent(paragraph(mark + line), "    ").strip()


def _complaint(what: str, problem: str, outcome: str, held: list[str]) -> str:
    if outcome == "refuted":
        return f"{what} is NOT verified: {problem}"
    so_far = "what was checked before holds" if held else "nothing was checked"
    return f"{what} could not be checked to the end ({so_far}): {problem}"


def _named(arguments: argparse.Namespace, options: dict[str, str]) -> dict[str, str]:
    """Return the files that options name, by option."""
    given = {option: getattr(arguments, name, None) for option, name in options.items()}
    return {option: path for option, path in given.items() if path}


def _report(text: str) -> None:
    _check_field(text, "outcome")


def _found(text: str) -> None:
    _check_field(text, "first")


def _check_field(text: str, name: str) -> None:
    if name not in read_object(text, "file", PublicationError):
        message = "another file."
        raise PublicationError(message)


def _keep_evidence(error: SupmError, target: str | None) -> str:
    """Write the evidence where there is some, and say where it is."""
    evidence = getattr(error, "evidence", None)
    if evidence is None:
        return ""
    if target is None:
        return "Once more with --evidence FILE, and the evidence is in a file."
    write_json(evidence, target)
    return f"The evidence is in {target}: supm log evidence {target} judges it."
