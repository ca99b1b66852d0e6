"""What many owners of one record send: by the interviews all at once, or by devices one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.audit.owner_answers import in_phase
from supm.messages import PHASES, Question, Study
from supm.owner import Owner, interview
from supm.owner.groups import draw_groups

__all__ = ["Told", "by_devices", "by_interviews", "questions_of"]


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
    groups = _groups(study, owner, count, source)
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


def _groups(study: Study, owner: str, count: int, source: RandomSource) -> NDArray[np.int64]:
    if owner == "test owner":
        return np.zeros(count, dtype=np.int64)
    return draw_groups(study, count, source)
