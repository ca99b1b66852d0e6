"""The verb log: make a log of releases, look at it, prove from it, and check all of it."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from supm._errors import PublicationError
from supm.cli._files import check_target, write_json, write_text
from supm.cli._log_checking import add_check
from supm.cli._log_evidence import add_evidence
from supm.cli._log_keeping import add_keeping
from supm.cli._output import table
from supm.cli._publication_options import add_log, add_reader_key

if TYPE_CHECKING:
    from supm.publication.entry import LogEntry
    from supm.publication.history import LogReader
    from supm.publication.signing import SignedCheckpoint

__all__ = ["add_to"]

_EXAMPLES: Final = {
    "create": """\
  supm log create releases.db --name hospitals.example/releases
                                             a log and its keys: releases.key is secret,
                                             releases.pub is for readers
""",
    "show": """\
  supm log show --log releases.db            what was published?
  supm log show --log https://hospitals.example
""",
    "prove": """\
  supm log prove release.json --log releases.db      the proof again, under the newest anchor
  supm log prove release.json --log https://hospitals.example --key releases.pub
""",
    "check": """\
  supm log check --log https://hospitals.example --key releases.pub --keep kept.txt
                                             rebuild the root from all entries; is it the same log
                                             as last time?
""",
    "evidence": """\
  supm log evidence fork.json --key releases.pub     does the file show two histories of the log?
""",
    "rotate": """\
  supm log rotate --log releases.db --new releases2.key
""",
    "revoke": """\
  supm log revoke --log releases.db --old releases.pub --signing-key releases2.key
""",
    "account": """\
  supm log account payer.key                 an account on a chain
""",
    "deploy": """\
  supm log deploy --log releases.db --chain http://127.0.0.1:8545 --account payer.key
""",
    "anchor": """\
  supm log anchor --log releases.db --chain http://127.0.0.1:8545 --account payer.key
""",
}
_SHOWN = 20
_Run = Callable[[argparse.Namespace], int]


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "log",
        help="make, show, prove from and check a log of releases",
        description="An append-only log of what was published. Anybody can rebuild its root from\n"
        "the raw entries; its publisher signs, and a chain can vouch for it.",
        epilog="examples:\n" + "".join(_EXAMPLES.values()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    acts = parser.add_subparsers(title="what to do", metavar="ACT", required=True)

    def added(
        name: str, what: str, run: Callable[[argparse.Namespace], int]
    ) -> argparse.ArgumentParser:
        act = acts.add_parser(
            name,
            help=what,
            epilog=f"examples:\n{_EXAMPLES[name]}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        act.set_defaults(run=run)
        return act

    _add_show(added("show", "list what was published", _show))
    _add_prove(added("prove", "write the proof of a published file", _prove))
    add_check(added)
    add_evidence(added)
    add_keeping(added)


def _add_show(parser: argparse.ArgumentParser) -> None:
    add_log(parser, "the log's file or address")
    parser.add_argument("--json", metavar="FILE", help="write all entries; - prints them")


def _add_prove(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what was published")
    add_log(parser, "the log's file or address")
    add_reader_key(parser)
    parser.add_argument(
        "-o", "--output", metavar="P", help="where the proof goes; FILE.proof by default"
    )


def _show(arguments: argparse.Namespace) -> int:
    from supm.cli._published import reader_at  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.entry import read_entry  # noqa: PLC0415  the same
    from supm.publication.history import history_of  # noqa: PLC0415  the same

    check_target("--json", arguments.json)
    log = reader_at(arguments.log)
    now = log.checkpoint()
    size = now.checkpoint.size
    history = history_of(log, size)
    history.check(now)
    keys = [str(each) for each in history.keys]
    if arguments.json:
        entries = _all_entries(log, now)
        told = {"name": log.first_key.name, "keys": keys, "size": size}
        told["revoked"] = [str(each) for each in history.revoked]
        write_json(told | {"entries": entries}, arguments.json)
    if arguments.json == "-":
        return 0
    noun = "entry" if size == 1 else "entries"
    print(f"The log {log.first_key.name} has {size} {noun}. Its key in charge:")
    print(f"  {keys[-1]}")
    for each in history.keys[:-1]:
        fate = "revoked: do not use it" if each in history.revoked else "retired"
        print(f"  {each} ({fate})")
    start = max(0, size - _SHOWN)
    newest = [read_entry(each) for each in log.entries(start, size)]
    rows = [
        [str(start + place), each.time, each.kind, *_named(each)]
        for place, each in enumerate(newest)
    ]
    if rows:
        print(table(["entry", "time", "kind", "what", "SHA-256"], rows, left=5))
    if start:
        print(f"(the newest {_SHOWN}; --json writes all)")
    return 0


def _all_entries(log: LogReader, now: SignedCheckpoint) -> list[Any]:
    """Return all entries as plain values: those that the log signed for, and no others."""
    from supm.publication.monitoring import entries_of, rebuilt  # noqa: PLC0415  the same
    from supm.publication.story import EntryReader  # noqa: PLC0415  loaded when the verb runs

    reader, found = EntryReader(), list[Any]()

    def taken(text: str) -> str:
        reader.read(text)
        found.append(json.loads(text))
        return text

    _, root, _ = rebuilt(map(taken, entries_of(log, now.checkpoint.size)))
    if root != now.checkpoint.root:
        message = "the entries of the log are not those that it signed for; see supm log check."
        raise PublicationError(message)
    return found


def _named(entry: LogEntry) -> tuple[str, str]:
    names = {"round": "run", "key": "act", "chain": "contract"}
    name = str(getattr(entry, names.get(entry.kind, "name")))
    if entry.kind == "round":
        name = f"round {getattr(entry, 'round', 0)} of run {name[:8]}…"
    content = str(getattr(entry, "content", ""))
    return name, f"{content[:16]}…" if content else ""


def _prove(arguments: argparse.Namespace) -> int:
    from supm.cli._checking import check_replaceable  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._published import (  # noqa: PLC0415  the same
        proof_from,
        read_bytes,
        reader_at,
        verifier_key,
    )
    from supm.publication.checks import verify_file  # noqa: PLC0415  the same
    from supm.publication.log import Log  # noqa: PLC0415  the same
    from supm.publication.proof import Proof  # noqa: PLC0415  the same

    target = arguments.output or f"{arguments.file}.proof"
    check_replaceable("-o", target, Proof.from_json)
    content, log = read_bytes("FILE", arguments.file), reader_at(arguments.log)
    # What comes from an address is checked before it takes the place of a proof.
    ours = isinstance(log, Log) and not arguments.key
    key = log.first_key if ours else verifier_key(arguments.key)
    proof = proof_from(log, hashlib.sha256(content).hexdigest())
    for _ in verify_file(content, proof, key):
        pass
    write_text("-o", proof.to_json() + "\n", target)
    size = proof.checkpoint.checkpoint.size
    if target != "-":
        print(f"{target} shows that entry {proof.release.index} is one of {size}.")
    return 0
