"""The publisher's account on a chain: a private key in a file that only its owner may read."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from supm._random import secure
from supm.publication.chain.contract import ChainError
from supm.publication.chain.node import Keys
from supm.publication.signing import write_secret

_BYTES: Final = 32
_LONGEST_FILE: Final = 200


@dataclass(frozen=True)
class ChainAccount:
    """A private key of an Ethereum chain, which is never shown, and the address that it owns.

    Parameters
    ----------
    key : bytes
        The 32 bytes of the private key. Whoever has them can spend what the address holds.

    Attributes
    ----------
    address : str
        With its checksum, in the mix of large and small letters.

    Examples
    --------
    >>> ChainAccount((1).to_bytes(32))
    ChainAccount(address='0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf')
    """

    key: bytes = field(repr=False)
    address: str = field(init=False)

    def __post_init__(self) -> None:
        """Find the address, and refuse what is no key without showing it."""
        if type(self.key) is not bytes or len(self.key) != _BYTES:
            raise ChainError(_NO_KEY)
        try:
            address = Keys.from_key(self.key).address
        except Exception:  # noqa: BLE001  whatever the library says, it may show the key
            raise ChainError(_NO_KEY) from None
        object.__setattr__(self, "address", str(address))

    def sign(self, transaction: Mapping[str, Any]) -> tuple[str, bytes]:
        """Return the hash and the bytes of a signed transaction; the key stays here."""
        signed = Keys.sign_transaction(dict(transaction), self.key)
        return signed.hash.to_0x_hex(), bytes(signed.raw_transaction)


def make_account(path: Path | str) -> ChainAccount:
    """Draw a new key, and write it to a new file that only its owner may read.

    Parameters
    ----------
    path : Path or str
        The file; it must not be there. It will hold one line, 0x and 64 digits.

    Returns
    -------
    ChainAccount
        It has no ether yet.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = make_account(f"{folder}/publisher.key")
    ...     read_account(f"{folder}/publisher.key") == made
    True
    """
    account = ChainAccount(secure().words(_BYTES // 8).tobytes())
    try:
        write_secret(Path(path), f"0x{account.key.hex()}")
    except OSError as error:
        raise ChainError(f"the key file {path} cannot be made: {error.strerror}.") from None
    return account


def read_account(path: Path | str) -> ChainAccount:
    """Return the account of a key file.

    Parameters
    ----------
    path : Path or str
        A file of one line: the private key as 64 digits, with or without 0x before them. Only its
        owner may have rights to it.

    Returns
    -------
    ChainAccount
        Which can sign.

    Examples
    --------
    >>> read_account("no such file")
    Traceback (most recent call last):
    supm.publication.chain.contract.ChainError: the key file no such file cannot be read: No such
    file or directory.
    """
    try:
        with Path(path).open("rb") as file:
            _check_rights(path, os.fstat(file.fileno()).st_mode)
            text = file.read(_LONGEST_FILE)
    except OSError as error:
        raise ChainError(f"the key file {path} cannot be read: {error.strerror}.") from None
    return ChainAccount(_key(path, text))


def _check_rights(path: Path | str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise ChainError(f"the key file {path} is not a file.")
    if mode & 0o077:
        raise ChainError(
            f"others may read or write the key file {path}; run chmod 600 on it first."
        )


def _key(path: Path | str, text: bytes) -> bytes:
    digits = text.strip().removeprefix(b"0x")
    if re.fullmatch(rb"[0-9a-fA-F]{64}", digits):
        return bytes.fromhex(digits.decode("ascii"))
    raise ChainError(f"the key file {path} must hold one line with the 64 digits of a private key.")


_NO_KEY: Final = (
    "a private key must be 32 bytes, as the curve of Ethereum allows, and this is none; make one "
    "with make_account."
)
