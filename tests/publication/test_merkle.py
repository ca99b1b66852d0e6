"""The tree against the published vectors of RFC 6962, and against its definition, word for word."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from supm import PublicationError
from supm.publication.merkle import (
    EMPTY_ROOT,
    Fetch,
    Peaks,
    check_consistency,
    consistency_path,
    grown,
    hash_leaf,
    hash_pair,
    inclusion_path,
    root_by_inclusion,
    root_of,
    subtrees,
)

INPUTS = [
    bytes.fromhex(each)
    for each in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
# Entry, size and path; then smaller size, larger size and path: the reference tests' own.
INCLUSIONS = (
    (0, 1, ()),
    (
        0,
        8,
        (
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ),
    ),
    (
        5,
        8,
        (
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ),
    ),
    (2, 3, ("fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",)),
    (
        1,
        5,
        (
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ),
    ),
)
CONSISTENCIES = (
    (1, 1, ()),
    (
        1,
        8,
        (
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ),
    ),
    (
        6,
        8,
        (
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ),
    ),
    (
        2,
        5,
        (
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ),
    ),
)
MOST = 70
ENTRIES = [b"entry %d" % number for number in range(MOST)]
LEAVES = [hash_leaf(each) for each in ENTRIES]


# The definitions of RFC 6962, section 2.1, over entries from one place up to another.
def split(count: int) -> int:
    power = 1
    while 2 * power < count:
        power *= 2
    return power


@cache
def defined_root(low: int, high: int) -> bytes:
    if high == low:
        return sha256().digest()
    if high - low == 1:
        return sha256(b"\x00" + ENTRIES[low]).digest()
    middle = low + split(high - low)
    return sha256(b"\x01" + defined_root(low, middle) + defined_root(middle, high)).digest()


def defined_inclusion(index: int, low: int, high: int) -> list[bytes]:
    if high - low == 1:
        return []
    middle = low + split(high - low)
    if index < middle:
        return [*defined_inclusion(index, low, middle), defined_root(middle, high)]
    return [*defined_inclusion(index, middle, high), defined_root(low, middle)]


def defined_consistency(first: int, low: int, high: int, *, whole: bool = True) -> list[bytes]:
    if first == high:
        return [] if whole else [defined_root(low, high)]
    middle = low + split(high - low)
    if first <= middle:
        rest = defined_consistency(first, low, middle, whole=whole)
        return [*rest, defined_root(middle, high)]
    return [*defined_consistency(first, middle, high, whole=False), defined_root(low, middle)]


def fetch_from(leaves: list[bytes]) -> Fetch:
    def nothing(level: int, place: int) -> bytes:
        raise AssertionError((level, place))

    known = {(level, place): each for level, place, each in grown(0, leaves, nothing)}
    return lambda level, place: known[level, place]


FETCH = fetch_from(LEAVES)


def flipped(held: bytes, bit: int) -> bytes:
    changed = bytearray(held)
    changed[bit // 8 % len(held)] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize("size", range(9))
def test_roots_are_the_published_ones(size: int) -> None:
    leaves = [hash_leaf(each) for each in INPUTS[:size]]
    peaks = Peaks()
    peaks.add(INPUTS[:size])
    assert root_of(size, fetch_from(leaves)).hex() == peaks.root().hex() == ROOTS[size]


@pytest.mark.parametrize(("index", "size", "path"), INCLUSIONS)
def test_inclusion_paths_are_the_published_ones(
    index: int, size: int, path: tuple[str, ...]
) -> None:
    leaves = [hash_leaf(each) for each in INPUTS]
    found = inclusion_path(index, size, fetch_from(leaves))
    assert [each.hex() for each in found] == list(path)
    assert root_by_inclusion(leaves[index], index, size, found).hex() == ROOTS[size]


@pytest.mark.parametrize(("first", "second", "path"), CONSISTENCIES)
def test_consistency_paths_are_the_published_ones(
    first: int, second: int, path: tuple[str, ...]
) -> None:
    found = consistency_path(first, second, fetch_from([hash_leaf(each) for each in INPUTS]))
    assert [each.hex() for each in found] == list(path)
    roots = bytes.fromhex(ROOTS[first]), bytes.fromhex(ROOTS[second])
    check_consistency(first, roots[0], second, roots[1], found)


@pytest.mark.parametrize("size", range(MOST + 1))
def test_roots_are_those_of_the_definition(size: int) -> None:
    peaks = Peaks()
    peaks.add(ENTRIES[:size])
    assert peaks.size == size
    assert peaks.root() == root_of(size, FETCH) == defined_root(0, size)


@pytest.mark.parametrize("size", range(1, 41))
def test_every_inclusion_path_is_that_of_the_definition_and_leads_to_the_root(size: int) -> None:
    for index in range(size):
        path = inclusion_path(index, size, FETCH)
        assert path == defined_inclusion(index, 0, size)
        assert root_by_inclusion(LEAVES[index], index, size, path) == defined_root(0, size)


@pytest.mark.parametrize("second", range(1, 41))
def test_every_consistency_path_is_that_of_the_definition_and_holds(second: int) -> None:
    for first in range(1, second + 1):
        path = consistency_path(first, second, FETCH)
        assert path == defined_consistency(first, 0, second)
        check_consistency(first, defined_root(0, first), second, defined_root(0, second), path)


def test_every_tree_begins_with_the_empty_one() -> None:
    check_consistency(0, EMPTY_ROOT, 5, defined_root(0, 5), [])
    for root, path in ((EMPTY_ROOT, [EMPTY_ROOT]), (bytes(32), [])):
        with pytest.raises(PublicationError, match="not needed"):
            check_consistency(0, root, 5, defined_root(0, 5), path)


@given(steps=st.lists(st.integers(0, 9), max_size=12))
def test_a_tree_grows_in_any_steps_to_the_same_hashes(steps: list[int]) -> None:
    known: dict[tuple[int, int], bytes] = {}
    size = 0
    for step in steps:
        leaves = LEAVES[size : size + step]
        for level, place, each in grown(size, leaves, lambda *where: known[where]):
            assert known.setdefault((level, place), each) == each
        size += len(leaves)
    whole = {(level, place) for level, place, _ in grown(0, LEAVES[:size], FETCH)}
    assert set(known) == whole
    assert all(FETCH(*where) == each for where, each in known.items())


@given(data=st.data(), size=st.integers(1, MOST), bit=st.integers(0, 255))
def test_one_changed_bit_of_leaf_or_path_leads_elsewhere(
    data: st.DataObject, size: int, bit: int
) -> None:
    index = data.draw(st.integers(0, size - 1))
    held = [LEAVES[index], *inclusion_path(index, size, FETCH)]
    place = data.draw(st.integers(0, len(held) - 1))
    held[place] = flipped(held[place], bit)
    assert root_by_inclusion(held[0], index, size, held[1:]) != defined_root(0, size)


@given(data=st.data(), size=st.integers(1, MOST), bit=st.integers(0, 70))
def test_a_path_is_for_one_place_only(data: st.DataObject, size: int, bit: int) -> None:
    index = data.draw(st.integers(0, size - 1))
    path = inclusion_path(index, size, FETCH)
    other = index ^ 1 << bit
    if other < size:
        try:
            found = root_by_inclusion(LEAVES[index], other, size, path)
        except PublicationError:
            return
        assert found != defined_root(0, size)
    else:
        with pytest.raises(PublicationError, match="the tree has"):
            root_by_inclusion(LEAVES[index], other, size, path)


@given(data=st.data(), size=st.integers(1, MOST), other=st.integers(-3, 2 * MOST))
def test_a_path_never_leads_to_the_root_of_another_size(
    data: st.DataObject, size: int, other: int
) -> None:
    assume(other != size)
    index = data.draw(st.integers(0, size - 1))
    path = inclusion_path(index, size, FETCH)
    try:
        found = root_by_inclusion(LEAVES[index], index, other, path)
    except PublicationError:
        return
    # A path may fit a tree of another size, whose root is then another one than that size has.
    assert other > MOST or found != defined_root(0, other)


@given(data=st.data(), size=st.integers(1, MOST))
def test_a_path_of_another_length_is_refused(data: st.DataObject, size: int) -> None:
    index = data.draw(st.integers(0, size - 1))
    path = inclusion_path(index, size, FETCH)
    with pytest.raises(PublicationError, match="too long"):
        root_by_inclusion(LEAVES[index], index, size, [*path, EMPTY_ROOT])
    if path:
        with pytest.raises(PublicationError, match="too short"):
            root_by_inclusion(LEAVES[index], index, size, path[:-1])


@given(data=st.data(), second=st.integers(2, MOST), bit=st.integers(0, 255))
def test_one_changed_bit_of_a_consistency_proof_is_refused(
    data: st.DataObject, second: int, bit: int
) -> None:
    first = data.draw(st.integers(1, second - 1))
    path = consistency_path(first, second, FETCH)
    held = [defined_root(0, first), defined_root(0, second), *path]
    place = data.draw(st.integers(0, len(held) - 1))
    held[place] = flipped(held[place], bit)
    with pytest.raises(PublicationError, match="does not begin"):
        check_consistency(first, held[0], second, held[1], held[2:])


@given(data=st.data(), second=st.integers(2, MOST))
def test_a_consistency_proof_of_other_sizes_or_length_is_refused(
    data: st.DataObject, second: int
) -> None:
    first = data.draw(st.integers(1, second - 1))
    path, roots = consistency_path(first, second, FETCH), (defined_root(0, first), EMPTY_ROOT)
    for wrong in ([*path, EMPTY_ROOT], path[:-1]):
        with pytest.raises(PublicationError):
            check_consistency(first, roots[0], second, defined_root(0, second), wrong)
    other = data.draw(st.integers(1, second).filter(lambda each: each != first))
    with pytest.raises(PublicationError):
        check_consistency(other, roots[0], second, defined_root(0, second), path)
    with pytest.raises(PublicationError, match="cannot begin"):
        check_consistency(second, defined_root(0, second), first, roots[0], path)


def test_two_roots_of_one_size_are_refused() -> None:
    check_consistency(5, defined_root(0, 5), 5, defined_root(0, 5), [])
    with pytest.raises(PublicationError, match="different roots"):
        check_consistency(5, EMPTY_ROOT, 5, defined_root(0, 5), [])


@pytest.mark.parametrize("size", [10**6, 2**20, 2**20 - 1])
def test_a_million_entries_need_twenty_hashes(size: int) -> None:
    """A tree whose leaves are all the same has one hash a level: no need to hold a million."""
    levels = [hash_leaf(b"")]
    for _ in range(20):
        levels.append(hash_pair(levels[-1], levels[-1]))

    def fetch(level: int, place: int) -> bytes:
        assert (place + 1) << level <= size
        return levels[level]

    root = root_of(size, fetch)
    for index in {0, 1, 2**19 - 1, 2**19, size // 2, size - 2, size - 1, *range(7, size, 99_991)}:
        path = inclusion_path(index, size, fetch)
        assert len(path) <= 20
        assert root_by_inclusion(levels[0], index, size, path) == root


@given(st.integers(0, 70), st.sets(st.integers(0, 80), max_size=6))
def test_the_subtrees_that_are_kept_show_how_the_tree_begins(total: int, sizes: set[int]) -> None:
    entries = [b"%d" % place for place in range(total)]
    known: dict[tuple[int, int], bytes] = {}
    for level, place, each in grown(0, [*map(hash_leaf, entries)], lambda *where: known[where]):
        known[level, place] = each
    kept = subtrees(sizes, total)
    peaks = Peaks(kept)
    peaks.add(entries)
    assert peaks.root() == root_of(total, lambda *where: known[where])
    assert kept.items() <= known.items()
    for size in sizes:
        if 0 < size < total:
            path = consistency_path(size, total, lambda *where: kept[where])
            assert path == consistency_path(size, total, lambda *where: known[where])
