"""What is asked in each phase and in whose hands the phase is; and the report that answers.

A report is all that leaves an owner. It says which question it answers, and not whose it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Final, Literal, Self

from supm._errors import MessageError, ParameterError
from supm._validation import EPSILON, Integers, check_kind, check_text, is_hash, keep_checked
from supm.messages.codec import Message

Phase = Literal["reduce", "train", "test"]
PHASES: Final[tuple[Phase, ...]] = ("reduce", "train", "test")

_WORDS: Final = {"u": "untrusted", "t": "trusted", "d": "device"}
_ALLOWED: Final = {
    "reduce": ("untrusted", "trusted"),
    "train": ("untrusted", "trusted"),
    "test": ("untrusted", "trusted", "device"),
}

FORMS: Final = {
    "odp": "each class through a randomized response of its own (ODP)",
    "joint": "all classes as one symbol through one randomized report",
    "sample": "a few classes, drawn at random, as one symbol through one randomized report",
    "answer": "the model's answer for the record, through one randomized report",
    "pw": "each number through the piecewise mechanism (PW)",
    "oda": "each class as it is (ODA)",
    "raw": "each number as it is, for comparison only",
}
"""What leaves an owner, in words."""

PRIVATE: Final = ("odp", "joint", "sample", "pw", "answer")
"""The forms that promise something."""

REDUCE_FORMS: Final = {
    "wa": "oda",
    "pw": "pw",
    "waldp": "odp",
    "rank": "sample",
    "regroup": "sample",
}
"""What leaves an owner for each reduction that asks something."""

_GRID: Final = ("pw", "raw")
_NUMBERS: Final = (EPSILON, Integers("steps", 1, 1 << 20), Integers("sampled", 1, 1 << 20))
_GROUP: Final = Integers("group", 0, 255)
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, kw_only=True)
class Question(Message):
    """What a group of owners is asked in one phase.

    Parameters
    ----------
    phase : {"reduce", "train", "test"}
        Which phase it serves.
    form : {"odp", "joint", "sample", "answer", "pw", "oda", "raw"}
        What leaves the owner; `FORMS` says it in words.
    epsilon : float, optional
        The most that an answer may spend, for the forms that promise something; the others have
        none.
    steps : int, optional
        Steps of the public grid of numbers, for the forms "pw" and "raw", and for "answer" where
        the target is a number.
    sampled : int, optional
        How many of the asked attributes each owner draws at random: in the reduce phase, and in the
        form "sample". All of them are told elsewhere.
    group : int, default 0
        Which group of training owners is asked.
    mechanism : str, optional
        The name of a randomizer of the analyst's own, for the form "joint" of the train phase. An
        owner answers if it is installed on the device, and its channel keeps epsilon.

    Examples
    --------
    >>> Question(phase="train", form="odp", epsilon=10.0).private
    True
    >>> Question(phase="test", form="oda").private
    False
    """

    noun = "a question"
    phase: str
    form: str
    epsilon: float | None = None
    steps: int | None = None
    sampled: int | None = None
    group: int = 0
    mechanism: str | None = None

    def __post_init__(self) -> None:
        check_kind("phase", self.phase, str)
        if self.phase not in PHASES:
            raise ParameterError("phase", f"one of {', '.join(PHASES)}", self.phase)
        check_kind("form", self.form, str)
        if self.form not in FORMS or (self.phase == "reduce" and self.form == "raw"):
            raise ParameterError("form", f"one of {', '.join(FORMS)}", self.form)
        if self.form == "answer" and self.phase != "test":
            raise ParameterError("form", "another before there is a model", self.form)
        self._check_presence("epsilon", self.epsilon, present=self.private)
        if self.form != "answer":
            self._check_presence("steps", self.steps, present=self.form in _GRID)
        if self.mechanism is not None:
            check_text("mechanism", self.mechanism, _LONGEST_NAME)
            if not self.mechanism or (self.phase, self.form) != ("train", "joint"):
                rule = "left out where the train phase does not ask for all classes as one symbol"
                raise ParameterError("mechanism", rule, self.mechanism)
        given = (each for each in _NUMBERS if getattr(self, each.name) is not None)
        keep_checked(self, *given, _GROUP)

    @property
    def private(self) -> bool:
        """Whether an answer carries a promise."""
        return self.form in PRIVATE

    @property
    def labelled(self) -> bool:
        """Whether the target is asked too; a record to be classified has none."""
        return self.phase != "test"

    def _check_presence(self, name: str, value: object, *, present: bool) -> None:
        if (value is not None) != present:
            wanted = "given" if present else "left out"
            raise ParameterError(name, f"{wanted} for the form {self.form}", value)


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
            raise MessageError("trust must be a list of three words.")
        return cls(**dict(zip(PHASES, form, strict=True)))

    @property
    def letters(self) -> str:
        """The three first letters, as `parse` reads them."""
        return ",".join(word[0] for word in self.words)

    @property
    def words(self) -> tuple[str, str, str]:
        """The three words, in the order of the phases."""
        return self.reduce, self.train, self.test


_ID: Final = re.compile("[0-9a-f]{32}")
MOST_SYMBOLS: Final = 1 << 20
"""How long an answer may be."""

_LARGEST: Final = 1 << 53


@dataclass(frozen=True, kw_only=True)
class Report(Message):
    """One owner's answer to one question.

    Parameters
    ----------
    study : str
        The hash of the study that was consented to.
    phase : {"reduce", "train", "test"}
        Which question it answers.
    group : int
        The group that the owner drew.
    symbols : tuple of int
        The randomised answer: whole numbers of the question's alphabet.
    id : str
        128 random bits in hexadecimal. They belong to the report and to nobody: a report that is
        sent twice counts once.

    Examples
    --------
    >>> report = Report(study="0" * 64, phase="train", group=0, symbols=(2, 0), id="f" * 32)
    >>> Report.from_json(report.to_json()) == report
    True
    """

    noun = "a report"
    version = 1
    study: str
    phase: str
    group: int
    symbols: tuple[int, ...]
    id: str

    def __post_init__(self) -> None:
        _check(is_hash(self.study), "study", "a hash of 64 hexadecimal digits")
        _check(self.phase in PHASES, "phase", f"one of {', '.join(PHASES)}")
        _check(_is_whole(self.group, 256), "group", "a whole number below 256")
        _check(_are_symbols(self.symbols), "symbols", "1 to 2^20 whole numbers below 2^53")
        object.__setattr__(self, "symbols", tuple(self.symbols))
        _check(_is_id(self.id), "id", "32 hexadecimal digits")


def _check(condition: object, name: str, constraint: str) -> None:
    if not condition:
        raise MessageError(f"{name} of a report must be {constraint}.")


def _is_id(text: object) -> bool:
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def _are_symbols(given: object) -> bool:
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST_SYMBOLS:
        return False
    return all(_is_whole(symbol, _LARGEST) for symbol in given)


def _is_whole(number: object, below: int) -> bool:
    return type(number) is int and 0 <= number < below
