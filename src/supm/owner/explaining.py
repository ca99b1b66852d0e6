"""What a study asks of whom, and why it was planned so: in a sentence and in rows of a table."""

from __future__ import annotations

import math
from dataclasses import dataclass

from supm.messages import FORMS, Question, Study
from supm.owner.draws import gap_of
from supm.schema import Continuous
from supm.schema.discretization import class_count

__all__ = ["Asking", "Explanation", "explain"]


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
    return f"{drawn}{many} attribute{'s' if many > 1 else ''}{also}: {FORMS[question.form]}"


def _combinations(study: Study, question: Question) -> int | None:
    if question.form == "answer":
        return None if study.numeric else study.labels
    if question.form not in ("joint", "sample"):
        return None
    labels = study.labels if question.labelled else 1
    return labels * math.prod(sorted(_sizes(study, question))[-_told(study, question) :])


def _told(study: Study, question: Question) -> int:
    return question.sampled or study.keep


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
