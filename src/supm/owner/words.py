"""What a study asks of whom, why, what it costs, and what may be written: in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from supm._errors import RecordError
from supm.messages import FORMS, Question, Study
from supm.owner.draws import gap_of
from supm.privacy import PureLDP
from supm.schema import Attribute, Continuous
from supm.schema.discretizer import class_count

if TYPE_CHECKING:
    from supm.owner.open_phase import OpenPhase
    from supm.owner.wallet import Wallet

_NAMED: Final = 6
_SHOWN: Final = 8
_LONGEST: Final = 40


@dataclass(frozen=True, kw_only=True)
class Asking:
    """One row: what one group of owners is asked.

    Parameters
    ----------
    who : str
        Which owners.
    asked : str
        What leaves them, in words.
    combinations : int, optional
        How many different truths an answer may stand for, at most; where it is told as one symbol.
    truth : float, optional
        How often an answer is the truth beyond chance, for that many; where it is told as one
        symbol.
    epsilon : float, optional
        What an answer spends at most; nothing is promised without it.
    """

    who: str
    asked: str
    combinations: int | None
    truth: float | None
    epsilon: float | None


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a study looks as it does.

    Parameters
    ----------
    sentence : str
        The reason in a sentence.
    rows : tuple of Asking
        One for each question.
    """

    sentence: str
    rows: tuple[Asking, ...]


def explain(study: Study) -> Explanation:
    """Say what each group of owners is asked, and why.

    Parameters
    ----------
    study : Study
        What `plan` returned; nothing but public numbers is in it.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> told = explain(plan(load_wdbc().schema, epsilon=4.0))
    >>> print(told.rows[0].who, "|", told.rows[0].asked)
    every training owner | 2 of 30 attributes, drawn at random, and diagnosis as one symbol
    >>> told.rows[0].combinations, round(told.rows[0].truth, 2)
    (32, 0.63)
    """
    rows = tuple(_row(study, question) for question in study.questions)
    if study.question("test") is None:
        last = Asking(
            who="every owner whose record is classified",
            asked="nothing: the model is followed on the owner's device",
            combinations=None,
            truth=None,
            epsilon=0.0,
        )
        rows = (*rows, last)
    return Explanation(sentence=_sentence(study), rows=rows)


def _row(study: Study, question: Question) -> Asking:
    combinations = _combinations(study, question)
    truth = None
    if combinations is not None and question.epsilon is not None:
        truth = gap_of(question.epsilon, combinations)
    return Asking(
        who=_who(study, question),
        asked=_asked(study, question),
        combinations=combinations,
        truth=truth,
        epsilon=question.epsilon,
    )


def _who(study: Study, question: Question) -> str:
    if question.phase == "test":
        return "every owner whose record is classified"
    if len(study.groups) == 1:
        return "every training owner"
    return f"{study.groups[question.group]} of {sum(study.groups)} training owners"


def _asked(study: Study, question: Question) -> str:
    target = study.schema.target.name
    many = len(study.schema.attributes) if question.phase == "reduce" else study.keep
    if question.form == "answer":
        return f"the model's answer for {target}"
    if question.form == "sample":
        also = f" and {target}" if question.labelled else ""
        told = f"{question.sampled} of {many} attributes, drawn at random,"
        return f"{told}{also} as one symbol"
    also = f" and {target}" if question.labelled else ""
    drawn = f"{question.sampled} of " if question.sampled not in (None, many) else ""
    by = f" by {question.mechanism}" if question.mechanism else ""
    return f"{drawn}{many} attribute{'s' if many > 1 else ''}{also}: {FORMS[question.form]}{by}"


def _combinations(study: Study, question: Question) -> int | None:
    if question.form == "answer":
        return None if study.numeric else study.labels
    if question.form not in ("joint", "sample"):
        return None
    labels = study.labels if question.labelled else 1
    told = question.sampled or study.keep
    return labels * math.prod(sorted(_sizes(study, question))[-told:])


def _sizes(study: Study, question: Question) -> list[int]:
    if question.phase != "reduce" and study.reduction == "regroup":
        return [2] * study.keep
    chosen = study.attributes is not None and question.phase != "reduce"
    asked = study.asked(question.phase) if chosen else study.schema.attributes
    return [class_count(each, study.classes) for each in asked]


def _sentence(study: Study) -> str:
    train = study.question("train")
    if study.mode == "faithful" or train is None:
        return "Attributes and budgets are laid out as in the papers, with their corrections."
    if not train.private:
        return "Whoever trains is trusted with classes as they are, so nothing is promised there."
    if train.form == "sample" and study.reduction == "regroup":
        return (
            "A first group of owners shows which classes belong together; a second trains on "
            "those, where fewer combinations leave more truth."
        )
    if train.form == "sample":
        return (
            f"Each report tells as many attributes ({train.sampled}) of {study.classes} classes "
            "as teach most: one more would drown in the noise of so many combinations."
            if isinstance(study.schema.target, Continuous) or study.keep > (train.sampled or 0)
            else "The budget carries all attributes in one symbol."
        )
    if train.form == "joint":
        return "All kept attributes are told as one symbol, and the model learns from its table."
    return "The budget is split over the kept attributes and the target, as was asked for."


def question_words(opened: OpenPhase) -> list[str]:
    """Say what is asked, and what is promised."""
    study, question = opened.study, opened.question
    purpose = [f"Purpose: {study.purpose}"] if study.purpose else []
    names, asked = [each.name for each in opened.columns], _asked(study, question)
    return [
        *purpose,
        f"Asked of {_who(study, question)}, in the {opened.phase} phase: {asked}.",
        f"Your record is read on this device: {_listed(names, study)}. It does not leave.",
        _promise(opened),
    ]


def cost_words(opened: OpenPhase, wallet: Wallet) -> str:
    """Say what an answer costs, beside what was spent before and what is allowed."""
    if not opened.question.private:
        return "It costs no budget, because nothing is promised."
    if opened.remembered(wallet).trained:
        return (
            "You helped to train this model, so no report of you is taken now and none costs you."
        )
    study, phase = opened.study.hash, opened.phase
    if any(each.study == study and each.phase == phase for each in wallet.answers()):
        return "You have answered this before: the same report is sent again, at no further cost."
    left = wallet.left(opened.study)
    allowed = "you set no limit" if left is None else f"{left:.6g} is left of what you allow"
    return (
        f"It costs epsilon = {opened.interview.epsilon:.6g}, once; so far you have spent "
        f"{wallet.spent():.6g} in total, and {allowed}."
    )


def _promise(opened: OpenPhase) -> str:
    if opened.question.epsilon is None:
        return "Nothing is promised: what is asked leaves as it is, to somebody whom you trust."
    return f"Promise: {PureLDP(opened.question.epsilon).sentence}"


def _listed(names: Sequence[str], study: Study) -> str:
    """Name some attributes, and always the target where it is read: it is what owners ask first."""
    target = study.schema.target.name
    others = [name for name in names if name != target]
    told = [target] if target in names else []
    # One more takes no more room than to say so.
    if len(names) <= _NAMED + 1:
        return ", ".join([*others, *told])
    shown = others[: _NAMED - len(told)]
    return f"{', '.join([*shown, *told])} and {len(names) - _NAMED} more"


@contextmanager
def saying_what_is_allowed(columns: Iterable[Attribute]) -> Iterator[None]:
    """Say what is allowed where a record does not fit, in place of advice for a schema's author.

    Parameters
    ----------
    columns : iterable of Attribute
        What is asked.

    Raises
    ------
    RecordError
        With the same fact.
    """
    try:
        yield
    except RecordError as error:
        known = {each.name: each for each in columns}
        if error.attribute not in known:
            raise
        told = RecordError(error.fact, allowed(known[error.attribute]), attribute=error.attribute)
        raise told from None


def allowed(attribute: Attribute) -> str:
    """Return what may be written for an attribute.

    Examples
    --------
    >>> from supm.schema import Categorical, Continuous
    >>> allowed(Categorical("smoker", values=("former", "no", "yes"), missing="class"))
    'allowed: former, no, yes, or nothing'
    >>> allowed(Continuous("age", low=0, high=100))
    'allowed: a number; what is below 0 counts as 0, and what is above 100 as 100'
    """
    nothing = ", or nothing" if attribute.missing == "class" else ""
    if isinstance(attribute, Continuous):
        low, high = f"{attribute.low:.6g}", f"{attribute.high:.6g}"
        beyond = f"what is below {low} counts as {low}, and what is above {high} as {high}"
        return f"allowed: a number{nothing}; {beyond}"
    values = [_short(value) for value in attribute.values]
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return f"allowed: {', '.join(values[:_SHOWN])}{more}{nothing}"


def _short(value: str | float | bool) -> str:  # noqa: FBT001  one of a schema's values
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
