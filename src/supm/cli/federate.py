"""The verb federate: several tables that stay where they are, one model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import App, Parameter

from supm._errors import ParameterError, SupmError
from supm.cli._output import Target, aloud, lines_read, read_text, write_json, write_text
from supm.cli._types import Epsilon, Seed, real, whole
from supm.reporting import counted, paragraph

if TYPE_CHECKING:
    from supm.engines import Carrier
    from supm.federation import Federated
    from supm.messages import Release
    from supm.publication.publishing import RunRecord

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

_Say = Callable[[str], None]
Delta = Annotated[float, real(1e-300, 0.5, "D")]
File = Annotated[str, Parameter(metavar="FILE")]
Study = Annotated[str, Parameter(metavar="STUDY.json")]
Output = Annotated[Target, Parameter(alias="-o")]
Publish = Annotated[str | None, Parameter(metavar="LOG.db")]

verb = App(name="federate", help=_ABOUT, help_flags=(), version_flags=())


@verb.command(name="create")
def _create(
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
    from supm.federation import plan_federation
    from supm.schema import Schema

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


@verb.command(name="run")
def _run(
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
    from supm._random import secure, simulation
    from supm.engines.files import load_study, read_tables
    from supm.engines.in_process import run_study
    from supm.schema.schema import as_schema

    check_output(output, publish)
    say = speaker(json, output)
    agreed = load_study(Path(study))
    expected = None if schema is None else as_schema(schema)
    tables = read_tables(agreed, data, schema=expected, progress=lines_read)
    source = secure() if seed is None else simulation(seed)
    with recording(publish, signing_key) as kept:
        record = None if kept is None else kept.record
        made = run_study(agreed, tables, source, record=record, carry=_carrier(engine, say))
        show_release(made, json, output, say)
        enter_release(kept, made.release, output, say)


for _act in ("key", "server", "party"):
    verb.command(f"supm.cli.federate_machines:{_act}", name=_act)


@verb.command(name="app")
def _app(
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
    from supm.engines import load_study, write_program

    agreed = load_study(Path(study))
    write_program(Path(output), agreed, release=Path(release), seed=seed)
    print(f"The study {agreed.hash[:12]} is in {output}; submit it with flwr run {output}.")


def check_output(output: str | None, publish: str | None) -> None:
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
    from supm.messages import Release

    try:
        return Release.from_json(read_text("-o", path)).statement.simulation
    except SupmError:
        return False


def _carrier(engine: str, say: _Say) -> Carrier:
    if engine == "process":
        from supm.engines.in_process import carry_in_process

        return carry_in_process
    from supm.engines import carry_over_flower

    return partial(carry_over_flower, tell=say)


@contextmanager
def recording(publish: str | None, signing_key: str | None) -> Iterator[RunRecord | None]:
    """Open a log and its key at once: a run whose record cannot be kept does not begin."""
    if not publish:
        yield None
        return
    from supm.publication.opening import own_log, read_signing_key, time_of_entry
    from supm.publication.publishing import RunRecord

    def now() -> str:
        time, warning = time_of_entry(None, log)
        if warning:
            print(paragraph(warning), file=sys.stderr)
        return time

    with own_log(publish, "publish") as log:
        key = read_signing_key(signing_key or Path(publish).with_suffix(".key"))
        yield RunRecord(log, key, now)


def enter_release(kept: RunRecord | None, release: Release, output: str | None, say: _Say) -> None:
    """Enter the release, which is in a file, into the log of the run, if there is one."""
    if kept is not None:
        place = kept.enter(release, Path(str(output)))
        rounds = counted(len(kept.rounds), "round")
        say(
            f"The log {kept.log.name} has {rounds} of this run and, as entry {place}, the release; "
            f"its proof is in {output}.proof."
        )


def speaker(json: str | None, output: str | None) -> _Say:
    """Return what says a paragraph, or lines as they are."""

    def say(text: str) -> None:
        # A table and an option are lines already.
        shown = text if "\n" in text or text.startswith(" ") else paragraph(text)
        print(shown, file=aloud(json, output), flush=True)

    return say


def show_release(made: Federated, json: str | None, output: str | None, say: _Say) -> None:
    """Write and print what a run gave."""
    if output:
        write_text("-o", made.release.to_json() + "\n", output)
    if json:
        write_json(made.to_form(), json)
    say(str(made))
    if not output:
        say("The release was not kept; -o FILE writes it.")
