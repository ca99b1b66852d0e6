"""Read a whole log as a stranger would: rebuild the root from raw entries, and doubt all else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supm._errors import ParameterError, PublicationError
from supm.publication.anchoring import KnownContract, anchors_of
from supm.publication.chain.contract import Anchor
from supm.publication.entry import ChainEntry, KeyChange
from supm.publication.evidence import Told, check_root
from supm.publication.history import KeyHistory, LogReader, changes_of, contracts_of
from supm.publication.merkle import consistency_path, subtrees
from supm.publication.opening import AnyLog, file_text, now_in_utc, open_log, read_verifier_key
from supm.publication.signing import SignedCheckpoint, VerifierKey
from supm.publication.story import LogStory, entries_of, rebuilt
from supm.publication.verification import Tell, Verification, judged
from supm.reporting import counted


def check_log(  # noqa: PLR0913  each is one more thing to compare
    log: LogReader,
    key: VerifierKey,
    *,
    now: SignedCheckpoint | None = None,
    known: SignedCheckpoint | None = None,
    contracts: Sequence[ChainEntry] | None = None,
    anchors: Sequence[Anchor] | None = None,
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
    anchors : sequence of Anchor, optional
        The roots that a chain holds.
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
    now = now or log.checkpoint()
    size = now.size
    _check_unread(log, key, now, known)
    story, sizes = LogStory(), {each.size for each in anchors or ()}
    sizes |= {known.size} if known else set()
    nodes = subtrees(sizes, size)
    count, root, roots = rebuilt(map(story.take, entries_of(log, size)), sizes, tell, nodes)
    history = KeyHistory.followed(key, story.changes)
    signer = history.check(now)
    told = counted(size, "entry")
    yield f"The newest checkpoint, of {told}, is signed by the key {signer.hash.hex()}."
    _check_root(now, count, root)
    yield f"The root of the {counted(count, 'raw entry')} is the one that is signed."
    story.check_runs()
    yield story.words
    yield from _revoked(history)
    yield from story.warnings(clock)
    whole = _Whole(now, roots, nodes, story.changes)
    if known is not None:
        # Revoked or not: what a key signed in its time is evidence.
        history.signer(known)
        whole.compare(known)
        kept = counted(known.size, "entry")
        yield f"It begins with the {kept} of the checkpoint that you kept."
    if contracts is not None and list(contracts) != story.contracts:
        raise PublicationError(
            "the log names other contracts in its entries than it did when it was asked."
        )
    if anchors is not None:
        yield whole.agrees(anchors)


def _check_unread(
    log: LogReader, key: VerifierKey, now: SignedCheckpoint, known: SignedCheckpoint | None
) -> None:
    """Check what needs no entry read: what nobody signed may have no end.

    Two roots of one size tell all of a fork, whatever the log answers to other questions.
    """
    size = now.size
    changes = changes_of(log, size)
    history = KeyHistory.followed(key, changes)
    history.check(now)
    if known is not None and known.size == size:
        history.signer(known)
        _Whole(now, {size: now.root}, {}, changes).compare(known)


def _revoked(history: KeyHistory) -> Iterator[str]:
    if history.revoked:
        which = ", ".join(sorted(each.hash.hex() for each in history.revoked))
        yield f"The log revoked, as stolen: {which}. What such a key alone signed shows nothing."


def _check_root(now: SignedCheckpoint, count: int, root: bytes) -> None:
    if count != now.size:
        told = counted(count, "entry")
        raise PublicationError(f"the log has {told} and signs for {now.size}: some are gone.")
    if root != now.root:
        raise PublicationError(
            f"the root of the {counted(count, 'raw entry')} is not the one that is signed: an "
            "entry was altered, dropped, doubled or moved."
        )


@dataclass(frozen=True)
class _Whole:
    """A log whose entries were all read, so that its answers are not needed any more."""

    now: SignedCheckpoint
    roots: Mapping[int, bytes]
    nodes: Mapping[tuple[int, int], bytes]
    changes: Sequence[KeyChange]

    def compare(self, first: Told) -> None:
        """Raise unless the log begins with what was said before; a ForkError where it differs."""
        if first.size > self.now.size:
            raise PublicationError(_cut(first, self.now.size))
        root, path = self.roots[first.size], self._path(first.size)
        check_root(first, self.now, root, path, self.changes)

    def agrees(self, anchors: Sequence[Anchor]) -> str:
        """Compare all anchors, the smallest first, and say so."""
        for each in sorted(anchors, key=lambda anchor: anchor.size):
            self.compare(each)
        if not anchors:
            return "Nothing contradicts it on the chain, which holds no anchor of it yet."
        return f"It agrees with every anchor on the chain: {len(anchors)} of them."

    def _path(self, size: int) -> tuple[bytes, ...]:
        total = self.now.size
        if size in (0, total):
            return ()
        return tuple(consistency_path(size, total, lambda *where: self.nodes[where]))


def _cut(first: Told, total: int) -> str:
    if isinstance(first, Anchor):
        told = counted(first.size, "entry")
        return f"the chain has an anchor of {told}, the log has {total}: it was cut."
    told = counted(total, "entry")
    return f"the log has {told}, and signed for {first.size} before: it was cut."


def monitor(  # noqa: PLR0913  each is one more thing to compare
    log: str | Path | AnyLog,
    *,
    key: str | Path | VerifierKey,
    checkpoint: str | Path | None = None,
    kept: str | Path | None = None,
    chain: str | None = None,
    contract: str | None = None,
    tell: Tell | None = None,
    step: Callable[[int, int], None] | None = None,
    keep: Callable[[SignedCheckpoint], str] | None = None,
) -> Verification:
    """Rebuild a whole log from its raw entries, and compare it with all that was said of it.

    Parameters
    ----------
    log : str, Path, Log or RemoteLog
        The log, by its file or its address.
    key : str, Path or VerifierKey
        The log's public key: a line, or a file that holds it.
    checkpoint : str or Path, optional
        A file with a checkpoint that the reader kept: does the log still begin so?
    kept : str or Path, optional
        Where the newest one will be kept. One that is there is compared too, since it may be the
        only evidence of a fork.
    chain : str, optional
        A node of the chain on which the log is anchored (JSON-RPC).
    contract : str, optional
        The contract's chain and address (``ID:0x…``), from elsewhere than the log.
    tell : callable, optional
        Is told each check as soon as it holds.
    step : callable, optional
        Is told how many entries were read, and of how many.
    keep : callable, optional
        Takes the newest checkpoint, once all of it is checked, and says where it keeps it.

    Returns
    -------
    Verification
    """
    facts: dict[str, Any] = {}

    def checks() -> Iterator[str]:
        reader, opened = read_verifier_key(key), open_log(log)
        place = None if contract is None else KnownContract.on(chain, contract)
        known = _known(checkpoint, kept, reader)
        contracts = anchors = None
        if chain is not None:
            contracts = [entry for _, entry in contracts_of(opened)]
            anchors, warnings = anchors_of(chain, contracts, place)
            yield from warnings
        newest = opened.checkpoint()
        size = newest.size
        facts.update(log=newest.name, size=size)
        yield from check_log(
            opened,
            reader,
            now=newest,
            known=known,
            contracts=contracts,
            anchors=anchors,
            clock=now_in_utc(),
            tell=None if step is None else lambda count: step(count, size),
        )
        if keep is not None:
            yield keep(newest)

    return judged(f"the log {log}", checks(), facts, tell)


def _known(
    named: str | Path | None, kept: str | Path | None, key: VerifierKey
) -> SignedCheckpoint | None:
    """Return the checkpoint that the log must begin with."""
    before = _kept(kept, key)
    if named is None:
        return before
    given = _checkpoint("checkpoint", named)
    if before not in (None, given):
        hint = "It holds another checkpoint; leave --checkpoint out to compare the log with it."
        wanted = "a new file, or one that holds what --checkpoint does"
        raise ParameterError("keep", wanted, str(kept), hint)
    return given


def _kept(path: str | Path | None, key: VerifierKey) -> SignedCheckpoint | None:
    if path is None or not Path(path).exists():
        return None
    kept = _checkpoint("keep", path)
    if kept.name != key.name:
        hint = f"It is of the log {kept.name}."
        wanted = f"a new file, or a checkpoint of the log {key.name}"
        raise ParameterError("keep", wanted, str(path), hint)
    return kept


def _checkpoint(name: str, path: str | Path) -> SignedCheckpoint:
    return SignedCheckpoint.parse(file_text(path, name))
