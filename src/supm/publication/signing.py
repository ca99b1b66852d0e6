"""The keys of a log, and what they sign: so many entries, with this root.

Keys are Ed25519, each on one line of text, as signed notes write them. A verifier key is public and
names its log: ``name+hash+key``. A reader keeps that line. A signing key is secret and stays with
the publisher in a file for that user alone.

A checkpoint is a signed note of three lines, as other transparency logs write them, so their tools
read it too: the log's name, the number of entries, the root in base64; then a line with the
signature.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from supm._errors import ParameterError, PublicationError
from supm._random import secure
from supm._validation import check_kind

_ED25519: Final = b"\x01"
_SECRET: Final = "PRIVATE+KEY+"  # noqa: S105  the mark before a secret, not one
_KEY_BYTES: Final = 32
_LONGEST_NAME: Final = 200


def check_log_name(name: object) -> str:
    """Return the name of a log, or raise ParameterError."""
    good = isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and name.isprintable()
    if not good or any(each in " +" for each in str(name)) or not str(name).isascii():
        wanted = "a plain name without spaces or plus signs, such as hospitals.example/releases"
        raise ParameterError("name", wanted, name)
    return str(name)


@dataclass(frozen=True)
class VerifierKey:
    """The public half of a log's key.

    Parameters
    ----------
    name : str
        The log's name.
    public : bytes
        The 32 bytes of the Ed25519 key.

    Examples
    --------
    >>> key = VerifierKey("log.example", bytes(32))
    >>> str(key)
    'log.example+f3e73440+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    >>> VerifierKey.parse(str(key)) == key
    True
    """

    name: str
    public: bytes

    def __post_init__(self) -> None:
        check_log_name(self.name)
        check_kind("public", self.public, bytes)
        if len(self.public) != _KEY_BYTES:
            raise ParameterError("public", f"{_KEY_BYTES} bytes", len(self.public))

    @property
    def hash(self) -> bytes:
        """The four bytes by which a signature names the key that made it."""
        return _key_hash(self.name, self.public)

    @property
    def identity(self) -> bytes:
        """The SHA-256 of the line; the first key's is the identity of the log."""
        return hashlib.sha256(str(self).encode()).digest()

    def __str__(self) -> str:
        """Return the line that a reader keeps."""
        return f"{self.name}+{self.hash.hex()}+{base64.b64encode(_ED25519 + self.public).decode()}"

    @classmethod
    def parse(cls, line: object) -> VerifierKey:
        """Read what `str` wrote."""
        text = str(line).strip()
        name, _, key = _parts(text, "a log's public key")
        found = cls(name, key)
        if str(found) != text:
            raise PublicationError(
                "the log's public key is damaged: its parts do not belong together."
            )
        return found

    def accepts(self, signature: bytes, content: bytes) -> bool:
        """Say whether this key signed the content."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, content)
        except InvalidSignature:
            return False
        return True


class SigningKey:
    """The secret half of a log's key.

    Parameters
    ----------
    name : str
        The log's name.
    secret : bytes
        The 32 bytes of the Ed25519 seed.
    """

    def __init__(self, name: str, secret: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        self.verifier = VerifierKey(check_log_name(name), self._key.public_key().public_bytes_raw())

    def __repr__(self) -> str:
        """Say whose key it is, never the secret."""
        return f"SigningKey({str(self.verifier)!r})"

    def sign(self, content: bytes) -> bytes:
        """Return the signature of some content."""
        return self._key.sign(content)

    @classmethod
    def made(cls, name: str, path: Path) -> SigningKey:
        """Make a new key in a new file for this user alone."""
        key = cls(check_log_name(name), secure().words(4).tobytes())
        try:
            write_secret(path, key._line())
        except FileExistsError:
            raise PublicationError(
                f"{path} is there already; a key is never overwritten. Name a new file."
            ) from None
        return key

    @classmethod
    def read(cls, path: Path) -> SigningKey:
        """Read a key from its file."""
        if path.exists() and not path.is_file():
            raise PublicationError(f"{path} is no file with a signing key.")
        if path.stat().st_mode & 0o077 and os.name == "posix":
            raise PublicationError(
                f"{path} can be read by others than its owner; run chmod 600 on it."
            )
        text = path.read_text(errors="replace").strip()
        if not text.startswith(_SECRET):
            raise PublicationError(
                f"{path} holds no signing key of a log; supm log create makes one."
            )
        name, told, secret = _parts(text.removeprefix(_SECRET), "a signing key")
        key = cls(name, secret)
        if key.verifier.hash != told:
            raise PublicationError(
                f"the signing key in {path} is damaged: its parts do not belong together."
            )
        return key

    def _line(self) -> str:
        secret = base64.b64encode(_ED25519 + self._key.private_bytes_raw()).decode()
        return f"{_SECRET}{self.verifier.name}+{self.verifier.hash.hex()}+{secret}"


def write_secret(path: Path, line: str) -> None:
    """Write a line to a new file that its owner alone may read; it is on the disk at once.

    A log that changes to a key is on the disk when that is said: so must the key be.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _key_hash(name: str, public: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + _ED25519 + public).digest()[:4]


def _parts(line: str, noun: str) -> tuple[str, bytes, bytes]:
    name, _, rest = line.partition("+")
    told, _, key = rest.partition("+")
    try:
        content = base64.b64decode(key, validate=True)
        told_hash = bytes.fromhex(told)
        check_log_name(name)
    except (binascii.Error, ValueError):
        content, told_hash = b"", b""
    if len(content) != 1 + _KEY_BYTES or not content.startswith(_ED25519) or len(told_hash) != 4:
        raise PublicationError(
            f"{noun} is one line of the form name+hash+key, and this is another text."
        )
    return name, told_hash, content[1:]


_DASH: Final = "\N{EM DASH} "
_HASH_BYTES: Final = 32
_SIGNATURE_BYTES: Final = 64
_LONGEST: Final = 10_000
_MOST: Final = 1 << 62


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """So many entries of a log, and their root.

    Parameters
    ----------
    name : str
        The log's name.
    size : int
        How many entries.
    root : bytes
        The root of their tree.

    Examples
    --------
    >>> print(Checkpoint(name="log.example", size=3, root=bytes(32)).body, end="")
    log.example
    3
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
    """

    name: str
    size: int
    root: bytes

    @property
    def body(self) -> str:
        """What is signed."""
        return f"{self.name}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    def signed(self, key: SigningKey) -> SignedCheckpoint:
        """Return it with the signature of a key."""
        if key.verifier.name != self.name:
            raise PublicationError(
                f"the key is of the log {key.verifier.name}, and this log is {self.name}."
            )
        return SignedCheckpoint(
            name=self.name,
            size=self.size,
            root=self.root,
            key_hash=key.verifier.hash,
            signature=key.sign(self.body.encode()),
        )


@dataclass(frozen=True, kw_only=True)
class SignedCheckpoint(Checkpoint):
    """A checkpoint with the signature of one of the log's keys.

    Parameters
    ----------
    name : str
        The log's name.
    size : int
        How many entries.
    root : bytes
        The root of their tree.
    key_hash : bytes
        The four bytes that name the key.
    signature : bytes
        The signature.
    """

    key_hash: bytes
    signature: bytes

    @property
    def text(self) -> str:
        """The signed note."""
        signature = base64.b64encode(self.key_hash + self.signature).decode()
        return f"{self.body}\n{_DASH}{self.name} {signature}\n"

    def check(self, key: VerifierKey) -> None:
        """Raise unless this key of this log signed it."""
        if key.name != self.name:
            raise PublicationError(f"the checkpoint is of the log {self.name}, not of {key.name}.")
        if key.hash != self.key_hash:
            told, wanted = self.key_hash.hex(), key.hash.hex()
            raise PublicationError(f"the checkpoint is signed by the key {told}, not by {wanted}.")
        if not key.accepts(self.signature, self.body.encode()):
            raise PublicationError("the checkpoint was altered: its signature is not of this text.")

    def to_form(self) -> str:
        """Return what a message holds of it: the signed note."""
        return self.text

    @classmethod
    def from_form(cls, form: object) -> SignedCheckpoint:
        """Read what `to_form` gives."""
        return cls.parse(form)

    @classmethod
    def parse(cls, text: object) -> SignedCheckpoint:
        """Read what `text` gives; anything else is refused."""
        try:
            found = _parsed(str(text)[:_LONGEST])
        except (ValueError, binascii.Error):
            found = None
        if found is None or found.text != text:
            raise PublicationError("this is no signed checkpoint of a log, or it is cut off.")
        return found


def _parsed(text: str) -> SignedCheckpoint | None:
    name, size, root, _, line, _ = text.split("\n")
    signature = base64.b64decode(line.rpartition(" ")[2], validate=True)
    found = SignedCheckpoint(
        name=check_log_name(name),
        size=int(size),
        root=base64.b64decode(root, validate=True),
        key_hash=signature[:4],
        signature=signature[4:],
    )
    lengths = len(found.root), len(signature)
    whole = lengths == (_HASH_BYTES, 4 + _SIGNATURE_BYTES) and 0 <= found.size < _MOST
    return found if whole else None
