"""The owner's side: a record and a study go in, one report comes out, or a refusal.

This file is all that has to be trusted on a device, together with the mechanisms. It imports
nothing of the aggregator, and it does not touch files or networks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, Final

from supm._errors import BudgetError, MessageError, ParameterError, PromiseError, RecordError
from supm._json import canonical
from supm._random import RandomSource, check_source, secure
from supm._validation import check_kind
from supm.collection.interview import Interview
from supm.collection.interviewing import interview
from supm.messages import PHASES, Question, Report, Study
from supm.messages.report import MOST_SYMBOLS
from supm.schema import Records, Schema

__all__ = ["Owner"]

_ID_WORDS: Final = 2


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
    ) -> None:
        self._source = secure() if source is None else check_source(source)
        self._trusted = _phases(trusted)
        self._memory: MutableMapping[str, Any] = {} if memory is None else memory
        check_kind("memory", self._memory, MutableMapping)

    def group(self, study: Study) -> int:
        """Return the group that this owner drew for a study: once, and not from the record.

        Groups belong to a study and to all that continue it.
        """
        key = f"group {_beginning(study)}"
        if key not in self._memory:
            drawn = int(self._source.below(sum(study.groups), 1)[0])
            bounds = [sum(study.groups[: place + 1]) for place in range(len(study.groups))]
            self._memory[key] = next(place for place, bound in enumerate(bounds) if drawn < bound)
        group: int = self._memory[key]
        return group

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
            If the question promises nothing and this owner does not trust that phase, if another
            group is asked, or if the study continues one that asked something else in this phase:
            the total that it states is for one answer.
        PromiseError
            If the mechanism would spend more than the study states.
        RecordError
            If the record does not fit the schema; no value is shown.
        """
        check_kind("study", study, Study)
        # Its kind alone is shown: a record may have been given in its place.
        check_kind("phase", phase, str)
        question = self._consent(study, phase)
        key = f"report {phase} {study.hash}"
        if key not in self._memory:
            symbols = self._symbols(study, question, record)
            words = self._source.words(_ID_WORDS)
            report = Report(
                study=study.hash,
                phase=phase,
                group=question.group,
                symbols=symbols,
                id="".join(f"{int(word):016x}" for word in words),
            )
            self._memory[key] = report.to_json()
        return Report.from_json(self._memory[key])

    def _consent(self, study: Study, phase: str) -> Question:
        question = study.question(phase)
        if question is None or (phase == "reduce" and study.attributes is not None):
            message = f"the study asks nothing in the {phase} phase."
            raise MessageError(message)
        if not question.private and phase not in self._trusted:
            message = (
                f"the {phase} phase asks for values as they are, and nothing is promised; "
                f"name it in trusted=… to take part."
            )
            raise BudgetError(message)
        if phase != "test" and len(study.groups) > 1 and self.group(study) != question.group:
            message = f"the {phase} phase asks another group of owners; this owner is not in it."
            raise BudgetError(message)
        return question

    def _symbols(
        self, study: Study, question: Question, record: Mapping[str, object]
    ) -> tuple[int, ...]:
        """Randomise once for each question, in whichever study it is asked."""
        key = f"answer {_question_hash(study, question)}"
        asked_first = f"asked {question.phase} {_beginning(study)}"
        if self._memory.get(asked_first, key) != key:
            message = (
                f"another question was answered in the {question.phase} phase of the study that "
                "this one continues; a second answer would cost more than it states."
            )
            raise BudgetError(message)
        if key not in self._memory:
            asked = interview(study, question.phase)
            check_promise(asked, question)
            records = _read(study, question, record)
            reports = asked.randomize(asked.encode(records), self._source)
            self._memory[key] = [int(symbol) for symbol in reports.symbols[0]]
        self._memory[asked_first] = key
        return tuple(self._memory[key])


def check_promise(asked: Interview, question: Question) -> None:
    """Raise PromiseError if a mechanism spends more than its question states."""
    # Not "spends more": what is no number at all is not within the promise either.
    if question.epsilon is not None and not asked.epsilon <= question.epsilon:
        message = (
            f"the mechanism of the {question.phase} phase spends epsilon = {asked.epsilon:.6g}, "
            f"and the study states {question.epsilon:.6g}; nothing was sent."
        )
        raise PromiseError(message)
    if asked.width > MOST_SYMBOLS:
        message = f"an answer in the {question.phase} phase would be too long for a report."
        raise MessageError(message)


def _read(study: Study, question: Question, record: Mapping[str, object]) -> Records:
    """Read what is asked, and look at nothing else."""
    given: object = record
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        message = f"a record must be a mapping of attribute to value, got {kind}."
        raise RecordError(message)
    schema = Schema(attributes=study.asked(question.phase), target=study.schema.target)
    names = (*schema.names, schema.target.name) if question.labelled else schema.names
    held = {name: record[name] for name in names if name in record}
    return schema.read([held], labelled=question.labelled)


def _phases(trusted: object) -> frozenset[str]:
    words: list[Any] = list(trusted) if isinstance(trusted, Iterable) else [trusted]
    if not all(word in PHASES for word in words):
        raise ParameterError("trusted", f"phases out of {', '.join(PHASES)}", "another word")
    return frozenset(words)


def _beginning(study: Study) -> str:
    return study.previous or study.hash


def _question_hash(study: Study, question: Question) -> str:
    """Return what makes two questions the same: all that decides how a record is read and told."""
    schema = study.to_form()["schema"]
    asked = [attribute.name for attribute in study.asked(question.phase)]
    told = [question.form, question.epsilon, question.steps, question.sampled, question.labelled]
    form = [schema, asked, study.classes, told]
    return hashlib.sha256(canonical(form).encode()).hexdigest()
