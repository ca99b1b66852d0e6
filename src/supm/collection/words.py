"""A study in words and in plain values: who is asked what, and what it costs them."""

from __future__ import annotations

import re
from dataclasses import asdict
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, Final

from supm.collection.spending import Account, account
from supm.messages import REDUCTIONS, Statement, Study
from supm.owner import explain
from supm.privacy import Guarantee, NoGuarantee, PureLDP
from supm.schema import Categorical

_MOST_NAMED: Final = 4
_GRID_FORMS = ("pw", "raw")
# A promise is never printed smaller than it is.
_SIX_DIGITS_UP: Final = Context(prec=6, rounding=ROUND_CEILING)
_LONG: Final = re.compile(r"\d+\.\d{6,}")
# A mechanism that keeps less than this share of its budget is told of.
_NOTICED: Final = 0.99
_LARGE: Final = 10.0
_PLACES = {"device": "on the owner's device"}


def plan_lines(study: Study) -> list[str]:
    """Return a study in sentences: trust, attributes, and who is asked what in each phase."""
    lines = opening_lines(study)
    # A test that asks nothing has a row and no question.
    for question, row in zip(study.questions, explain(study).rows, strict=False):
        lines.append(f"{question.phase.capitalize()}: {row.who} sends {row.asked}.")
    if study.question("test") is None:
        lines.append("Test: nothing is asked; the model comes to the owner's device.")
    return lines


def opening_lines(study: Study) -> list[str]:
    """Return what a study is for, whom it trusts and what it is about, in sentences."""
    lines = [f"Purpose: {study.purpose}"] if study.purpose else []
    return [*lines, trust_words(study), _choice(study), *_put_together(study)]


def trust_words(study: Study) -> str:
    """Return the mode of a study and where its phases happen."""
    places = zip(("reduce", "train", "test"), study.trust.words, strict=True)
    trust = ", ".join(f"{phase} {_PLACES.get(word, word)}" for phase, word in places)
    return f"{study.mode.capitalize()} mode; {trust}."


def cost_lines(spent: Account) -> list[str]:
    """Return what an owner would be promised, in words."""
    return _to_whom(spent.training, spent.testing)


def statement_lines(statement: Statement) -> list[str]:
    """Return a statement in sentences: what each phase did, what is promised, and by whom."""
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
    """Return a promise as a sentence, with numbers of six digits at most."""
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


def study_form(study: Study) -> dict[str, Any]:
    """Return a study without its schema, as plain values for JSON."""
    form = study.to_form()
    for left_out in ("schema", "version", "purpose", "previous"):
        del form[left_out]
    told = explain(study)
    asked = [asdict(row) for row in told.rows]
    return form | {
        "study": study.hash,
        "words": plan_lines(study),
        "asked": asked,
        "why": told.sentence,
    }


def account_form(spent: Account) -> dict[str, Any]:
    """Return what is promised as plain values for JSON."""
    return {
        "phases": {phase: promise.to_form() for phase, promise in spent.phases.items()},
        "training": spent.training.to_form(),
        "testing": spent.testing.to_form(),
        "words": cost_lines(spent),
    }


def limit_notes(study: Study) -> list[str]:
    """Say where a mechanism cannot spend what its question allows, or a promise is worth little."""
    kept = account(study).phases
    limits = [
        (question.epsilon, getattr(kept[question.phase], "epsilon", question.epsilon))
        for question in study.questions
        if question.epsilon is not None
    ]
    if not limits:
        return []
    asked, least = min(limits, key=lambda pair: pair[1] / pair[0])
    most = max(each for _, each in limits)
    held = f"64-bit words cannot hold more than epsilon {least:.4g} here; {asked:g} was asked for."
    large = f"epsilon {most:.4g}: a factor as large as that protects nobody by itself."
    return [*([held] if least < asked * _NOTICED else []), *([large] if most > _LARGE else [])]


def _six_digits(number: str) -> str:
    return f"{float(_SIX_DIGITS_UP.create_decimal(Decimal(number))):g}"


def _brief(guarantee: Guarantee) -> str:
    if isinstance(guarantee, NoGuarantee):
        return "nothing is promised"
    if guarantee == PureLDP(0.0):
        return "nothing leaves"
    numbers = {name: getattr(guarantee, name, None) for name in ("epsilon", "delta", "mu")}
    told = {name: str(number) for name, number in numbers.items() if number}
    return ", ".join(f"{name} = {_six_digits(number)}" for name, number in told.items())


def _choice(study: Study) -> str:
    total, kept = len(study.schema.attributes), study.keep
    classes = _classes(study)
    if study.reduction == "known" and kept == total:
        all_of_them = f"All {total} attributes are" if total > 1 else "The one attribute is"
        return f"{all_of_them} used{classes}."
    named = "" if study.attributes is None else f": {', '.join(study.attributes)}"
    verb = "is" if kept == 1 else "are"
    how = REDUCTIONS[study.reduction]
    return f"{kept} of {total} attributes {verb} used{classes}; {how}{named}."


def _put_together(study: Study) -> list[str]:
    """Say which unordered values share a class that nothing but their place gave them."""
    if _tells_numbers(study):
        return []
    named = [
        f"{each.name} ({len(each.values)} values)"
        for each in study.schema.attributes
        if each.name in (study.attributes or study.schema.names)
        and isinstance(each, Categorical)
        and len(each.values) > study.classes
    ]
    if not named:
        return []
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    shown = ", ".join(named[:_MOST_NAMED])
    return [f"Unordered values share classes by their place in the list: {shown}{more}."]


def _tells_numbers(study: Study) -> bool:
    train = study.question("train")
    return train is not None and train.form in _GRID_FORMS


def _classes(study: Study) -> str:
    if _tells_numbers(study):
        return ""
    missing = any(attribute.missing == "class" for attribute in study.schema.attributes)
    return f", in up to {study.classes} classes{' (and one for missing)' if missing else ''}"
