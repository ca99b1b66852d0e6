"""What a publisher does with a log: make it, change its keys, and anchor it on a chain."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supm._errors import ParameterError, PublicationError, SupmError
from supm.cli._files import write_json, write_text
from supm.cli._output import paragraph
from supm.cli._publication_options import (
    add_account,
    add_chain,
    add_log,
    add_signing_key,
    add_time,
)

if TYPE_CHECKING:
    from supm.publication.chain import ChainReceipt
    from supm.publication.log import Log
    from supm.publication.signing import SigningKey, VerifierKey

__all__ = ["add_keeping"]

_Added = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]


def add_keeping(added: _Added) -> None:
    """Add the acts of a publisher.

    Parameters
    ----------
    added : callable
        Makes the parser of an act from its name, its help and what runs it.
    """
    create = added("create", "make a new log and its keys", _create)
    create.add_argument("path", metavar="LOG.db", help="a new file")
    create.add_argument("--name", required=True, help="such as hospitals.example/releases")
    rotate = added("rotate", "let a new key take over", _rotate)
    rotate.add_argument("--new", required=True, metavar="FILE", help="a new file for the new key")
    revoke = added("revoke", "declare an old key stolen", _revoke)
    revoke.add_argument("--old", required=True, metavar="KEY", help="its public key, or its file")
    for parser in (rotate, revoke):
        add_log(parser)
        add_signing_key(parser)
        add_time(parser)
    account = added("account", "make the key of an account on a chain", _account)
    account.add_argument("path", metavar="FILE", help="a new file; the address is printed")
    _add_chain_acts(added)


def _add_chain_acts(added: _Added) -> None:
    deploy = added("deploy", "make the contract in which a log is anchored", _deploy)
    deploy.add_argument(
        "--again", action="store_true", help="even though the log names a contract already"
    )
    add_signing_key(deploy)
    add_time(deploy)
    anchor = added("anchor", "put the newest root on the chain", _anchor)
    for parser in (deploy, anchor):
        add_log(parser)
        add_chain(parser, required=True)
        add_account(parser, required=True)
        parser.add_argument("--json", metavar="FILE", help="write what it cost; - prints it")


def _create(arguments: argparse.Namespace) -> int:
    from supm.publication.log import Log  # noqa: PLC0415  the same
    from supm.publication.signing import SigningKey, check_log_name  # noqa: PLC0415  loaded when the verb runs

    path = Path(arguments.path)
    secret, public = path.with_suffix(".key"), path.with_suffix(".pub")
    check_log_name(arguments.name)
    _check_new("LOG.db", path, secret, public)
    key = SigningKey.made(arguments.name, secret)
    Log.create(path, key).close()
    write_text("LOG.db", f"{key.verifier}\n", str(public))
    print(f"The log {arguments.name} is in {path}.")
    print(f"{secret} is its secret key: keep it. Readers need its public key, also in {public}:")
    print(f"  {key.verifier}")
    return 0


def _check_new(option: str, *paths: Path) -> None:
    """Refuse files that are there, or that would be written over each other."""
    for each in paths:
        if each.exists() or not each.parent.is_dir() or len(set(paths)) < len(paths):
            wanted = "a new file in a folder that exists, with nothing of that name beside it"
            raise ParameterError(option, wanted, str(each))


def _rotate(arguments: argparse.Namespace) -> int:
    from supm.cli._published import log_at, signing_key, when  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.signing import SigningKey  # noqa: PLC0415  the same

    new, public = Path(arguments.new), Path(arguments.new).with_suffix(".pub")
    _check_new("--new", new, public)
    with log_at(arguments.log) as log:
        old = signing_key(arguments)
        log.check_charge(old)
        time = when(arguments.time, log)
        key = SigningKey.made(log.name, new)
        place = _rotated(log, old, key, new, time)
    write_text("--new", f"{key.verifier}\n", str(public))
    print(f"From entry {place} on the key in {new} signs; readers who know the old one follow.")
    return 0


def _rotated(log: Log, old: SigningKey, key: SigningKey, path: Path, time: str) -> int:
    try:
        return log.rotate(old, key, time)
    except SupmError:
        # Another rotation was faster. The file goes only if the log does not know its key.
        if key.verifier not in log.history().keys:
            path.unlink()
        raise


def _revoke(arguments: argparse.Namespace) -> int:
    from supm.cli._published import log_at, signing_key, verifier_key, when  # noqa: PLC0415  loaded when the verb runs

    with log_at(arguments.log) as log:
        old = verifier_key(arguments.old, "--old")
        place = log.revoke(old, signing_key(arguments), when(arguments.time, log))
    print(f"Entry {place} says that the key {old.hash.hex()} is not to be believed any more.")
    return 0


def _account(arguments: argparse.Namespace) -> int:
    from supm.cli._published import new_account  # noqa: PLC0415  loaded when the verb runs

    account = new_account(arguments.path)
    print(f"{account.address} is the account of {arguments.path}; it needs funds on the chain.")
    return 0


def _deploy(arguments: argparse.Namespace) -> int:
    from supm.cli._published import account_at, deployed, log_at, signing_key, when  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.publishing import name_contract  # noqa: PLC0415  the same

    with log_at(arguments.log) as log:
        key, account = signing_key(arguments), account_at(arguments.account)
        log.check_charge(key)
        _check_first(log, again=arguments.again)
        receipt = deployed(arguments.chain, account, log.first_key)
        _check_deployed(arguments.chain, receipt, log.first_key, account.address)
        name_contract(log, key, receipt, account.address, when(arguments.time, log))
    told = {"contract": receipt.contract, "chain": receipt.chain, "gas": receipt.gas}
    line = (
        f"The contract {receipt.contract} on chain {receipt.chain} is this log's; {receipt.gas} "
        "gas. The log names it; supm log anchor puts the root there."
    )
    return _told(told, line, arguments.json)


def _check_deployed(url: str, made: ChainReceipt, first: VerifierKey, publisher: str) -> None:
    """Check what was made as readers will: the log must not name what they would refuse."""
    from supm.cli._published import chain_at  # noqa: PLC0415  loaded when the verb runs
    from supm.publication.chain.errors import ChainError  # noqa: PLC0415  the same

    try:
        chain_at(url, made).check_code(log=first.identity, publisher=publisher)
    except ChainError as error:
        message = f"{made.contract} was made, and the log does not name it: {error}"
        raise PublicationError(message) from None


def _check_first(log: Log, *, again: bool) -> None:
    from supm.publication.history import contracts_of  # noqa: PLC0415  loaded when the verb runs

    known = contracts_of(log)
    if known and not again:
        message = (
            f"the log is anchored in {known[-1][1].contract} already; another contract costs and "
            "begins anew. Use supm log anchor, or --again."
        )
        raise PublicationError(message)


def _anchor(arguments: argparse.Namespace) -> int:
    from supm.cli._published import log_at  # noqa: PLC0415  loaded when the verb runs
    from supm.cli.publish import anchored  # noqa: PLC0415  the same

    told: dict[str, Any] = {}
    with log_at(arguments.log) as log:
        lines = anchored(log, arguments, told)
    return _told(told, " ".join(lines), arguments.json)


def _told(told: dict[str, Any], line: str, target: str | None) -> int:
    if target:
        write_json(told, target)
    if target != "-":
        print(paragraph(line))
    return 0
