"""An owner sends what the audited interviews draw, from fresh words, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from supm._errors import BudgetError, SupmError
from supm._random import RandomSource, simulation
from supm.audit.finding import Finding
from supm.messages import PHASES, Question, Report, Study
from supm.owner import Owner, interview
from supm.owner.groups import draw_groups

__all__ = ["check_owner", "in_phase"]

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
    for phase in phases:
        question = study.question(phase)
        if question is None:
            continue
        asked = in_phase(study, phase)
        if phase != "test" and question.group != group:
            if not _refuses(owner, asked, phase, record):
                return False
            continue
        report = owner.answer(asked, phase, record)
        if report != _expected(asked, question, record, twin):
            return False
        if report != owner.answer(asked, phase, record):
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
