"""Runs of a federated study: all parties on this machine, and the server's side."""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from supm import RandomSource, secure, simulation
from supm._errors import SupmError
from supm.cli._federate_flower import fingerprint, needs_flower
from supm.cli._federate_party import protocol_of
from supm.cli._federate_record import Run
from supm.cli._federate_study import read_rows, read_study, sources
from supm.cli._service import UsageError
from supm.engines import Answerer, carry_in_process
from supm.federation import Coordinator, FederatedStudy, Participant
from supm.messages import Release

if TYPE_CHECKING:
    from supm.engines.flower import NodeKey, SuperLink

__all__ = ["coordinator_of", "run_here", "run_on_flower", "serve"]

# Where to listen for parties of this machine only.
_HERE: Final = {"127.0.0.1": "127.0.0.1", "::1": "::1", "localhost": "127.0.0.1"}
_EVERYWHERE: Final = "0.0.0.0"  # noqa: S104  parties are elsewhere
_FAREWELL: Final = 30.0
_Say = Callable[[str], None]


def run_here(arguments: argparse.Namespace, say: _Say) -> tuple[FederatedStudy, Release, Run]:
    """Run a study with all parties on this machine.

    Parameters
    ----------
    arguments : Namespace
        The options of ``supm federate run``.
    say : callable
        Takes a sentence.

    Returns
    -------
    tuple of FederatedStudy, Release and Run
    """
    study = read_study(arguments.study)
    _check_count("tables", len(arguments.data), study)
    _check_apart(arguments.data)
    source = secure() if arguments.seed is None else simulation(arguments.seed)
    people = [
        Participant(
            read_rows(path, study, arguments.schema),
            protocol_of(study),
            lambda _protocol, _text: None,
            sources(source, number),
            _raise,
        )
        for number, path in enumerate(arguments.data)
    ]
    run = Run(arguments)
    coordinator = coordinator_of(study, source, run)
    if arguments.engine == "process":
        carry_in_process(coordinator, people)
    else:
        run_on_flower(coordinator, people, say)
    return study, study.release(coordinator.outcome, simulation=source.simulation), run


def run_on_flower(coordinator: Coordinator, people: Sequence[Answerer], say: _Say) -> None:
    """Run all parties on this machine over Flower, with TLS and node keys.

    Parameters
    ----------
    coordinator : Coordinator
        The side that asks.
    people : sequence of Answerer
        The party of each number.
    say : callable
        Takes a sentence.
    """
    with needs_flower():
        from supm.engines.flower import (  # noqa: PLC0415  where it is installed
            NodeKey,
            SuperLink,
            coordinate,
            free_port,
        )
        from supm.engines.flower.certificates import read_public_key  # noqa: PLC0415  the same

    with tempfile.TemporaryDirectory(prefix="supm-federate-") as place:
        folder = Path(place)
        paths = [folder / f"party{number}" for number in range(len(people))]
        keys = [NodeKey.made(path) for path in paths]
        public = [read_public_key(path.with_name(f"{path.name}.pub")) for path in paths]
        with SuperLink(folder / "run", host="127.0.0.1", port=free_port()) as link:
            parts = [_part(link, key, each) for key, each in zip(keys, people, strict=True)]
            with _alongside(parts):
                coordinate(coordinator, link, public, tell=say)


def _part(link: SuperLink, key: NodeKey, answerer: Answerer) -> Callable[[], object]:
    from supm.engines.flower import take_part  # noqa: PLC0415  where it is installed

    certificate = link.authority.certificate
    return lambda: take_part(answerer, address=link.address, certificate=certificate, key=key)


@contextmanager
def _alongside(parts: Sequence[Callable[[], object]]) -> Iterator[None]:
    """Run the parties in threads, and raise the error of one rather than what followed from it."""
    problems: list[Exception] = []

    def run(part: Callable[[], object]) -> None:
        try:
            part()
        except Exception as error:  # noqa: BLE001  raised below
            problems.append(error)

    threads = [threading.Thread(target=run, args=(part,), daemon=True) for part in parts]
    for thread in threads:
        thread.start()
    try:
        yield
    except SupmError:
        _join(threads)
        if problems:
            raise problems[0] from None
        raise
    _join(threads)


def _join(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        thread.join(_FAREWELL)


def serve(arguments: argparse.Namespace, say: _Say) -> tuple[FederatedStudy, Release, Run]:
    """Run the server's side of a study.

    Parameters
    ----------
    arguments : Namespace
        The options of ``supm federate server``.
    say : callable
        Takes a sentence.

    Returns
    -------
    tuple of FederatedStudy, Release and Run
    """
    with needs_flower():
        from supm.engines.flower import SuperLink, coordinate  # noqa: PLC0415  where it is installed
        from supm.engines.flower.certificates import read_public_key  # noqa: PLC0415  the same

    study = read_study(arguments.study)
    _check_count("--party-key files", len(arguments.party_key), study)
    public = [read_public_key(Path(path)) for path in arguments.party_key]
    host, port = arguments.host, arguments.port
    listen = arguments.listen or _HERE.get(host, _EVERYWHERE)
    link = SuperLink(Path(arguments.folder), host=host, port=port, listen=listen)
    run = Run(arguments)
    coordinator = coordinator_of(study, secure(), run)
    with link:
        say(f"Give each party {link.authority.certificate} and the study, and tell it:")
        say(f"  --server [{host}]:{port}" if ":" in host else f"  --server {host}:{port}")
        wait, patience = arguments.wait, arguments.patience
        coordinate(coordinator, link, public, wait=wait, patience=patience, tell=say)
    say(fingerprint(coordinator.roster_fingerprint))
    return study, study.release(coordinator.outcome, simulation=False), run


def coordinator_of(
    study: FederatedStudy, source: RandomSource, run: Run | None = None
) -> Coordinator:
    """Return the server's side of a study, whose parties are sent the release at the end."""
    return Coordinator(
        study.protocol,
        study.to_json(),
        finish=lambda outcome, _: study.release(outcome, simulation=source.simulation).to_json(),
        record=None if run is None else run.record,
        simulation=source.simulation,
    )


def _check_count(what: str, count: int, study: FederatedStudy) -> None:
    parties = study.protocol.circle.parties
    if count != parties:
        message = f"the study is for {parties} parties, and {count} {what} are given."
        raise UsageError(message)


def _check_apart(paths: Sequence[str]) -> None:
    """Refuse a table that is given twice: the promise is for a record in one of the tables."""
    seen: dict[bytes, str] = {}
    # A pipe can be read once only, and what cannot be read is said when the tables are.
    for path in filter(_is_readable, paths):
        with Path(path).open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        if content in seen:
            message = (
                f"{seen[content]} and {path} are one table, whose records would count twice, and "
                "the promise is for records that count once; give each party a table of its own."
            )
            raise UsageError(message)
        seen[content] = path


def _is_readable(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.R_OK)


def _raise(problem: Exception) -> None:
    """Raise what a party would keep to itself: here whoever runs them all is to see it."""
    raise problem
