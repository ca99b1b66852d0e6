"""A question as plain data: all that a page needs to ask it, to read a record and to randomise.

Nothing is worked out twice. The cut points and tables are those of the discretizers, the thresholds
those of the mechanism that the aggregator inverts; the page compares words with them. Thresholds
are decimal texts, since a number in JavaScript holds 53 bits and a word has 64.
"""

from __future__ import annotations

from typing import Any, Final

from supm._errors import MessageError
from supm._validation import check_kind
from supm.messages import FORMS, Question, Study
from supm.owner import interview
from supm.owner.columns import class_field, outline
from supm.privacy import PureLDP

_VERSION: Final = 1
_DEVICE: Final = "nothing: the model is followed on the owner's device"


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
        message = f"the study asks nothing in the {phase} phase."
        raise MessageError(message)
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
