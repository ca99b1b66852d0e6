"""What everybody may know about a study, as plain values: its state, and the question it asks.

A question is all that a page needs to ask it, to read a record and to randomise. Nothing is worked
out twice: the cut points and tables are those of the discretizers, the thresholds those of the
mechanism that the aggregator inverts; the page compares words with them. Thresholds are decimal
texts, since a number in JavaScript holds 53 bits and a word has 64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from supm._errors import MessageError
from supm._validation import check_kind
from supm.collection import account, make_statement
from supm.messages import FORMS, Model, Question, Study
from supm.owner import interview
from supm.owner.columns import class_field, outline
from supm.privacy import PureLDP
from supm.reporting import counted
from supm.service.store import Opened, Store
from supm.service.store.values import State

_VERSION: Final = 1
_DEVICE: Final = "nothing: the model is followed on the owner's device"
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


def question_document(study: Study, phase: str) -> dict[str, Any]:
    """Return a phase's question as plain values for JSON.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> asked = question_document(plan(load_wdbc().schema, epsilon=4.0), "train")
    >>> asked["form"], asked["epsilon"], len(asked["fields"])
    ('sample', 4.0, 31)
    >>> asked["mechanism"]["responses"]
    {'32': '11766119947328643887'}
    """
    check_kind("study", study, Study)
    check_kind("phase", phase, str)
    question = study.question(phase)
    if question is not None:
        return _common(study, phase) | _asked(study, question)
    if phase != "test" or study.attributes is None:
        raise MessageError(f"the study asks nothing in the {phase} phase.")
    return _common(study, phase) | _on_device(study)


def _common(study: Study, phase: str) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "study": study.hash,
        "beginning": study.beginning,
        "purpose": study.purpose,
        "phase": phase,
        "groups": list(study.groups),
        "answer": outline(study.schema.target),
    }


def _asked(study: Study, question: Question) -> dict[str, Any]:
    asked = interview(study, question.phase)
    return {
        "form": question.form,
        "told": FORMS[question.form],
        "private": question.private,
        "epsilon": question.epsilon,
        "guarantee": asked.guarantee.sentence,
        "group": question.group,
        "labelled": question.labelled,
        **asked.describe(study.schema.target),
    }


def _on_device(study: Study) -> dict[str, Any]:
    return {
        "form": "device",
        "told": _DEVICE,
        "private": True,
        "epsilon": 0.0,
        "guarantee": PureLDP(0.0).sentence,
        "group": 0,
        "labelled": False,
        "fields": [class_field(each) for each in study.discretizers("test")],
        "mechanism": {"kind": "none"},
    }
