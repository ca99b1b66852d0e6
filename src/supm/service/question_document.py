"""A question as plain data: all that a page needs to ask it, to read a record and to randomise.

Nothing is worked out twice. The cut points and tables are those of the discretizers, the thresholds
those of the mechanism that the aggregator inverts; the page compares words with them. Thresholds
are decimal texts, since a number in JavaScript holds 53 bits and a word has 64.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from supm._errors import MessageError
from supm._validation import check_kind
from supm.mechanisms import GeneralizedRandomizedResponse, Piecewise
from supm.messages import FORMS, Question, Study
from supm.owner.answering import AnswerInterview
from supm.owner.columns import Classes, Column, Numbers, Signs, Unchanged
from supm.owner.draws import reachable_products
from supm.owner.interviewing import interview
from supm.owner.interviews import Interview
from supm.owner.joint import JointInterview
from supm.owner.responses import randomized_response
from supm.owner.sampled import FINE, SampledInterview
from supm.owner.separate import SeparateInterview
from supm.privacy import PureLDP
from supm.schema import Attribute, Continuous, EqualWidth, Regrouped
from supm.schema.discretizer import Discretizer

__all__ = ["describe"]

_VERSION: Final = 1
_DEVICE: Final = "nothing: the model is followed on the owner's device"


def describe(study: Study, phase: str) -> dict[str, Any]:
    """Return a phase's question as plain values for JSON.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> asked = describe(plan(load_wdbc().schema, epsilon=4.0), "train")
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
        "answer": _outline(study.schema.target),
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
        "fields": _fields(study, question, asked),
        "mechanism": _mechanism(asked),
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
        "fields": [_class_field(each) for each in study.discretizers("test")],
        "mechanism": {"kind": "none"},
    }


def _fields(study: Study, question: Question, asked: Interview) -> list[dict[str, Any]]:
    target = study.schema.target
    if isinstance(asked, SeparateInterview):
        return [_column_field(each, target) for each in asked.all_columns]
    fields = [_class_field(each) for each in study.discretizers(question.phase)]
    if not question.labelled:
        return fields
    if isinstance(target, Continuous):
        read = {"how": "level", "levels": study.labels, "fine": FINE}
        return [*fields, _outline(target) | {"read": read}]
    return [*fields, _outline(target) | {"read": {"how": "place", "size": study.labels}}]


def _column_field(column: Column, target: Attribute) -> dict[str, Any]:
    if isinstance(column, Classes):
        return _class_field(column.discretizer)
    if isinstance(column, Numbers):
        grid = column.randomizer
        points = grid.size if isinstance(grid, Unchanged) else None
        return _outline(column.attribute) | {"read": {"how": "number", "points": points}}
    if isinstance(column, Signs):
        return _outline(target) | {"read": {"how": "sign"}}
    return _outline(target) | {"read": {"how": "place", "size": column.randomizer.size}}


def _outline(attribute: Attribute) -> dict[str, Any]:
    """Return what a form shows of an attribute."""
    kind = type(attribute).__name__.lower()
    outline = {"name": attribute.name, "kind": kind, "missing": attribute.missing == "class"}
    if isinstance(attribute, Continuous):
        return outline | {"low": attribute.low, "high": attribute.high}
    return outline | {"values": list(attribute.values)}


def _class_field(discretizer: Discretizer) -> dict[str, Any]:
    """Return an attribute with the table from intervals or places to classes.

    The last entry of the table is that of a missing value, where one is allowed. A number is in
    interval k where k of the cuts are below it: a cut belongs to the interval that it ends.
    """
    attribute = discretizer.attribute
    read: dict[str, Any] = {"how": "class", "size": discretizer.size}
    if isinstance(attribute, Continuous):
        read |= _cuts(discretizer)
    else:
        places = np.arange(len(attribute.values) + (attribute.missing == "class"))
        read |= {"cuts": None, "table": discretizer.classify(places).tolist()}
    return _outline(attribute) | {"read": read}


def _cuts(discretizer: Discretizer) -> dict[str, Any]:
    finer = discretizer.finer if isinstance(discretizer, Regrouped) else discretizer
    if not isinstance(finer, EqualWidth):
        message = "a page can ask for classes of equal width only."
        raise MessageError(message)
    table = discretizer.groups if isinstance(discretizer, Regrouped) else range(finer.size)
    return {"cuts": list(finer.cuts), "table": list(table)}


def _mechanism(asked: Interview) -> dict[str, Any]:
    if isinstance(asked, SampledInterview):
        return _sampled(asked)
    if isinstance(asked, JointInterview):
        held = asked.randomizer
        size, width, words = held.size, held.width, str(held.hold_words)
        return {"kind": "joint", "size": size, "width": width, "hold": words}
    if isinstance(asked, AnswerInterview):
        told = _randomizer(asked.randomizer)
        return {"kind": "answer", "rule": asked.rule.to_form(), "randomizer": told}
    if isinstance(asked, SeparateInterview):
        told_by = [_randomizer(each.randomizer) for each in asked.all_columns]
        return {"kind": "separate", "sampled": asked.sampled, "randomizers": told_by}
    message = "a page cannot ask in this form."
    raise MessageError(message)


def _sampled(asked: SampledInterview) -> dict[str, Any]:
    """Return one threshold for each number of combinations that a draw may lead to."""
    products = reachable_products(asked.sizes, asked.sampled)
    alphabets = [each * (asked.labels or 1) for each in products]
    kept = [randomized_response(size, asked.share).keep_words for size in alphabets]
    words = {str(size): str(keep) for size, keep in zip(alphabets, kept, strict=True)}
    return {"kind": "sample", "sampled": asked.sampled, "responses": words}


def _randomizer(
    randomizer: GeneralizedRandomizedResponse | Piecewise | Unchanged,
) -> dict[str, Any]:
    if isinstance(randomizer, Unchanged):
        return {"kind": "unchanged", "size": randomizer.size}
    if isinstance(randomizer, Piecewise):
        steps, window, words = randomizer.steps, randomizer.window, str(randomizer.threshold)
        return {"kind": "window", "steps": steps, "window": window, "inside": words}
    words = str(randomizer.keep_words)
    return {"kind": "response", "size": randomizer.size, "keep": words}
