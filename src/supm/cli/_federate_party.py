"""A party's side of a federated study: read it, agree, take part, and note what it costs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from supm import secure
from supm._errors import FederationError, MessageError, ParameterError
from supm.cli._federate_flower import fingerprint, needs_flower
from supm.cli._federate_leaving import describe
from supm.cli._federate_policy import Policy, Spendings, price
from supm.cli._federate_receipt import Receipted
from supm.cli._federate_study import read_rows, read_study, sources
from supm.cli._files import read_text
from supm.cli.contribute import agreed
from supm.federation import FederatedStudy, Participant, Protocol
from supm.messages import Release

__all__ = ["check_release", "consent", "protocol_of", "spendings_of", "take_part_in"]

_Say = Callable[[str], None]


def take_part_in(arguments: argparse.Namespace, say: _Say) -> Release | None:
    """Run a party's side of a study.

    Parameters
    ----------
    arguments : Namespace
        The options of ``supm federate party``.
    say : callable
        Takes a sentence.

    Returns
    -------
    Release or None
        What was published; None where the party did not agree.
    """
    with needs_flower():
        from supm.engines.flower import NodeKey, take_part  # noqa: PLC0415  where it is installed

    _check_certificate(arguments.ca)
    study = read_study(arguments.study)
    key = NodeKey.read(Path(arguments.key))
    spendings = spendings_of(arguments.policy)
    spendings.check(study)
    rows = read_rows(arguments.data, study, arguments.schema)
    for line in describe(study, rows, arguments.data):
        say(line)
    epsilon, delta = price(study)
    say(
        f"It costs epsilon = {epsilon:.6g} and delta = {delta:.3g}, which will be noted in "
        f"{spendings.path} when the server asks."
    )
    aloud = sys.stderr if "-" in (arguments.json, arguments.output) else sys.stdout
    if not agreed("Take part?", aloud, yes=arguments.yes):
        return None
    problems: list[Exception] = []
    answerer = Participant(
        rows, protocol_of(study), consent(study, spendings), sources(secure(), 0), problems.append
    )
    say("Waiting for the server.")
    path = arguments.receipt
    state = take_part(
        Receipted(answerer, path, say) if path else answerer,
        address=arguments.server,
        certificate=Path(arguments.ca),
        key=key,
        wait=arguments.wait,
        patience=arguments.wait,
    )
    release = _released(answerer, state, problems)
    say(fingerprint(answerer.roster_fingerprint(state)))
    check_release(release, study)
    return release


def _check_certificate(path: str) -> None:
    """Refuse a wrong file before the party reads what it would agree to."""
    if "-----BEGIN CERTIFICATE-----" not in read_text("--ca", path):
        hint = "It is the ca.pem of the server's folder."
        raise ParameterError("--ca", "a file with a certificate", path, hint)


def _released(answerer: Participant, state: bytes, problems: Sequence[Exception]) -> Release:
    if problems:
        raise problems[0]
    text = answerer.released(state) if state else ""
    if not text:
        message = "the server ended the run without a release; what was noted as spent stays so."
        raise FederationError(message)
    return Release.from_json(text)


def check_release(release: Release, study: FederatedStudy) -> None:
    """Refuse a release that says something else than the study that was agreed to.

    Parameters
    ----------
    release : Release
        What the server sent at the end.
    study : FederatedStudy
        What the party has read.

    Raises
    ------
    FederationError
        If it is about another study, or promises something else.
    """
    told, own = release.statement, study.statement(simulation=False)
    names = ("study", "parts", "total", "trust", "simulation")
    if any(getattr(told, name) != getattr(own, name) for name in names):
        message = "the server published a release whose statement is not that of this study."
        raise FederationError(message)


def consent(study: FederatedStudy, spendings: Spendings) -> Callable[[Protocol, str], None]:
    """Return a party's policy: its own study only, and what it costs is noted before it begins.

    Parameters
    ----------
    study : FederatedStudy
        What the party has read and agreed to.
    spendings : Spendings
        Where it is noted.

    Returns
    -------
    callable
        Takes the protocol and the server's text, and raises to refuse.
    """

    def check(_: Protocol, text: str) -> None:
        _check_same(study, text)
        spendings.charge(study)

    return check


def protocol_of(study: FederatedStudy) -> Callable[[str], Protocol]:
    """Return the way from the server's text to the protocol: the party's own study, or nothing.

    Parameters
    ----------
    study : FederatedStudy
        What the party has read.

    Returns
    -------
    callable
        From text to Protocol.
    """

    def make(text: str) -> Protocol:
        _check_same(study, text)
        return study.protocol

    return make


def _check_same(study: FederatedStudy, text: str) -> None:
    if text != study.to_json():
        message = "the server runs another study than the one that this party has read."
        raise FederationError(message)


def spendings_of(path: str) -> Spendings:
    """Return what a party spent under the policy of a file."""
    text = read_text("--policy", path)
    try:
        return Spendings(Path(path), Policy.from_json(text))
    except MessageError as error:
        message = f"{path}: {error}"
        raise MessageError(message) from None
