"""What a monitor does: read a whole log, and compare it with what it was before."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supm._errors import ParameterError
from supm.cli._files import read_text, write_text
from supm.cli._output import bar
from supm.cli._publication_options import (
    add_chain,
    add_contract,
    add_log,
    add_reader_key,
    add_telling,
)

if TYPE_CHECKING:
    from supm.publication.signing import SignedCheckpoint, VerifierKey

__all__ = ["add_check"]

_Added = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]


def add_check(added: _Added) -> None:
    """Add the act of a monitor.

    Parameters
    ----------
    added : callable
        Makes the parser of an act from its name, its help and what runs it.
    """
    parser = added("check", "rebuild and check a whole log", _check)
    add_log(parser, "the log's file or address")
    add_reader_key(parser)
    parser.add_argument(
        "--checkpoint", metavar="FILE", help="one that you kept: does the log still begin so?"
    )
    parser.add_argument(
        "--keep",
        metavar="FILE",
        help="keep the newest checkpoint for next time; one that is there is compared first",
    )
    add_chain(parser)
    add_contract(parser)
    add_telling(parser)


def _check(arguments: argparse.Namespace) -> int:
    from supm.cli._checking import check_replaceable, run_checks  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.signing import SignedCheckpoint  # noqa: PLC0415  the same

    if arguments.keep:
        check_replaceable("--keep", arguments.keep, SignedCheckpoint.parse)
    facts: dict[str, Any] = {}
    return run_checks(_checks(arguments, facts), arguments, f"the log {arguments.log}", facts)


def _checks(arguments: argparse.Namespace, facts: dict[str, Any]) -> Iterator[str]:
    from supm.cli._contracts import anchors_of, known_contract  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._published import now, reader_at, verifier_key  # noqa: PLC0415  the same
    from supm.publication.history import contracts_of  # noqa: PLC0415  the same
    from supm.publication.monitoring import check_log  # noqa: PLC0415  the same

    key, log = verifier_key(arguments.key), reader_at(arguments.log)
    known = _known(arguments, key)
    contracts = anchors = None
    contract = known_contract(arguments)
    if arguments.chain:
        contracts = [entry for _, entry in contracts_of(log)]
        anchors, warnings = anchors_of(arguments.chain, contracts, contract)
        yield from warnings
    newest = log.checkpoint()
    facts |= {"log": newest.checkpoint.name, "size": newest.checkpoint.size}
    with bar(total=newest.checkpoint.size, unit=" entries", label="reading the log") as shown:
        tell = shown.step
        yield from check_log(
            log,
            key,
            now=newest,
            known=known,
            contracts=contracts,
            anchors=anchors,
            clock=now(),
            tell=lambda _: tell(),
        )
    if arguments.keep:
        write_text("--keep", newest.text, arguments.keep)
        yield f"The newest checkpoint is kept in {arguments.keep}."


def _known(arguments: argparse.Namespace, key: VerifierKey) -> SignedCheckpoint | None:
    """Return the checkpoint that the log must begin with.

    What --keep would replace is compared too: it may be the only evidence of a fork.
    """
    kept = _kept(arguments.keep, key)
    if not arguments.checkpoint:
        return kept
    given = _read("--checkpoint", arguments.checkpoint)
    if kept not in (None, given):
        hint = "It holds another checkpoint; leave --checkpoint out to compare the log with it."
        wanted = "a new file, or one that holds what --checkpoint does"
        raise ParameterError("--keep", wanted, arguments.keep, hint)
    return given


def _kept(target: str | None, key: VerifierKey) -> SignedCheckpoint | None:
    if target in (None, "", "-") or not Path(target).exists():
        return None
    kept = _read("--keep", target)
    if kept.checkpoint.name != key.name:
        hint = f"It is of the log {kept.checkpoint.name}."
        wanted = f"a new file, or a checkpoint of the log {key.name}"
        raise ParameterError("--keep", wanted, target, hint)
    return kept


def _read(option: str, path: str) -> SignedCheckpoint:
    from supm.publication.signing import SignedCheckpoint  # noqa: PLC0415  loaded when the verb runs

    return SignedCheckpoint.parse(read_text(option, path))
