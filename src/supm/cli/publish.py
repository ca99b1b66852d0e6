"""The verb publish: enter a file into a log, and write the proof that readers check."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from supm._errors import MessageError, ParameterError, PublicationError
from supm.cli._frame import UsageError
from supm.cli._output import (
    Target,
    check_target,
    check_targets,
    emit,
    read_text,
    write_bytes,
    write_text,
)
from supm.cli.verify import File, Node, check_replaceable
from supm.reporting import paragraph

if TYPE_CHECKING:
    from supm.messages import ReleaseStatement, Statement
    from supm.publication import Log, Proof, SigningKey

LogPath = Annotated[str, Parameter(metavar="LOG", env_var="SUPM_LOG")]

_SURE: Final = (
    "The whole file becomes public, for ever, and nobody can derive from it what you promise. "
    "Is it private already? Publish?"
)
_NOTHING: Final = "Nothing was published."
_HOW: Final = "Write one with supm statement {} --json statement.json."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class OwnLog:
    """A log on this machine, and who adds to it when.

    Parameters
    ----------
    log : str
        The log's file; or set SUPM_LOG.
    signing_key : str, optional
        The log's secret key; by default the file beside the log that ends in .key.
    time : str, optional
        When, in UTC: 2026-11-18T14:00:00Z; or now.
    """

    log: LogPath
    signing_key: File = None
    time: Annotated[str | None, Parameter(metavar="T")] = None

    @property
    def secret(self) -> str:
        """The file of the secret key, which is beside the log where none is named."""
        return self.signing_key or str(Path(self.log).with_suffix(".key"))

    @contextmanager
    def opened(self) -> Iterator[tuple[Log, SigningKey, str]]:
        """Open the log and its key, and warn where a clock was wrong."""
        from supm.publication.opening import own_log, read_signing_key, time_of_entry

        with own_log(self.log) as log:
            key = read_signing_key(self.secret)
            time, warning = time_of_entry(self.time, log)
            if warning:
                print(paragraph(warning), file=sys.stderr)
            yield log, key, time


def verb(
    file: str,
    /,
    *,
    at: OwnLog,
    statement: Annotated[str | None, Parameter(metavar="S")] = None,
    yes: bool = False,
    proof: Target = None,
    bundle: Target = None,
    chain: Node = None,
    account: File = None,
    json: Target = None,
) -> int:
    """Enter a file into a log that anybody can check.

    Publish a release, a model or a table: its hash, its statement and the time go into an
    append-only log, and a proof is written beside the file. The whole file is kept in the log and
    becomes public, for ever. Give readers the file, the proof beside it, and once the log's public
    key (releases.pub). They run supm verify release.json --key releases.pub

    Parameters
    ----------
    file : str
        What to publish.
    at : OwnLog
        The log, and who adds to it when.
    statement : str, optional
        Its statement (JSON), where the file is no release or model that holds its own.
    yes : bool
        Publish a file whose promise nobody can derive.
    proof : str, optional
        Where the proof goes; FILE.proof by default.
    bundle : str, optional
        Write the file and its proof into one zip for readers, too.
    chain : str, optional
        A node of the chain (JSON-RPC), to anchor the log there.
    account : str, optional
        The key of the account that pays there (supm log account makes one).
    json : str, optional
        Write what was done; - prints it.

    Examples
    --------
    ::

        supm log create releases.db --name hospitals.example/releases    once
        supm publish release.json --log releases.db                      writes release.json.proof
        supm statement release.json --json statement.json                write down what it promises
        supm publish table.csv --statement statement.json --log releases.db --yes
        supm publish release.json --log releases.db --bundle release.zip   one file for readers
        supm publish release.json --log releases.db --chain URL --account payer.key
    """
    from supm.publication import publish_file
    from supm.publication.deploying import payer
    from supm.publication.opening import file_bytes

    target = proof or f"{file}.proof"
    read = {"FILE": file, "--statement": statement, "--log": at.log, "--signing-key": at.secret}
    _check_targets(read | {"--account": account}, target, bundle, json)
    content = file_bytes(file)
    promised = _statement(content, statement, yes=yes)
    if promised is None:
        return 1

    def hand_out(better: Proof) -> None:
        write_text("--proof", better.to_json() + "\n", target)
        if bundle:
            write_bytes("--bundle", _bundle(content, better), bundle)

    if chain and not account:
        raise UsageError(
            "--account must be given: the key of the account that pays (supm log account)."
        )
    with at.opened() as (log, key, time):
        done = publish_file(
            log,
            key,
            file,
            statement=promised,
            time=time,
            hand_out=hand_out,
            # In one step with the entry: nothing is entered that cannot be handed out.
            may_hand_out=lambda found: _bundle(content, found) if bundle else None,
            chain=chain or None,
            account=payer(account) if chain and account else None,
        )
    told = paragraph(f"{done.headline} {_for_readers(target, bundle)}")
    emit(done.to_form() | {"proof": target, "bundle": bundle}, [told], json)
    return 0


def _statement(
    content: bytes, path: str | None, *, yes: bool
) -> Statement | ReleaseStatement | None:
    """Return the statement of the file; None where the publisher thinks better of it."""
    from supm.cli._output import agreed
    from supm.publication.promise import own_statement, promise_of

    own = own_statement(content)
    if path is None:
        if own is None:
            raise UsageError(
                "--statement must be given: the file is no release or model of SUPM that holds "
                f"a statement of its own. {_HOW.format('release.json')}"
            )
        return own
    try:
        found = promise_of(read_text("--statement", path))
    except MessageError as error:
        raise MessageError(f"{path}: {error}") from None
    noun, given = found.noun, found.statement
    if not noun.startswith("statement"):
        hint = _HOW.format(path)
        raise UsageError(f"--statement must be a statement alone, and {path} is a {noun}. {hint}")
    if own is not None and own != given:
        raise PublicationError(
            "--statement says something else than the file itself; leave it out."
        )
    if own is None and not agreed(_SURE, sys.stderr, yes=yes, otherwise=_NOTHING):
        return None
    return given


def _check_targets(
    read: dict[str, str | None], proof: str, bundle: str | None, json: str | None
) -> None:
    """Refuse what cannot be written, or would destroy something, before anything is published."""
    from supm.publication import Proof

    check_replaceable("--proof", proof, Proof.from_json)
    if bundle is not None:
        _check_bundle(bundle)
    written = {"--proof": proof, "--bundle": bundle, "--json": json}
    check_targets({name: path for name, path in read.items() if path}, written)
    # Readers would verify a bundle as it is where a proof is beside it.
    beside = Path(f"{bundle}.proof")
    if bundle and (beside.exists() or beside.resolve() == Path(proof).resolve()):
        hint = "Readers would take the bundle for a file that was published itself."
        raise ParameterError("--bundle", "a file with no proof beside it", bundle, hint)


def _check_bundle(target: str) -> None:
    from supm.publication.bundle import is_bundle
    from supm.publication.opening import file_bytes

    if target == "-":
        raise ParameterError("--bundle", "a file", target)
    check_target("--bundle", target)
    if not target.lower().endswith(".zip"):
        raise ParameterError("--bundle", "a name that ends in .zip", target)
    if Path(target).exists() and not is_bundle(file_bytes(target, "--bundle")):
        wanted = "a new file, or one of the same kind, which is replaced"
        raise ParameterError("--bundle", wanted, target)


def _bundle(content: bytes, proof: Proof) -> bytes:
    from supm.publication.bundle import Bundle

    bundle = Bundle(name=proof.entry.name, content=content, proof=proof.to_json() + "\n")
    try:
        return bundle.to_bytes()
    except PublicationError as error:
        hint = f"With its proof it is too large: {error} Leave --bundle out."
        raise ParameterError("FILE", "small enough for a bundle", len(content), hint) from None


def _for_readers(proof: str, bundle: str | None) -> str:
    if bundle is None:
        return f"The proof is in {proof}; give it to readers with the file."
    return f"The proof is in {proof}; {bundle} holds it with the file: give that to readers."
