"""What verbs of publication share: logs by file or address, keys, files and their statements."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from supm._errors import MessageError, ParameterError, PublicationError, SupmError
from supm.cli._output import paragraph
from supm.cli._service import UsageError
from supm.cli.statement import statement_of
from supm.messages import ReleaseStatement, Statement
from supm.publication.log import Log
from supm.publication.proof import Proof, make_proof
from supm.publication.remote import RemoteLog
from supm.publication.signing import SigningKey, VerifierKey

if TYPE_CHECKING:
    from supm.publication.chain import Chain, ChainAccount, ChainReceipt
    from supm.publication.checks import PlacedContract

__all__ = [
    "UsageError",
    "account_at",
    "chain_at",
    "chain_of",
    "deployed",
    "key_beside",
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
        # An address may hold a password, so it is not shown.
        got = f"{where.partition('://')[0]}://…" if "://" in where else where
        wanted = "a file that is there, or an address (http://… or https://…)"
        raise ParameterError("--log", wanted, got)
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
    return key_beside(arguments.log, arguments.signing_key)


def key_beside(log: str, named: str | None) -> SigningKey:
    """Return the publisher's key: the one that is named, or the one beside the log."""
    path = named or Path(log).with_suffix(".key")
    try:
        return SigningKey.read(Path(path))
    except OSError as error:
        hint = f"{error.strerror}."
        raise ParameterError("--signing-key", "a file that can be read", str(path), hint) from None


def verifier_key(given: str | None, option: str = "--key") -> VerifierKey:
    """Return the public key of a log: a line, or a file that holds it."""
    if not given:
        message = (
            "--key must be given: the log's public key, or a file that holds it. Get it from the "
            "publisher by a way that you trust."
        )
        raise UsageError(message)
    path, line = Path(given), given
    wanted = "the log's public key, or a file that holds it"
    if "+" not in given or path.is_file():
        try:
            line = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise ParameterError(option, wanted, given) from None
    try:
        return VerifierKey.parse(line)
    except PublicationError:
        hint = "It is one line of the form name+hash+key."
        raise ParameterError(option, wanted, given, hint) from None


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
    """Return the statement of a release or a model of any kind, derived anew; None for the rest.

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
    return statement if noun in ("release", "model", "synthesizer") else None


def now() -> str:
    """Return the time of this machine, as entries write it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def when(given: str | None, log: Log | None = None) -> str:
    """Return the time that was given, which must not be in the future, or that of this machine.

    Parameters
    ----------
    given : str, optional
        What the publisher says.
    log : Log, optional
        Where the entry goes. If its last entry is dated later, by a clock that was wrong, its time
        is taken: nothing can be dated before it, and a log must not stop for years.

    Returns
    -------
    str
    """
    present, last = now(), "" if log is None else log.last_time
    if given is not None and given > present and given != last:
        raise ParameterError("--time", f"a time that has passed; it is {present} now", given)
    if given is None and last > present:
        warning = (
            f"WARNING: the last entry of the log is dated {last}, and it is {present} by the clock "
            "of this machine: the new entry is dated as the last one."
        )
        print(paragraph(warning), file=sys.stderr)
        return last
    return given or present


def chain_at(url: str, named: PlacedContract) -> Chain:
    """Return the contract that a log names, on the node at an address.

    Parameters
    ----------
    url : str
        The node; if it is on another chain than the contract, it is refused when it is asked.
    named : PlacedContract
        What the log says, or whoever tells of a contract.

    Returns
    -------
    Chain
    """
    with _needs_chain_packages():
        from supm.publication.chain import Chain  # noqa: PLC0415  where it is installed

        return Chain(url, named.contract, chain=named.chain)


def chain_of(url: str) -> int:
    """Return the number of the chain that the node at an address is on."""
    with _needs_chain_packages():
        from supm.publication.chain import chain_of as asked  # noqa: PLC0415  where it is installed

        return asked(url)


def account_at(path: str | None) -> ChainAccount:
    """Return the account of a file."""
    if not path:
        message = "--account must be given: the key of the account that pays (supm log account)."
        raise UsageError(message)
    if not Path(path).exists():
        hint = f"Make one with supm log account {path}."
        raise ParameterError("--account", "a file that can be read", path, hint)
    with _needs_chain_packages():
        from supm.publication.chain import read_account  # noqa: PLC0415  where it is installed

        return read_account(Path(path))


def new_account(path: str) -> ChainAccount:
    """Return the account of a file, which is made where it is not."""
    if Path(path).exists():
        return account_at(path)
    with _needs_chain_packages():
        from supm.publication.chain import make_account  # noqa: PLC0415  where it is installed

        return make_account(Path(path))


def deployed(url: str, account: ChainAccount, first: VerifierKey) -> ChainReceipt:
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
