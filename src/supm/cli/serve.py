"""The verb serve: the aggregator and its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from supm.cli._output import File, Target, say, write_json
from supm.cli._types import DATABASE, Database, real, whole

if TYPE_CHECKING:
    from supm.service.store import Store

_HERE: Final = ("127.0.0.1", "::1", "localhost")


def verb(
    *,
    db: Database = DATABASE,
    host: Annotated[str, Parameter(metavar="HOST")] = "127.0.0.1",
    port: Annotated[int, whole(0, 65_535, "P")] = 8000,
    certificate: File = None,
    key: File = None,
    log: File = None,
    rate: Annotated[float, real(0.1, 1e9, "R")] = 200.0,
    json: Target = None,
) -> None:
    r"""Run the aggregator and its pages.

    Serve studies over HTTP: pages for owners and analysts, and an interface for programs. Studies
    are made with `supm study create` on the same database, also while it serves. It stops at an
    interrupt (Ctrl-C) or SIGTERM, after the requests under way are answered. The log has one line
    for each request, without addresses, tokens or values.

    Parameters
    ----------
    db : str
        The database: sqlite:///supm.db (default) or postgresql://user@host/name; one with a
        password is better named by the environment variable SUPM_DB.
    host : str
        Where to listen; 127.0.0.1 by default.
    port : int
        On which port; 8000 by default, 0 for any that is free.
    certificate : str, optional
        For TLS: the certificates, in PEM.
    key : str, optional
        For TLS: the certificate's key, in PEM.
    log : str, optional
        Also show this log of releases, at /releases and /log.
    rate : float
        Requests a second from one client in the long run, where a batch is one; 200 by default,
        ten times as many at once.
    json : str, optional
        Write the address; - prints it.

    Examples
    --------
    ::

        supm serve                                         sqlite:///supm.db, on this machine only
        supm serve --db postgresql://supm@db/supm --host 0.0.0.0 --port 443 \
            --certificate host.pem --key host.key          for everybody, with TLS
        supm serve --port 0 --json address.json            on any free port, for scripts
        supm serve --log releases.db                       with the releases of a log
    """
    from supm.service.app import Settings
    from supm.service.serving import run
    from supm.service.status import serving_words
    from supm.service.store import DatabaseAddress

    address = DatabaseAddress.parse(db)
    if certificate is None and key is None and host not in _HERE:
        say("without --certificate tokens travel in clear; put TLS before it, or give one.")
    made_now = ", which was created now" if address.is_absent else ""

    def ready(url: str, store: Store) -> None:
        if json:
            write_json({"url": url}, json)
        if json != "-":
            studies = [(each.name, str(each.state)) for each in reversed(store.studies())]
            words = [*serving_words(url, studies, f"{address.shown}{made_now}")]
            shown = [] if log is None else [f"It shows the releases of {log}: {url}/releases"]
            print("\n".join(words + shown), flush=True)

    run(
        db,
        host=host,
        port=port,
        certificate=certificate,
        key=key,
        settings=Settings(rate=rate, burst=max(10 * rate, 1.0)),
        log=log,
        ready=ready,
    )
