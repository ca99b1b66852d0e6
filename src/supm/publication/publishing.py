"""Make a log, enter files into it, and change its key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supm._errors import ParameterError, PublicationError, SupmError
from supm.messages import ReleaseStatement, Statement
from supm.publication.anchoring import chain_at
from supm.publication.deploying import Anchoring, anchor_log, contract_of
from supm.publication.entry import ReleaseEntry, RoundEntry
from supm.publication.log import Log
from supm.publication.opening import file_bytes
from supm.publication.proof import Proof
from supm.publication.signing import SigningKey, VerifierKey, check_log_name
from supm.reporting import Result

if TYPE_CHECKING:
    from supm.federation import RoundRecord
    from supm.messages import Release
    from supm.publication.chain import ChainAccount


def enter_file(  # noqa: PLR0913  each is a fact of the entry
    log: Log,
    key: SigningKey,
    content: bytes,
    *,
    name: str,
    statement: Statement | ReleaseStatement,
    time: str,
    run: str = "",
    commitments: tuple[tuple[str, ...], ...] = (),
) -> int:
    """Enter a file into a log and keep a copy; to publish it twice is to publish it once.

    Parameters
    ----------
    log : Log
        Where to.
    key : SigningKey
        The log's key in charge.
    content : bytes
        The file.
    name : str
        What it is called.
    statement : Statement or ReleaseStatement
        What is promised to those whose data made it.
    time : str
        When, in UTC.
    run : str, default ""
        The fingerprint of all parties' keys, where parties made it.
    commitments : tuple of tuple of str, default ()
        What they sent in each round, as hashes.

    Returns
    -------
    int
        The place of the entry.
    """
    digest = hashlib.sha256(content).hexdigest()
    entry = ReleaseEntry(
        time=time,
        name=name,
        content=digest,
        size=len(content),
        statement=statement,
        run=run,
        commitments=commitments,
    )
    # In one step: no entry without its file, and no file without its entry.
    with log.step():
        log.keep(digest, content)
        return log.append([entry], key)[0]


@dataclass(frozen=True, kw_only=True, repr=False)
class Publication(Result):
    """What became of a file that was published.

    Parameters
    ----------
    name : str
        What the caller calls the file.
    log : str
        The name of the log.
    place : int
        The place of its entry.
    fresh : bool
        Whether it was not published before.
    anchoring : Anchoring or None
        What was anchored after it.
    """

    name: str
    log: str
    place: int
    fresh: bool
    anchoring: Anchoring | None = None

    @property
    def headline(self) -> str:
        """What was done, in one or two sentences."""
        already = "" if self.fresh else " already"
        told = f"{self.name} is{already} entry {self.place} of the log {self.log}."
        return told if self.anchoring is None else f"{told} {self.anchoring.headline}"

    def to_form(self) -> dict[str, Any]:
        """Return what was done as plain values for JSON."""
        told = {"index": self.place, "log": self.log}
        return told if self.anchoring is None else told | self.anchoring.to_form()


def publish_file(  # noqa: PLR0913  each is a fact of the entry, or where it is anchored
    log: Log,
    key: SigningKey,
    file: str | Path,
    *,
    statement: Statement | ReleaseStatement,
    time: str,
    hand_out: Callable[[Proof], None],
    may_hand_out: Callable[[Proof], object] | None = None,
    chain: str | None = None,
    account: ChainAccount | None = None,
) -> Publication:
    """Enter a file into a log, hand out its proof, and on demand anchor the log on a chain.

    Parameters
    ----------
    log : Log
        Where to.
    key : SigningKey
        The log's key in charge.
    file : str or Path
        What is published.
    statement : Statement or ReleaseStatement
        What is promised to those whose data made it.
    time : str
        When, in UTC.
    hand_out : callable
        Takes the proof as soon as the file is entered, and a better one once it is anchored.
    may_hand_out : callable, optional
        Takes the proof before, and raises where it could not be handed out: then nothing of the
        file is entered.
    chain : str, optional
        A node of the chain on which the log is anchored (JSON-RPC).
    account : ChainAccount, optional
        Who pays there.

    Returns
    -------
    Publication
    """
    content = file_bytes(file)
    log.check_charge(key)
    if chain is not None and account is not None:
        # What a chain would refuse afterwards is refused before anything is published.
        named = contract_of(log)
        publisher = account.address
        chain_at(chain, named).check_code(log=bytes.fromhex(named.log), publisher=publisher)
    size = log.size
    with log.step():
        place = enter_file(log, key, content, name=Path(file).name, statement=statement, time=time)
        if may_hand_out is not None:
            may_hand_out(log.proof_at(place))
    # Before anything is asked of a chain: what is published has its proof, whatever comes.
    hand_out(log.proof_at(place))
    done = Publication(name=str(file), log=log.name, place=place, fresh=log.size > size)
    if chain is None or account is None:
        return done
    try:
        anchoring = anchor_log(log, chain, account)
    except SupmError as error:
        told = f"{done.headline} But it is not anchored: {error} Run supm log anchor later."
        raise PublicationError(told) from None
    hand_out(log.proof_at(place))
    return replace(done, anchoring=anchoring)


def create_log(path: str | Path, name: str) -> VerifierKey:
    """Make a new log, its secret key and the public key for readers, each in a file beside it.

    Parameters
    ----------
    path : str or Path
        The file of the log, such as ``releases.db``; its keys end in ``.key`` and ``.pub``.
    name : str
        Such as ``hospitals.example/releases``.

    Returns
    -------
    VerifierKey
        The public key.
    """
    log = Path(path)
    secret, public = log.with_suffix(".key"), log.with_suffix(".pub")
    check_log_name(name)
    _check_new("log", log, secret, public)
    key = SigningKey.made(name, secret)
    Log.create(log, key).close()
    public.write_text(f"{key.verifier}\n", encoding="utf-8")
    return key.verifier


def rotate_key(log: Log, old: SigningKey, file: str | Path, time: str) -> int:
    """Let a new key, in a new file, take over; return the place of the entry that says so.

    Parameters
    ----------
    log : Log
        The log.
    old : SigningKey
        Its key in charge.
    file : str or Path
        Where the new key goes; its public half goes beside it, into a file that ends in ``.pub``.
    time : str
        When, in UTC.

    Returns
    -------
    int
    """
    path = Path(file)
    public = path.with_suffix(".pub")
    _check_new("new", path, public)
    log.check_charge(old)
    key = SigningKey.made(log.name, path)
    try:
        place = log.rotate(old, key, time)
    except SupmError:
        # Another rotation was faster. The file goes only if the log does not know its key.
        if key.verifier not in log.history().keys:
            path.unlink()
        raise
    public.write_text(f"{key.verifier}\n", encoding="utf-8")
    return place


def _check_new(option: str, *paths: Path) -> None:
    """Refuse files that are there, or that would be written over each other."""
    for each in paths:
        if each.exists() or not each.parent.is_dir() or len(set(paths)) < len(paths):
            wanted = "a new file in a folder that exists, with nothing of that name beside it"
            raise ParameterError(option, wanted, str(each))


class RunRecord:
    """Where a run is recorded. What cannot be written stops the run before anything is opened.

    Parameters
    ----------
    log : Log
        The log, whose charge the key must have: else the run does not begin.
    key : SigningKey
        The publisher's.
    clock : callable
        Returns the time of an entry.
    """

    def __init__(self, log: Log, key: SigningKey, clock: Callable[[], str]) -> None:
        log.check_charge(key)
        self.log, self._key, self._clock = log, key, clock
        self.rounds: list[RoundRecord] = []

    def record(self, told: RoundRecord) -> None:
        """Enter a round, before its sum is opened."""
        self.log.append([RoundEntry(time=self._clock(), **asdict(told))], self._key)
        self.rounds.append(told)

    def enter(self, release: Release, path: Path) -> int:
        """Enter the release, which is in a file, and write the proof beside it.

        Parameters
        ----------
        release : Release
            What the run gave.
        path : Path
            The file; that of the proof has ``.proof`` behind its name.

        Returns
        -------
        int
            The place of the entry.
        """
        place = enter_file(
            self.log,
            self._key,
            path.read_bytes(),
            name=path.name,
            statement=release.statement,
            time=self._clock(),
            run=self.rounds[0].run,
            commitments=tuple(each.commitments for each in self.rounds),
        )
        proof = self.log.proof_at(place)
        path.with_name(f"{path.name}.proof").write_text(proof.to_json() + "\n")
        return place
