"""Statements, and what a federation publishes with one.

A statement says what was promised to whom, and is attached to every result. A release is plain
numbers with the statement that binds them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Self

from supm._errors import MessageError, ParameterError
from supm._json import canonical
from supm._validation import check_hash, check_text
from supm.messages.codec import Message
from supm.messages.question import PHASES
from supm.privacy import Guarantee, NoGuarantee, PureLDP

_LONGEST: Final = 1000


@dataclass(frozen=True, kw_only=True)
class PhaseStatement(Message):
    """What one phase did and what it promises to an owner who took part.

    Parameters
    ----------
    phase : {"reduce", "train", "test"}
        Which phase.
    method : str
        What left the owners, in words with the parameters.
    guarantee : Guarantee
        What is promised for that phase alone.
    """

    noun = "a phase's statement"
    phase: str
    method: str
    guarantee: Guarantee

    def __post_init__(self) -> None:
        self.check_kinds()
        if self.phase not in PHASES:
            raise ParameterError("phase", f"one of {', '.join(PHASES)}", self.phase)
        check_text("method", self.method, _LONGEST)


@dataclass(frozen=True, kw_only=True)
class Statement(Message):
    """The guarantee of a result: by phase, and in total for each kind of owner.

    Parameters
    ----------
    study : str
        The hash of the study under which the data were collected.
    phases : tuple of PhaseStatement
        What each phase promises.
    training : Guarantee
        What is promised in total to an owner who helped to choose attributes or to train.
    testing : Guarantee
        What is promised in total to an owner whose record was classified.
    simulation : bool
        Whether the randomness came from a seed; then nothing is private.
    software : str
        Name and version of what made it.

    Examples
    --------
    >>> from supm.privacy import PureLDP
    >>> train = PhaseStatement(phase="train", method="ODP", guarantee=PureLDP(2.0))
    >>> statement = Statement(
    ...     study="0" * 64, phases=(train,), training=PureLDP(2.0), testing=PureLDP(1.0),
    ...     simulation=False, software="supm",
    ... )
    >>> Statement.from_json(statement.to_json()) == statement
    True
    """

    noun = "a statement"
    version = 1
    study: str
    phases: tuple[PhaseStatement, ...]
    training: Guarantee
    testing: Guarantee
    simulation: bool
    software: str

    def __post_init__(self) -> None:
        check_hash("study", self.study)
        self.check_kinds()
        names = [each.phase for each in self.phases]
        if len(set(names)) < len(names):
            raise ParameterError("phases", "different ones", f"{len(names)} statements")
        for name, total in (("training", self.training), ("testing", self.testing)):
            phases = [each for each in self.phases if (each.phase == "test") == (name == "testing")]
            check_total(name, total, [each.guarantee for each in phases])
        check_text("software", self.software, _LONGEST)

    @property
    def words(self) -> str:
        """The whole statement as a paragraph that needs no other reading."""
        phases = " ".join(
            f"To {each.phase}: {each.method}; {_brief(each.guarantee)}." for each in self.phases
        )
        end = (
            "This was a simulation: its randomness came from a public seed, so it is not private."
            if self.simulation
            else "The randomness of each report was drawn where the report was made."
        )
        return (
            f"{phases} An owner who helped to train, in total: {_whole(self.training)} "
            f"An owner whose record was tested, in total: {_whole(self.testing)} {end}"
        )


def check_total(name: str, total: Guarantee, parts: Iterable[Guarantee]) -> None:
    """Raise ParameterError where a total promises strictly more than a part of it.

    What cannot be compared passes: a Gaussian promise under a total of another kind, say, or a part
    that promises nothing.
    """
    for part in parts:
        if not isinstance(part, NoGuarantee) and total < part:
            wanted = "no stronger than the promise of each part"
            raise ParameterError(name, wanted, "a stronger one")


def _whole(guarantee: Guarantee) -> str:
    return "Nothing leaves the device." if guarantee == PureLDP(0.0) else guarantee.sentence


def _brief(guarantee: Guarantee) -> str:
    if isinstance(guarantee, NoGuarantee):
        return "nothing is promised"
    if guarantee == PureLDP(0.0):
        return "nothing leaves"
    numbers = [(name, getattr(guarantee, name, None)) for name in ("epsilon", "delta", "mu")]
    told = [pair for pair in numbers if pair[1] is not None and pair != ("delta", 0.0)]
    return ", ".join(f"{name} = {number:.6g}" for name, number in told)


@dataclass(frozen=True, kw_only=True)
class Part(Message):
    """One release of a protocol.

    Parameters
    ----------
    name : str
        What is released: "moments", "histogram".
    method : str
        What was done, in words with the parameters.
    guarantee : Guarantee
        What is promised for that release alone.
    """

    noun = "a part of a statement"
    name: str
    method: str
    guarantee: Guarantee

    def __post_init__(self) -> None:
        self.check_kinds()
        check_text("name", self.name, _LONGEST)
        check_text("method", self.method, _LONGEST)


@dataclass(frozen=True, kw_only=True)
class ReleaseStatement(Message):
    """The guarantee of a release: part by part, in total, and under which trust.

    Parameters
    ----------
    study : str
        The hash of the study that the parties consented to.
    parts : tuple of Part
        What was released.
    total : Guarantee
        What all parts promise together to each record of each party.
    trust : str
        Who must be honest for that, in words.
    simulation : bool
        Whether the randomness came from a seed; then nothing is private.
    software : str
        Name and version of what made it.

    Examples
    --------
    >>> from supm.privacy import GaussianDP, Neighbours
    >>> promise = GaussianDP(mu=0.1, neighbours=Neighbours.REPLACE_ONE)
    >>> statement = ReleaseStatement(
    ...     study="0" * 64, parts=(Part(name="sums", method="noise", guarantee=promise),),
    ...     total=promise, trust="One party.", simulation=False, software="supm",
    ... )
    >>> ReleaseStatement.from_form(statement.to_form()) == statement
    True
    """

    noun = "a statement of a release"
    version = 1
    study: str
    parts: tuple[Part, ...]
    total: Guarantee
    trust: str
    simulation: bool
    software: str

    def __post_init__(self) -> None:
        check_hash("study", self.study)
        self.check_kinds()
        if not self.parts:
            raise ParameterError("parts", "at least one", 0)
        check_total("total", self.total, [each.guarantee for each in self.parts])
        check_text("trust", self.trust, _LONGEST)
        check_text("software", self.software, _LONGEST)

    @property
    def words(self) -> str:
        """The whole statement as a paragraph that needs no other reading."""
        parts = " ".join(f"{each.name.capitalize()}: {each.method}." for each in self.parts)
        end = (
            "This was a simulation: its randomness came from a public seed, so it is not private."
            if self.simulation
            else "The noise was drawn by the parties, each where its table is."
        )
        return f"{parts} For each record, in total: {self.total.sentence} {self.trust} {end}"


@dataclass(frozen=True, kw_only=True)
class Release(Message):
    """A published result of a federation.

    Parameters
    ----------
    kind : str
        Which protocol made it: "discriminant", "components", "margin".
    study : str
        The document that the parties consented to, as its canonical text: it says what the numbers
        are about, and how much noise is in them.
    content : dict
        Plain numbers; the protocol knows how to read and use them.
    statement : ReleaseStatement
        What is promised to whom.

    Examples
    --------
    >>> Release.from_json('{"version": 1}')
    Traceback (most recent call last):
    supm._errors.MessageError: a release has the fields version, kind, study, content, statement.
    """

    noun = "a release"
    version = 1
    kind: str  # type: ignore[misc]  # here it is a field: each protocol has its own
    study: str
    content: dict[str, Any]
    statement: ReleaseStatement

    def __post_init__(self) -> None:
        self.check_kinds()
        check_text("kind", self.kind, _LONGEST)
        if hashlib.sha256(self.study.encode()).hexdigest() != self.statement.study:
            raise ParameterError("statement", "about the study of the release", "about another")

    def to_form(self) -> dict[str, Any]:
        """Return the release as plain values of JSON; the study is one of them."""
        return super().to_form() | {"study": json.loads(self.study)}

    @classmethod
    def from_form(cls, form: object) -> Self:
        """Read what `to_form` wrote."""
        held = cls._checked(form)
        try:
            return super().from_form(held | {"study": canonical(held["study"])})
        except ValueError as error:
            if isinstance(error, MessageError):
                raise
            raise MessageError(
                "the study of the release has a text or number that is none of JSON."
            ) from None
