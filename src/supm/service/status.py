"""What everybody may know about a study, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from supm.collection import account, make_statement
from supm.messages import Model, Study
from supm.reporting import counted
from supm.service.store import Opened, Store
from supm.service.store.values import State

_SHOWN: Final = 10
# More cannot be told apart on a chart.
_MOST_POINTS: Final = 500


def status(store: Store, opened: Opened) -> dict[str, Any]:
    """Return the public state of a study."""
    study, phase = opened.study, opened.open_phase
    question = None if phase is None else study.question(phase)
    return {
        "name": opened.name,
        "state": str(opened.state),
        "purpose": study.purpose,
        "by": opened.by,
        "contact": opened.contact,
        "target": study.schema.target.name,
        "mode": study.mode,
        "trust": study.trust.letters,
        "epsilon": study.epsilon,
        "open_phase": phase,
        "document": study.hash,
        "invited": opened.invited,
        "groups": list(study.groups),
        "group": None if question is None else question.group,
        "reports": dict(store.reports(opened.name)),
        "minimums": dict(opened.minimums),
        "deadlines": {each: moment(when) for each, when in opened.deadlines.items()},
        "guarantee": _sentence(study),
        "model_public": model_is_public(opened),
        "created": moment(opened.created),
    }


def study_progress(store: Store, name: str) -> dict[str, Any]:
    """Return how many reports a study has, and when they came."""
    opened = store.find(name)
    reports = dict(store.reports(name))
    return {
        "state": str(opened.state),
        "open_phase": opened.open_phase,
        "reports": reports,
        "minimums": dict(opened.minimums),
        "series": {phase: store.series(name, phase, most=_MOST_POINTS) for phase in reports},
    }


def limit_words(form: dict[str, Any], opened: Opened) -> Iterator[str]:
    """Say the minimums and deadlines of the phases that are under way or still to come."""
    for phase, least in form["minimums"].items():
        if _matters(phase, opened, form["reports"]):
            verb = "is" if least == 1 else "are"
            yield f"To {phase}, {counted(least, 'report')} or more {verb} needed."
    for phase, when in form["deadlines"].items():
        if _matters(phase, opened, form["reports"]):
            yield f"Reports to {phase} are taken until {when}."


def serving_words(url: str, studies: Sequence[tuple[str, str]], database: str) -> Iterator[str]:
    """Say where a service listens, and which studies it has, by name and state."""
    yield f"The aggregator is at {url} (stop it with Ctrl-C)."
    served = "1 study" if len(studies) == 1 else f"{len(studies)} studies"
    yield f"It serves {served} of {database}{':' if studies else '; supm study create makes one.'}"
    for name, state in studies[:_SHOWN]:
        yield f"  {url}/studies/{name} ({state})"
    if len(studies) > _SHOWN:
        yield f"  and {len(studies) - _SHOWN} more: supm study list"


def _matters(phase: str, opened: Opened, reports: dict[str, int]) -> bool:
    """Tell a phase that the study has, and that has not ended."""
    study = opened.study
    if opened.state is State.CLOSED or study.question(phase) is None:
        return False
    if phase == "reduce" and study.attributes is not None:
        return False
    return phase == opened.open_phase or phase not in reports


def model_is_public(opened: Opened) -> bool:
    """Say whether everybody may have the model: while it serves, and owners do not tell classes."""
    question = opened.study.question("test")
    told = question is not None and question.form == "sample"
    return opened.state is State.SERVING and not told


def statement_json(opened: Opened) -> str:
    """Return the statement of a study's model, or what it would be."""
    if opened.model is not None:
        return Model.from_json(opened.model).statement.to_json()
    return make_statement(opened.study, simulation=opened.simulation).to_json()


def moment(seconds: float) -> str:
    """Return a time as text, in UTC.

    Examples
    --------
    >>> moment(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache(maxsize=256)
def _sentence(study: Study) -> str:
    # What mechanisms promise is worked out exactly, which takes a while.
    return account(study).training.sentence
