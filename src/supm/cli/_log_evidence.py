"""What a file of evidence shows, to somebody who has it and the log's public key."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from supm._errors import ParameterError, PublicationError
from supm._json import read_object
from supm.cli._files import read_text
from supm.cli._publication_options import add_chain, add_contract, add_reader_key

if TYPE_CHECKING:
    from supm.cli._contracts import KnownContract
    from supm.publication.evidence import AnchorTold
    from supm.publication.signing import VerifierKey

__all__ = ["add_evidence"]

_Added = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]


def add_evidence(added: _Added) -> None:
    """Add the act of a reader who was shown evidence.

    Parameters
    ----------
    added : callable
        Makes the parser of an act from its name, its help and what runs it.
    """
    parser = added("evidence", "say whether a file shows two histories of a log", _evidence)
    parser.add_argument("file", metavar="FILE", help="what --evidence wrote")
    add_reader_key(parser)
    add_chain(parser)
    add_contract(parser)
    parser.add_argument("--json", metavar="FILE", help="write what was checked; - prints it")
    parser.set_defaults(evidence=None)


def _evidence(arguments: argparse.Namespace) -> int:
    from supm.cli._checking import run_checks  # noqa: PLC0415  loaded when the verb runs

    facts: dict[str, Any] = {}
    what = f"that {arguments.file} shows two histories under the key that was given"
    return run_checks(_checks(arguments, facts), arguments, what, facts)


def _checks(arguments: argparse.Namespace, facts: dict[str, Any]) -> Iterator[str]:
    from supm.cli._contracts import known_contract  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._published import UsageError, verifier_key  # noqa: PLC0415  the same
    from supm.publication.evidence import AnchorTold, ForkEvidence  # noqa: PLC0415  the same

    key, known = verifier_key(arguments.key), known_contract(arguments)
    found = ForkEvidence.from_json(_read(arguments.file))
    told = found.first if isinstance(found.first, AnchorTold) else None
    if told is None and arguments.chain:
        message = "this evidence is of two checkpoints, and tells of no chain; leave --chain out."
        raise UsageError(message)
    if told is not None and (known is None or known.chain is None):
        message = (
            "this evidence tells of an anchor, which only its chain can confirm: give --chain URL "
            "and, with --contract ID:0x…, the contract that you know from elsewhere as the log's."
        )
        raise UsageError(message)
    sizes = [found.before.size, found.second.checkpoint.size]
    facts |= {"log": found.second.checkpoint.name, "sizes": sizes}
    yield from found.check(key)
    if told is None:
        yield "So the key that was given, or one after it, signed two histories: no log has both."
    elif known is not None:
        yield from _anchored(arguments.chain, known, told, key)


def _read(path: str) -> str:
    """Return the text of a file of evidence, damaged or not; what is none is the wrong file."""
    text = read_text("FILE", path)
    try:
        form = read_object(text, "evidence", PublicationError)
    except PublicationError:
        form = {}
    if not {"first", "second"} & set(form):
        hint = "This is no file of evidence, so it tells nothing of the log."
        raise ParameterError("FILE", "what --evidence wrote", path, hint)
    return text


def _anchored(url: str, known: KnownContract, told: AnchorTold, key: VerifierKey) -> Iterator[str]:
    """Ask the chain for the anchor, in the contract of the log that began with this key."""
    from supm.cli._published import chain_at  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.merkle import entries_in_words  # noqa: PLC0415  the same

    if (known.chain, known.address.lower()) != (told.chain, told.contract.lower()):
        place = f"{told.chain}:{told.contract}"
        message = f"the file tells of the contract {place}, not of the one that you gave."
        raise PublicationError(message)
    chain, size = chain_at(url, told), entries_in_words(told.size)
    publisher = chain.check_code(log=key.identity)
    yield f"The contract {told.contract} has SUPM's code; only {publisher} can anchor in it."
    anchor = chain.anchored(told.size)
    if anchor is None or anchor.root != told.root:
        message = f"the chain does not hold the root of {size} that the file tells of."
        raise PublicationError(message)
    yield (
        f"It holds {anchor.root.hex()[:16]}… for {size} since block {anchor.block}: "
        "so the log was anchored with one history, and its keys signed another."
    )
