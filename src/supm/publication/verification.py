"""Is this file what was published, and with which guarantee? Every check in words, and an outcome.

A check that holds is said; the first that does not ends the verification. What could not be asked
(a log or a node that does not answer, a node of another chain) refutes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from supm._errors import ParameterError, PublicationError, SupmError
from supm.messages import Commitments, ReleaseStatement
from supm.publication.anchoring import (
    KnownContract,
    chain_at,
    contract_in,
    doubts,
    verify_anchors,
    verify_chain,
)
from supm.publication.bundle import Bundle, is_bundle
from supm.publication.chain.contract import Anchor, OtherChainError, UnreachableNodeError
from supm.publication.evidence import ForkError, ForkEvidence
from supm.publication.history import LogReader
from supm.publication.log import Log
from supm.publication.opening import (
    AnyLog,
    file_bytes,
    file_text,
    open_log,
    proof_of_file,
    read_verifier_key,
)
from supm.publication.promise import own_statement, told_of_the_run
from supm.publication.proof import Proof, verify_file, verify_log, verify_receipt
from supm.publication.remote import UnreachableError
from supm.publication.signing import VerifierKey
from supm.reporting import Result, Table, counted

Outcome: TypeAlias = Literal["verified", "refuted", "unknown"]
Tell: TypeAlias = Callable[[str], None]

_UNASKED: Final = (UnreachableError, UnreachableNodeError, OtherChainError)
_ALONE: Final = (
    "WARNING: another log under the same key may have roots of other sizes in this contract; with "
    "--log, or by supm log check --chain, all of them are compared with the log."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Result):
    """What was checked, in words, and with what outcome; it is true where everything holds.

    Parameters
    ----------
    subject : str
        What was checked.
    outcome : {"verified", "refuted", "unknown"}
        Unknown where something could not be asked to the end.
    checked : tuple of str
        A sentence for each check that holds; what to beware of begins with WARNING.
    problem : str or None
        The first thing that does not hold, or could not be asked.
    facts : dict
        For machines: what was found out on the way.
    fork : ForkEvidence or None
        What shows to everybody that a log has two histories, where it has.
    """

    subject: str
    outcome: Outcome
    checked: tuple[str, ...]
    problem: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    fork: ForkEvidence | None = None

    def __bool__(self) -> bool:
        """Say whether everything holds."""
        return self.outcome == "verified"

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""
        if self:
            return f"VERIFIED: {self.subject}"
        if self.outcome == "refuted":
            return f"{self.subject} is NOT verified: {self.problem}"
        so_far = "what was checked before holds" if self.checked else "nothing was checked"
        return f"{self.subject} could not be checked to the end ({so_far}): {self.problem}"

    def to_form(self) -> dict[str, Any]:
        """Return the outcome, the checks and the facts as plain values for JSON."""
        told = {"verified": bool(self), "outcome": self.outcome, "checked": list(self.checked)}
        return told | {"problem": self.problem} | dict(self.facts)

    def tables(self) -> Sequence[Table]:
        """Return the checks, one in each row."""
        return [Table(head=["what was checked"], rows=[[each] for each in self.checked], widest=88)]


def judged(
    subject: str, checks: Iterator[str], facts: Mapping[str, Any], tell: Tell | None = None
) -> Verification:
    """Run checks one by one to the first that does not hold; wrong parameters raise."""
    held: list[str] = []
    outcome: Outcome = "verified"
    problem, fork = None, None
    try:
        for line in checks:
            held.append(line)
            if tell is not None:
                tell(line)
    except ParameterError:
        raise
    except SupmError as error:
        outcome, problem = "unknown" if isinstance(error, _UNASKED) else "refuted", str(error)
        fork = error.found if isinstance(error, ForkError) else None
    return Verification(
        subject=subject,
        outcome=outcome,
        checked=tuple(held),
        problem=problem,
        facts=facts,
        fork=fork,
    )


def verify(  # noqa: PLR0913  each is one more thing to compare the file with
    file: str | Path,
    *,
    key: str | Path | VerifierKey,
    proof: str | Path | None = None,
    log: str | Path | AnyLog | None = None,
    chain: str | None = None,
    contract: str | None = None,
    receipt: str | Path | None = None,
    tell: Tell | None = None,
) -> Verification:
    """Check that a file was published, unaltered, and with which guarantee.

    Without a log and a chain it needs no network: the file, its proof and the log's key are enough.

    Parameters
    ----------
    file : str or Path
        What was downloaded, or a bundle of it and its proof.
    key : str, Path or VerifierKey
        The log's public key, from a source that the reader trusts: a line, or a file that holds it.
    proof : str or Path, optional
        The file's proof; by default the one beside it, or what the log hands out.
    log : str, Path, Log or RemoteLog, optional
        The log, by its file or its address: does it still begin with what the proof shows?
    chain : str, optional
        A node of the chain on which the log is anchored (JSON-RPC).
    contract : str, optional
        The contract's chain and address (``ID:0x…``), from elsewhere than the log.
    receipt : str or Path, optional
        What a party kept of the run: was its table counted?
    tell : callable, optional
        Is told each check as soon as it holds.

    Returns
    -------
    Verification

    Raises
    ------
    ParameterError
        If a file cannot be read, or a key or a contract is none.

    Examples
    --------
    >>> verify("release.json", key="log.example+f3e73440+AQAAAA")
    Traceback (most recent call last):
    supm._errors.ParameterError: key must be the log's public key, or a file that holds it, got
    'log.example+f3e73440+AQAAAA'. It is one line of the form name+hash+key.
    """
    facts: dict[str, Any] = {}

    def checks() -> Iterator[str]:
        # What is named wrongly is said before the first check.
        reader, content = read_verifier_key(key), file_bytes(file)
        opened = None if log is None else open_log(log)
        kept = None if receipt is None else Commitments.from_json(file_text(receipt, "receipt"))
        known = None if contract is None else KnownContract.on(chain, contract)
        named = _proof_file(file, proof)
        bundled = named is None and is_bundle(content)
        if named is None and opened is None and not bundled:
            hint = "There is no proof beside the file: ask the publisher for it, or ask the log."
            raise ParameterError("proof", "given, or beside the file", f"{file}.proof", hint)
        if bundled:
            member, found = yield from _opened(content, facts)
        elif named is not None:
            member, found = content, Proof.from_json(file_text(named, "proof"))
        else:
            member, found = content, proof_of_file(open_log(log or ""), content)
        yield from verify_file(member, found, reader)
        yield from _promise(member, found, facts)
        if kept is not None:
            yield from verify_receipt(found, kept)
        if opened is not None:
            yield from verify_log(opened, found, reader)
        if chain is not None:
            yield from _anchored(chain, known, opened, found, reader)

    return judged(str(file), checks(), facts, tell)


def checked_proof(
    file: str | Path, log: str | Path | AnyLog, *, key: str | Path | VerifierKey | None = None
) -> Proof:
    """Return the proof of a file from a log, checked; one's own log is believed without a key."""
    content, opened = file_bytes(file), open_log(log)
    if isinstance(opened, Log) and key is None:
        key = opened.first_key
    if key is None:
        hint = "Get it from the publisher by a way that you trust."
        raise ParameterError("key", "given for a log at an address", "none", hint)
    proof = proof_of_file(opened, content)
    for _ in verify_file(content, proof, read_verifier_key(key)):
        pass
    return proof


def _proof_file(file: str | Path, named: str | Path | None) -> str | Path | None:
    """Return the proof that is named, or that is beside the file.

    A bundle that has a proof beside it was published itself, and is verified as it is.
    """
    beside = Path(f"{file}.proof")
    return named or (beside if beside.is_file() else None)


def _opened(content: bytes, facts: dict[str, Any]) -> Generator[str, None, tuple[bytes, Proof]]:
    """Open a bundle, and say what is in it is called."""
    bundle = Bundle.from_bytes(content)
    proof, name = Proof.from_json(bundle.proof), bundle.name
    if name != proof.entry.name:
        told = f"the bundle calls its file {name}, and its proof is of {proof.entry.name}"
        raise PublicationError(f"{told}: it is not as supm publish --bundle wrote it.")
    facts["member"] = name
    yield f"The bundle holds {name} and its proof, nothing else; {name} is checked:"
    return bundle.content, proof


def _promise(content: bytes, proof: Proof, facts: dict[str, Any]) -> Iterator[str]:
    """Say what is promised: derived from the noise that the file names, where it names it."""
    entry, own = proof.entry, own_statement(content)
    if own is not None and own != entry.statement:
        raise PublicationError("the file promises something else than the entry of the log.")
    told = entry.statement
    facts |= {
        "entry": proof.release.index,
        "sha256": entry.content,
        "log": proof.checkpoint.name,
        "time": entry.time,
        "promised": entry.promised,
        "derived": own is not None,
        "simulation": told.simulation,
    }
    if told.simulation:
        yield "WARNING: it was a SIMULATION, so nothing of it is private."
    promised = " ".join(f"For {whom}: {each.sentence}" for whom, each in entry.guarantees.items())
    trust = getattr(told, "trust", "")
    when = f"Published {entry.time} (as the publisher says)."
    mark, source = "", "derived anew from the noise that the file names"
    if own is None:
        mark = "WARNING: the promise is not checked. "
        source = "as the publisher states it: it cannot be derived from this file"
    yield f"{mark}{when} The guarantee, {source}: {promised} {trust}".rstrip()
    if isinstance(own, ReleaseStatement):
        yield from told_of_the_run(content, entry, facts)


def _anchored(
    url: str, known: KnownContract | None, log: LogReader | None, proof: Proof, key: VerifierKey
) -> Iterator[str]:
    named = contract_in(proof)
    if known is not None:
        known.check(named)
    chain = chain_at(url, named)
    yield from verify_chain(chain, proof, key)
    if log is not None:
        yield from verify_anchors(chain, log, proof, key)
    else:
        yield _ALONE
    yield from doubts(known, named)


def judge_evidence(
    text: str,
    *,
    key: str | Path | VerifierKey,
    chain: str | None = None,
    contract: str | None = None,
    tell: Tell | None = None,
    subject: str = "the evidence",
) -> Verification:
    """Check whether evidence shows two histories of a log, under the key that the reader trusts.

    Parameters
    ----------
    text : str
        What `ForkEvidence` wrote, as JSON.
    key : str, Path or VerifierKey
        The log's public key: a line, or a file that holds it.
    chain : str, optional
        A node of the chain, where the evidence tells of an anchor.
    contract : str, optional
        The log's contract (``ID:0x…``), from elsewhere than the evidence.
    tell : callable, optional
        Is told each check as soon as it holds.
    subject : str, default "the evidence"
        What the outcome is said of.

    Returns
    -------
    Verification
    """
    reader, facts = read_verifier_key(key), dict[str, Any]()
    known = None if contract is None else KnownContract.on(chain, contract)

    def checks() -> Iterator[str]:
        found = ForkEvidence.from_json(text)
        told = found.first if isinstance(found.first, Anchor) else None
        _check_asked(told, known, chain)
        sizes = [found.first.size, found.second.size]
        facts.update(log=found.second.name, sizes=sizes)
        yield from found.check(reader)
        if told is None:
            yield (
                "So the key that was given, or one after it, signed two histories: no log has both."
            )
        elif known is not None and chain is not None:
            yield from _confirmed(chain, known, told, reader)

    return judged(subject, checks(), facts, tell)


def _check_asked(told: Anchor | None, known: KnownContract | None, chain: str | None) -> None:
    if told is None and chain is not None:
        hint = "This evidence is of two checkpoints, and tells of no chain; leave --chain out."
        raise ParameterError("chain", "given for an anchor only", "a node", hint)
    if told is not None and (known is None or known.chain is None):
        hint = (
            "This evidence tells of an anchor, which only its chain can confirm: give --chain URL "
            "and, with --contract ID:0x…, the contract that you know from elsewhere as the log's."
        )
        raise ParameterError("contract", "given with its chain", "none", hint)


def _confirmed(url: str, known: KnownContract, told: Anchor, key: VerifierKey) -> Iterator[str]:
    """Ask the chain for the anchor, in the contract of the log that began with this key."""
    known.check(told, "the file names")
    chain, size = chain_at(url, told), counted(told.size, "entry")
    publisher = chain.check_code(log=key.identity)
    yield f"The contract {told.contract} has SUPM's code; only {publisher} can anchor in it."
    anchor = chain.anchored(told.size)
    if anchor is None or anchor.root != told.root:
        raise PublicationError(
            f"the chain does not hold the root of {size} that the file tells of."
        )
    yield (
        f"It holds {anchor.root.hex()[:16]}… for {size} since block {anchor.block}: "
        "so the log was anchored with one history, and its keys signed another."
    )
