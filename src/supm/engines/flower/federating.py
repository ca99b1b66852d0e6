"""A federated study over Flower: all parties on this machine, the server's side, or one party."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from supm._errors import FederationError, ParameterError, SupmError
from supm._random import secure
from supm.engines.files import Spendings, text_of_file
from supm.engines.flower.certificates import NodeKey, read_public_key
from supm.engines.flower.coordinating import coordinate
from supm.engines.flower.launching import SuperLink, free_port
from supm.engines.flower.taking_part import take_part
from supm.engines.in_process import Answerer, Asker
from supm.federation import (
    Federated,
    FederatedStudy,
    Participant,
    Receipted,
    RoundRecord,
    fingerprint_words,
    open_release,
    party_source,
    what_leaves,
)
from supm.messages import Commitments, Release
from supm.schema import Schema, read_csv

# Where to listen for parties of this machine only.
_HERE: Final = {"127.0.0.1": "127.0.0.1", "::1": "::1", "localhost": "127.0.0.1"}
_EVERYWHERE: Final = "0.0.0.0"  # noqa: S104  parties are elsewhere
_FAREWELL: Final = 30.0
_Tell = Callable[[str], None]


def carry_over_flower(
    coordinator: Asker, people: Sequence[Answerer], *, tell: _Tell | None = None
) -> None:
    """Carry messages between programs of this machine, with TLS and node keys.

    Parameters
    ----------
    coordinator : Asker
        The side that asks.
    people : sequence of Answerer
        The party of each number.
    tell : callable, optional
        Called with a sentence when something happens.
    """
    with tempfile.TemporaryDirectory(prefix="supm-federate-") as place:
        folder = Path(place)
        paths = [folder / f"party{number}" for number in range(len(people))]
        keys = [NodeKey.made(path) for path in paths]
        public = [read_public_key(path.with_name(f"{path.name}.pub")) for path in paths]
        with SuperLink(folder / "run", host="127.0.0.1", port=free_port()) as link:
            certificate = link.authority.certificate
            parts = [
                partial(take_part, each, address=link.address, certificate=certificate, key=key)
                for key, each in zip(keys, people, strict=True)
            ]
            with _alongside(parts):
                coordinate(coordinator, link, public, tell=tell)


def serve_study(  # noqa: PLR0913  what an operator chooses, each with a default
    study: FederatedStudy,
    party_keys: Sequence[Path],
    *,
    folder: Path,
    host: str = "127.0.0.1",
    port: int = 8443,
    listen: str | None = None,
    wait: float = 600.0,
    patience: float = 600.0,
    record: Callable[[RoundRecord], None] | None = None,
    tell: _Tell = print,
) -> Federated:
    """Run the server's side of a study.

    Parameters
    ----------
    study : FederatedStudy
        What the parties consent to.
    party_keys : sequence of Path
        The files of the parties' public keys, in the order of their numbers.
    folder : Path
        For certificates and a log; only its owner may read it.
    host : str
        By what name or address parties reach this machine.
    port : int
        At which port.
    listen : str, optional
        On which address; by default on all, unless the host is this machine.
    wait, patience : float
        How many seconds to wait until all are there, and for the answers of one turn.
    record : callable, optional
        Is given a `RoundRecord` before a round is opened, to publish it.
    tell : callable, optional
        Called with a sentence when something happens.

    Returns
    -------
    Federated
    """
    parties = study.protocol.circle.parties
    if len(party_keys) != parties:
        raise ParameterError("party-key", f"given for each of {parties} parties", len(party_keys))
    public = [read_public_key(path) for path in party_keys]
    where = listen or _HERE.get(host, _EVERYWHERE)
    coordinator = study.coordinator(record=record)
    with SuperLink(folder, host=host, port=port, listen=where) as link:
        tell(f"Give each party {link.authority.certificate} and the study, and tell it:")
        tell(f"  --server [{host}]:{port}" if ":" in host else f"  --server {host}:{port}")
        coordinate(coordinator, link, public, wait=wait, patience=patience, tell=tell)
    tell(fingerprint_words(coordinator.roster_fingerprint))
    return Federated.of(study, coordinator)


def join_study(  # noqa: PLR0913  what a party names, and how it agrees
    study: FederatedStudy,
    data: str,
    *,
    server: str,
    certificate: Path,
    key: Path,
    policy: Path,
    agrees: Callable[[Sequence[str]], bool],
    schema: Schema | None = None,
    keep: Callable[[Commitments], None] | None = None,
    wait: float = 600.0,
    tell: _Tell = print,
) -> Federated | None:
    """Take part in a study with a table, which stays.

    Parameters
    ----------
    study : FederatedStudy
        What the party agrees to; it answers for nothing else.
    data : str
        The CSV file of its table.
    server : str
        Host and port.
    certificate : Path
        The certificate of the server's authority.
    key : Path
        The node key by which the server knows this party.
    policy : Path
        The most that the party spends; what was spent is beside it.
    agrees : callable
        Is given what would leave and what it costs, as paragraphs, and says whether to go on.
    schema : Schema, optional
        What the study is expected to have.
    keep : callable, optional
        Is given the hashes of what was sent before each masked vector goes out.
    wait : float, default 600
        How many seconds to wait for the server and for its next message.
    tell : callable, optional
        Called with a sentence when something happens.

    Returns
    -------
    Federated or None
        None where the party did not agree.

    Raises
    ------
    FederationError
        If the run ends without a release, or with one that says something else than the study.
    """
    _check_certificate(certificate)
    own, spendings = NodeKey.read(key), Spendings.of(policy)
    spendings.check(study)
    rows = study.read_rows(read_csv(data), schema)
    epsilon, delta = study.price
    cost = (
        f"It costs epsilon = {epsilon:.6g} and delta = {delta:.3g}, which will be noted in "
        f"{spendings.path} when the server asks."
    )
    if not agrees([*what_leaves(study, rows, Path(data).name), cost]):
        return None
    tell("Waiting for the server.")
    problems: list[Exception] = []
    source_for = partial(party_source, secure(), "party")
    party = study.participant(rows, source_for, charge=spendings.charge, on_problem=problems.append)
    state = take_part(
        party if keep is None else Receipted(party, keep),
        address=server,
        certificate=certificate,
        key=own,
        wait=wait,
        patience=wait,
    )
    release, fingerprint = _released(party, state, problems), party.roster_fingerprint(state)
    tell(fingerprint_words(fingerprint))
    study.check_release(release)
    _, outcome = open_release(release)
    return Federated(study=study, outcome=outcome, release=release, fingerprint=fingerprint)


def _check_certificate(path: Path) -> None:
    """Refuse a wrong file before the party reads what it would agree to."""
    if "-----BEGIN CERTIFICATE-----" not in text_of_file("certificate", path):
        hint = "It is the ca.pem of the server's folder."
        raise ParameterError("certificate", "a file with a certificate", str(path), hint)


def _released(party: Participant, state: bytes, problems: Sequence[Exception]) -> Release:
    if problems:
        raise problems[0]
    text = party.released(state) if state else ""
    if not text:
        raise FederationError(
            "the server ended the run without a release; what was noted as spent stays so."
        )
    return Release.from_json(text)


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
