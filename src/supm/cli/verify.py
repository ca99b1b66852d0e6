"""The verb verify: whether a file is what was published, and with which guarantee."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from supm._errors import PublicationError
from supm.cli._files import read_text
from supm.cli._publication_options import add_chain, add_contract, add_reader_key, add_telling

if TYPE_CHECKING:
    from supm.cli._contracts import KnownContract
    from supm.publication.history import LogReader
    from supm.publication.proof import Proof
    from supm.publication.signing import VerifierKey

__all__ = ["add_to"]

_ALONE: Final = (
    "WARNING: another log under the same key may have roots of other sizes in this contract; with "
    "--log, or by supm log check --chain, all of them are compared with the log."
)

_EXAMPLES = """\
examples:
  supm verify release.json --key releases.pub                      offline, by release.json.proof
  supm verify release.zip --key releases.pub                       a bundle: the file and its proof
  supm verify release.json --key releases.pub --chain http://127.0.0.1:8545
  supm verify release.json --key releases.pub --log https://hospitals.example
  supm verify release.json --key releases.pub --receipt mine.json  was my table counted?

It prints each thing that it checked, in words, and exits with 1 at the first that does not hold.
"""


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "verify",
        help="check that a file was published, unaltered, and with which guarantee",
        description="Check a file against the proof beside it and the log's public key, with no\n"
        "network; on demand also against the log as it is now, and against a chain.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", metavar="FILE", help="what was downloaded, or a bundle of it and its proof"
    )
    add_reader_key(parser)
    parser.add_argument("--proof", metavar="P", help="its proof; FILE.proof by default")
    parser.add_argument("--log", metavar="URL", help="ask the log too: its address or its file")
    add_chain(parser)
    add_contract(parser)
    parser.add_argument(
        "--receipt", metavar="FILE", help="what a party kept of the run: was it counted?"
    )
    add_telling(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from supm.cli._checking import run_checks  # noqa: PLC0415  loaded when the verb runs

    facts: dict[str, Any] = {}
    return run_checks(_checks(arguments, facts), arguments, arguments.file, facts)


def _checks(arguments: argparse.Namespace, facts: dict[str, Any]) -> Iterator[str]:
    from supm.cli._contracts import known_contract  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._published import read_bytes, reader_at, verifier_key  # noqa: PLC0415  loaded when the verb runs
    from supm.messages import Commitments  # noqa: PLC0415  the same
    from supm.publication.checks import (  # noqa: PLC0415  the same
        verify_file,
        verify_log,
        verify_receipt,
    )

    # What was typed wrongly is said before the first check.
    key = verifier_key(arguments.key)
    content = read_bytes("FILE", arguments.file)
    log = reader_at(arguments.log) if arguments.log else None
    receipt = None
    if arguments.receipt:
        receipt = Commitments.from_json(read_text("--receipt", arguments.receipt))
    known = known_contract(arguments)
    content, proof = yield from _opened(content, arguments, facts)
    yield from verify_file(content, proof, key)
    yield from _promise(content, proof, facts)
    if receipt is not None:
        yield from verify_receipt(proof, receipt)
    if log is not None:
        yield from verify_log(log, proof, key)
    if arguments.chain:
        yield from _chain(arguments.chain, known, log, proof, key)


def _chain(
    url: str,
    known: KnownContract | None,
    log: LogReader | None,
    proof: Proof,
    key: VerifierKey,
) -> Iterator[str]:
    from supm.cli._contracts import doubts  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._published import chain_at  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.checks import (  # noqa: PLC0415  the same
        verify_anchors,
        verify_chain,
    )

    named = proof.contract
    if named is None:
        message = "the proof names no contract: the log was not anchored when it was made."
        raise PublicationError(message)
    if known is not None:
        known.check(named)
    chain = chain_at(url, named)
    yield from verify_chain(chain, proof, key)
    if log is not None:
        yield from verify_anchors(chain, log, proof, key)
    else:
        yield _ALONE
    yield from doubts(known, named)


def _opened(
    content: bytes, arguments: argparse.Namespace, facts: dict[str, Any]
) -> Generator[str, None, tuple[bytes, Proof]]:
    """Return what is checked and its proof; of a bundle, say what it is called.

    A bundle that has a proof of its own was published itself, and is verified as it is.
    """
    from supm.publication.bundle import Bundle, is_bundle  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.proof import Proof  # noqa: PLC0415  the same

    if _proof_file(arguments) is not None or not is_bundle(content):
        return content, _proof(content, arguments)
    bundle = Bundle.from_bytes(content)
    proof, name = Proof.from_json(bundle.proof), bundle.name
    if name != proof.entry.name:
        told = f"the bundle calls its file {name}, and its proof is of {proof.entry.name}"
        message = f"{told}: it is not as supm publish --bundle wrote it."
        raise PublicationError(message)
    facts["member"] = name
    yield f"The bundle holds {name} and its proof, nothing else; {name} is checked:"
    return bundle.content, proof


def _proof_file(arguments: argparse.Namespace) -> str | None:
    """Return the proof that is named, or that is beside the file."""
    beside = f"{arguments.file}.proof"
    return arguments.proof or (beside if Path(beside).is_file() else None)


def _proof(content: bytes, arguments: argparse.Namespace) -> Proof:
    from supm.cli._published import UsageError, proof_from, reader_at  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.proof import Proof  # noqa: PLC0415  the same

    path = _proof_file(arguments)
    if path is not None:
        return Proof.from_json(read_text("--proof", path))
    if not arguments.log:
        message = (
            f"there is no proof beside the file ({arguments.file}.proof); ask the publisher for "
            "it, name it with --proof, or ask the log with --log."
        )
        raise UsageError(message)
    return proof_from(reader_at(arguments.log), hashlib.sha256(content).hexdigest())


def _promise(content: bytes, proof: Proof, facts: dict[str, Any]) -> Iterator[str]:
    """Say what is promised: derived from the noise that the file names, where it names it."""
    from supm.cli._published import own_statement  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._run_told import run_told  # noqa: PLC0415  the same
    from supm.messages import ReleaseStatement  # noqa: PLC0415  the same

    entry, own = proof.entry, own_statement(content)
    if own is not None and own != entry.statement:
        message = "the file promises something else than the entry of the log."
        raise PublicationError(message)
    told = entry.statement
    facts |= {
        "entry": proof.release.index,
        "sha256": entry.content,
        "log": proof.checkpoint.checkpoint.name,
        "time": entry.time,
        "promised": {whom: each.to_form() for whom, each in entry.guarantees.items()},
        "derived": own is not None,
        "simulation": told.simulation,
    }
    if told.simulation:
        yield "WARNING: it was a SIMULATION, so nothing of it is private."
    promised = " ".join(f"For {whom}: {each.sentence}" for whom, each in entry.guarantees.items())
    trust = getattr(told, "trust", "")
    when = f"Published {entry.time} (as the publisher says)."
    mark, source = "", "derived anew from the noise that the file names"
    if own is None:
        mark = "WARNING: the promise is not checked. "
        source = "as the publisher states it: it cannot be derived from this file"
    yield f"{mark}{when} The guarantee, {source}: {promised} {trust}".rstrip()
    if isinstance(own, ReleaseStatement):
        yield from run_told(content, entry, facts)
