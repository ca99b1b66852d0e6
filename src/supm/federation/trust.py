"""Who takes part, and how many of them may be against the others or may be lost on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from supm._errors import MessageError, ParameterError
from supm._validation import Integers

__all__ = ["MOST_PARTIES", "Circle"]

MOST_PARTIES: Final = 1000
_PARTIES: Final = Integers("parties", 1, MOST_PARTIES)
_OTHERS: Final = Integers("colluders", 0, MOST_PARTIES)
_LOST: Final = Integers("dropouts", 0, MOST_PARTIES)
_FIELDS: Final = ("parties", "colluders", "dropouts")
_NOBODY: Final = (
    "It is enough against the server alone and against readers who took no part; a party that "
    "takes its own noise off what is published sees that much less noise."
)


@dataclass(frozen=True, kw_only=True)
class Circle:
    """The parties of a run and the trust between them.

    Parameters
    ----------
    parties : int
        How many tables there are, M.
    colluders : int, optional
        How many parties may tell the server all they know, T. By default all but one: then nobody
        relies on another's noise.
    dropouts : int, default 0
        How many parties may be lost in the middle without ending the run, D.

    Examples
    --------
    >>> Circle(parties=10, colluders=0).holders, Circle(parties=10).holders
    (10, 1)
    >>> Circle(parties=3, colluders=3)
    Traceback (most recent call last):
    supm._errors.ParameterError: colluders must be fewer than the 3 parties less the 0 dropouts, got
    3. Whoever colludes adds no noise that hides another.
    """

    parties: int
    colluders: int | None = None
    dropouts: int = 0

    def __post_init__(self) -> None:
        parties, lost = _PARTIES.check(self.parties), _LOST.check(self.dropouts)
        others = parties - 1 - lost if self.colluders is None else self.colluders
        hint = "Whoever colludes adds no noise that hides another."
        wanted = f"fewer than the {parties} parties less the {lost} dropouts"
        if self.colluders is None and others < 0:
            raise ParameterError("dropouts", f"fewer than the {parties} parties", lost)
        if _OTHERS.check(others) > parties - 1 - lost:
            raise ParameterError("colluders", wanted, others, hint)
        object.__setattr__(self, "colluders", others)
        self._check_threshold()

    def _check_threshold(self) -> None:
        if self.dropouts and 2 * self.threshold <= self.parties + self.trusted_by_nobody:
            wanted = "so few that twice those who stay are more than parties and colluders together"
            hint = "Else a lying server could open what one party sent."
            raise ParameterError("dropouts", wanted, self.dropouts, hint)

    def to_form(self) -> dict[str, int]:
        """Return the circle as plain values for JSON."""
        lost = self.dropouts
        return {"parties": self.parties, "colluders": self.trusted_by_nobody, "dropouts": lost}

    @classmethod
    def from_form(cls, form: object) -> Circle:
        """Read what `to_form` wrote."""
        if not isinstance(form, dict) or set(form) != set(_FIELDS):
            message = f"a circle has the fields {', '.join(_FIELDS)}."
            raise MessageError(message)
        try:
            return cls(**form)
        except ParameterError as error:
            raise MessageError(str(error)) from None

    @property
    def trusted_by_nobody(self) -> int:
        """The number of colluders, as a plain number."""
        return int(self.colluders or 0)

    @property
    def holders(self) -> int:
        """How many honest parties add noise to a sum at the least: M - T - D."""
        return self.parties - self.trusted_by_nobody - self.dropouts

    @property
    def threshold(self) -> int:
        """How many parties must stay to the end, and how many shares open a secret: M - D."""
        return self.parties - self.dropouts

    @property
    def sentence(self) -> str:
        """The trust in words."""
        if self.parties == 1:
            return "One party holds all records and adds all noise."
        others = self.trusted_by_nobody
        who = f"{others} of them work" if others > 1 else "one of them works"
        holds = f"It is enough even if {who} with the server." if others else _NOBODY
        return f"{self.parties} parties add noise. {holds}{self._end}"

    @property
    def alone(self) -> str:
        """The trust in words, where the noise of a party is enough for its own records."""
        if self.parties == 1:
            return self.sentence
        each = f"Each of {self.parties} parties adds noise that is enough for its own records"
        return f"{each}, whoever works with the server.{self._end}"

    @property
    def _end(self) -> str:
        return f" Up to {self.dropouts} of them may be lost on the way." if self.dropouts else ""
