"""From a layout to questions: who is asked what, with which part of the budget."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from typing import Final, NamedTuple

from supm.messages import PRIVATE, REDUCE_FORMS, Question

__all__ = ["Asked", "questions"]

_STEPS: Final = {"pw": 1024, "raw": 1 << 20}
_ANSWER_STEPS: Final = 1024


class Asked(NamedTuple):
    """What is to be asked, before the budget is split."""

    epsilon: float
    mode: str
    numeric: bool
    reduction: str
    keep: int
    reduce_told: int | None
    train: str
    train_told: int | None
    test: str | None
    test_told: int | None
    share: float
    mechanism: str | None = None


def questions(asked: Asked) -> tuple[Question, ...]:
    """Return the questions, with digits enough whatever the program around has set."""
    with localcontext(Context(prec=40)):
        return tuple(_questions(asked))


def _questions(asked: Asked) -> list[Question]:
    whole = Decimal(repr(asked.epsilon))
    reduce_form = REDUCE_FORMS.get(asked.reduction)
    # Disjoint groups have the whole budget each; the same people share it between two questions.
    first = whole if reduce_form == "sample" else _floor(whole * Decimal(repr(asked.share)))
    rest = _floor(whole - first) if reduce_form in ("pw", "odp") else whole
    found = []
    if reduce_form is not None:
        found.append(_question("reduce", reduce_form, first, asked.reduce_told))
    group = 1 if reduce_form == "sample" else 0
    train = _question("train", asked.train, rest, asked.train_told, group)
    found.append(replace(train, mechanism=asked.mechanism))
    if asked.test is not None:
        # The papers keep a share for a label that a record to be classified does not have.
        paper = asked.mode == "faithful" and asked.test in ("odp", "pw")
        budget = _floor(whole * asked.keep / (asked.keep + 1)) if paper else whole
        steps = _ANSWER_STEPS if asked.numeric and asked.test == "answer" else None
        found.append(_question("test", asked.test, budget, asked.test_told, steps=steps))
    return found


def _question(
    phase: str,
    form: str,
    budget: Decimal,
    sampled: int | None,
    group: int = 0,
    *,
    steps: int | None = None,
) -> Question:
    return Question(
        phase=phase,
        form=form,
        epsilon=float(budget) if form in PRIVATE else None,
        steps=steps or _STEPS.get(form),
        sampled=sampled,
        group=group,
    )


def _floor(amount: Decimal) -> Decimal:
    """Cut to 15 digits, which a float prints as they are."""
    return amount.quantize(Decimal(10) ** (amount.adjusted() - 14), rounding=ROUND_FLOOR)
