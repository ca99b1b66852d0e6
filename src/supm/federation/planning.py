"""The study that parties agree on, from schema and budget; and how a release is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Final, Literal, TypeAlias

from supm._errors import MessageError, ParameterError
from supm.federation.components import Components, ComponentsOutcome, Share
from supm.federation.discriminant import Discriminant, DiscriminantOutcome
from supm.federation.margin import Margin, MarginOutcome
from supm.federation.protocol import Circle, Protocol
from supm.federation.rows import SchemaEncoding
from supm.federation.study import FederatedStudy
from supm.learning.margins import Loss
from supm.messages import Release, ReleaseStatement
from supm.privacy import NoGuarantee
from supm.schema import Schema, as_schema

Computation: TypeAlias = Literal["lda", "svm", "logistic", "pca"]
"""What is computed: directions between classes, a linear classifier of two kinds, components."""

# What may be chosen of one of them, and is left out for the others.
_CHOICES: Final = {
    "pca": {"components", "share"},
    "lda": {"directions", "histogram"},
    "svm": {"components"},
    "logistic": {"components"},
}


def plan_federation(  # noqa: PLR0913  each is a choice of its own, with a default
    schema: Schema | str | PathLike[str],
    computation: Computation,
    *,
    epsilon: float,
    delta: float,
    parties: int,
    colluders: int | None = None,
    dropouts: int = 0,
    components: int | None = None,
    share: Share | None = None,
    directions: int | None = None,
    histogram: bool | None = None,
    name: str = "federation",
    purpose: str = "",
) -> FederatedStudy:
    """Return the study with the least noise that keeps a budget.

    Parameters
    ----------
    schema : Schema or path-like
        The public description of all tables, or the file that holds it.
    computation : {"lda", "svm", "logistic", "pca"}
        What is computed.
    epsilon, delta : float
        What each record spends.
    parties : int
        How many tables there are.
    colluders : int, optional
        So many parties may work with the server; by default all but one.
    dropouts : int, default 0
        So many may be lost on the way.
    components : int, optional
        For "pca", which needs it, "svm" and "logistic": how many.
    share : {"covariance", "subspace"}, optional
        For "pca": what each party tells, noisy products or the subspace that they span.
    directions : int, optional
        For "lda": how many, fewer than there are classes.
    histogram : bool, optional
        For "lda": whether scores counted by class are published; they are by default.
    name, purpose : str
        What the study is called, and what it is for.

    Returns
    -------
    FederatedStudy

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> study = plan_federation(load_wdbc().schema, "lda", epsilon=1, delta=1e-5, parties=3)
    >>> study.protocol.kind, study.protocol.rounds
    ('discriminant', 2)
    """
    told = {"components": components, "share": share}
    told |= {"directions": directions, "histogram": histogram}
    own = {key: value for key, value in told.items() if value is not None}
    for key in sorted(own.keys() - _CHOICES[computation]):
        raise ParameterError(key, f"left out for {computation}", own[key])
    common: dict[str, Any] = {
        "encoding": SchemaEncoding(schema=as_schema(schema)),
        "circle": Circle(parties=parties, colluders=colluders, dropouts=dropouts),
        "epsilon": epsilon,
        "delta": delta,
    }
    protocol = _protocol(computation, common | own)
    return FederatedStudy(name=name, purpose=purpose, delta=delta, protocol=protocol)


def _protocol(computation: Computation, chosen: dict[str, Any]) -> Protocol:
    if computation == "lda":
        return Discriminant.for_budget(**chosen)
    if computation == "pca":
        if "components" not in chosen:
            raise ParameterError("components", "given for pca, which publishes so many", None)
        return Components.for_budget(**chosen)
    return Margin.for_budget(**chosen, loss=_loss(computation, chosen["encoding"].classes))


def _loss(computation: Computation, classes: int) -> Loss:
    if computation == "svm":
        return "huber"
    return "logistic" if classes == 2 else "softmax"


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
        raise MessageError(
            f"the release is a {release.kind}, and its study makes a {study.protocol.kind}."
        )
    stated = study.statement(simulation=release.statement.simulation)
    if not _keeps(stated, release.statement):
        raise MessageError("the statement of the release is not what the noise of its study keeps.")
    try:
        outcome = _OUTCOMES[release.kind](release.content)
    except OverflowError:
        raise MessageError("a number of the release is too large to be one.") from None
    if not study.protocol.fits(outcome):
        raise MessageError("the release has another number of columns or classes than its study.")
    return study, outcome


def _keeps(stated: ReleaseStatement, given: ReleaseStatement) -> bool:
    """Say whether a statement is what the noise keeps, or keeps back the promise altogether."""
    if stated.trust != given.trust:
        return False
    if isinstance(given.total, NoGuarantee):
        return given.parts[: len(stated.parts)] == stated.parts
    return (stated.parts, stated.total) == (given.parts, given.total)
