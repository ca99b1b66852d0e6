"""The owner's side: a record and a study go in, one report comes out, or a refusal.

This file is all that has to be trusted on a device, together with the mechanisms. It imports
nothing of the aggregator, and it does not touch files or networks.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from supm._errors import (
    BudgetError,
    MessageError,
    ParameterError,
    PromiseError,
    RecordError,
    SupmError,
)
from supm._json import canonical
from supm._random import RandomSource, check_source, secure
from supm._validation import check_kind
from supm.messages import PHASES, Question, Report, Study
from supm.messages.question import MOST_SYMBOLS
from supm.owner.interviews import Interview, interview
from supm.privacy import Guarantee
from supm.schema import Records, Schema

_T = TypeVar("_T")
_ID_WORDS: Final = 2
_DAMAGED: Final = "the memory of this owner is damaged; nothing was sent."


@runtime_checkable
class Allowance(Protocol):
    """What an owner spends from: a `supm.privacy.Budget`, or what a wallet allows."""

    def check(self, guarantee: Guarantee, /) -> None:
        """Raise BudgetError where it is more than is left."""

    def spend(self, guarantee: Guarantee, *, purpose: str) -> None:
        """Spend, or raise and change nothing."""


class Owner:
    """One person with one record, who answers the questions of studies.

    Parameters
    ----------
    source : RandomSource, optional
        Where randomness comes from; the operating system by default.
    trusted : iterable of str, default ()
        Phases in which this owner trusts whoever receives the answer. A question without a promise
        is refused in every other phase, whatever the study says about trust.
    memory : mutable mapping, optional
        What was answered before. The same question gets the same answer, so that asking again
        teaches nothing; keep it as long as the record. An own one by default.
    budget : Allowance, optional
        The most that this owner spends over all studies. It is asked before anything is drawn.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.schema import Categorical, Continuous, Schema
    >>> schema = Schema(
    ...     attributes=(Continuous("age", low=0, high=100),),
    ...     target=Categorical("ill", values=("no", "yes")),
    ... )
    >>> study = plan(schema, epsilon=1.0, attributes=["age"])
    >>> owner = Owner(source=simulation(1))
    >>> report = owner.answer(study, "train", {"age": 61, "ill": "yes"})
    >>> report == owner.answer(study, "train", {"age": 61, "ill": "yes"})
    True
    """

    def __init__(
        self,
        *,
        source: RandomSource | None = None,
        trusted: Iterable[str] = (),
        memory: MutableMapping[str, Any] | None = None,
        budget: Allowance | None = None,
    ) -> None:
        if budget is not None:
            check_kind("budget", budget, Allowance)
        self._budget = budget
        # To look up and to draw is one step: two threads would get two answers to one question.
        self._lock = threading.RLock()
        self._source = secure() if source is None else check_source(source)
        self._trusted = _phases(trusted)
        self._memory: MutableMapping[str, Any] = {} if memory is None else memory
        check_kind("memory", self._memory, MutableMapping)

    def group(self, study: Study) -> int:
        """Return the group that this owner drew for a study: once, and not from the record.

        Groups belong to a study and to all that continue it.
        """
        check_kind("study", study, Study)
        key = f"group {study.beginning}"
        with self._lock:
            if key not in self._memory:
                self._memory[key] = int(draw_groups(study, 1, self._source)[0])
            return _checked(self._memory[key], int)

    def answer(self, study: Study, phase: str, record: Mapping[str, object]) -> Report:
        """Return the report that answers a study's question.

        Parameters
        ----------
        study : Study
            What was consented to.
        phase : {"reduce", "train", "test"}
            Which of its questions.
        record : mapping of str to value
            This owner's record; what the question does not ask is not looked at.

        Returns
        -------
        Report
            The same one whenever the same study asks again.

        Raises
        ------
        BudgetError
            If the question promises nothing and this owner does not trust that phase; if another
            group is asked; if the study continues one that asked something else in this phase, or
            if this owner both trains and is tested in it: the totals that it states are for one
            answer to each question, and for different people; or if the own budget is too small.
        PromiseError
            If the mechanism would spend more than the study states.
        RecordError
            If the record does not fit the schema; no value is shown.
        """
        check_kind("study", study, Study)
        # Its kind alone is shown: a record may have been given in its place.
        check_kind("phase", phase, str)
        with self._lock:
            question = self._consent(study, phase)
            key = f"report {phase} {study.hash}"
            if key not in self._memory:
                symbols = self._symbols(study, question, record)
                self._memory[key] = self._report(study, question, symbols).to_json()
            report = Report.from_json(self._memory[key])
        if report.study != study.hash or report.phase != phase:
            raise MessageError(_DAMAGED)
        return report

    def check(self, study: Study, phase: str, record: Mapping[str, object]) -> None:
        """Raise what `answer` would refuse, and draw, spend and remember no answer."""
        check_kind("study", study, Study)
        check_kind("phase", phase, str)
        with self._lock:
            question = self._consent(study, phase)
            asked = interview(study, question.phase)
            if self._key(study, question) in self._memory:
                return
            asked.encode(_read(study, question, record))
            if self._budget is not None and question.private:
                self._budget.check(asked.guarantee)

    def _report(self, study: Study, question: Question, symbols: tuple[int, ...]) -> Report:
        words = self._source.words(_ID_WORDS)
        return Report(
            study=study.hash,
            phase=question.phase,
            group=question.group,
            symbols=symbols,
            id="".join(f"{int(word):016x}" for word in words),
        )

    def _consent(self, study: Study, phase: str) -> Question:
        question = study.question(phase)
        if question is None or (phase == "reduce" and study.attributes is not None):
            device = phase == "test" and question is None
            hint = "; follow the model on the device" if device else ""
            raise MessageError(f"the study asks nothing in the {phase} phase{hint}.")
        if not question.private and phase not in self._trusted:
            raise BudgetError(
                f"the {phase} phase asks for values as they are, and nothing is promised; "
                f"name it in trusted=… to take part."
            )
        if phase != "test" and len(study.groups) > 1 and self.group(study) != question.group:
            raise BudgetError(
                f"the {phase} phase asks another group of owners; this owner is not in it."
            )
        if question.private and self._memory.get(_role_key(study), _role(phase)) != _role(phase):
            raise BudgetError(
                "the budget of this study is for people who train or are tested, not both; look "
                "the answer up on the device, with the study's model in a file: "
                "supm predict DATA.csv --model model.json."
            )
        return question

    def _symbols(
        self, study: Study, question: Question, record: Mapping[str, object]
    ) -> tuple[int, ...]:
        """Randomise once for each question, in whichever study it is asked."""
        key, asked = self._key(study, question), interview(study, question.phase)
        if key not in self._memory:
            check_promise(asked, question)
            inputs = asked.encode(_read(study, question, record))
            self._spend(asked, study, question)
            reports = asked.randomize(inputs, self._source)
            self._memory[key] = [int(symbol) for symbol in reports.symbols[0]]
        self._memory[_asked_key(study, question)] = key
        if question.private:
            self._memory[_role_key(study)] = _role(question.phase)
        return _remembered(self._memory[key], asked)

    def _key(self, study: Study, question: Question) -> str:
        """Return where the answer is kept; refuse where another question was answered instead."""
        key = f"answer {_question_hash(study, question)}"
        if self._memory.get(_asked_key(study, question), key) != key:
            raise BudgetError(
                f"another question was answered in the {question.phase} phase of the study that "
                "this one continues; a second answer would cost more than it states."
            )
        return key

    def _spend(self, asked: Interview, study: Study, question: Question) -> None:
        """Spend before anything is drawn; what this owner gives away in trust costs no budget."""
        if self._budget is not None and question.private:
            purpose = f"{question.phase} phase of study {study.hash[:12]}"
            self._budget.spend(asked.guarantee, purpose=purpose)


def draw_groups(study: Study, owners: int, source: RandomSource) -> NDArray[np.int64]:
    """Draw the group of each training owner by the study's weights."""
    bounds = np.cumsum(study.groups)
    drawn = source.below(int(bounds[-1]), owners).astype(np.int64)
    return np.searchsorted(bounds, drawn, side="right")


def check_promise(asked: Interview, question: Question) -> None:
    """Raise PromiseError if a mechanism spends more than its question states."""
    # Not "spends more": what is no number at all is not within the promise either.
    if question.epsilon is not None and not asked.epsilon <= question.epsilon:
        raise PromiseError(
            f"the mechanism of the {question.phase} phase spends epsilon = {asked.epsilon:.6g}, "
            f"and the study states {question.epsilon:.6g}; nothing was sent."
        )
    if asked.width > MOST_SYMBOLS:
        raise MessageError(
            f"an answer in the {question.phase} phase would be too long for a report."
        )


def _checked(value: object, kind: type[_T]) -> _T:
    if not isinstance(value, kind):
        raise MessageError(_DAMAGED)
    return value


def _remembered(answer: object, asked: Interview) -> tuple[int, ...]:
    """Return an answer from memory, if it could have been given."""
    symbols = _checked(answer, list)
    whole = all(type(symbol) is int and 0 <= symbol < 1 << 53 for symbol in symbols)
    if len(symbols) != asked.width or not whole:
        raise MessageError(_DAMAGED)
    if not asked.accepts(np.array([symbols], dtype=np.int64))[0]:
        raise MessageError(_DAMAGED)
    return tuple(symbols)


def _read(study: Study, question: Question, record: Mapping[str, object]) -> Records:
    """Read what is asked, and look at nothing else."""
    given: object = record
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise RecordError(f"a record must be a mapping of attribute to value, got {kind}.")
    schema = Schema(attributes=study.asked(question.phase), target=study.schema.target)
    names = (*schema.names, schema.target.name) if question.labelled else schema.names
    try:
        held = {name: record[name] for name in names if name in record}
        return schema.read([held], labelled=question.labelled)
    except SupmError:
        raise
    except Exception:  # noqa: BLE001, S110  a stranger's value may raise anything, with its content
        pass
    # Raised out here, so that the error behind it, which may show a value, is not attached.
    raise RecordError("the record could not be read; give plain numbers and texts.")


def _phases(trusted: object) -> frozenset[str]:
    words: list[Any] = list(trusted) if isinstance(trusted, Iterable) else [trusted]
    if not all(word in PHASES for word in words):
        raise ParameterError("trusted", f"phases out of {', '.join(PHASES)}", "another word")
    return frozenset(words)


def _asked_key(study: Study, question: Question) -> str:
    return f"asked {question.phase} {study.beginning}"


def _role_key(study: Study) -> str:
    return f"role {study.beginning}"


def _role(phase: str) -> str:
    return "tested" if phase == "test" else "training"


def _question_hash(study: Study, question: Question) -> str:
    """Return what makes two questions the same: all that decides how a record is read and told."""
    schema = study.to_form()["schema"]
    asked = [attribute.name for attribute in study.asked(question.phase)]
    told = [question.form, question.epsilon, question.steps, question.sampled, question.labelled]
    merged = None if question.phase == "reduce" else study.merges
    rule = study.rule.to_form() if study.rule is not None and question.form == "answer" else None
    form = [schema, asked, study.classes, told, merged, rule]
    return hashlib.sha256(canonical(form).encode()).hexdigest()
