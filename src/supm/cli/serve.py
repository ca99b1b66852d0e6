"""The verb serve: the aggregator and its pages."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from supm._errors import ParameterError
from supm.cli._arguments import real, whole
from supm.cli._files import check_target, write_json
from supm.cli._output import say
from supm.cli._service import (
    DATABASE,
    UsageError,
    add_database,
    check_kind_of_database,
    is_absent,
    needs_server_packages,
    shown_database,
)

__all__ = ["add_to"]

_EXAMPLES = f"""\
examples:
  supm serve                                         {DATABASE}, on this machine only
  supm serve --db postgresql://supm@db/supm --host 0.0.0.0 --port 443 \\
      --certificate host.pem --key host.key          for everybody, with TLS
  supm serve --port 0 --json address.json            on any free port, for scripts
  supm serve --log releases.db                       with the releases of a log

Studies are made with `supm study create` on the same database, also while it serves. It stops at
an interrupt (Ctrl-C) or SIGTERM, after the requests under way are answered. The log has one line
for each request, without addresses, tokens or values.
"""
_SHOWN = 10
_HERE = ("127.0.0.1", "::1", "localhost")


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "serve",
        help="run the aggregator and its pages",
        description="Serve studies over HTTP: pages for owners and analysts, and an interface\n"
        "for programs.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_database(parser)
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="HOST", help="where to listen; 127.0.0.1 by default"
    )
    parser.add_argument(
        "--port",
        type=whole(0, 65_535),
        default=8000,
        metavar="P",
        help="on which port; 8000 by default, 0 for any that is free",
    )
    parser.add_argument("--certificate", metavar="FILE", help="for TLS: the certificates, in PEM")
    parser.add_argument("--key", metavar="FILE", help="for TLS: the certificate's key, in PEM")
    parser.add_argument(
        "--log", metavar="FILE", help="also show this log of releases, at /releases and /log"
    )
    parser.add_argument(
        "--rate",
        type=real(0.1, 1e9),
        default=200.0,
        metavar="R",
        help="requests a second from one client in the long run, where a batch is one; 200 by "
        "default, ten times as many at once",
    )
    parser.add_argument("--json", metavar="FILE", help="write the address; - prints it")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    with needs_server_packages():
        from supm.service.app import Settings  # noqa: PLC0415  loaded when the verb runs
        from supm.service.serving import check_address, run  # noqa: PLC0415  the same

    check_target("--json", arguments.json)
    if (arguments.certificate is None) != (arguments.key is None):
        message = "--certificate must be given together with --key: a certificate needs its key."
        raise UsageError(message)
    check_kind_of_database(arguments.db)
    _check_files(arguments)
    check_address(arguments.host, arguments.port)
    if arguments.certificate is None and arguments.host not in _HERE:
        say("without --certificate tokens travel in clear; put TLS before it, or give one.")
    settings = Settings(rate=arguments.rate, burst=max(10 * arguments.rate, 1.0))
    created = is_absent(arguments.db)
    studies = _studies(arguments.db)

    def ready(address: str) -> None:
        _say(address, studies, arguments, created=created)
        if arguments.log is not None and arguments.json != "-":
            print(f"It shows the releases of {arguments.log}: {address}/releases", flush=True)

    run(
        arguments.db,
        host=arguments.host,
        port=arguments.port,
        certificate=arguments.certificate,
        key=arguments.key,
        settings=settings,
        log=arguments.log,
        ready=ready,
    )
    return 0


def _studies(url: str) -> list[tuple[str, str]]:
    """Return name and state of each study, the last made first."""
    from supm.service.store import Store  # noqa: PLC0415  loaded when the verb runs

    store = Store.open(url)
    try:
        return [(each.name, str(each.state)) for each in reversed(store.studies())]
    finally:
        store.close()


def _check_files(arguments: argparse.Namespace) -> None:
    """Refuse before a database is made."""
    files = ("--certificate", arguments.certificate), ("--key", arguments.key)
    for option, path in (*files, ("--log", arguments.log)):
        if path is not None and not Path(path).is_file():
            raise ParameterError(option, "a file that is there", path)


def _say(
    address: str,
    studies: list[tuple[str, str]],
    arguments: argparse.Namespace,
    *,
    created: bool = False,
) -> None:
    if arguments.json:
        write_json({"url": address}, arguments.json)
    if arguments.json != "-":
        print(f"The aggregator is at {address} (stop it with Ctrl-C).")
        served = "1 study" if len(studies) == 1 else f"{len(studies)} studies"
        shown = ":" if studies else "; supm study create makes one."
        new = ", which was created now" if created else ""
        print(f"It serves {served} of {shown_database(arguments.db)}{new}{shown}")
        for name, state in studies[:_SHOWN]:
            print(f"  {address}/studies/{name} ({state})")
        if len(studies) > _SHOWN:
            print(f"  and {len(studies) - _SHOWN} more: supm study list")
        sys.stdout.flush()
