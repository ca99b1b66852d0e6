"""The study: the public document that an owner consents to."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from supm._errors import MessageError, ParameterError
from supm._validation import EPSILON, Integers, check_kind, check_text, keep_checked
from supm.messages._study_rules import check_rules
from supm.messages.codec import Message
from supm.messages.question import Question, Trust
from supm.messages.rules import CellAnswers, Rule, Scorecard
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Regrouped, Schema
from supm.schema.discretizer import Discretizer, discretize

REDUCTIONS: Final = {
    "known": "the attributes are known beforehand",
    "rand": "attributes are drawn at random (DR.Rand)",
    "wa": "attributes are ranked by classes that leave as they are (DR.WA)",
    "pw": "attributes are ranked by numbers through the piecewise mechanism (DR.PW)",
    "waldp": "attributes are ranked by classes through randomized response (DR.WALDP)",
    "rank": "attributes are ranked by joint reports of a few of them and the target",
    "regroup": "classes are merged by joint reports of a few attributes and the target",
}
"""How attributes are chosen, in words."""

_NUMBERS: Final = (EPSILON, Integers("keep", 1, 1 << 20), Integers("classes", 2, 1 << 16))
_WEIGHT: Final = Integers("a group's weight", 1, 1 << 32)
_GROUP: Final = Integers("each group of merges", 0, 1 << 16)
_LONGEST_PURPOSE: Final = 2000


@dataclass(frozen=True, kw_only=True, repr=False)
class Study(Message):
    """What is asked of whom, in which form, and the most that an answer may cost.

    `supm.collection.plan` makes one. Once the attributes are chosen, `reduced` makes the document
    of the next phases, and `with_rule` that of a test in which owners tell the model's answer; both
    name the one that they continue.

    Parameters
    ----------
    schema : Schema
        What is public about a record. A target with classes is to be told apart; one that is a
        number is to be predicted.
    trust : Trust
        Where each phase happens.
    mode : {"strict", "faithful"}
        Our protocol, or that of papers 000 and 001 with the corrections of docs/errata.md.
    epsilon : float
        The most that any owner spends on all questions that carry a promise.
    reduction : str
        How attributes are chosen: a key of `REDUCTIONS`.
    keep : int
        How many attributes are kept, K.
    classes : int
        Into how many classes an attribute is divided, L; a target that is a number is rounded at
        random to one of as many levels.
    questions : tuple of Question
        At most one for each phase; a phase without one asks nothing.
    groups : tuple of int, default (1,)
        Weights with which a training owner draws its group; each group answers its own questions.
    attributes : tuple of str, optional
        The chosen attributes; None until they are chosen.
    merges : tuple of tuple of int, optional
        For each chosen attribute the group of each of its classes, where classes were merged.
    rule : CellAnswers or Scorecard, optional
        The model, where owners are asked for its answer.
    previous : str, optional
        The hash of the study that this one continues.
    purpose : str, default ""
        What the study is for, in the analyst's words.

    Examples
    --------
    >>> from supm.schema import Categorical, Continuous, Schema
    >>> schema = Schema(
    ...     attributes=(Continuous("age", low=0, high=100), Continuous("pulse", low=0, high=220)),
    ...     target=Categorical("ill", values=("no", "yes")),
    ... )
    >>> study = Study(
    ...     schema=schema, trust=Trust(test="device"), mode="faithful", epsilon=4.0,
    ...     reduction="rand", keep=1, classes=2,
    ...     questions=(Question(phase="train", form="odp", epsilon=4.0),),
    ... )
    >>> study.reduced(("pulse",)).previous == study.hash
    True
    >>> Study.from_json(study.to_json()) == study
    True
    """

    noun = "a study"
    version = 2
    schema: Schema
    trust: Trust
    mode: str
    epsilon: float
    reduction: str
    keep: int
    classes: int
    questions: tuple[Question, ...]
    groups: tuple[int, ...] = (1,)
    attributes: tuple[str, ...] | None = None
    merges: tuple[tuple[int, ...], ...] | None = None
    rule: Rule | None = None
    previous: str | None = None
    purpose: str = ""

    def __post_init__(self) -> None:
        check_kind("schema", self.schema, Schema)
        check_kind("trust", self.trust, Trust)
        check_kind("reduction", self.reduction, str)
        if self.mode not in ("strict", "faithful"):
            raise ParameterError("mode", "strict or faithful", self.mode)
        if self.reduction not in REDUCTIONS:
            raise ParameterError("reduction", f"one of {', '.join(REDUCTIONS)}", self.reduction)
        check_text("purpose", self.purpose, _LONGEST_PURPOSE)
        keep_checked(self, *_NUMBERS)
        groups = [_WEIGHT.check(each) for each in _members("groups", self.groups, object)]
        object.__setattr__(self, "groups", tuple(groups))
        object.__setattr__(self, "questions", _members("questions", self.questions, Question))
        if self.attributes is not None:
            object.__setattr__(self, "attributes", _members("attributes", self.attributes, str))
        if self.merges is not None:
            lists = _members("merges", self.merges, object)
            merges = (_members("merges", each, object) for each in lists)
            checked = tuple(tuple(_GROUP.check(group) for group in each) for each in merges)
            object.__setattr__(self, "merges", checked)
        if self.rule is not None and not isinstance(self.rule, CellAnswers | Scorecard):
            raise ParameterError("rule", "CellAnswers or a Scorecard", type(self.rule))
        check_rules(self)

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the canonical text, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def __repr__(self) -> str:
        """Say which study it is, and not all of it."""
        what = f"mode={self.mode!r}, trust={self.trust.letters!r}, epsilon={self.epsilon:g}"
        return f"Study({self.hash[:12]}…, {what}, keep={self.keep}, classes={self.classes})"

    def question(self, phase: str) -> Question | None:
        """Return the question of a phase, or None where nothing is asked."""
        return next((each for each in self.questions if each.phase == phase), None)

    def asked(self, phase: str) -> tuple[Attribute, ...]:
        """Return the attributes that a phase is about.

        Raises
        ------
        MessageError
            If the phase needs the chosen attributes and they are not chosen yet.
        """
        if phase == "reduce":
            return self.schema.attributes
        if self.attributes is None:
            raise MessageError(
                f"the {phase} phase needs the chosen attributes; reduce the study first."
            )
        known = {attribute.name: attribute for attribute in self.schema.attributes}
        return tuple(known[name] for name in self.attributes)

    def discretizers(self, phase: str) -> tuple[Discretizer, ...]:
        """Return one discretizer for each attribute that a phase is about."""
        plain = (discretize(attribute, self.classes) for attribute in self.asked(phase))
        if self.merges is None or phase == "reduce":
            return tuple(plain)
        merged = zip(plain, self.merges, strict=True)
        return tuple(Regrouped(finer, groups=groups) for finer, groups in merged)

    @property
    def numeric(self) -> bool:
        """Whether the target is a number."""
        return isinstance(self.schema.target, Continuous)

    @property
    def labels(self) -> int:
        """How many labels a report may tell: those of the target, or the levels of a number."""
        target = self.schema.target
        return len(target.values) if isinstance(target, Ordinal | Categorical) else self.classes

    @property
    def outputs(self) -> int:
        """How many columns a scorecard has: one for each label, or one for a number."""
        return 1 if self.numeric else self.labels

    @property
    def beginning(self) -> str:
        """The hash of the study that this one continues, or its own."""
        return self.previous or self.hash

    def reduced(
        self, attributes: tuple[str, ...], merges: tuple[tuple[int, ...], ...] | None = None
    ) -> Study:
        """Return the study that goes on with the chosen attributes, and with merged classes."""
        if self.attributes is not None:
            raise MessageError("the attributes of this study are chosen already.")
        return replace(self, attributes=attributes, merges=merges, previous=self.hash)

    def with_rule(self, rule: Rule) -> Study:
        """Return the study that asks owners for the answer of a model."""
        return replace(self, rule=rule, previous=self.beginning)


def _members(name: str, given: object, kind: type) -> tuple[Any, ...]:
    """Return a list as a tuple, if all in it are of one kind."""
    if not isinstance(given, list | tuple):
        raise ParameterError(name, "a list", type(given))
    for each in given:
        check_kind(f"each of {name}", each, kind)
    return tuple(given)
