"""A Merkle tree over entries in order, as RFC 6962 defines it: roots, proofs and their checks.

A tree of n leaves splits at the largest power of two below n, so every subtree on the left is
complete and never changes again. Whoever keeps the hashes of complete subtrees can answer every
question here with a few of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from supm._errors import PublicationError
from supm.reporting import counted

EMPTY_ROOT: Final = hashlib.sha256().digest()
# Level and place of a complete subtree, to its hash; level 0 are the leaves.
Fetch = Callable[[int, int], bytes]


def hash_leaf(entry: bytes) -> bytes:
    """Return the hash of an entry; the first byte keeps it apart from a pair's."""
    return hashlib.sha256(b"\x00" + entry).digest()


def hash_pair(left: bytes, right: bytes) -> bytes:
    """Return the hash of two subtrees side by side."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def grown(size: int, leaves: Sequence[bytes], fetch: Fetch) -> Iterator[tuple[int, int, bytes]]:
    """Yield level, place and hash of every subtree that new leaves complete."""
    level, first, row = 0, size, list(leaves)
    while row:
        yield from ((level, first + place, each) for place, each in enumerate(row))
        if first % 2:
            row.insert(0, fetch(level, first - 1))
            first -= 1
        pairs = zip(row[0::2], row[1::2], strict=False)
        row = [hash_pair(left, right) for left, right in pairs]
        level, first = level + 1, first // 2


def root_of(size: int, fetch: Fetch) -> bytes:
    """Return the root of the first leaves."""
    return _range(0, size, fetch) if size else EMPTY_ROOT


def inclusion_path(index: int, size: int, fetch: Fetch) -> list[bytes]:
    """Return the hashes that lead from a leaf to the root, lowest first."""
    low, high, path = 0, size, []
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            path.append(_range(middle, high, fetch))
            high = middle
        else:
            path.append(_range(low, middle, fetch))
            low = middle
    return path[::-1]


def consistency_path(first: int, second: int, fetch: Fetch) -> list[bytes]:
    """Return the hashes that show that one tree begins with another."""
    low, high, path, whole = 0, second, [], True
    while first != high:
        middle = low + _split(high - low)
        if first <= middle:
            path.append(_range(middle, high, fetch))
            high = middle
        else:
            path.append(_range(low, middle, fetch))
            low, whole = middle, False
    return ([] if whole else [_range(low, high, fetch)]) + path[::-1]


def root_by_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """Return the root that a leaf and its path lead to."""
    if not 0 <= index < size:
        raise PublicationError(
            f"the proof is for entry {index}, and the tree has {counted(size, 'entry')}."
        )
    place, last, found, rest = index, size - 1, leaf, _Path("inclusion", path)
    while last:
        if place % 2:
            found = hash_pair(rest.next(), found)
        elif place < last:
            found = hash_pair(found, rest.next())
        place, last = place // 2, last // 2
    rest.end()
    return found


class _Path:
    """The hashes of a proof, taken one after another and to the end."""

    def __init__(self, noun: str, path: Sequence[bytes]) -> None:
        self._noun, self._rest = noun, list(path)

    def next(self) -> bytes:
        if not self._rest:
            raise PublicationError(f"the {self._noun} proof is too short.")
        return self._rest.pop(0)

    def end(self) -> None:
        if self._rest:
            raise PublicationError(f"the {self._noun} proof is too long.")


def check_consistency(
    first: int, first_root: bytes, second: int, second_root: bytes, path: Sequence[bytes]
) -> None:
    """Raise unless the larger tree begins with the smaller one."""
    if not 0 <= first <= second:
        raise PublicationError(
            f"a tree of {counted(second, 'entry')} cannot begin with one of {first}."
        )
    if first in (0, second):
        if path or first_root != (second_root if first == second else EMPTY_ROOT):
            raise PublicationError(
                "two trees of one size have different roots, or a path that is not needed."
            )
        return
    if roots_by_consistency(first, first_root, second, path) != (first_root, second_root):
        raise PublicationError("the larger tree does not begin with the smaller one.")


def roots_by_consistency(
    first: int, first_root: bytes, second: int, path: Sequence[bytes]
) -> tuple[bytes, bytes]:
    """Return the roots of both trees that a path leads to."""
    place, last, rest = first - 1, second - 1, _Path("consistency", path)
    while place % 2:
        place, last = place // 2, last // 2
    # A smaller tree that is one complete subtree is its own beginning.
    start = rest.next() if place else first_root
    smaller = larger = start
    while last:
        if place % 2:
            other = rest.next()
            smaller, larger = hash_pair(other, smaller), hash_pair(other, larger)
        elif place < last:
            larger = hash_pair(larger, rest.next())
        place, last = place // 2, last // 2
    rest.end()
    return smaller, larger


def _split(count: int) -> int:
    """Return the largest power of two below a count of at least two."""
    return 1 << (count - 1).bit_length() - 1


def _range(low: int, high: int, fetch: Fetch) -> bytes:
    count = high - low
    level = count.bit_length() - 1
    if count == 1 << level:
        return fetch(level, low >> level)
    middle = low + _split(count)
    return hash_pair(_range(low, middle, fetch), _range(middle, high, fetch))


def subtrees(sizes: Iterable[int], total: int) -> dict[tuple[int, int], bytes]:
    """Return the complete subtrees that show how a tree begins, for `Peaks` to fill in."""
    found = dict[tuple[int, int], bytes]()
    for size in sizes:
        if 0 < size < total:
            consistency_path(
                size, total, lambda level, place: found.setdefault((level, place), b"")
            )
    return found


class Peaks:
    """The root of entries that come one after another, in memory that does not grow with them."""

    def __init__(self, wanted: dict[tuple[int, int], bytes] | None = None) -> None:
        self.size = 0
        # The last complete subtree of each level that is on the left.
        self._peaks: dict[int, bytes] = {}
        self._wanted = {} if wanted is None else wanted

    def add(self, entries: Iterable[bytes]) -> None:
        """Take the next entries."""
        for entry in entries:
            found, level, place = hash_leaf(entry), 0, self.size
            self._note(level, place, found)
            while place % 2:
                found, level, place = hash_pair(self._peaks[level], found), level + 1, place // 2
                self._note(level, place, found)
            self._peaks[level] = found
            self.size += 1

    def _note(self, level: int, place: int, found: bytes) -> None:
        if (level, place) in self._wanted:
            self._wanted[level, place] = found

    def root(self) -> bytes:
        """Return the root of all so far."""
        return root_of(self.size, self._peak)

    def _peak(self, level: int, _: int) -> bytes:
        return self._peaks[level]
