"""A published file and its proof in one file: a plain zip that has one form and no other.

Any tool unpacks it. What reads it here takes nothing but the bytes that `Bundle.to_bytes` writes:
two members that are stored as they are, no date, no comment, nothing before, between or after them.
So there is nothing in it that one reader sees and another does not.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass
from typing import Final

from supm._errors import ParameterError, PublicationError
from supm._validation import check_kind
from supm.publication.entry import check_label

_LARGEST: Final = 1 << 26
_SUFFIX: Final = ".proof"
_FOLDERS: Final = (".", "..")
# Halves of characters, which JSON can tell and no file of text can hold.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

# What the header of a member and its line in the directory share: version, flags (names are UTF-8),
# method (stored), time and date (the first that a zip can tell), checksum, both sizes, the lengths
# of the name and of what is extra.
_COMMON: Final = struct.Struct("<5H3L2H")
_FIXED: Final = (20, 0x800, 0, 0, 0x21)
_STORED: Final = 0
_MEMBER: Final = b"PK\x03\x04"
_LINE: Final = b"PK\x01\x02"
# No comment, the first disk, no text; a plain file that all may read; and where it begins.
_REST: Final = struct.Struct("<3H2L")
_MADE_BY: Final = (3 << 8 | 20).to_bytes(2, "little")
_PLAIN_FILE: Final = 0o100644 << 16
_END: Final = struct.Struct("<4s4H2LH")
_ENDS: Final = b"PK\x05\x06"
_HEADER: Final = len(_MEMBER) + _COMMON.size


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A file that was published, and the text of its proof."""

    name: str
    content: bytes
    proof: str

    def __post_init__(self) -> None:
        check_label("name", self.name)
        if self.name in _FOLDERS:
            raise ParameterError("name", "the name of a file", self.name)
        check_kind("content", self.content, bytes)
        check_kind("proof", self.proof, str)
        if _SURROGATE.search(self.proof):
            raise ParameterError("proof", "text that UTF-8 can write", type(self.proof))

    @property
    def _members(self) -> tuple[tuple[bytes, bytes], ...]:
        """The proof comes first: by its name a bundle is known from any other zip."""
        proof = f"{self.name}{_SUFFIX}".encode(), self.proof.encode()
        return proof, (self.name.encode(), self.content)

    def to_bytes(self) -> bytes:
        """Return the one form of it."""
        found, lines = b"", b""
        for name, content in self._members:
            common = _common(name, content)
            rest = _REST.pack(0, 0, 0, _PLAIN_FILE, len(found))
            lines += _LINE + _MADE_BY + common + rest + name
            found += _MEMBER + common + name + content
        count = len(self._members)
        end = _END.pack(_ENDS, 0, 0, count, count, len(lines), len(found), 0)
        made = found + lines + end
        _check_length(made)
        return made

    @classmethod
    def from_bytes(cls, content: bytes) -> Bundle:
        """Read what `to_bytes` wrote, and nothing else."""
        check_kind("content", content, bytes)
        _check_length(content)
        (first, proof), start = _member(content, 0)
        (second, file), stop = _member(content, start)
        if content.startswith(_MEMBER, stop):
            raise PublicationError("the bundle has more members than two: a file and its proof.")
        try:
            name, text = second.decode(), proof.decode()
            bundle = cls(name=name, content=file, proof=text)
        except (UnicodeDecodeError, ParameterError):
            raise PublicationError(
                "the bundle names its file otherwise than by a plain name without folders."
            ) from None
        if first != second + _SUFFIX.encode():
            raise PublicationError("the two members of the bundle are not a file and its proof.")
        if bundle.to_bytes() != content:
            raise PublicationError(
                "the bundle has something before, between or after its two members, or headers "
                "that disagree: it is not as supm publish --bundle wrote it."
            )
        return bundle


def is_bundle(content: bytes) -> bool:
    """Say whether a file wants to be read as a bundle: a zip that begins with a proof."""
    if not content.startswith(_MEMBER) or len(content) < _HEADER:
        return False
    length = _COMMON.unpack_from(content, len(_MEMBER))[8]
    return content[_HEADER : _HEADER + length].endswith(_SUFFIX.encode())


def _common(name: bytes, content: bytes) -> bytes:
    size = len(content)
    return _COMMON.pack(*_FIXED, zlib.crc32(content), size, size, len(name), 0)


def _member(content: bytes, start: int) -> tuple[tuple[bytes, bytes], int]:
    """Return the name and the bytes of the member at a place, and where it ends."""
    begin = start + _HEADER
    if not content.startswith(_MEMBER, start) or begin > len(content):
        raise PublicationError(
            "the bundle has not the two members that it should: a file and its proof."
        )
    told = _COMMON.unpack_from(content, start + len(_MEMBER))
    method, checksum, packed, size, length, extra = told[2], *told[5:]
    if method != _STORED or packed != size:
        raise PublicationError(
            "the bundle has a compressed member; those of a bundle are stored as they are."
        )
    name, stop = content[begin : begin + length], begin + length + extra + size
    found = content[begin + length + extra : stop]
    if len(found) < size or zlib.crc32(found) != checksum:
        raise PublicationError(
            "a member of the bundle is damaged, or was cut: its checksum is another."
        )
    return (name, found), stop


def _check_length(content: bytes) -> None:
    if len(content) > _LARGEST:
        raise PublicationError(
            f"a bundle has at most {_LARGEST} bytes, and this one would have {len(content)}."
        )
