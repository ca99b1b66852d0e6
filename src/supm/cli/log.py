"""The verb log: make a log of releases, look at it, prove from it, check it, and keep it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter

from supm._errors import ParameterError, PublicationError
from supm._json import read_object
from supm.cli._output import Target, emit, read_text, write_text
from supm.cli.publish import LogPath, OwnLog
from supm.cli.verify import File, Reader, check_replaceable, show_checks
from supm.reporting import Bar, bar, paragraph

if TYPE_CHECKING:
    from supm.publication import SignedCheckpoint, Verification
    from supm.publication.verification import Tell

NewPath = Annotated[str, Parameter(metavar="FILE")]
OwnNode = Annotated[str, Parameter(metavar="URL")]

verb: Final = App(
    name="log",
    help="""Make, show, prove from and check a log of releases.

An append-only log of what was published. Anybody can rebuild its root from the raw entries; its
publisher signs, and a chain can vouch for it.
""",
    help_flags=(),
    version_flags=(),
)


@verb.command(name="show")
def _show(*, log: LogPath, json: Target = None) -> None:
    """List what was published.

    Parameters
    ----------
    log : str
        The log's file or address; or set SUPM_LOG.
    json : str, optional
        Write all entries; - prints them.

    Examples
    --------
    ::

        supm log show --log releases.db            what was published?
        supm log show --log https://hospitals.example
    """
    from supm.publication import list_log

    found = list_log(log, whole=bool(json))
    emit(found.to_form(), [str(found)], json)


@verb.command(name="prove")
def _prove(
    file: str,
    /,
    *,
    log: LogPath,
    key: Annotated[str | None, Parameter(metavar="KEY", env_var="SUPM_LOG_KEY")] = None,
    output: Annotated[Target, Parameter(alias="-o")] = None,
) -> None:
    """Write the proof of a published file.

    Parameters
    ----------
    file : str
        What was published.
    log : str
        The log's file or address; or set SUPM_LOG.
    key : str, optional
        The log's public key, or a file that holds it; or set SUPM_LOG_KEY. What comes from an
        address is checked by it.
    output : str, optional
        Where the proof goes; FILE.proof by default.

    Examples
    --------
    ::

        supm log prove release.json --log releases.db      again, under the newest anchor
        supm log prove release.json --log https://hospitals.example --key releases.pub
    """
    from supm.publication import Proof
    from supm.publication.verification import checked_proof

    target = output or f"{file}.proof"
    check_replaceable("-o", target, Proof.from_json)
    proof = checked_proof(file, log, key=key or None)
    write_text("-o", proof.to_json() + "\n", target)
    size = proof.checkpoint.size
    if target != "-":
        print(f"{target} shows that entry {proof.release.index} is one of {size}.")


@verb.command(name="check")
def _check(
    *,
    log: LogPath,
    by: Reader,
    checkpoint: File = None,
    keep: Target = None,
    evidence: Target = None,
    json: Target = None,
) -> None:
    """Rebuild and check a whole log.

    Parameters
    ----------
    log : str
        The log's file or address; or set SUPM_LOG.
    by : Reader
        What the reader knows from elsewhere.
    checkpoint : str, optional
        One that you kept: does the log still begin so?
    keep : str, optional
        Keep the newest checkpoint for next time; one that is there is compared first.
    evidence : str, optional
        Write the evidence of a fork here.
    json : str, optional
        Write what was checked; - prints it.

    Examples
    --------
    ::

        supm log check --log https://hospitals.example --key releases.pub --keep kept.txt
                                   rebuild the root from all entries; is it the same log as before?
    """
    from supm.publication import SignedCheckpoint, monitor

    if keep:
        check_replaceable("--keep", keep, SignedCheckpoint.parse)

    def kept(newest: SignedCheckpoint) -> str:
        write_text("--keep", newest.text, str(keep))
        return f"The newest checkpoint is kept in {keep}."

    def checked(tell: Tell) -> Verification:
        with ExitStack() as shown:
            return monitor(
                log,
                checkpoint=checkpoint or None,
                kept=None if keep == "-" else keep,
                keep=kept if keep else None,
                step=_bar(shown),
                tell=tell,
                **by.asked,
            )

    read = {"--checkpoint": checkpoint, "--keep": keep, "--log": log, "--key": by.key}
    show_checks(checked, read, json, evidence)


def _bar(shown: ExitStack) -> Callable[[int, int], None]:
    """Return what shows how far the log was read, from the first entry on."""
    bars = list[Bar]()

    def step(_: int, total: int) -> None:
        if not bars:
            opened = bar(total=total, unit="entries", label="reading the log")
            bars.append(shown.enter_context(opened))
        bars[0].step()

    return step


@verb.command(name="evidence")
def _evidence(file: str, /, *, by: Reader, json: Target = None) -> None:
    """Say whether a file shows two histories of a log.

    Parameters
    ----------
    file : str
        What --evidence wrote.
    by : Reader
        What the reader knows from elsewhere.
    json : str, optional
        Write what was checked; - prints it.

    Examples
    --------
    ::

        supm log evidence fork.json --key releases.pub     does it show two histories of the log?
    """
    from supm.publication import judge_evidence

    def checked(tell: Tell) -> Verification:
        return judge_evidence(
            _evidence_in(file),
            tell=tell,
            subject=f"that {file} shows two histories under the key that was given",
            **by.asked,
        )

    show_checks(checked, {"FILE": file, "--key": by.key}, json)


def _evidence_in(path: str) -> str:
    """Return the text of a file of evidence, damaged or not; what is none is the wrong file."""
    text = read_text("FILE", path)
    try:
        form = read_object(text, "evidence", PublicationError)
    except PublicationError:
        form = {}
    if not {"first", "second"} & set(form):
        hint = "This is no file of evidence, so it tells nothing of the log."
        raise ParameterError("FILE", "what --evidence wrote", path, hint)
    return text


@verb.command(name="create")
def _create(path: Annotated[str, Parameter(name="LOG.db")], /, *, name: str) -> None:
    """Make a new log and its keys.

    Parameters
    ----------
    path : str
        A new file.
    name : str
        Such as hospitals.example/releases.

    Examples
    --------
    ::

        supm log create releases.db --name hospitals.example/releases
                                   releases.key is secret, releases.pub is for readers
    """
    from supm.publication import create_log

    key, secret = create_log(path, name), Path(path).with_suffix(".key")
    public = Path(path).with_suffix(".pub")
    print(f"The log {key.name} is in {path}.")
    print(f"{secret} is its secret key: keep it. Readers need its public key, also in {public}:")
    print(f"  {key}")


@verb.command(name="rotate")
def _rotate(*, at: OwnLog, new: NewPath) -> None:
    """Let a new key take over.

    Parameters
    ----------
    at : OwnLog
        The log, and who adds to it when.
    new : str
        A new file for the new key.

    Examples
    --------
    ::

        supm log rotate --log releases.db --new releases2.key
    """
    from supm.publication import rotate_key

    with at.opened() as (log, old, time):
        place = rotate_key(log, old, new, time)
    print(f"From entry {place} on the key in {new} signs; readers who know the old one follow.")


@verb.command(name="revoke")
def _revoke(*, at: OwnLog, old: Annotated[str, Parameter(metavar="KEY")]) -> None:
    """Declare an old key stolen.

    Parameters
    ----------
    at : OwnLog
        The log, and who adds to it when.
    old : str
        Its public key, or the file that holds it.

    Examples
    --------
    ::

        supm log revoke --log releases.db --old releases.pub --signing-key releases2.key
    """
    from supm.publication.opening import read_verifier_key

    stolen = read_verifier_key(old, "old")
    with at.opened() as (log, key, time):
        place = log.revoke(stolen, key, time)
    print(f"Entry {place} says that the key {stolen.hash.hex()} is not to be believed any more.")


@verb.command(name="account")
def _account(file: str, /) -> None:
    """Make the key of an account on a chain.

    Parameters
    ----------
    file : str
        A new file; the address is printed.

    Examples
    --------
    ::

        supm log account payer.key
    """
    from supm.publication.deploying import account_in

    address = account_in(file).address
    print(f"{address} is the account of {file}; it needs funds on the chain.")


@verb.command(name="deploy")
def _deploy(
    *, at: OwnLog, chain: OwnNode, account: NewPath, again: bool = False, json: Target = None
) -> None:
    """Make the contract in which a log is anchored.

    Parameters
    ----------
    at : OwnLog
        The log, and who adds to it when.
    chain : str
        A node of the chain (JSON-RPC).
    account : str
        The key of the account that pays there (supm log account makes one).
    again : bool
        Even though the log names a contract already.
    json : str, optional
        Write what it cost; - prints it.

    Examples
    --------
    ::

        supm log deploy --log releases.db --chain http://127.0.0.1:8545 --account payer.key
    """
    from supm.publication import deploy_contract
    from supm.publication.deploying import payer

    with at.opened() as (log, key, time):
        made = deploy_contract(log, key, chain, payer(account), time, again=again)
    told = {"contract": made.contract, "chain": made.chain, "gas": made.gas}
    line = (
        f"The contract {made.contract} on chain {made.chain} is this log's; {made.gas} gas. The "
        "log names it; supm log anchor puts the root there."
    )
    emit(told, [paragraph(line)], json)


@verb.command(name="anchor")
def _anchor(*, log: LogPath, chain: OwnNode, account: NewPath, json: Target = None) -> None:
    """Put the newest root on the chain.

    Parameters
    ----------
    log : str
        The log's file; or set SUPM_LOG.
    chain : str
        A node of the chain (JSON-RPC).
    account : str
        The key of the account that pays there (supm log account makes one).
    json : str, optional
        Write what it cost; - prints it.

    Examples
    --------
    ::

        supm log anchor --log releases.db --chain http://127.0.0.1:8545 --account payer.key
    """
    from supm.publication import anchor_log
    from supm.publication.deploying import payer
    from supm.publication.opening import own_log

    with own_log(log) as opened:
        done = anchor_log(opened, chain, payer(account))
    emit(done.to_form(), [paragraph(done.headline)], json)
