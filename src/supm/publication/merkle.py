"""A Merkle tree over entries in order, as RFC 6962 defines it: roots, proofs and their checks.

A tree of n leaves splits at the largest power of two below n, so every subtree on the left is
complete and never changes again. Whoever keeps the hashes of complete subtrees can answer every
question here with a few of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from supm._errors import PublicationError
from supm.publication.words import entries_in_words

__all__ = [
    "EMPTY_ROOT",
    "Fetch",
    "check_consistency",
    "consistency_path",
    "grown",
    "hash_leaf",
    "hash_pair",
    "inclusion_path",
    "root_by_inclusion",
    "root_of",
    "roots_by_consistency",
]

EMPTY_ROOT: Final = hashlib.sha256().digest()
# Level and place of a complete subtree, to its hash; level 0 are the leaves.
Fetch = Callable[[int, int], bytes]


def hash_leaf(entry: bytes) -> bytes:
    """Return the hash of an entry; the first byte keeps it apart from a pair's.

    Examples
    --------
    >>> hash_leaf(b"").hex()[:16]
    '6e340b9cffb37a98'
    """
    return hashlib.sha256(b"\x00" + entry).digest()


def hash_pair(left: bytes, right: bytes) -> bytes:
    """Return the hash of two subtrees side by side."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def grown(size: int, leaves: Sequence[bytes], fetch: Fetch) -> Iterator[tuple[int, int, bytes]]:
    """Yield level, place and hash of every subtree that new leaves complete.

    Parameters
    ----------
    size : int
        How many leaves there were.
    leaves : sequence of bytes
        The hashes of those that follow.
    fetch : callable
        From level and place to the hash of a subtree that was complete before.

    Yields
    ------
    tuple of int, int and bytes
        The leaves themselves first.
    """
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
    """Return the root of the first leaves.

    Parameters
    ----------
    size : int
        How many.
    fetch : callable
        From level and place to the hash of a complete subtree.

    Returns
    -------
    bytes
    """
    return _range(0, size, fetch) if size else EMPTY_ROOT


def inclusion_path(index: int, size: int, fetch: Fetch) -> list[bytes]:
    """Return the hashes that lead from a leaf to the root, lowest first.

    Parameters
    ----------
    index : int
        The leaf's place, from 0.
    size : int
        How many leaves the tree has.
    fetch : callable
        From level and place to the hash of a complete subtree.

    Returns
    -------
    list of bytes

    Examples
    --------
    >>> leaves = [hash_leaf(bytes([each])) for each in range(3)]
    >>> known = {(level, place): each for level, place, each in grown(0, leaves, None)}
    >>> path = inclusion_path(2, 3, lambda *where: known[where])
    >>> path == [hash_pair(leaves[0], leaves[1])]
    True
    """
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
    """Return the hashes that show that one tree begins with another.

    Parameters
    ----------
    first, second : int
        The sizes of the smaller and the larger tree, 0 < first <= second.
    fetch : callable
        From level and place to the hash of a complete subtree.

    Returns
    -------
    list of bytes
    """
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
    """Return the root that a leaf and its path lead to.

    Parameters
    ----------
    leaf : bytes
        The hash of the entry.
    index : int
        Its place.
    size : int
        How many leaves the tree has.
    path : sequence of bytes
        From `inclusion_path`.

    Returns
    -------
    bytes

    Raises
    ------
    PublicationError
        If the place is not in the tree, or the path is too long or too short for it.
    """
    if not 0 <= index < size:
        message = f"the proof is for entry {index}, and the tree has {entries_in_words(size)}."
        raise PublicationError(message)
    place, last, found, rest = index, size - 1, leaf, list(path)
    while last:
        if place % 2 or place < last:
            if not rest:
                message = "the inclusion proof is too short."
                raise PublicationError(message)
            other = rest.pop(0)
            found = hash_pair(other, found) if place % 2 else hash_pair(found, other)
        place, last = place // 2, last // 2
    if rest:
        message = "the inclusion proof is too long."
        raise PublicationError(message)
    return found


def check_consistency(
    first: int, first_root: bytes, second: int, second_root: bytes, path: Sequence[bytes]
) -> None:
    """Raise unless the larger tree begins with the smaller one.

    Parameters
    ----------
    first : int
        The size of the smaller tree.
    first_root : bytes
        Its root.
    second : int
        The size of the larger tree.
    second_root : bytes
        Its root.
    path : sequence of bytes
        From `consistency_path`.

    Raises
    ------
    PublicationError
        If it does not, or the path is not one for these sizes.
    """
    if not 0 <= first <= second:
        message = f"a tree of {entries_in_words(second)} cannot begin with one of {first}."
        raise PublicationError(message)
    if first in (0, second):
        if path or first_root != (second_root if first == second else EMPTY_ROOT):
            message = "two trees of one size have different roots, or a path that is not needed."
            raise PublicationError(message)
        return
    if roots_by_consistency(first, first_root, second, path) != (first_root, second_root):
        message = "the larger tree does not begin with the smaller one."
        raise PublicationError(message)


def roots_by_consistency(
    first: int, first_root: bytes, second: int, path: Sequence[bytes]
) -> tuple[bytes, bytes]:
    """Return the roots of both trees that a path leads to.

    Parameters
    ----------
    first, second : int
        The sizes of the smaller and the larger tree, 0 < first < second.
    first_root : bytes
        Where the path begins if the smaller tree is one complete subtree; not used otherwise.
    path : sequence of bytes
        From `consistency_path`.

    Returns
    -------
    tuple of bytes and bytes

    Raises
    ------
    PublicationError
        If the path is too long or too short for these sizes.
    """
    place, last, rest = first - 1, second - 1, list(path)
    while place % 2:
        place, last = place // 2, last // 2
    # A smaller tree that is one complete subtree is its own beginning.
    start = _next(rest) if place else first_root
    smaller = larger = start
    while last:
        if place % 2:
            other = _next(rest)
            smaller, larger = hash_pair(other, smaller), hash_pair(other, larger)
        elif place < last:
            larger = hash_pair(larger, _next(rest))
        place, last = place // 2, last // 2
    if rest:
        message = "the consistency proof is too long."
        raise PublicationError(message)
    return smaller, larger


def _next(rest: list[bytes]) -> bytes:
    if not rest:
        message = "the consistency proof is too short."
        raise PublicationError(message)
    return rest.pop(0)


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
