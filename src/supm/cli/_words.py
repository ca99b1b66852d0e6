"""A study in words and in plain values: who is asked what, and what it costs them."""

from __future__ import annotations

from typing import Any

from supm.collection import Account
from supm.messages import FORMS, REDUCTIONS, Question, Study
from supm.privacy import Guarantee

__all__ = ["cost", "cost_for_machines", "plan_for_machines", "plan_lines"]

_GRID_FORMS = ("pw", "raw")
_PLACES = {"device": "on the owner's device"}


def plan_lines(study: Study, owners: int | None = None) -> list[str]:
    """Return a study in sentences: trust, attributes, and who is asked what in each phase.

    Parameters
    ----------
    study : Study
        The study.
    owners : int, optional
        How many training owners there are.

    Returns
    -------
    list of str
    """
    places = zip(("reduce", "train", "test"), study.trust.words, strict=True)
    trust = ", ".join(f"{phase} {_PLACES.get(word, word)}" for phase, word in places)
    lines = [f"Purpose: {study.purpose}"] if study.purpose else []
    lines += [f"{study.mode.capitalize()} mode; {trust}.", _choice(study)]
    for question in study.questions:
        who, what = _who(study, question, owners), _what(study, question)
        lines.append(f"{question.phase.capitalize()}: {who} {what}: {FORMS[question.form]}.")
    if study.question("test") is None:
        lines.append("Test: nothing is asked; the model comes to the owner's device.")
    return lines


def cost(spent: Account) -> list[str]:
    """Return what an owner would be promised, in words.

    Parameters
    ----------
    spent : Account
        What the owners of a study spend.

    Returns
    -------
    list of str
        For an owner who helps to train and one whose record is classified, apart where they differ.
    """
    training, testing = _promise(spent.training), _promise(spent.testing)
    if training == testing:
        return [f"To each owner, who helps to train or is tested: {training}"]
    return [
        f"To an owner who helps to train: {training}",
        f"To an owner whose record is tested: {testing}",
    ]


def plan_for_machines(study: Study) -> dict[str, Any]:
    """Return a study without its schema, as plain values for JSON.

    Parameters
    ----------
    study : Study
        The study.

    Returns
    -------
    dict
    """
    form = study.to_form()
    for left_out in ("schema", "version", "purpose", "previous"):
        del form[left_out]
    return form | {"study": study.hash, "words": plan_lines(study)}


def cost_for_machines(spent: Account) -> dict[str, Any]:
    """Return what is promised as plain values for JSON.

    Parameters
    ----------
    spent : Account
        What the owners of a study spend.

    Returns
    -------
    dict
    """
    return {
        "phases": {phase: promise.to_json() for phase, promise in spent.phases.items()},
        "training": spent.training.to_json(),
        "testing": spent.testing.to_json(),
        "words": cost(spent),
    }


def _promise(guarantee: Guarantee) -> str:
    if getattr(guarantee, "epsilon", None) == 0:
        return "Nothing leaves the device."
    return guarantee.sentence


def _choice(study: Study) -> str:
    total = len(study.schema.attributes)
    verb = "is" if study.keep == 1 else "are"
    named = "" if study.attributes is None else f": {', '.join(study.attributes)}"
    return f"{study.keep} of {total} attributes {verb} used; {REDUCTIONS[study.reduction]}{named}."


def _who(study: Study, question: Question, owners: int | None) -> str:
    if question.phase == "test":
        return "each owner whose record is to be classified"
    if len(study.groups) == 1:
        return "each training owner"
    share, total = study.groups[question.group], sum(study.groups)
    about = "" if owners is None else f", about {round(owners * share / total)},"
    return f"{share} of {total} training owners, by lot{about or ','} each"


def _what(study: Study, question: Question) -> str:
    total = len(study.schema.attributes)
    asked = study.keep if question.sampled is None else question.sampled
    noun = "attribute" if asked == 1 else "attributes"
    drawn = f" drawn from {total}" if question.sampled and asked < total else ""
    classes = "" if question.form in _GRID_FORMS else f" in up to {study.classes} classes"
    target = " and the target" if question.labelled else ""
    return f"sends {asked} {noun}{drawn}{classes}{target}"
