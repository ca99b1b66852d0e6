"""The root of entries as they pass by, and the few hashes that show how their tree begins."""

from __future__ import annotations

from collections.abc import Iterable

from supm.publication.merkle import EMPTY_ROOT, consistency_path, hash_leaf, hash_pair

__all__ = ["Peaks", "subtrees"]


def subtrees(sizes: Iterable[int], total: int) -> dict[tuple[int, int], bytes]:
    """Return the complete subtrees that show how a tree begins, by level and place, without hashes.

    Parameters
    ----------
    sizes : iterable of int
        Of which beginnings.
    total : int
        How many leaves the tree has.

    Returns
    -------
    dict
        For `Peaks` to fill in.

    Examples
    --------
    >>> sorted(subtrees([3], 5))
    [(0, 2), (0, 3), (0, 4), (1, 0)]
    """
    found = dict[tuple[int, int], bytes]()
    for size in sizes:
        if 0 < size < total:
            consistency_path(
                size, total, lambda level, place: found.setdefault((level, place), b"")
            )
    return found


class Peaks:
    """The root of entries that come one after another, in memory that does not grow with them.

    Parameters
    ----------
    wanted : dict, optional
        From `subtrees`: those whose hashes are filled in on the way.

    Examples
    --------
    >>> peaks = Peaks()
    >>> peaks.add([b"a", b"b", b"c"])
    >>> peaks.size, peaks.root().hex()[:8]
    (3, '36642e73')
    """

    def __init__(self, wanted: dict[tuple[int, int], bytes] | None = None) -> None:
        self.size = 0
        self._peaks: list[bytes] = []
        self._wanted = {} if wanted is None else wanted

    def add(self, entries: Iterable[bytes]) -> None:
        """Take the next entries."""
        for entry in entries:
            found, place = hash_leaf(entry), self.size
            self._note(0, place, found)
            level = 0
            while place % 2:
                found, place = hash_pair(self._peaks.pop(), found), place // 2
                level += 1
                self._note(level, place, found)
            self._peaks.append(found)
            self.size += 1

    def _note(self, level: int, place: int, found: bytes) -> None:
        if (level, place) in self._wanted:
            self._wanted[level, place] = found

    def root(self) -> bytes:
        """Return the root of all so far."""
        if not self._peaks:
            return EMPTY_ROOT
        found = self._peaks[-1]
        for each in self._peaks[-2::-1]:
            found = hash_pair(each, found)
        return found
