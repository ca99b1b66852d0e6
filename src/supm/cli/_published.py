"""What verbs of publication share: logs by file or address, keys, files and their statements."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from supm._errors import MessageError, ParameterError, PublicationError, SupmError
from supm.cli._service import UsageError
from supm.cli.statement import statement_of
from supm.messages import ReleaseStatement, Statement
from supm.publication.keys import SigningKey, VerifierKey
from supm.publication.log import Log
from supm.publication.proof import Proof, make_proof
from supm.publication.remote import RemoteLog

if TYPE_CHECKING:
    from supm.publication.chain import Account, Chain, Receipt
    from supm.publication.entry import ChainEntry

__all__ = [
    "UsageError",
    "account_at",
    "chain_at",
    "deployed",
    "log_at",
    "new_account",
    "now",
    "own_statement",
    "proof_from",
    "read_bytes",
    "reader_at",
    "signing_key",
    "verifier_key",
    "when",
]

_LARGEST: Final = 1 << 26


def log_at(where: str | None) -> Log:
    """Return the log in a file of this machine, to add to it."""
    if not where:
        message = "--log must be given: the file of a log; supm log create makes one."
        raise UsageError(message)
    if "://" in where:
        # An address may hold a password, so it is not shown.
        message = "--log must be a file here: only its publisher adds to a log."
        raise UsageError(message)
    return Log(Path(where))


def reader_at(where: str | None) -> Log | RemoteLog:
    """Return a log to read, from its file or its address."""
    if not where:
        message = "--log must be given: the file or the address of a log."
        raise UsageError(message)
    if where.startswith(("http://", "https://")):
        return RemoteLog(where)
    if "://" in where or not Path(where).is_file():
        message = "--log must be a file that is there, or an address: http://… or https://…"
        raise UsageError(message)
    return Log(Path(where), read_only=True)


def proof_from(log: Log | RemoteLog, content: str) -> Proof:
    """Return the proof of a file, under the newest checkpoint that is on a chain, if any is.

    Parameters
    ----------
    log : Log or RemoteLog
        The log.
    content : str
        The SHA-256 of the file.

    Returns
    -------
    Proof
    """
    place = log.find(content)
    if place is None:
        message = "the log has no entry for this file: it was not published there, or altered."
        raise PublicationError(message)
    if isinstance(log, RemoteLog):
        return log.proof(content)
    return make_proof(log, place, log.anchored(place))


def signing_key(arguments: argparse.Namespace) -> SigningKey:
    """Return the publisher's key: the one that is named, or the one beside the log."""
    named = arguments.signing_key or Path(arguments.log).with_suffix(".key")
    try:
        return SigningKey.read(Path(named))
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError("--signing-key", "a file that can be read", str(named), hint) from None


def verifier_key(given: str | None) -> VerifierKey:
    """Return the public key of a log: a line, or a file that holds it."""
    if not given:
        message = (
            "--key must be given: the log's public key, or a file that holds it. Get it from the "
            "publisher by a way that you trust."
        )
        raise UsageError(message)
    path = Path(given)
    if "+" not in given or path.is_file():
        try:
            given = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            wanted = "the log's public key, or a file that holds it"
            raise ParameterError("--key", wanted, given) from None
    return VerifierKey.parse(given)


def read_bytes(name: str, path: str) -> bytes:
    """Read a file that is published or to be published."""
    file = Path(path)
    if file.exists() and not file.is_file():
        raise ParameterError(name, "a file that can be read", path, "It is no plain file.")
    try:
        size, content = file.stat().st_size, b""
        if size <= _LARGEST:
            content = file.read_bytes()
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError(name, "a file that can be read", path, hint) from None
    if size > _LARGEST:
        raise ParameterError(name, f"a file of at most {_LARGEST} bytes", size)
    return content


def own_statement(content: bytes) -> Statement | ReleaseStatement | None:
    """Return the statement of a release or a model, derived anew; None for any other file.

    Parameters
    ----------
    content : bytes
        The file.

    Returns
    -------
    Statement, ReleaseStatement or None

    Raises
    ------
    PublicationError
        If it is a release or a model that promises something else than its noise keeps.
    """
    try:
        text = content.decode("utf-8-sig")
        form = json.loads(text)
    except (ValueError, RecursionError):
        return None
    try:
        noun, statement, _ = statement_of(text)
    except MessageError as error:
        # By what is read, not by how it is spelt: whoever uses the file reads it, too.
        if not isinstance(form, dict) or not {"statement", "content"} & set(form):
            return None
        message = f"the file is not a release or a model that keeps its promise: {error}"
        raise PublicationError(message) from None
    return statement if noun in ("release", "model") else None


def now() -> str:
    """Return the time of this machine, as entries write it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def when(given: str | None) -> str:
    """Return the time that was given, which must not be in the future, or that of this machine."""
    present = now()
    if given is not None and given > present:
        raise ParameterError("--time", f"a time that has passed; it is {present} now", given)
    return given or present


def chain_at(url: str, named: ChainEntry, *, wanted: str | None = None) -> Chain:
    """Return the contract that a log names, on the node at an address.

    Parameters
    ----------
    url : str
        The node.
    named : ChainEntry
        What the log says.
    wanted : str, optional
        The contract's address as the reader knows it.

    Returns
    -------
    Chain

    Raises
    ------
    PublicationError
        If the log names another contract than the reader knows.
    """
    if wanted is not None and wanted.lower() != named.contract.lower():
        message = f"the log names the contract {named.contract}, not the one that you gave."
        raise PublicationError(message)
    with _needs_chain_packages():
        from supm.publication.chain import Chain  # noqa: PLC0415  where it is installed

        return Chain(url, named.contract, chain=named.chain)


def account_at(path: str | None) -> Account:
    """Return the account of a file."""
    if not path:
        message = "--account must be given: the key of the account that pays (supm log account)."
        raise UsageError(message)
    with _needs_chain_packages():
        from supm.publication.chain import read_account  # noqa: PLC0415  where it is installed

        return read_account(Path(path))


def new_account(path: str) -> Account:
    """Return the account of a file, which is made where it is not."""
    if Path(path).exists():
        return account_at(path)
    with _needs_chain_packages():
        from supm.publication.chain import make_account  # noqa: PLC0415  where it is installed

        return make_account(Path(path))


def deployed(url: str, account: Account, first: VerifierKey) -> Receipt:
    """Make the contract of a log on the node at an address."""
    with _needs_chain_packages():
        from supm.publication.chain import deploy  # noqa: PLC0415  where it is installed

        return deploy(url, account, first.identity)


@contextmanager
def _needs_chain_packages() -> Iterator[None]:
    """Say what to install where the client of the chain is absent."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"this needs the package {error.name}; run pip install 'supm[chain]'."
        raise SupmError(message) from None
