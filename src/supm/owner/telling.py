"""What a study asks of one owner, what leaves, and what it costs: in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from supm._errors import MessageError
from supm.mechanisms import Piecewise
from supm.messages import Study
from supm.owner.answering import AnswerInterview
from supm.owner.columns import Randomizer, Unchanged
from supm.owner.draws import reachable_products
from supm.owner.explaining import explain
from supm.owner.interviews import Interview
from supm.owner.joint import JointInterview
from supm.owner.offer import Offer
from supm.owner.sampled import SampledInterview
from supm.owner.separate import SeparateInterview
from supm.owner.standing import standing
from supm.owner.wallet import Wallet
from supm.privacy import PureLDP

__all__ = ["Leaving", "cost_words", "leaving", "words"]

_NAMED: Final = 6


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """One thing that leaves the device.

    Parameters
    ----------
    what : str
        About what.
    choices : int
        One of how many different things is told, at most.
    truth : float or None
        The chance that it is the truth, at least; None where a number near it is told.
    fewest_choices : int
        One of how many, at least: fewer where a draw decides about what.
    most_truth : float or None
        The chance for so few.
    """

    what: str
    choices: int
    truth: float | None
    fewest_choices: int
    most_truth: float | None


def words(offer: Offer) -> list[str]:
    """Say what is asked, and what is promised.

    Parameters
    ----------
    offer : Offer
        What a study asks now.

    Returns
    -------
    list of str
        Sentences.
    """
    study, question = offer.study, offer.question
    row = explain(study).rows[study.questions.index(question)]
    purpose = [f"Purpose: {study.purpose}"] if study.purpose else []
    names = [each.name for each in offer.columns]
    return [
        *purpose,
        f"Asked of {row.who}, in the {offer.phase} phase: {row.asked}.",
        f"Your record is read on this device: {_listed(names, study)}. It does not leave.",
        _promise(offer),
    ]


def cost_words(offer: Offer, wallet: Wallet) -> str:
    """Say what an answer costs, beside what was spent before and what is allowed.

    Parameters
    ----------
    offer : Offer
        What a study asks now.
    wallet : Wallet
        The owner's.

    Returns
    -------
    str
        Sentences.
    """
    if not offer.question.private:
        return "It costs no budget, because nothing is promised."
    if standing(offer, wallet).trained:
        return (
            "You helped to train this model, so no report of you is taken now and none costs you."
        )
    study, phase = offer.study.hash, offer.phase
    if any(each.study == study and each.phase == phase for each in wallet.answers()):
        return "You have answered this before: the same report is sent again, at no further cost."
    left = wallet.left(offer.study)
    allowed = "you set no limit" if left is None else f"{left:.6g} is left of what you allow"
    return (
        f"It costs epsilon = {offer.interview.epsilon:.6g}, once; so far you have spent "
        f"{wallet.spent():.6g} in total, and {allowed}."
    )


def leaving(
    study: Study, phase: str, asked: Interview, symbols: Sequence[int] | None = None
) -> tuple[Leaving, ...]:
    """Say what leaves the device, and how often it is the truth.

    Parameters
    ----------
    study : Study
        What is asked.
    phase : {"reduce", "train", "test"}
        Which question.
    asked : Interview
        Its mechanism.
    symbols : sequence of int, optional
        The report, where it is drawn already: what it is about is certain then.

    Returns
    -------
    tuple of Leaving

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.owner import interview
    >>> from supm.datasets import load_wdbc
    >>> study = plan(load_wdbc().schema, epsilon=4.0)
    >>> [told] = leaving(study, "train", interview(study, "train"))
    >>> told.what, told.choices, round(told.truth, 2)
    ('2 of 30 attributes and diagnosis, together', 32, 0.64)
    >>> [told] = leaving(study, "train", interview(study, "train"), (3, 7, 0, 2, 1))
    >>> told.what
    'mean area, mean concave points and diagnosis, together'
    """
    target = study.schema.target.name
    if isinstance(asked, SampledInterview):
        return (_sampled(target, asked, symbols),)
    if isinstance(asked, JointInterview):
        held = asked.randomizer
        also = f" and {target}" if asked.labels is not None else ""
        what = f"{len(asked.discretizers)} attributes{also}, together"
        return (_certain(what, held.size, float(held.hit)),)
    if isinstance(asked, AnswerInterview):
        return (_one(f"the model's answer for {target}", asked.randomizer),)
    if isinstance(asked, SeparateInterview):
        names = [*(each.name for each in study.asked(phase)), target]
        pairs = zip(names, asked.all_columns, strict=False)
        return tuple(_one(name, column.randomizer) for name, column in pairs)
    message = "this release cannot say what would leave; nothing was sent."
    raise MessageError(message)


def _sampled(target: str, asked: SampledInterview, symbols: Sequence[int] | None) -> Leaving:
    told = [target] if asked.labels is not None else []
    if symbols is not None:
        drawn = symbols[: asked.sampled]
        names = [asked.discretizers[place].attribute.name for place in drawn]
        cells, chance = _chance(asked, math.prod(asked.sizes[place] for place in drawn))
        return _certain(f"{_joined([*names, *told])}, together", cells, chance)
    classes = reachable_products(asked.sizes, asked.sampled)
    fewest, surest = _chance(asked, classes[0])
    most, least_sure = _chance(asked, classes[-1])
    return Leaving(
        what=f"{_joined([f'{asked.sampled} of {len(asked.sizes)} attributes', *told])}, together",
        choices=most,
        truth=least_sure,
        fewest_choices=fewest,
        most_truth=surest,
    )


def _chance(asked: SampledInterview, classes: int) -> tuple[int, float]:
    """Return how many combinations there are, with the target's, and the chance of the truth."""
    cells, gap = classes * (asked.labels or 1), asked.truth(classes)
    return cells, gap + (1 - gap) / cells


def _one(what: str, held: Randomizer) -> Leaving:
    if isinstance(held, Piecewise):
        return _certain(what, held.outcomes, None)
    return _certain(what, held.size, 1.0 if isinstance(held, Unchanged) else float(held.hit))


def _certain(what: str, choices: int, truth: float | None) -> Leaving:
    """Return what leaves where no draw decides about what it is."""
    return Leaving(
        what=what, choices=choices, truth=truth, fewest_choices=choices, most_truth=truth
    )


def _promise(offer: Offer) -> str:
    if offer.question.epsilon is None:
        return "Nothing is promised: what is asked leaves as it is, to somebody whom you trust."
    return f"Promise: {PureLDP(offer.question.epsilon).sentence}"


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


def _joined(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
