"""The verb federate: several tables that stay where they are, one model."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from supm._errors import ParameterError, SupmError
from supm.cli._arguments import epsilon, real, whole
from supm.cli._federate_app import add_app
from supm.cli._files import check_target, read_text, write_json, write_text
from supm.cli._output import paragraph
from supm.cli._publication_options import add_signing_key

if TYPE_CHECKING:
    from supm.federation import FederatedStudy
    from supm.messages import Release

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm federate create --schema schema.json --protocol lda --epsilon 1 --delta 1e-5 \\
      --parties 3 --colluders 1 -o study.json             agree on what is computed
  supm federate run study.json a.csv b.csv c.csv          try it, with all tables on this machine
  supm federate key -o north.key                          each party: make a key, send north.key.pub
  supm federate server study.json --host fed.example --folder run --party-key north.key.pub \\
      --party-key east.key.pub --party-key south.key.pub -o release.json
  supm federate party mine.csv --study study.json --server fed.example:8443 --ca ca.pem \\
      --key north.key --policy policy.json                each party: read, agree, take part
  supm statement release.json                             what was promised to whom?

To publish a run so that each party can see that it was counted (supm log create makes the log):
  supm federate server study.json … --publish releases.db -o release.json
  supm federate party mine.csv … --receipt mine.receipt -o release.json
  supm verify release.json --key releases.pub --receipt mine.receipt

policy.json holds the most that a party spends on one study and on all, and how many parties may
work with the server without breaking the promise:
  {"version": 1, "epsilon": 1, "delta": 1e-5, "colluders": 1,
   "total": {"epsilon": 4, "delta": 1e-4}}
What was spent is written beside it, into policy.spent.json.
"""
_PROTOCOLS: Final = ("lda", "svm", "logistic", "pca")
_PORT: Final = 8443
_WAIT: Final = 600.0


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "federate",
        help="learn from several tables that stay where they are",
        description="Parties with a table each compute noisy sums together. Nobody sees another's\n"
        "table or sums, the server neither; what is published keeps a guarantee for each record.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    acts = parser.add_subparsers(title="what to do", metavar="ACT", required=True)
    _add_create(acts)
    _add_run(acts)
    _add_key(acts)
    _add_server(acts)
    _add_party(acts)
    add_app(acts)


def _added(
    acts: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    what: str,
    run: Any,  # noqa: ANN401  what argparse hands on
) -> argparse.ArgumentParser:
    parser = acts.add_parser(
        name,
        help=what,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def _add_create(acts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _added(acts, "create", "write the document that all parties agree on", _create)
    parser.add_argument("--schema", required=True, metavar="FILE", help="the public description")
    parser.add_argument("--protocol", required=True, choices=_PROTOCOLS, help="what is computed")
    parser.add_argument(
        "--epsilon", required=True, type=epsilon, metavar="E", help="what each record spends"
    )
    parser.add_argument(
        "--delta", required=True, type=real(1e-300, 0.5), metavar="D", help="with this delta"
    )
    parser.add_argument(
        "--parties", required=True, type=whole(1, 1000), metavar="M", help="how many tables"
    )
    parser.add_argument(
        "--colluders",
        type=whole(0, 1000),
        metavar="T",
        help="so many parties may work with the server (by default all but one)",
    )
    parser.add_argument(
        "--dropouts", type=whole(0, 1000), default=0, metavar="D", help="so many may be lost"
    )
    parser.add_argument(
        "--components", type=whole(1, 1 << 14), metavar="K", help="for pca, svm and logistic"
    )
    parser.add_argument(
        "--share",
        choices=("covariance", "subspace"),
        help="for pca: what each party tells, noisy products (default) or the subspace they span",
    )
    parser.add_argument(
        "--directions",
        type=whole(1, 1 << 10),
        metavar="K",
        help="for lda: how many, fewer than there are classes, and two at most with a histogram",
    )
    parser.add_argument(
        "--no-histogram",
        dest="histogram",
        action="store_false",
        default=None,
        help="for lda: publish no scores counted by class",
    )
    parser.add_argument("--name", default="federation", metavar="TEXT", help="what it is called")
    parser.add_argument("--purpose", default="", metavar="TEXT", help="what it is for")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the study; it is printed by default"
    )
    parser.add_argument("--json", metavar="FILE", help="write what it costs; - prints it")


def _add_run(acts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _added(acts, "run", "run a study with all tables on this machine", _run)
    parser.add_argument("study", metavar="STUDY.json", help="the study")
    parser.add_argument("data", nargs="+", metavar="DATA.csv", help="one table for each party")
    parser.add_argument("--schema", metavar="FILE", help="check that it is the study's")
    parser.add_argument(
        "--seed", type=whole(0, 1 << 128), metavar="S", help="a simulation, which is not private"
    )
    parser.add_argument(
        "--engine",
        choices=("process", "flower"),
        default="process",
        help="in this process (default), or over Flower with TLS and node keys on this machine",
    )
    _add_publishing(parser)
    _add_release(parser)


def _add_key(acts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _added(acts, "key", "make the key by which a server knows a party", _key)
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="a new file; FILE.pub is public"
    )


def _add_server(acts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _added(acts, "server", "run the server of a study", _serve)
    parser.add_argument("study", metavar="STUDY.json", help="the study")
    parser.add_argument(
        "--party-key",
        action="append",
        default=[],
        metavar="FILE",
        help="a party's public key; once for each",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="by what name or address parties reach this machine"
    )
    parser.add_argument("--listen", metavar="ADDRESS", help="on which address to listen")
    parser.add_argument(
        "--port", type=whole(1, 65535), default=_PORT, help=f"where ({_PORT} by default)"
    )
    parser.add_argument(
        "--folder", required=True, metavar="DIR", help="for certificates and a log; only yours"
    )
    _add_seconds(parser, "wait", "until all parties are there")
    _add_seconds(parser, "patience", "for the answers of one turn; who is late is lost")
    _add_publishing(parser)
    _add_release(parser)


def _add_party(acts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _added(acts, "party", "take part in a study with your table, which stays", _take_part)
    parser.add_argument("data", metavar="DATA.csv", help="your table")
    parser.add_argument("--study", required=True, metavar="FILE", help="what you agree to")
    parser.add_argument("--schema", metavar="FILE", help="check that it is the study's")
    parser.add_argument("--server", required=True, metavar="HOST:PORT", help="where the server is")
    parser.add_argument("--ca", required=True, metavar="FILE", help="its certificate: ca.pem")
    parser.add_argument("--key", required=True, metavar="FILE", help="your key")
    parser.add_argument(
        "--policy", required=True, metavar="FILE", help="the most that you spend; see below"
    )
    parser.add_argument(
        "--receipt", metavar="FILE", help="keep hashes of what you send, to find it published"
    )
    parser.add_argument("--yes", action="store_true", help="take part without asking")
    _add_seconds(parser, "wait", "for the server and for its next message")
    _add_release(parser)


def _add_publishing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--publish",
        metavar="LOG.db",
        help="write each round and the release into this log (supm log create makes one)",
    )
    add_signing_key(parser)


def _add_seconds(parser: argparse.ArgumentParser, name: str, what: str) -> None:
    parser.add_argument(
        f"--{name}",
        type=real(1, 1e6),
        default=_WAIT,
        metavar="SECONDS",
        help=f"how long to wait {what} ({_WAIT:g} by default)",
    )


def _add_release(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", help="write the release")
    parser.add_argument("--json", metavar="FILE", help="write the statement; - prints it")


def _create(arguments: argparse.Namespace) -> int:
    from supm.cli._federate_study import made_study, summary  # noqa: PLC0415  loaded when it runs

    check_target("-o", arguments.output)
    check_target("--json", arguments.json)
    study = made_study(arguments)
    target = arguments.output or ("-" if arguments.json != "-" else None)
    if target is not None:
        write_text("-o", study.to_json() + "\n", target)
    if arguments.json:
        write_json(summary(study), arguments.json)
    if target not in (None, "-") and arguments.json != "-":
        print(paragraph(study.words))
        print(f"The study {study.hash[:12]} is in {target}; give it to all parties.")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from supm.cli._federate_run import run_here  # noqa: PLC0415  loaded when the verb runs

    _check_targets(arguments)
    study, release, run = run_here(arguments, _speaker(arguments))
    _publish(study, release, arguments)
    run.enter(release, arguments.output, _speaker(arguments))
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    from supm.cli._federate_run import serve  # noqa: PLC0415  loaded when the verb runs

    _check_targets(arguments)
    study, release, run = serve(arguments, _speaker(arguments))
    _publish(study, release, arguments)
    run.enter(release, arguments.output, _speaker(arguments))
    return 0


def _take_part(arguments: argparse.Namespace) -> int:
    from supm.cli._federate_party import take_part_in  # noqa: PLC0415  loaded when the verb runs

    _check_targets(arguments)
    release = take_part_in(arguments, _speaker(arguments))
    return 1 if release is None else _publish(None, release, arguments)


def _key(arguments: argparse.Namespace) -> int:
    from supm.cli._federate_flower import made_key  # noqa: PLC0415  loaded when the verb runs

    for path in (arguments.output, f"{arguments.output}.pub"):
        check_target("-o", path)
        if Path(path).exists():
            hint = "It may be a party's only key; name another file."
            raise ParameterError("-o", "a new file", path, hint)
    made_key(Path(arguments.output))
    print(f"Keep {arguments.output}; give {arguments.output}.pub to the owner of the server.")
    return 0


def _check_targets(arguments: argparse.Namespace) -> None:
    check_target("-o", arguments.output)
    _check_unspent(arguments.output)
    check_target("--json", arguments.json)
    _check_fresh(getattr(arguments, "receipt", None))
    if getattr(arguments, "publish", None) and arguments.output in (None, "-"):
        wanted = "a file, because --publish enters it into the log"
        raise ParameterError("-o", wanted, arguments.output)


def _check_fresh(target: str | None) -> None:
    """Refuse a receipt's name that is taken: what an earlier run sent is shown by nothing else."""
    check_target("--receipt", target)
    if target not in (None, "-") and Path(target).exists():
        raise ParameterError("--receipt", "a new file", target)


def _check_unspent(target: str | None) -> None:
    """Refuse to write over what was published, whose proof would be of nothing, or paid for."""
    if target in (None, "-") or not Path(target).exists():
        return
    proof = f"{target}.proof"
    if Path(proof).exists():
        hint = f"{proof} proves what the file holds now; name another file."
        raise ParameterError("-o", "a file that was not published", target, hint)
    if Path(target).is_file() and not _is_simulation(target):
        hint = "A second run costs the budget of a release there again; name another file."
        raise ParameterError("-o", "a new file, or a simulation, which is replaced", target, hint)


def _is_simulation(path: str) -> bool:
    from supm.messages import Release  # noqa: PLC0415  loaded when the verb runs

    try:
        return Release.from_json(read_text("-o", path)).statement.simulation
    except SupmError:
        return False


def _aloud(arguments: argparse.Namespace) -> TextIO:
    return sys.stderr if "-" in (arguments.json, arguments.output) else sys.stdout


def _speaker(arguments: argparse.Namespace) -> Any:  # noqa: ANN401  from text to nothing
    aloud = _aloud(arguments)

    def say(text: str) -> None:
        # A table and an option are lines already.
        shown = text if "\n" in text or text.startswith(" ") else paragraph(text)
        print(shown, file=aloud, flush=True)

    return say


def _publish(study: FederatedStudy | None, release: Release, arguments: argparse.Namespace) -> int:
    statement = release.statement
    if arguments.output:
        write_text("-o", release.to_json() + "\n", arguments.output)
    if arguments.json:
        write_json(json.loads(json.dumps(statement.to_form())), arguments.json)
    what = release.kind if study is None else f"{release.kind} of {study.name}"
    print(paragraph(f"Published: {what}. {statement.words}"), file=_aloud(arguments))
    if not arguments.output:
        print("The release was not kept; -o FILE writes it.", file=_aloud(arguments))
    return 0
