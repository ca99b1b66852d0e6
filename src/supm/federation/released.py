"""What a run gives, and how a release that somebody else made is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from supm._errors import MessageError
from supm.federation.coordinator import Coordinator
from supm.federation.outcomes import ComponentsOutcome, DiscriminantOutcome, MarginOutcome
from supm.federation.study import FederatedStudy
from supm.messages import Release, ReleaseStatement
from supm.privacy import NoGuarantee
from supm.reporting import Result, Table
from supm.reporting.table import Cell

__all__ = ["Federated", "open_release"]

_OUTCOMES: Final[Mapping[str, Callable[[object], Any]]] = {
    "components": ComponentsOutcome.from_form,
    "discriminant": DiscriminantOutcome.from_form,
    "margin": MarginOutcome.from_form,
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Federated(Result):
    """What came out of a run.

    Parameters
    ----------
    study : FederatedStudy
        The document that the parties consented to.
    outcome : object
        What the protocol concluded; it can be used to predict.
    release : Release
        The same as a document, with its statement.
    fingerprint : str
        Of the keys of all parties: those who see the same one had no stranger between them.
    """

    study: FederatedStudy
    outcome: Any
    release: Release
    fingerprint: str

    @classmethod
    def of(cls, study: FederatedStudy, coordinator: Coordinator) -> Federated:
        """Return what a coordinator that has finished concluded."""
        return cls(
            study=study,
            outcome=coordinator.outcome,
            release=study.release(coordinator.outcome, simulation=coordinator.simulation),
            fingerprint=coordinator.roster_fingerprint,
        )

    @property
    def headline(self) -> str:
        """What was published."""
        return f"Published: {self.release.kind} of {self.study.name}."

    def to_form(self) -> dict[str, Any]:
        """Return the statement as plain values for JSON."""
        return self.release.statement.to_form()

    def tables(self) -> Sequence[Table]:
        """Return what was released, one by one."""
        lengths = self.study.protocol.lengths
        rows: list[list[Cell]] = [
            [each.name, count, each.guarantee.sentence]
            for each, count in zip(self.study.protocol.parts, lengths, strict=True)
        ]
        return [Table(head=["what", "numbers", "promise"], rows=rows)]

    def words(self) -> Sequence[str]:
        """Return the statement as a paragraph that needs no other reading."""
        return [self.release.statement.words]


def open_release(release: Release) -> tuple[FederatedStudy, Any]:
    """Return the study of a release, and its outcome, ready to be used.

    Parameters
    ----------
    release : Release
        Whoever made it.

    Returns
    -------
    tuple of FederatedStudy and object
        ``study.protocol.encoding`` makes vectors of records, and the outcome predicts from them.

    Raises
    ------
    MessageError
        If the numbers do not fit the study, or the statement promises more than its noise keeps.
    """
    study = FederatedStudy.from_json(release.study)
    if release.kind != study.protocol.kind:
        message = f"the release is a {release.kind}, and its study makes a {study.protocol.kind}."
        raise MessageError(message)
    stated = study.statement(simulation=release.statement.simulation)
    if not _keeps(stated, release.statement):
        message = "the statement of the release is not what the noise of its study keeps."
        raise MessageError(message)
    try:
        outcome = _OUTCOMES[release.kind](release.content)
    except OverflowError:
        message = "a number of the release is too large to be one."
        raise MessageError(message) from None
    if not study.protocol.fits(outcome):
        message = "the release has another number of columns or classes than its study."
        raise MessageError(message)
    return study, outcome


def _keeps(stated: ReleaseStatement, given: ReleaseStatement) -> bool:
    """Say whether a statement is what the noise keeps, or keeps back the promise altogether."""
    if stated.trust != given.trust:
        return False
    if isinstance(given.total, NoGuarantee):
        return given.parts[: len(stated.parts)] == stated.parts
    return (stated.parts, stated.total) == (given.parts, given.total)
