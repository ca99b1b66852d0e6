"""The verb publish: enter a file into a log, and write the proof that readers check."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supm._errors import PublicationError, SupmError
from supm.cli._files import read_text, write_json, write_text
from supm.cli._output import paragraph
from supm.cli._publication_options import (
    add_account,
    add_chain,
    add_log,
    add_signing_key,
    add_time,
)

if TYPE_CHECKING:
    from supm.messages import ReleaseStatement, Statement
    from supm.publication.log import Log
    from supm.publication.proof import Proof

__all__ = ["add_to", "anchored", "write_proof"]

_SURE = (
    "The whole file becomes public, for ever, and nobody can derive from it what you promise. "
    "Is it private already? Publish?"
)
_NOTHING = "Nothing was published."
_HOW = "Write one with supm statement {} --json statement.json."

_EXAMPLES = """\
examples:
  supm log create releases.db --name hospitals.example/releases    once
  supm publish release.json --log releases.db                      writes release.json.proof
  supm statement release.json --json statement.json                write down what it promises
  supm publish table.csv --statement statement.json --log releases.db --yes
  supm publish release.json --log releases.db --bundle release.zip   one file for readers
  supm publish release.json --log releases.db --chain http://127.0.0.1:8545 --account payer.key

The whole file is kept in the log and becomes public, for ever.
Give readers the file, the proof beside it, and once the log's public key (releases.pub). They run
supm verify release.json --key releases.pub
"""


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "publish",
        help="enter a file into a log that anybody can check",
        description="Publish a release, a model or a table: its hash, its statement and the time\n"
        "go into an append-only log, and a proof is written beside the file.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="what to publish")
    parser.add_argument(
        "--statement",
        metavar="S",
        help="its statement (JSON), where the file is no release or model that holds its own",
    )
    parser.add_argument(
        "--yes", action="store_true", help="publish a file whose promise nobody can derive"
    )
    add_log(parser)
    add_signing_key(parser)
    add_time(parser)
    parser.add_argument("--proof", metavar="P", help="where the proof goes; FILE.proof by default")
    parser.add_argument(
        "--bundle", metavar="B", help="write the file and its proof into one zip for readers, too"
    )
    add_chain(parser)
    add_account(parser)
    parser.add_argument("--json", metavar="FILE", help="write what was done; - prints it")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from supm.cli._publish_targets import checked_target  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._published import log_at, read_bytes, signing_key, when  # noqa: PLC0415  the same
    from supm.publication.publishing import publish  # noqa: PLC0415  the same

    target = checked_target(arguments)
    content = read_bytes("FILE", arguments.file)
    statement = _statement(content, arguments)
    if statement is None:
        return 1
    with log_at(arguments.log) as log:
        key = signing_key(arguments)
        log.check_charge(key)
        if arguments.chain:
            _check_chain(log, arguments)
        size = log.size
        name, time = Path(arguments.file).name, when(arguments.time, log)
        # In one step with the bundle: nothing is entered that cannot be handed out.
        with log.step():
            place = publish(log, key, content, name=name, statement=statement, time=time)
            _check_room(log, place, content, arguments)
        # Before anything is asked of a chain: what is published has its proof, whatever comes.
        _hand_out(log, place, content, arguments)
        already = "" if log.size > size else " already"
        told = {"index": place, "log": log.name, "proof": target, "bundle": arguments.bundle}
        lines = [f"{arguments.file} is{already} entry {place} of the log {log.name}."]
        if arguments.chain:
            lines += _anchored_too(log, arguments, told, lines[0])
            _hand_out(log, place, content, arguments)
    lines.append(_for_readers(target, arguments.bundle))
    if arguments.json:
        write_json(told, arguments.json)
    if arguments.json != "-":
        print(paragraph(" ".join(lines)))
    return 0


def _statement(
    content: bytes, arguments: argparse.Namespace
) -> Statement | ReleaseStatement | None:
    """Return the statement of the file; None where the publisher thinks better of it."""
    from supm.cli._published import UsageError, own_statement  # noqa: PLC0415  loaded when the verb runs
    from supm.cli.contribute import agreed  # noqa: PLC0415  the same
    from supm.cli.statement import statement_of  # noqa: PLC0415  the same

    own, path = own_statement(content), arguments.statement
    if path is None:
        if own is None:
            message = (
                "--statement must be given: the file is no release or model of SUPM that holds "
                f"a statement of its own. {_HOW.format('release.json')}"
            )
            raise UsageError(message)
        return own
    noun, given, _ = statement_of(read_text("--statement", path))
    if not noun.startswith("statement"):
        hint = _HOW.format(path)
        message = f"--statement must be a statement alone, and {path} is a {noun}. {hint}"
        raise UsageError(message)
    if own is not None and own != given:
        message = "--statement says something else than the file itself; leave it out."
        raise PublicationError(message)
    if own is None and not agreed(_SURE, sys.stderr, yes=arguments.yes, otherwise=_NOTHING):
        return None
    return given


def _check_chain(log: Log, arguments: argparse.Namespace) -> None:
    """Refuse before anything is published what a chain would refuse afterwards."""
    from supm.cli._published import account_at, chain_at  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.publishing import contract_of  # noqa: PLC0415  the same

    named, account = contract_of(log), account_at(arguments.account)
    chain = chain_at(arguments.chain, named)
    chain.check_code(log=bytes.fromhex(named.log), publisher=account.address)


def _anchored_too(
    log: Log, arguments: argparse.Namespace, told: dict[str, Any], done: str
) -> list[str]:
    try:
        return anchored(log, arguments, told)
    except SupmError as error:
        message = f"{done} But it is not anchored: {error} Run supm log anchor later."
        raise PublicationError(message) from None


def anchored(log: Log, arguments: argparse.Namespace, told: dict[str, Any]) -> list[str]:
    """Anchor a log on a chain, and say what it cost.

    Parameters
    ----------
    log : Log
        The log.
    arguments : Namespace
        With the options ``--chain`` and ``--account``.
    told : dict
        For machines; what was done is added.

    Returns
    -------
    list of str
        In words.
    """
    from supm.cli._published import account_at, chain_at  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.merkle import entries_in_words  # noqa: PLC0415  the same
    from supm.publication.publishing import anchor, contract_of  # noqa: PLC0415  the same

    named, before = contract_of(log), log.anchored()
    chain = chain_at(arguments.chain, named)
    size, receipt = anchor(log, chain, account_at(arguments.account))
    told |= {"size": size, "contract": named.contract, "chain": named.chain}
    if receipt is None:
        return [f"The root of {entries_in_words(size)} was on chain {named.chain} before."]
    entries = size - (0 if before is None else before.checkpoint.size)
    told |= {"gas": receipt.gas, "entries": entries, "transaction": receipt.transaction}
    whole, new = entries_in_words(size), entries_in_words(entries, "new")
    done = f"The root of {whole} is on chain {named.chain} in block {receipt.block}:"
    each = receipt.gas / max(entries, 1)
    return [f"{done} {receipt.gas} gas for {new}, {each:.0f} for each."]


def write_proof(log: Log, place: int, target: str) -> None:
    """Write the proof of an entry, under the newest checkpoint that is on a chain, if any is.

    Parameters
    ----------
    log : Log
        The log.
    place : int
        The entry.
    target : str
        The file.
    """
    write_text("--proof", _proof(log, place).to_json() + "\n", target)


def _proof(log: Log, place: int) -> Proof:
    from supm.publication.proof import make_proof  # noqa: PLC0415  loaded when the verb runs

    return make_proof(log, place, log.anchored(place))


def _check_room(log: Log, place: int, content: bytes, arguments: argparse.Namespace) -> None:
    from supm.cli._bundled import bundle_of  # noqa: PLC0415  loaded when the verb runs

    if arguments.bundle:
        bundle_of(content, _proof(log, place))


def _hand_out(log: Log, place: int, content: bytes, arguments: argparse.Namespace) -> None:
    """Write what readers get: the proof, and on demand the file and the proof in one."""
    from supm.cli._bundled import write_bundle  # noqa: PLC0415  loaded when the verb runs

    write_proof(log, place, arguments.proof or f"{arguments.file}.proof")
    if arguments.bundle:
        write_bundle(arguments.bundle, content, _proof(log, place))


def _for_readers(proof: str, bundle: str | None) -> str:
    if bundle is None:
        return f"The proof is in {proof}; give it to readers with the file."
    return f"The proof is in {proof}; {bundle} holds it with the file: give that to readers."
