"""What a federation publishes: plain numbers, with the statement that binds them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from supm._errors import MessageError, ParameterError
from supm._json import canonical, check_fields, read_object
from supm._validation import check_kind, check_text, is_hash
from supm.messages._totals import check_total
from supm.messages.study import check_version
from supm.privacy import Guarantee

__all__ = ["Part", "Release", "ReleaseStatement"]

_VERSION: Final = 1
_LONGEST: Final = 1000
_STATEMENT_FIELDS: Final = ("version", "software", "study", "parts", "total", "trust", "simulation")
_PART_FIELDS: Final = ("name", "method", "guarantee")
_FIELDS: Final = ("version", "kind", "study", "content", "statement")


@dataclass(frozen=True, kw_only=True)
class Part:
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

    name: str
    method: str
    guarantee: Guarantee

    def __post_init__(self) -> None:
        check_text("name", self.name, _LONGEST)
        check_text("method", self.method, _LONGEST)
        check_kind("guarantee", self.guarantee, Guarantee)

    def to_form(self) -> dict[str, Any]:
        """Return the part as plain values for JSON."""
        return {"name": self.name, "method": self.method, "guarantee": self.guarantee.to_json()}

    @classmethod
    def from_form(cls, form: object) -> Part:
        """Read what `to_form` wrote."""
        if not isinstance(form, dict) or set(form) != set(_PART_FIELDS):
            message = f"a part of a statement has the fields {', '.join(_PART_FIELDS)}."
            raise MessageError(message)
        return cls(**form | {"guarantee": Guarantee.from_json(form["guarantee"])})


@dataclass(frozen=True, kw_only=True)
class ReleaseStatement:
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

    def to_form(self) -> dict[str, Any]:
        """Return the statement as plain values for JSON."""
        return {
            "version": _VERSION,
            "software": self.software,
            "study": self.study,
            "parts": [each.to_form() for each in self.parts],
            "total": self.total.to_json(),
            "trust": self.trust,
            "simulation": self.simulation,
        }

    @classmethod
    def from_form(cls, form: object) -> ReleaseStatement:
        """Read what `to_form` wrote; an unknown version or field is refused."""
        fields = _known(form, _STATEMENT_FIELDS, "a statement of a release")
        if not isinstance(fields["parts"], list):
            message = "the parts of a statement are a list."
            raise MessageError(message)
        try:
            parts = tuple(Part.from_form(each) for each in fields["parts"])
            made = {"parts": parts, "total": Guarantee.from_json(fields["total"])}
            return cls(**{name: fields[name] for name in _STATEMENT_FIELDS[1:]} | made)
        except ParameterError as error:
            raise MessageError(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class Release:
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

    kind: str
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

    def to_json(self) -> str:
        """Return the canonical text."""
        form = {
            "version": _VERSION,
            "kind": self.kind,
            "study": json.loads(self.study),
            "content": self.content,
            "statement": self.statement.to_form(),
        }
        return canonical(form)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read what `to_json` wrote; an unknown version or field is refused.

        Raises
        ------
        MessageError
            If the text is no release of this version.
        """
        form = _known(read_object(text, "release", MessageError), _FIELDS, "a release")
        statement = ReleaseStatement.from_form(form["statement"])
        study = canonical(form["study"])
        try:
            return cls(kind=form["kind"], study=study, content=form["content"], statement=statement)
        except ParameterError as error:
            raise MessageError(str(error)) from None
        except UnicodeEncodeError:
            message = "the study of the release has a text that is not Unicode."
            raise MessageError(message) from None


def _known(form: object, names: tuple[str, ...], noun: str) -> dict[str, Any]:
    if not isinstance(form, dict):
        message = f"{noun} must be a JSON object."
        raise MessageError(message)
    check_version(form, _VERSION, noun.removeprefix("a "))
    check_fields(form, names, noun, MessageError)
    if set(form) != set(names):
        message = f"{noun} has the fields {', '.join(names)}."
        raise MessageError(message)
    return form
