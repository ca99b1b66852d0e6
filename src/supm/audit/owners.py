"""What owners send: by the interviews all at once, or by devices one by one.

An owner must send what the audited interviews draw, from fresh words, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supm._errors import BudgetError, SupmError
from supm._random import RandomSource, simulation
from supm.audit.findings import Finding
from supm.messages import PHASES, Question, Report, Study
from supm.owner import Owner, interview
from supm.owner.owner import draw_groups

_ID_WORDS = 2


def check_owner(
    study: Study,
    phases: Sequence[str],
    records: Sequence[Mapping[str, object]],
    source: RandomSource,
    *,
    kind: type[Owner] = Owner,
) -> Finding:
    """Check the code that runs on a device against the interviews, word by word.

    Each owner is given a seed. A twin of the stream is handed to the draw of groups and to the
    interviews: the group, the symbols of every answer and the id of every report must be what
    they make of it, one after the other, and asking again must give the same report. The question
    of another group must be refused.

    Parameters
    ----------
    study : Study
        The study, as it is in its last phase.
    phases : sequence of str
        The phases that one owner answers, where its group is asked.
    records : sequence of mapping
        Public examples of records; one owner for each.
    source : RandomSource
        Where the seeds come from.
    kind : type, default Owner
        The code that runs on the device: a subclass of `Owner`.

    Returns
    -------
    Finding
        Broken if an owner sends something else.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.schema import Categorical, Continuous, Schema
    >>> schema = Schema(
    ...     attributes=(Continuous("age", low=0, high=100),),
    ...     target=Categorical("ill", values=("no", "yes")),
    ... )
    >>> study = plan(schema, epsilon=1.0, attributes=["age"])
    >>> print(check_owner(study, ["train"], [{"age": 61, "ill": "yes"}], simulation(1)))
    check_owner: passed, 0 of 1 owners sent something else than their interviews drew
    """
    wrong = 0
    for record in records:
        seed = int(source.words(1)[0])
        owner = kind(source=simulation(seed), trusted=PHASES)
        try:
            wrong += not _as_drawn(owner, simulation(seed), study, phases, record)
        except SupmError:
            wrong += 1  # it refuses, or damages, what the interviews would tell
    return Finding(
        check="check_owner",
        passed=not wrong,
        detail=f"{wrong} of {len(records)} owners sent something else than their interviews drew",
    )


def _as_drawn(
    owner: Owner,
    twin: RandomSource,
    study: Study,
    phases: Sequence[str],
    record: Mapping[str, object],
) -> bool:
    first = in_phase(study, "reduce")
    group = owner.group(first)
    if group != draw_groups(first, 1, twin)[0]:
        return False
    for question in filter(None, map(study.question, phases)):
        asked = in_phase(study, question.phase)
        if question.phase != "test" and question.group != group:
            sound = _refuses(owner, asked, question.phase, record)
        else:
            expected = _expected(asked, question, record, twin)
            told = [owner.answer(asked, question.phase, record) for _ in range(2)]
            sound = told == [expected, expected]
        if not sound:
            return False
    return True


def _refuses(owner: Owner, study: Study, phase: str, record: Mapping[str, object]) -> bool:
    """Tell whether nothing is sent to a question of another group: it would be a second report."""
    try:
        owner.answer(study, phase, record)
    except BudgetError:
        return True
    return False


def _expected(
    study: Study, question: Question, record: Mapping[str, object], twin: RandomSource
) -> Report:
    asked = interview(study, question.phase)
    held = asked.encode(study.schema.read([dict(record)], labelled=question.labelled))
    symbols = asked.randomize(held, twin).symbols[0]
    return Report(
        study=study.hash,
        phase=question.phase,
        group=question.group,
        symbols=tuple(int(symbol) for symbol in symbols),
        id="".join(f"{int(word):016x}" for word in twin.words(_ID_WORDS)),
    )


def in_phase(study: Study, phase: str) -> Study:
    """Return the study as it was when a phase was asked: without what was learned only later."""
    if phase == "test":
        return study
    if study.reduction == "known":
        return replace(study, rule=None, previous=None)
    if phase == "train":
        return replace(study, rule=None)
    return replace(study, attributes=None, merges=None, rule=None, previous=None)


class Told(NamedTuple):
    """What owners sent: the group of each, and by phase the symbols of those who were asked."""

    groups: NDArray[np.int64]
    symbols: dict[str, NDArray[np.int64]]


def questions_of(study: Study, owner: str) -> list[Question]:
    """Return the questions for a training owner or for a test owner."""
    return [each for each in study.questions if (each.phase == "test") == (owner == "test owner")]


def by_interviews(
    study: Study, owner: str, record: Mapping[str, object], count: int, source: RandomSource
) -> Told:
    """Let the mechanisms draw for many owners of one record at once.

    Parameters
    ----------
    study : Study
        As it is in its last phase.
    owner : {"training owner", "test owner"}
        Who is asked.
    record : mapping of str to value
        What each of them holds.
    count : int
        How many there are.
    source : RandomSource
        Where randomness comes from.

    Returns
    -------
    Told

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.audit import completed, example_records, small_studies
    >>> study = completed(small_studies()["regroup, sample, answer"])
    >>> told = by_interviews(study, "training owner", example_records(study)[0], 9, simulation(1))
    >>> [len(symbols) for symbols in told.symbols.values()] == np.bincount(told.groups).tolist()
    True
    """
    groups = np.zeros(count, dtype=np.int64)
    if owner != "test owner":
        groups = draw_groups(study, count, source)
    symbols = {}
    for question in questions_of(study, owner):
        members = int(np.count_nonzero(groups == question.group))
        asked = interview(study, question.phase)
        held = asked.encode(study.schema.read([dict(record)], labelled=question.labelled))
        reports = asked.randomize(np.repeat(held, members, axis=0), source)
        symbols[question.phase] = reports.symbols
    return Told(groups, symbols)


def by_devices(
    study: Study,
    owner: str,
    record: Mapping[str, object],
    count: int,
    source: RandomSource,
    *,
    kind: type[Owner] = Owner,
) -> Told:
    """Let the code of the devices answer, one owner after the other: slower, and nothing left out.

    Parameters
    ----------
    study : Study
        As for `by_interviews`, like the next four.
    owner : {"training owner", "test owner"}
        Whose answers are wanted.
    record : mapping of str to value
        What each of them holds.
    count : int
        How many of them there are.
    source : RandomSource
        Where their randomness comes from.
    kind : type, default Owner
        The code that runs on the device: a subclass of `Owner`.

    Returns
    -------
    Told

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.audit import completed, example_records, small_studies
    >>> study = completed(small_studies()["regroup, sample, answer"])
    >>> told = by_devices(study, "training owner", example_records(study)[0], 9, simulation(1))
    >>> [len(symbols) for symbols in told.symbols.values()] == np.bincount(told.groups).tolist()
    True
    """
    people = [kind(source=source, trusted=PHASES) for _ in range(count)]
    groups = np.zeros(count, dtype=np.int64)
    if owner != "test owner":
        first = in_phase(study, "reduce")
        groups = np.array([each.group(first) for each in people], dtype=np.int64)
    symbols = {}
    for question in questions_of(study, owner):
        asked = in_phase(study, question.phase)
        members = np.flatnonzero(groups == question.group).tolist()
        told = [people[place].answer(asked, question.phase, record).symbols for place in members]
        width = interview(asked, question.phase).width
        symbols[question.phase] = np.array(told, dtype=np.int64).reshape(-1, width)
    return Told(groups, symbols)
