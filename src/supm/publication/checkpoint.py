"""What a log says of itself: so many entries, with this root, signed.

The text is a signed note of three lines, as other transparency logs write them, so their tools read
it too: the log's name, the number of entries, the root in base64; then a line with the signature.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Final

from supm._errors import PublicationError
from supm.publication.keys import SigningKey, VerifierKey, check_name

__all__ = ["Checkpoint", "SignedCheckpoint"]

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
    >>> print(Checkpoint(name="log.example", size=3, root=bytes(32)).text, end="")
    log.example
    3
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
    """

    name: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """What is signed."""
        return f"{self.name}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    def signed(self, key: SigningKey) -> SignedCheckpoint:
        """Return it with the signature of a key."""
        if key.verifier.name != self.name:
            message = f"the key is of the log {key.verifier.name}, and this log is {self.name}."
            raise PublicationError(message)
        signature = key.sign(self.text.encode())
        return SignedCheckpoint(checkpoint=self, key_hash=key.verifier.hash, signature=signature)


@dataclass(frozen=True, kw_only=True)
class SignedCheckpoint:
    """A checkpoint with the signature of one of the log's keys.

    Parameters
    ----------
    checkpoint : Checkpoint
        What is signed.
    key_hash : bytes
        The four bytes that name the key.
    signature : bytes
        The signature.
    """

    checkpoint: Checkpoint
    key_hash: bytes
    signature: bytes

    @property
    def text(self) -> str:
        """The signed note."""
        signature = base64.b64encode(self.key_hash + self.signature).decode()
        return f"{self.checkpoint.text}\n{_DASH}{self.checkpoint.name} {signature}\n"

    def check(self, key: VerifierKey) -> None:
        """Raise unless this key of this log signed it.

        Raises
        ------
        PublicationError
            If the log or the key is another, or the signature is not of this text.
        """
        if key.name != self.checkpoint.name:
            message = f"the checkpoint is of the log {self.checkpoint.name}, not of {key.name}."
            raise PublicationError(message)
        if key.hash != self.key_hash:
            told, wanted = self.key_hash.hex(), key.hash.hex()
            message = f"the checkpoint is signed by the key {told}, not by {wanted}."
            raise PublicationError(message)
        if not key.accepts(self.signature, self.checkpoint.text.encode()):
            message = "the checkpoint was altered: its signature is not of this text."
            raise PublicationError(message)

    @classmethod
    def parse(cls, text: object) -> SignedCheckpoint:
        """Read what `text` gives; anything else is refused.

        Raises
        ------
        PublicationError
            If it is no signed checkpoint, or is written in another way than the one allowed.
        """
        try:
            found = _parsed(str(text)[:_LONGEST])
        except (ValueError, binascii.Error):
            found = None
        if found is None or found.text != text:
            message = "this is no signed checkpoint of a log, or it is cut off."
            raise PublicationError(message)
        return found


def _parsed(text: str) -> SignedCheckpoint | None:
    name, size, root, _, line, _ = text.split("\n")
    signature = base64.b64decode(line.rpartition(" ")[2], validate=True)
    checkpoint = Checkpoint(
        name=check_name(name), size=int(size), root=base64.b64decode(root, validate=True)
    )
    lengths = len(checkpoint.root), len(signature)
    if lengths != (_HASH_BYTES, 4 + _SIGNATURE_BYTES) or not 0 <= checkpoint.size < _MOST:
        return None
    return SignedCheckpoint(checkpoint=checkpoint, key_hash=signature[:4], signature=signature[4:])
