"""What is kept while entries pass by is what the whole tree has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supm.publication.merkle import consistency_path, grown, hash_leaf, root_of
from supm.publication.peaks import Peaks, subtrees


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
