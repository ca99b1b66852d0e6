"""How a release that somebody else made is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from supm._errors import MessageError
from supm.federation.outcomes import ComponentsOutcome, DiscriminantOutcome, MarginOutcome
from supm.federation.study import FederatedStudy
from supm.messages import Release, ReleaseStatement
from supm.privacy import NoGuarantee

__all__ = ["open_release"]

_OUTCOMES: Final[Mapping[str, Callable[[object], Any]]] = {
    "components": ComponentsOutcome.from_form,
    "discriminant": DiscriminantOutcome.from_form,
    "margin": MarginOutcome.from_form,
}


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
