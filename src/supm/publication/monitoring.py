"""Read a whole log as a stranger would: rebuild the root from raw entries, and doubt all else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from supm._errors import PublicationError
from supm.publication.checkpoint import SignedCheckpoint
from supm.publication.entry import ChainEntry, Entry, KeyEntry, ReleaseEntry, RoundEntry
from supm.publication.entry_reader import EntryReader
from supm.publication.forks import ForkError
from supm.publication.history import KeyHistory
from supm.publication.keys import VerifierKey
from supm.publication.merkle import Peaks, check_consistency
from supm.publication.reading import LogReader, changes_of

__all__ = ["check_log", "entries_of", "rebuilt"]

_PAGE: Final = 10_000


def entries_of(log: LogReader, size: int) -> Iterator[str]:
    """Yield the texts of the first entries, page by page."""
    for start in range(0, size, _PAGE):
        yield from log.entries(start, min(start + _PAGE, size))


def rebuilt(
    texts: Iterable[str], sizes: Iterable[int] = (), tell: Callable[[int], None] | None = None
) -> tuple[int, bytes, dict[int, bytes]]:
    """Return how many entries there are, their root, and the root of some beginnings.

    Parameters
    ----------
    texts : iterable of str
        The raw entries, in order.
    sizes : iterable of int
        Of which beginnings the root is wanted.
    tell : callable, optional
        Is told each number of entries so far.

    Returns
    -------
    tuple of int, bytes and dict

    Examples
    --------
    >>> rebuilt([])[0]
    0
    """
    wanted, peaks = frozenset(sizes), Peaks()
    roots = {0: peaks.root()} if 0 in wanted else {}
    for text in texts:
        peaks.add([text.encode()])
        if peaks.size in wanted:
            roots[peaks.size] = peaks.root()
        if tell is not None:
            tell(peaks.size)
    return peaks.size, peaks.root(), roots


def check_log(  # noqa: PLR0913  each is one more thing to compare
    log: LogReader,
    key: VerifierKey,
    *,
    now: SignedCheckpoint | None = None,
    known: SignedCheckpoint | None = None,
    contracts: Sequence[ChainEntry] | None = None,
    anchors: Mapping[int, bytes] | None = None,
    clock: str | None = None,
    tell: Callable[[int], None] | None = None,
) -> Iterator[str]:
    """Yield in words what was checked of a whole log.

    Parameters
    ----------
    log : LogReader
        The log.
    key : VerifierKey
        The key that the reader trusts.
    now : SignedCheckpoint, optional
        The checkpoint to check; the newest by default. Who keeps one asks for it once.
    known : SignedCheckpoint, optional
        One that the reader kept from before.
    contracts : sequence of ChainEntry, optional
        The contracts whose anchors are given, as the log told them; its entries must agree.
    anchors : mapping of int to bytes, optional
        The roots that a chain holds, by size.
    clock : str, optional
        The reader's own time, in UTC: a log that is dated after it is warned of.
    tell : callable, optional
        Is told each number of entries read so far.

    Yields
    ------
    str

    Raises
    ------
    PublicationError
        At the first thing that is wrong; a ForkError carries the evidence.
    """
    now, roots = now or log.checkpoint(), dict(anchors or {})
    size = now.checkpoint.size
    # Before anything is read: what nobody signed may have no end, and two roots of one size tell
    # all of a fork, whatever the log answers to other questions.
    told = KeyHistory.followed(key, changes_of(log, size))
    told.check(now)
    if known is not None:
        _check_same_size(known, now, told)
    reading = _Reading()
    sizes = {*roots, *([known.checkpoint.size] if known else [])}
    count, root, found = rebuilt(map(reading.take, entries_of(log, size)), sizes, tell)
    history = KeyHistory.followed(key, reading.changes)
    signer = history.check(now)
    yield f"The newest checkpoint, of {size} entries, is signed by the key {signer.hash.hex()}."
    _check_root(now, count, root)
    yield f"The root of the {count} raw entries is the one that is signed."
    reading.check_runs()
    yield reading.words
    if clock is not None and reading.time > clock:
        yield (
            f"WARNING: the last entry is dated {reading.time}, and it is {clock} by your clock: "
            "one of the two clocks is wrong."
        )
    if known is not None:
        _check_known(known, log, now, history, found)
        yield f"It begins with the {known.checkpoint.size} entries of the checkpoint that you kept."
    if contracts is not None and list(contracts) != reading.contracts:
        message = "the log names other contracts in its entries than it did when it was asked."
        raise PublicationError(message)
    if anchors is not None:
        _check_anchors(roots, size, found)
        yield (
            f"It agrees with every anchor on the chain: {len(roots)} of them."
            if roots
            else "Nothing contradicts it on the chain, which holds no anchor of it yet."
        )


def _check_root(now: SignedCheckpoint, count: int, root: bytes) -> None:
    if count != now.checkpoint.size:
        message = f"the log has {count} entries and signs for {now.checkpoint.size}: some are gone."
        raise PublicationError(message)
    if root != now.checkpoint.root:
        message = (
            f"the root of the {count} raw entries is not the one that is signed: an entry was "
            "altered, dropped, doubled or moved."
        )
        raise PublicationError(message)


def _check_same_size(known: SignedCheckpoint, now: SignedCheckpoint, told: KeyHistory) -> None:
    first, second = known.checkpoint, now.checkpoint
    if first.size == second.size and first.root != second.root:
        told.signer(known)
        raise ForkError(known, now, (), root=second.root)


def _check_known(
    known: SignedCheckpoint,
    log: LogReader,
    now: SignedCheckpoint,
    history: KeyHistory,
    found: dict[int, bytes],
) -> None:
    # Revoked or not: what a key signed in its time is evidence.
    history.signer(known)
    if known.checkpoint.size > now.checkpoint.size:
        message = (
            f"the log has {now.checkpoint.size} entries, and signed for {known.checkpoint.size} "
            "before: it was cut."
        )
        raise PublicationError(message)
    size, root = known.checkpoint.size, found[known.checkpoint.size]
    if root != known.checkpoint.root:
        raise ForkError(known, now, _path(log, size, root, now), root=root)


def _path(log: LogReader, size: int, root: bytes, now: SignedCheckpoint) -> Sequence[bytes]:
    """Return the path from a beginning to the newest root; none where the log gives a false one."""
    try:
        path = log.consistency(size, now.checkpoint.size)
        check_consistency(size, root, now.checkpoint.size, now.checkpoint.root, path)
    except PublicationError:
        return ()  # the fork is seen all the same: the entries were read
    return path


def _check_anchors(roots: Mapping[int, bytes], size: int, found: dict[int, bytes]) -> None:
    for each, root in sorted(roots.items()):
        if each > size:
            message = f"the chain has an anchor of {each} entries, the log has {size}: it was cut."
            raise PublicationError(message)
        if found[each] != root:
            message = (
                f"the chain has another root for the first {each} entries than the log: the log "
                "was rewritten, or shows the chain something else."
            )
            raise PublicationError(message)


class _Reading:
    """What a reader remembers of all entries: enough to see what does not fit together."""

    def __init__(self) -> None:
        self.changes: list[tuple[int, KeyEntry]] = []
        self.contracts: list[ChainEntry] = []
        self.time = ""
        self._reader = EntryReader()
        self._count = 0
        self._contents: set[str] = set()
        self._runs: dict[tuple[str, int], RoundEntry] = {}
        self._released: list[tuple[ReleaseEntry, tuple[tuple[str, ...], ...]]] = []

    @property
    def words(self) -> str:
        rounds, changes = len(self._runs), len(self.changes)
        return (
            f"Every entry can be read, and times go forwards. Releases: {len(self._contents)}, no "
            f"file twice; rounds of parties: {rounds}; changes of keys: {changes}."
        )

    def take(self, text: str) -> str:
        entry, place = self._reader.read(text), self._count
        if entry.time < self.time:
            message = f"entry {place} is dated {entry.time}, before the one before it."
            raise PublicationError(message)
        self._count, self.time = place + 1, entry.time
        self._note(place, entry)
        return text

    def _note(self, place: int, entry: Entry) -> None:
        if isinstance(entry, KeyEntry):
            self.changes.append((place, entry))
        elif isinstance(entry, ChainEntry):
            self.contracts.append(entry)
        elif isinstance(entry, RoundEntry):
            before = self._runs.setdefault((entry.run, entry.round), entry)
            if replace(entry, time=before.time) != before:
                message = f"entry {place} tells another story of a round than one before it."
                raise PublicationError(message)
        elif isinstance(entry, ReleaseEntry):
            if entry.content in self._contents:
                message = f"entry {place} publishes a file that was published before: it is double."
                raise PublicationError(message)
            self._contents.add(entry.content)
            if entry.run:
                self._released.append((entry, self._shown(entry)))

    def _shown(self, entry: ReleaseEntry) -> tuple[tuple[str, ...], ...]:
        """Return what the log has shown so far of the run of a release: all of its rounds."""
        found, number = list[tuple[str, ...]](), 0
        while (each := self._runs.get((entry.run, number))) is not None:
            found.append(each.commitments if each.study == entry.study else ())
            number += 1
        return tuple(found)

    def check_runs(self) -> None:
        """Raise where a release counts other parties than the rounds before it."""
        for entry, shown in self._released:
            if entry.commitments != shown:
                message = (
                    f"the release {entry.content[:16]}… counts other contributions than the log "
                    "showed when its rounds were held."
                )
                raise PublicationError(message)
