"""What a federation publishes: plain numbers, with the statement that binds them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final, Self

from supm._errors import MessageError, ParameterError
from supm._json import canonical
from supm._validation import check_kind, check_text, is_hash
from supm.messages.codec import Message
from supm.messages.statement import check_total
from supm.privacy import Guarantee

_LONGEST: Final = 1000


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
        check_text("name", self.name, _LONGEST)
        check_text("method", self.method, _LONGEST)
        check_kind("guarantee", self.guarantee, Guarantee)


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
        if not is_hash(self.study):
            raise ParameterError("study", "a hash of 64 hexadecimal digits", self.study)
        check_kind("parts", self.parts, tuple)
        if not self.parts:
            raise ParameterError("parts", "at least one", 0)
        for each in self.parts:
            check_kind("each of parts", each, Part)
        check_kind("total", self.total, Guarantee)
        check_total("total", self.total, [each.guarantee for each in self.parts])
        check_text("trust", self.trust, _LONGEST)
        check_kind("simulation", self.simulation, bool)
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
        check_text("kind", self.kind, _LONGEST)
        check_kind("study", self.study, str)
        if hashlib.sha256(self.study.encode()).hexdigest() != self.statement.study:
            raise ParameterError("statement", "about the study of the release", "about another")
        check_kind("content", self.content, dict)
        check_kind("statement", self.statement, ReleaseStatement)

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
            message = "the study of the release has a text or number that is none of JSON."
            raise MessageError(message) from None
