"""The verb federate: several tables that stay where they are, one model."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TextIO

from cyclopts import App, Parameter

from supm._errors import ParameterError, SupmError
from supm.cli._files import read_text, write_json, write_text
from supm.cli._output import counted, lines_read, paragraph
from supm.cli._types import Epsilon, NewFile, Seed, Target, UsageError, real, whole

if TYPE_CHECKING:
    from supm.engines import Carrier
    from supm.federation import Federated, FederatedStudy, Rows
    from supm.messages import Commitments, Release
    from supm.publication.run_record import RunRecord

__all__ = ["federate"]

_ABOUT: Final = """\
Learn from several tables that stay where they are.

Parties with a table each compute noisy sums together. Nobody sees another's table or sums, the
server neither; what is published keeps a guarantee for each record.

Examples
--------
::

    supm federate create --schema schema.json --protocol lda --epsilon 1 --delta 1e-5 \\
        --parties 3 --colluders 1 -o study.json             agree on what is computed
    supm federate run study.json a.csv b.csv c.csv          try it, with all tables on this machine
    supm federate key -o north.key                          each party: a key; send north.key.pub
    supm federate server study.json --host fed.example --folder run --party-key north.key.pub \\
        --party-key east.key.pub --party-key south.key.pub -o release.json
    supm federate party mine.csv --study study.json --server fed.example:8443 --ca ca.pem \\
        --key north.key --policy policy.json                each party: read, agree, take part
    supm statement release.json                             what was promised to whom?

To publish a run so that each party can see that it was counted (supm log create makes the log):

    supm federate server study.json … --publish releases.db -o release.json
    supm federate party mine.csv … --receipt mine.receipt -o release.json
    supm verify release.json --key releases.pub --receipt mine.receipt
"""
_RECEIPT: Final = (
    "holds hashes of what is sent. When the release is published, supm verify RELEASE --key KEY "
    "--receipt FILE says whether it was counted."
)
_WAIT: Final = 600.0

Delta = Annotated[float, real(1e-300, 0.5, "D")]
Seconds = Annotated[float, real(1, 1e6, "SECONDS")]
File = Annotated[str, Parameter(metavar="FILE")]
Study = Annotated[str, Parameter(metavar="STUDY.json")]
Output = Annotated[Target, Parameter(alias="-o")]
Publish = Annotated[str | None, Parameter(metavar="LOG.db")]

federate = App(name="federate", help=_ABOUT, help_flags=(), version_flags=())


@federate.command
def create(
    *,
    schema: File,
    protocol: Annotated[Literal["lda", "svm", "logistic", "pca"], "computation"],
    epsilon: Epsilon,
    delta: Delta,
    parties: Annotated[int, whole(1, 1000, "M")],
    colluders: Annotated[int | None, whole(0, 1000, "T")] = None,
    dropouts: Annotated[int, whole(0, 1000, "D")] = 0,
    components: Annotated[int | None, whole(1, 1 << 14, "K")] = None,
    share: Literal["covariance", "subspace"] | None = None,
    directions: Annotated[int | None, whole(1, 1 << 10, "K")] = None,
    no_histogram: Annotated[bool, "histogram"] = False,
    name: str = "federation",
    purpose: str = "",
    output: Output = None,
    json: Target = None,
) -> None:
    r"""Write the document that all parties agree on.

    Parameters
    ----------
    schema : str
        The public description.
    protocol : {"lda", "svm", "logistic", "pca"}
        What is computed.
    epsilon : float
        What each record spends.
    delta : float
        With this delta.
    parties : int
        How many tables.
    colluders : int, optional
        So many parties may work with the server (by default all but one).
    dropouts : int
        So many may be lost.
    components : int, optional
        For pca, svm and logistic.
    share : {"covariance", "subspace"}, optional
        For pca: what each party tells, noisy products (default) or the subspace they span.
    directions : int, optional
        For lda: how many, fewer than there are classes, and two at most with a histogram.
    no_histogram : bool
        For lda: publish no scores counted by class.
    name : str
        What it is called.
    purpose : str
        What it is for.
    output : str, optional
        Write the study; it is printed by default.
    json : str, optional
        Write what it costs; - prints it.

    Examples
    --------
    ::

        supm federate create --schema schema.json --protocol lda --epsilon 1 --delta 1e-5 \
            --parties 3 --colluders 1 -o study.json
    """
    from supm.federation import plan_federation  # noqa: PLC0415  loaded when the verb runs
    from supm.schema import Schema  # noqa: PLC0415  the same

    study = plan_federation(
        Schema.load(schema),
        protocol,
        epsilon=epsilon,
        delta=delta,
        parties=parties,
        colluders=colluders,
        dropouts=dropouts,
        components=components,
        share=share,
        directions=directions,
        histogram=False if no_histogram else None,
        name=name,
        purpose=purpose,
    )
    target = output or ("-" if json != "-" else None)
    if target is not None:
        write_text("-o", study.to_json() + "\n", target)
    if json:
        write_json(study.summary(), json)
    if target not in (None, "-") and json != "-":
        print(paragraph(study.words))
        print(f"The study {study.hash[:12]} is in {target}; give it to all parties.")


@federate.command
def run(
    study: Study,
    /,
    *data: Annotated[str, Parameter(metavar="DATA.csv")],
    schema: File | None = None,
    seed: Seed = None,
    engine: Literal["process", "flower"] = "process",
    publish: Publish = None,
    signing_key: File | None = None,
    output: Output = None,
    json: Target = None,
) -> None:
    """Run a study with all tables on this machine.

    Parameters
    ----------
    study : str
        The study.
    data : str
        One table for each party.
    schema : str, optional
        Check that it is the study's.
    seed : int, optional
        A simulation, which is not private.
    engine : {"process", "flower"}
        In this process (default), or over Flower with TLS and node keys on this machine.
    publish : str, optional
        Write each round and the release into this log (supm log create makes one).
    signing_key : str, optional
        The log's secret key; by default the file beside the log that ends in .key.
    output : str, optional
        Write the release.
    json : str, optional
        Write the statement; - prints it.

    Examples
    --------
    ::

        supm federate run study.json a.csv b.csv c.csv -o release.json
    """
    from supm import secure, simulation  # noqa: PLC0415  loaded when the verb runs
    from supm.engines import load_study, run_study  # noqa: PLC0415  the same

    _check_output(output, publish)
    say = _speaker(json, output)
    agreed = load_study(Path(study))
    _check_count("tables", len(data), agreed)
    _check_apart(data)
    tables = {f"party {number}": _rows(path, agreed, schema) for number, path in enumerate(data)}
    source = secure() if seed is None else simulation(seed)
    kept = _run_record(publish, signing_key)
    made = run_study(
        agreed,
        tables,
        source,
        record=None if kept is None else kept.record,
        carry=_carrier(engine, say),
    )
    _show(made, json, output, say)
    _enter(kept, made.release, output, say)


@federate.command
def key(*, output: Annotated[NewFile, Parameter(alias="-o", required=True)]) -> None:
    """Make the key by which a server knows a party.

    Parameters
    ----------
    output : str
        A new file; FILE.pub is public.

    Examples
    --------
    ::

        supm federate key -o north.key
    """
    with _needs_flower():
        from supm.engines.flower import NodeKey  # noqa: PLC0415  where it is installed

    NodeKey.made(Path(str(output)))
    print(f"Keep {output}; give {output}.pub to the owner of the server.")


@federate.command
def server(
    study: Study,
    /,
    *,
    folder: Annotated[str, Parameter(metavar="DIR")],
    party_key: Annotated[list[str], Parameter(metavar="FILE"), "party-key"] = [],  # noqa: B006  as cyclopts reads it
    host: str = "127.0.0.1",
    listen: Annotated[str | None, Parameter(metavar="ADDRESS")] = None,
    port: Annotated[int, whole(1, 65535)] = 8443,
    wait: Seconds = _WAIT,
    patience: Seconds = _WAIT,
    publish: Publish = None,
    signing_key: File | None = None,
    output: Output = None,
    json: Target = None,
) -> None:
    r"""Run the server of a study.

    Parameters
    ----------
    study : str
        The study.
    folder : str
        For certificates and a log; only yours.
    party_key : list of str
        A party's public key; once for each.
    host : str
        By what name or address parties reach this machine.
    listen : str, optional
        On which address to listen.
    port : int
        Where (8443 by default).
    wait : float
        How long to wait until all parties are there (600 by default).
    patience : float
        How long to wait for the answers of one turn; who is late is lost (600 by default).
    publish : str, optional
        Write each round and the release into this log (supm log create makes one).
    signing_key : str, optional
        The log's secret key; by default the file beside the log that ends in .key.
    output : str, optional
        Write the release.
    json : str, optional
        Write the statement; - prints it.

    Examples
    --------
    ::

        supm federate server study.json --host fed.example --folder run --party-key north.key.pub \
            --party-key east.key.pub --party-key south.key.pub -o release.json
    """
    with _needs_flower():
        from supm.engines.flower import serve_study  # noqa: PLC0415  where it is installed
    from supm.engines import load_study  # noqa: PLC0415  loaded when the verb runs
    from supm.federation import fingerprint_words  # noqa: PLC0415  the same

    _check_output(output, publish)
    say = _speaker(json, output)
    agreed = load_study(Path(study))
    _check_count("--party-key files", len(party_key), agreed)
    kept = _run_record(publish, signing_key)
    made = serve_study(
        agreed,
        [Path(each) for each in party_key],
        folder=Path(folder),
        host=host,
        port=port,
        listen=listen,
        wait=wait,
        patience=patience,
        record=None if kept is None else kept.record,
        tell=say,
    )
    say(fingerprint_words(made.fingerprint))
    _show(made, json, output, say)
    _enter(kept, made.release, output, say)


@federate.command
def party(
    data: Annotated[str, Parameter(metavar="DATA.csv")],
    /,
    *,
    study: File,
    server: Annotated[str, Parameter(metavar="HOST:PORT")],
    ca: Annotated[str, Parameter(metavar="FILE"), "certificate"],
    key: File,
    policy: File,
    schema: File | None = None,
    receipt: NewFile = None,
    yes: bool = False,
    wait: Seconds = _WAIT,
    output: Output = None,
    json: Target = None,
) -> int:
    r"""Take part in a study with your table, which stays.

    The policy is a file of yours that holds the most that you spend on one study and on all, and
    how many parties may work with the server without breaking the promise. What was spent is
    written beside it, into policy.spent.json.

    Parameters
    ----------
    data : str
        Your table.
    study : str
        What you agree to.
    server : str
        Where the server is.
    ca : str
        Its certificate: ca.pem.
    key : str
        Your key.
    policy : str
        The most that you spend.
    schema : str, optional
        Check that it is the study's.
    receipt : str, optional
        Keep hashes of what you send, to find it published.
    yes : bool
        Take part without asking.
    wait : float
        How long to wait for the server and for its next message (600 by default).
    output : str, optional
        Write the release.
    json : str, optional
        Write the statement; - prints it.

    Examples
    --------
    ::

        supm federate party mine.csv --study study.json --server fed.example:8443 --ca ca.pem \
            --key north.key --policy policy.json

    where policy.json holds, for example:

        {"version": 1, "epsilon": 1, "delta": 1e-5, "colluders": 1,
         "total": {"epsilon": 4, "delta": 1e-4}}
    """
    with _needs_flower():
        from supm.engines.flower import (  # noqa: PLC0415  where it is installed
            NodeKey,
            check_certificate,
            join_study,
        )
    from supm.engines import Spendings, load_study  # noqa: PLC0415  loaded when the verb runs
    from supm.federation import fingerprint_words, what_leaves  # noqa: PLC0415  the same

    _check_output(output, None)
    say = _speaker(json, output)
    check_certificate(Path(ca))
    agreed = load_study(Path(study))
    own, spendings = NodeKey.read(Path(key)), Spendings.of(Path(policy))
    spendings.check(agreed)
    rows = _rows(data, agreed, schema)
    epsilon, delta = agreed.price
    for line in what_leaves(agreed, rows, Path(data).name):
        say(line)
    say(
        f"It costs epsilon = {epsilon:.6g} and delta = {delta:.3g}, which will be noted in "
        f"{spendings.path} when the server asks."
    )
    if not yes and not _agrees(sys.stderr if "-" in (json, output) else sys.stdout):
        return 1
    say("Waiting for the server.")
    made = join_study(
        agreed,
        rows,
        server=server,
        certificate=Path(ca),
        key=own,
        charge=spendings.charge,
        keep=None if receipt is None else partial(_keep, receipt, say),
        wait=wait,
    )
    say(fingerprint_words(made.fingerprint))
    _show(made, json, output, say)
    return 0


@federate.command
def app(
    study: Study,
    /,
    *,
    output: Annotated[str, Parameter(alias="-o", metavar="FOLDER"), "folder"],
    release: File = "release.json",
    seed: Seed = None,
) -> None:
    r"""Write a study as a program for SuperNodes that run already.

    It is a program of Flower, for institutions that run SuperNodes already. A SuperNode runs what
    the server submits, beside your data: whoever does not trust the server with that uses
    supm federate party, which never fetches a program.

    Parameters
    ----------
    study : str
        The study.
    output : str
        A new folder.
    release : str
        Where the server writes the release, on its machine (release.json by default).
    seed : int, optional
        A simulation, which is not private.

    Examples
    --------
    ::

        supm federate app study.json -o app --release /srv/release.json
        flower-supernode --superlink fed.example:8443 --root-certificates ca.pem \
            --auth-supernode-private-key north.key --node-config 'party-file="/data/party.json"'
        flwr run app                                            the owner of the SuperLink

    party.json stays with its party. It names its table, the study that it agrees to and the policy
    that supm federate party --help shows; files are relative to its folder:

        {"version": 1, "name": "north", "data": "north.csv", "study": "study.json",
         "policy": "policy.json"}

    With "simulation": true the party draws from the seed of a run that has one, for trials only.
    The SuperLink runs with --enable-supernode-auth and --disable-runtime-dependency-installation;
    all have supm[federated] installed.
    """
    from supm.engines import load_study, write_program  # noqa: PLC0415  loaded when the verb runs

    agreed = load_study(Path(study))
    write_program(Path(output), agreed, release=Path(release), seed=seed)
    print(f"The study {agreed.hash[:12]} is in {output}; submit it with flwr run {output}.")


def _check_output(output: str | None, publish: str | None) -> None:
    """Refuse to write over what was published, whose proof would be of nothing, or paid for."""
    if publish and output in (None, "-"):
        wanted = "a file, because --publish enters it into the log"
        raise ParameterError("-o", wanted, output)
    if output in (None, "-") or not Path(str(output)).exists():
        return
    proof = f"{output}.proof"
    if Path(proof).exists():
        hint = f"{proof} proves what the file holds now; name another file."
        raise ParameterError("-o", "a file that was not published", output, hint)
    if Path(str(output)).is_file() and not _is_simulation(str(output)):
        hint = "A second run costs the budget of a release there again; name another file."
        raise ParameterError("-o", "a new file, or a simulation, which is replaced", output, hint)


def _is_simulation(path: str) -> bool:
    from supm.messages import Release  # noqa: PLC0415  loaded when the verb runs

    try:
        return Release.from_json(read_text("-o", path)).statement.simulation
    except SupmError:
        return False


def _check_count(what: str, count: int, study: FederatedStudy) -> None:
    parties = study.protocol.circle.parties
    if count != parties:
        message = f"the study is for {parties} parties, and {count} {what} are given."
        raise UsageError(message)


def _check_apart(paths: Sequence[str]) -> None:
    """Refuse a table that is given twice: the promise is for a record in one of the tables."""
    seen: dict[bytes, str] = {}
    # A pipe can be read once only, and what cannot be read is said when the tables are.
    for path in (each for each in paths if Path(each).is_file() and os.access(each, os.R_OK)):
        with Path(path).open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        if content in seen:
            message = (
                f"{seen[content]} and {path} are one table, whose records would count twice, and "
                "the promise is for records that count once; give each party a table of its own."
            )
            raise UsageError(message)
        seen[content] = path


def _rows(path: str, study: FederatedStudy, schema: str | None) -> Rows:
    from supm.schema import Schema, read_csv  # noqa: PLC0415  loaded when the verb runs

    expected = None if schema is None else Schema.load(schema)
    return study.read_rows(read_csv(path, progress=lines_read), expected)


def _carrier(engine: str, say: Callable[[str], None]) -> Carrier:
    if engine == "process":
        from supm.engines import carry_in_process  # noqa: PLC0415  loaded when the verb runs

        return carry_in_process
    with _needs_flower():
        from supm.engines.flower import carry_over_flower  # noqa: PLC0415  where it is installed

    return partial(carry_over_flower, tell=say)


def _run_record(publish: str | None, signing_key: str | None) -> RunRecord | None:
    """Open a log and its key at once: a run whose record cannot be kept does not begin."""
    if not publish:
        return None
    from supm.publication.opening import (  # noqa: PLC0415  loaded when the verb runs
        own_log,
        read_signing_key,
        time_of_entry,
    )
    from supm.publication.run_record import RunRecord  # noqa: PLC0415  the same

    log = own_log(publish, "publish")
    key = read_signing_key(signing_key or Path(publish).with_suffix(".key"))
    return RunRecord(log, key, lambda: time_of_entry(None, log)[0])


def _enter(
    kept: RunRecord | None, release: Release, path: str | None, say: Callable[[str], None]
) -> None:
    """Enter the release, which is in a file, into the log, and write the proof beside it."""
    if kept is None:
        return
    place, proof = kept.enter(release, Path(str(path)).read_bytes(), Path(str(path)).name)
    write_text("--proof", proof.to_json() + "\n", f"{path}.proof")
    rounds = counted(len(kept.rounds), "round")
    say(
        f"The log {kept.log.name} has {rounds} of this run and, as entry {place}, the release; "
        f"its proof is in {path}.proof."
    )
    kept.log.close()


def _keep(path: str, say: Callable[[str], None], sent: Commitments) -> None:
    """Write a party's receipt, and say once what it is for."""
    write_text("--receipt", sent.to_json() + "\n", path)
    if len(sent.rounds) == 1:
        say(f"{path} {_RECEIPT}")


def _agrees(aloud: TextIO) -> bool:
    print("Take part? [y/N] ", end="", file=aloud, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print("Nothing was sent, and nothing was spent.", file=aloud)
    return False


def _speaker(json: str | None, output: str | None) -> Callable[[str], None]:
    """Return what says a paragraph, or lines as they are, where it does not mix with a result."""
    aloud = sys.stderr if "-" in (json, output) else sys.stdout

    def say(text: str) -> None:
        # A table and an option are lines already.
        shown = text if "\n" in text or text.startswith(" ") else paragraph(text)
        print(shown, file=aloud, flush=True)

    return say


def _show(
    made: Federated, json: str | None, output: str | None, say: Callable[[str], None]
) -> None:
    if output:
        write_text("-o", made.release.to_json() + "\n", output)
    if json:
        write_json(made.to_form(), json)
    say(str(made))
    if not output:
        say("The release was not kept; -o FILE writes it.")


@contextmanager
def _needs_flower() -> Iterator[None]:
    """Say what to install where Flower is absent."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "supm":
            raise
        message = f"this needs the package {error.name}; run pip install 'supm[federated]'."
        raise SupmError(message) from None
