"""A study in words and in plain values: who is asked what, and what it costs them."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, Final

from supm.cli._output import counted
from supm.collection import Account
from supm.messages import FORMS, REDUCTIONS, Question, Statement, Study
from supm.privacy import Guarantee, NoGuarantee, PureLDP

__all__ = [
    "cost",
    "cost_for_machines",
    "plan_for_machines",
    "plan_lines",
    "promise_words",
    "statement_lines",
]

_GRID_FORMS = ("pw", "raw")
# A promise is never printed smaller than it is.
_SIX_DIGITS_UP: Final = Context(prec=6, rounding=ROUND_CEILING)
_LONG: Final = re.compile(r"\d+\.\d{6,}")
_PLACES = {"device": "on the owner's device"}


def plan_lines(study: Study, owners: int | None = None, *, letters: str = "") -> list[str]:
    """Return a study in sentences: trust, attributes, and who is asked what in each phase.

    Parameters
    ----------
    study : Study
        The study.
    owners : int, optional
        How many training owners there are.
    letters : str, default ""
        Which letters, K or L, stand for the number of attributes or of classes.

    Returns
    -------
    list of str
    """
    places = zip(("reduce", "train", "test"), study.trust.words, strict=True)
    trust = ", ".join(f"{phase} {_PLACES.get(word, word)}" for phase, word in places)
    lines = [f"Purpose: {study.purpose}"] if study.purpose else []
    lines += [f"{study.mode.capitalize()} mode; {trust}.", _choice(study, letters=letters)]
    for question in study.questions:
        who, what = _who(study, question, owners), _what(study, question, letters=letters)
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
    return _to_whom(spent.training, spent.testing)


def statement_lines(statement: Statement) -> list[str]:
    """Return a statement in sentences: what each phase did, what is promised, and by whom.

    Parameters
    ----------
    statement : Statement
        What was promised.

    Returns
    -------
    list of str
    """
    lines = [
        f"{each.phase.capitalize()}: {each.method}; {_brief(each.guarantee)}."
        for each in statement.phases
    ]
    end = (
        "This was a simulation: its randomness came from a public seed, so it is not private."
        if statement.simulation
        else "The randomness of each report was drawn where the report was made."
    )
    return [*lines, *_to_whom(statement.training, statement.testing), end]


def promise_words(guarantee: Guarantee) -> str:
    """Return a promise as a sentence, with numbers of six digits at most.

    Parameters
    ----------
    guarantee : Guarantee
        What is promised.

    Returns
    -------
    str
    """
    if guarantee == PureLDP(0.0):
        return "Nothing leaves the device."
    return _LONG.sub(lambda found: _six_digits(found[0]), guarantee.sentence)


def _to_whom(trained: Guarantee, tested: Guarantee) -> list[str]:
    training, testing = promise_words(trained), promise_words(tested)
    if training == testing:
        return [f"To each owner who helps to train or is tested: {training}"]
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


def _six_digits(number: str) -> str:
    return f"{float(_SIX_DIGITS_UP.create_decimal(Decimal(number))):g}"


def _brief(guarantee: Guarantee) -> str:
    if isinstance(guarantee, NoGuarantee):
        return "nothing is promised"
    if guarantee == PureLDP(0.0):
        return "nothing leaves"
    numbers = {name: getattr(guarantee, name, None) for name in ("epsilon", "delta", "mu")}
    told = {name: str(number) for name, number in numbers.items() if number is not None}
    return ", ".join(f"{name} = {_six_digits(number)}" for name, number in told.items())


def _choice(study: Study, *, letters: str) -> str:
    total = len(study.schema.attributes)
    kept, verb = (
        ("K", "are") if "K" in letters else (study.keep, "is" if study.keep == 1 else "are")
    )
    named = "" if study.attributes is None else f": {', '.join(study.attributes)}"
    return f"{kept} of {total} attributes {verb} used; {REDUCTIONS[study.reduction]}{named}."


def _who(study: Study, question: Question, owners: int | None) -> str:
    if question.phase == "test":
        return "each owner whose record is to be classified"
    if len(study.groups) == 1:
        return "each training owner"
    share, total = study.groups[question.group], sum(study.groups)
    about = "" if owners is None else f", about {round(owners * share / total)},"
    return f"{share} of {total} training owners, by lot{about or ','} each"


def _what(study: Study, question: Question, *, letters: str) -> str:
    total = len(study.schema.attributes)
    asked = study.keep if question.sampled is None else question.sampled
    # In the papers' private choice an owner draws as many as are kept.
    varies = question.sampled is None or question.form != "joint"
    drawn = f" drawn from {total}" if question.sampled and asked < total else ""
    lettered = "K" in letters and varies and asked == study.keep
    told = "K attributes" if lettered else counted(asked, "attribute")
    target = " and the target" if question.labelled else ""
    return f"sends {told}{drawn}{_classes(study, question, letters=letters)}{target}"


def _classes(study: Study, question: Question, *, letters: str) -> str:
    if question.form in _GRID_FORMS:
        return ""
    chosen = study.attributes is not None and question.phase != "reduce"
    asked = study.asked(question.phase) if chosen else study.schema.attributes
    missing = any(attribute.missing == "class" for attribute in asked)
    more = " (and one for missing)" if missing else ""
    return f" in up to {'L' if 'L' in letters else study.classes} classes{more}"
