"""Where each phase happens: in hands that the owner trusts, in others, or on the own device."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal, Self

from supm._errors import MessageError, ParameterError

__all__ = ["PHASES", "Phase", "Trust"]

Phase = Literal["reduce", "train", "test"]
PHASES: Final[tuple[Phase, ...]] = ("reduce", "train", "test")

_WORDS: Final = {"u": "untrusted", "t": "trusted", "d": "device"}
_ALLOWED: Final = {
    "reduce": ("untrusted", "trusted"),
    "train": ("untrusted", "trusted"),
    "test": ("untrusted", "trusted", "device"),
}


@dataclass(frozen=True, kw_only=True)
class Trust:
    """The environment of each phase; it decides what may leave an owner.

    Parameters
    ----------
    reduce, train : {"untrusted", "trusted"}
        Where attributes are chosen and where the model is trained. In a trusted environment classes
        may leave as they are, and nothing is promised; in an untrusted one only what was
        randomised.
    test : {"untrusted", "trusted", "device"}
        Where records are classified; on the owner's device, nothing leaves.

    Examples
    --------
    >>> Trust.parse("u,t,d")
    Trust(reduce='untrusted', train='trusted', test='device')
    >>> Trust().letters
    'u,u,u'
    """

    reduce: str = "untrusted"
    train: str = "untrusted"
    test: str = "untrusted"

    def __post_init__(self) -> None:
        for field in fields(self):
            word = getattr(self, field.name)
            if word not in _ALLOWED[field.name]:
                wanted = f"one of {', '.join(_ALLOWED[field.name])}"
                name = f"trust of the {field.name} phase"
                raise ParameterError(name, wanted, word)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read three letters or words with commas between: u, t or d for each phase in turn."""
        parts = [part.strip().lower() for part in str(text).split(",")]
        if len(parts) != len(PHASES):
            raise ParameterError("trust", "three of u, t, d with commas between", text)
        return cls(
            **{phase: _WORDS.get(part, part) for phase, part in zip(PHASES, parts, strict=True)}
        )

    def to_form(self) -> list[str]:
        """Return the three words, for JSON."""
        return list(self.words)

    @classmethod
    def from_form(cls, form: object) -> Self:
        """Read what `to_form` wrote."""
        if not isinstance(form, list) or len(form) != len(PHASES):
            message = "trust must be a list of three words."
            raise MessageError(message)
        return cls(**dict(zip(PHASES, form, strict=True)))

    @property
    def letters(self) -> str:
        """The three first letters, as `parse` reads them."""
        return ",".join(word[0] for word in self.words)

    @property
    def words(self) -> tuple[str, str, str]:
        """The three words, in the order of the phases."""
        return self.reduce, self.train, self.test
