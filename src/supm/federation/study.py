"""The public document of a federation: what every party reads before it takes part."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from typing import Any, Final

from supm import __version__
from supm._errors import MessageError, ParameterError
from supm._json import canonical, check_fields, read_object
from supm._validation import Reals, check_kind, check_text
from supm.federation.components import Components, ComponentsOutcome
from supm.federation.discriminant import Discriminant, DiscriminantOutcome
from supm.federation.margin import Margin, MarginOutcome
from supm.federation.protocol import Protocol
from supm.messages.release import Release, ReleaseStatement
from supm.privacy import ApproximateDP, GaussianDP, Guarantee, NoGuarantee

__all__ = ["FederatedStudy", "open_release", "read_protocol"]

_VERSION: Final = 1
_FIELDS: Final = ("version", "name", "purpose", "delta", "protocol")
_LONGEST_NAME, _LONGEST_PURPOSE = 200, 2000
_DELTA: Final = Reals("delta", 1e-300, 0.5)
_KINDS: Final[Mapping[str, Callable[[object], Protocol]]] = {
    "components": Components.from_form,
    "discriminant": Discriminant.from_form,
    "margin": Margin.from_form,
}

_OUTCOMES: Final[Mapping[str, Callable[[object], Any]]] = {
    "components": ComponentsOutcome.from_form,
    "discriminant": DiscriminantOutcome.from_form,
    "margin": MarginOutcome.from_form,
}
_DIGITS: Final = 6


def read_protocol(form: object) -> Protocol:
    """Read what a protocol's ``to_form`` wrote."""
    kind = form.get("kind") if isinstance(form, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        message = f"a protocol must be an object whose kind is one of {', '.join(_KINDS)}."
        raise MessageError(message)
    return _KINDS[kind](form)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FederatedStudy:
    """What is computed from the parties' tables, for what, with how much noise.

    Parameters
    ----------
    name : str
        What the study is called.
    protocol : Protocol
        What is computed; its guarantee follows from its noise.
    delta : float
        At which the guarantee is told as an epsilon.
    purpose : str
        What it is for, in words.

    Examples
    --------
    >>> from supm.federation import Circle, Discriminant, VectorEncoding
    >>> protocol = Discriminant.for_budget(
    ...     encoding=VectorEncoding(width=4, classes=2), epsilon=1.0, delta=1e-5,
    ...     circle=Circle(parties=3, colluders=1),
    ... )
    >>> study = FederatedStudy(name="hospitals", protocol=protocol, delta=1e-5)
    >>> FederatedStudy.from_json(study.to_json()).hash == study.hash
    True
    >>> round(study.promise.epsilon, 3) <= 1.0
    True
    """

    name: str
    protocol: Protocol
    delta: float
    purpose: str = ""

    def __post_init__(self) -> None:
        check_kind("protocol", self.protocol, Protocol)
        check_text("name", self.name, _LONGEST_NAME)
        check_text("purpose", self.purpose, _LONGEST_PURPOSE)
        if not self.name:
            raise ParameterError("name", "a text that is not empty", self.name)
        object.__setattr__(self, "delta", _DELTA.check(self.delta))

    @property
    def promise(self) -> Guarantee:
        """What each record is promised in total, as an epsilon at the study's delta."""
        total = self.protocol.guarantee
        if isinstance(total, GaussianDP):
            total = total.to_approximate(self.delta)
        if not isinstance(total, ApproximateDP):
            return total
        # Six digits are enough for people; to say more than is spent is still true.
        return replace(total, epsilon=_rounded_up(total.epsilon))

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the canonical text."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """Return the canonical text."""
        form = {
            "version": _VERSION,
            "name": self.name,
            "purpose": self.purpose,
            "delta": self.delta,
            "protocol": self.protocol.to_form(),
        }
        return canonical(form)

    @classmethod
    def from_json(cls, text: str) -> FederatedStudy:
        """Read what `to_json` wrote; an unknown version or field is refused."""
        form = read_object(text, "federated study", MessageError)
        check_fields(form, _FIELDS, "a federated study", MessageError)
        if set(form) != set(_FIELDS) or form["version"] != _VERSION:
            message = (
                f"a federated study of version {_VERSION} has the fields {', '.join(_FIELDS)}."
            )
            raise MessageError(message)
        parts: dict[str, Any] = {name: form[name] for name in ("name", "purpose", "delta")}
        try:
            return cls(protocol=read_protocol(form["protocol"]), **parts)
        except ParameterError as error:
            raise MessageError(str(error)) from None

    @property
    def words(self) -> str:
        """What a party should know before it takes part, as a paragraph."""
        purpose = f" It is for: {self.purpose}" if self.purpose else ""
        return f"The study {self.name!r}.{purpose} {self.statement(simulation=False).words}"

    def statement(self, *, simulation: bool) -> ReleaseStatement:
        """Return what is promised for whatever the study releases."""
        return ReleaseStatement(
            study=self.hash,
            parts=self.protocol.parts,
            total=self.promise,
            trust=self.protocol.trust,
            simulation=simulation,
            software=f"supm {__version__}",
        )

    def release(self, outcome: Any, *, simulation: bool) -> Release:  # noqa: ANN401  each its own
        """Return what is published: the outcome with its statement."""
        statement = self.statement(simulation=simulation)
        return Release(
            kind=self.protocol.kind,
            study=self.to_json(),
            content=outcome.to_form(),
            statement=statement,
        )

    def __repr__(self) -> str:
        """Say what it is and its hash."""
        return f"FederatedStudy({self.name!r}, {self.protocol.kind}, {self.hash[:12]})"


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


def _rounded_up(epsilon: float) -> float:
    exact = Decimal(repr(epsilon))
    step = Decimal(1).scaleb(exact.adjusted() - _DIGITS + 1)
    return float(exact.quantize(step, rounding=ROUND_CEILING))
