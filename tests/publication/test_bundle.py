"""Bundles: any tool unpacks them, and nothing but the one form is read."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from supm._errors import ParameterError, PublicationError
from supm.publication.bundle import Bundle, is_bundle
from supm.publication.proof import Proof, make_proof, verify_file

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

NAME = "model-1.json"


@pytest.fixture
def bundle(maker: Maker) -> Bundle:
    """Return a published file with its proof."""
    proof = make_proof(maker.log(3), 1).to_json() + "\n"
    return Bundle(name=NAME, content=maker.content(1), proof=proof)


def read(maker: Maker, content: bytes) -> list[str]:
    """Do what a reader does who has a bundle and the log's key."""
    bundle = Bundle.from_bytes(content)
    return list(verify_file(bundle.content, Proof.from_json(bundle.proof), maker.key().verifier))


def zipped(
    *members: tuple[str, bytes],
    method: int = zipfile.ZIP_STORED,
    comment: bytes = b"",
    **more: object,
) -> bytes:
    """Return what the zip of Python makes of members."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.comment = comment
        for name, content in members:
            about = zipfile.ZipInfo(name)
            about.compress_type = method
            for field, value in more.items():
                setattr(about, field, value)
            archive.writestr(about, content)
    return made.getvalue()


def members_of(bundle: Bundle) -> list[tuple[str, bytes]]:
    return [(f"{NAME}.proof", bundle.proof.encode()), (NAME, bundle.content)]


def test_what_was_bundled_is_read_and_verified(maker: Maker, bundle: Bundle) -> None:
    content = bundle.to_bytes()
    assert Bundle.from_bytes(content) == bundle
    assert is_bundle(content)
    assert len(read(maker, content)) == 3


def test_another_tool_unpacks_it(bundle: Bundle) -> None:
    with zipfile.ZipFile(io.BytesIO(bundle.to_bytes())) as archive:
        assert archive.testzip() is None
        told = archive.infolist()
        assert [(each.filename, archive.read(each)) for each in told] == members_of(bundle)
    assert {each.compress_type for each in told} == {zipfile.ZIP_STORED}
    assert {each.external_attr >> 16 for each in told} == {0o100644}


@pytest.mark.parametrize("name", ["a", "ein Modell.json", "モデル.json", "x" * 200])
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", bytes(range(256)) * 300])
def test_any_plain_name_and_any_bytes_will_do(name: str, content: bytes) -> None:
    bundle = Bundle(name=name, content=content, proof="a proof, or none")
    made = bundle.to_bytes()
    assert Bundle.from_bytes(made) == bundle
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert archive.read(name) == content


def test_every_flipped_bit_is_noticed(maker: Maker, bundle: Bundle) -> None:
    content = bundle.to_bytes()
    for place in range(len(content)):
        for bit in range(8):
            changed = bytearray(content)
            changed[place] ^= 1 << bit
            with pytest.raises(PublicationError):
                read(maker, bytes(changed))


def test_every_cut_and_whatever_is_added_is_noticed(bundle: Bundle) -> None:
    content = bundle.to_bytes()
    for stop in range(len(content)):
        with pytest.raises(PublicationError):
            Bundle.from_bytes(content[:stop])
    for changed in (content + b"\0", b"\0" + content, content + content, content[:-2] + b"\1\0x"):
        with pytest.raises(PublicationError):
            Bundle.from_bytes(changed)


def test_a_changed_member_with_a_good_checksum_is_not_what_was_published(
    maker: Maker, bundle: Bundle
) -> None:
    for place in range(len(bundle.content)):
        changed = bytearray(bundle.content)
        changed[place] ^= 1
        other = Bundle(name=NAME, content=bytes(changed), proof=bundle.proof)
        with pytest.raises(PublicationError, match="not the one that was published"):
            read(maker, other.to_bytes())


def test_a_swapped_proof_is_noticed(maker: Maker, bundle: Bundle) -> None:
    other = make_proof(maker.log(3, name="same.db"), 2).to_json()
    swapped = Bundle(name=NAME, content=bundle.content, proof=other)
    with pytest.raises(PublicationError, match="not the one that was published"):
        read(maker, swapped.to_bytes())
    nothing = Bundle(name=NAME, content=bundle.content, proof="{}")
    with pytest.raises(PublicationError, match="the version of a proof must be 1"):
        read(maker, nothing.to_bytes())


_Tampering = Callable[[Bundle], bytes]
FOREIGN: dict[str, tuple[_Tampering, str]] = {
    "none": (lambda _: zipped(), "not the two members"),
    "one": (lambda each: zipped(members_of(each)[0]), "not the two members"),
    "a third": (lambda each: zipped(*members_of(each), ("more", b"x")), "more members than two"),
    "twice the same": (
        lambda each: zipped(members_of(each)[0], (f"{NAME}.proof", b"x")),
        "are not a file and its proof",
    ),
    "in the other order": (
        lambda each: zipped(*reversed(members_of(each))),
        "are not a file and its proof",
    ),
    "a proof of another name": (
        lambda each: zipped(("other.proof", each.proof.encode()), (NAME, each.content)),
        "are not a file and its proof",
    ),
    "compressed": (
        lambda each: zipped(*members_of(each), method=zipfile.ZIP_DEFLATED),
        "a compressed member",
    ),
    "a bomb": (
        lambda _: zipped(("a.proof", b""), ("a", bytes(1 << 24)), method=zipfile.ZIP_LZMA),
        "a compressed member",
    ),
    "with a comment": (lambda each: zipped(*members_of(each), comment=b"hi"), "before, between"),
    "with a date": (
        lambda each: zipped(*members_of(each), date_time=(2026, 1, 1, 0, 0, 0)),
        "headers that disagree",
    ),
    "with a note": (
        lambda each: zipped(*members_of(each), extra=b"\x99\x99\x02\x00hi"),
        "headers that disagree",
    ),
    "with rights": (
        lambda each: zipped(*members_of(each), external_attr=0o104755 << 16),
        "headers that disagree",
    ),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("how", FOREIGN)
def test_a_zip_of_another_form_is_refused(how: str, bundle: Bundle) -> None:
    make, words = FOREIGN[how]
    with pytest.raises(PublicationError, match=words):
        Bundle.from_bytes(make(bundle))


@pytest.mark.parametrize(
    "name", ["../model", "/etc/passwd", "a/b", "a\\b", "..", ".", "", "a\nb", "x" * 201, "a\u202eb"]
)
def test_a_name_is_plain(name: str, bundle: Bundle) -> None:
    with pytest.raises(ParameterError, match="name must be"):
        Bundle(name=name, content=b"", proof="")
    made = zipped((f"{name}.proof", bundle.proof.encode()), (name or "?", bundle.content))
    if not name:
        made = made.replace(b"?", b"/")
    with pytest.raises(PublicationError, match=r"plain name without folders|not a file and its"):
        Bundle.from_bytes(made)


def test_a_name_that_is_no_text_is_refused() -> None:
    made = Bundle(name="abc", content=b"", proof="").to_bytes().replace(b"abc", b"ab\xff")
    with pytest.raises(PublicationError, match="plain name without folders"):
        Bundle.from_bytes(made)


def test_headers_and_directory_agree(bundle: Bundle) -> None:
    """Each field that stands twice is changed in one of its places, and in both."""
    content, size = bundle.to_bytes(), len(bundle.content)
    word = struct.pack("<L", size) * 2
    assert content.count(word) == 2
    for count in (1, 2):
        for wrong in (size - 1, size + 1, 0xFFFFFFFF):
            with pytest.raises(PublicationError):
                Bundle.from_bytes(content.replace(word, struct.pack("<L", wrong) * 2, count))
    checksum = struct.pack("<L", zlib.crc32(bundle.content))
    with pytest.raises(PublicationError, match="damaged"):
        Bundle.from_bytes(content.replace(checksum, bytes(4)))
    *parts, last = content.split(checksum)
    with pytest.raises(PublicationError, match="headers that disagree"):
        Bundle.from_bytes(checksum.join(parts) + bytes(4) + last)


def test_what_is_no_file_and_no_text_is_refused() -> None:
    for wrong in (None, "a,b", 5):
        with pytest.raises(ParameterError, match="content must be of kind bytes"):
            Bundle.from_bytes(wrong)  # type: ignore[arg-type]  # what a caller may do
    for half in ("\ud800", '{"a":"\udfff"}'):
        with pytest.raises(ParameterError, match="proof must be text that UTF-8 can write"):
            Bundle(name=NAME, content=b"", proof=half)


def test_it_has_a_largest_size() -> None:
    large = Bundle(name="a", content=bytes(1 << 26), proof="")
    with pytest.raises(PublicationError, match="at most 67108864 bytes"):
        large.to_bytes()
    with pytest.raises(PublicationError, match="at most 67108864 bytes"):
        Bundle.from_bytes(bytes((1 << 26) + 1))


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04", b"PK\x03\x04" + bytes(26), b"{}"])
def test_what_is_no_bundle_is_not_taken_for_one(content: bytes) -> None:
    assert not is_bundle(content)
    assert not is_bundle(zipped(("table.csv", b"a,b")))
    with pytest.raises(PublicationError):
        Bundle.from_bytes(content)
