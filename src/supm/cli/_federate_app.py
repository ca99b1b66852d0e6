"""The act ``app`` of the verb federate: a study as a program for stock SuperNodes."""

from __future__ import annotations

import argparse
from pathlib import Path

from supm.cli._arguments import whole

__all__ = ["add_app"]

_ABOUT = """\
Write a study as a program of Flower, for institutions that run SuperNodes already. A SuperNode runs
what the server submits, beside your data: whoever does not trust the server with that uses
supm federate party, which never fetches a program.
"""
_EXAMPLES = """\
examples:
  supm federate app study.json -o app --release /srv/release.json
  flower-supernode --superlink fed.example:8443 --root-certificates ca.pem \\
      --auth-supernode-private-key north.key --node-config 'party-file="/data/party.json"'
  flwr run app                                            the owner of the SuperLink

party.json stays with its party. It names its table, the study that it agrees to and the policy that
supm federate --help shows; files are relative to its folder:
  {"version": 1, "name": "north", "data": "north.csv", "study": "study.json",
   "policy": "policy.json"}
With "simulation": true the party draws from the seed of a run that has one, for trials only. The
SuperLink runs with --enable-supernode-auth and --disable-runtime-dependency-installation; all have
supm[federated] installed.
"""


def add_app(acts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the act to the verb.

    Parameters
    ----------
    acts : _SubParsersAction
        The acts of the verb.
    """
    parser = acts.add_parser(
        "app",
        help="write a study as a program for SuperNodes that run already",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_write)
    parser.add_argument("study", metavar="STUDY.json", help="the study")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="a new folder")
    parser.add_argument(
        "--release",
        default="release.json",
        metavar="FILE",
        help="where the server writes the release, on its machine (release.json by default)",
    )
    parser.add_argument(
        "--seed", type=whole(0, 1 << 128), metavar="S", help="a simulation, which is not private"
    )


def _write(arguments: argparse.Namespace) -> int:
    from supm.cli._federate_study import read_study  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._flower_app import write_app  # noqa: PLC0415  the same

    study, folder = read_study(arguments.study), Path(arguments.output)
    write_app(folder, study.to_json(), release=Path(arguments.release), seed=arguments.seed)
    print(f"The study {study.hash[:12]} is in {folder}; submit it with flwr run {folder}.")
    return 0
