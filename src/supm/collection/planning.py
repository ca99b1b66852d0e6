"""The plan: from schema, budget and trust alone to a study. Private data have no say in it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from typing import Final, NamedTuple

from supm._errors import ParameterError
from supm._validation import EPSILON, Reals, check_kind
from supm.collection._wishes import Wishes
from supm.messages import PRIVATE, REDUCE_FORMS, Question, Study, Trust
from supm.schema import Schema

__all__ = ["plan"]

_SHARE: Final = Reals("reduce_share", 0.01, 0.99)
_STEPS: Final = {"pw": 1024, "raw": 1 << 20}
# Two of five training owners help to choose attributes, the others to train.
_GROUPS: Final = (2, 3)


def plan(  # noqa: PLR0913  each is a wish that a user may pin, given by name
    schema: Schema,
    *,
    epsilon: float,
    trust: Trust | str | None = None,
    mode: str = "strict",
    owners: int | None = None,
    attributes: Sequence[str] | None = None,
    keep: int | None = None,
    classes: int | None = None,
    reduce: str | None = None,
    train: str | None = None,
    test: str | None = None,
    sampled: int | None = None,
    reduce_share: float = 0.5,
    purpose: str = "",
) -> Study:
    """Return the study that a budget and a trust call for.

    Parameters
    ----------
    schema : Schema
        What is public about a record. Its target has classes.
    epsilon : float
        The most that any owner spends: in total for a training owner, in total for a test owner.
    trust : Trust or str, optional
        Where each phase happens, as a value or as letters ("u,u,d"); untrusted by default.
    mode : {"strict", "faithful"}, default "strict"
        Our protocol, or that of papers 000 and 001, corrected.
    owners : int, optional
        How many owners are expected; fewer owners mean fewer cells in strict mode.
    attributes : sequence of str, optional
        The attributes to use, where they are known: then none are searched for.
    keep, classes : int, optional
        How many attributes are kept (K) and their classes (L); by a public rule where not given.
    reduce : {"rand", "wa", "pw", "waldp", "rank"}, optional
        How attributes are chosen where not all are kept. By default: from joint reports in strict
        mode and at random in faithful mode, and by unprotected classes where the environment is
        trusted.
    train, test : {"odp", "oda", "pw", "raw", "joint"}, optional
        What leaves the owners; ``test`` may be "device". By default what the trust calls for.
    sampled : int, optional
        How many attributes each owner tells in the reduce phase, drawn at random. By default K
        where a budget is split over them, one in a joint report, and all of them where nothing is
        promised.
    reduce_share : float, default 0.5
        Which part of the budget a private choice of attributes gets where the same owners are asked
        again to train. Disjoint groups, as in strict mode, share nothing.
    purpose : str, default ""
        What the study is for, in the analyst's words.

    Returns
    -------
    Study

    Raises
    ------
    ParameterError
        If a wish contradicts the trust, or a parameter its constraint.

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> schema = load_wdbc().schema
    >>> study = plan(schema, epsilon=4.0)
    >>> [(question.phase, question.form) for question in study.questions]
    [('reduce', 'joint'), ('train', 'joint'), ('test', 'joint')]
    >>> plan(schema, epsilon=4.0, train="oda")
    Traceback (most recent call last):
    supm._errors.ParameterError: train must be odp, pw or joint where the train phase is untrusted,
    got 'oda'. Change the trust, or the wish.
    """
    trust = Trust() if trust is None else trust
    trust = Trust.parse(trust) if isinstance(trust, str) else trust
    check_kind("schema", schema, Schema)
    check_kind("trust", trust, Trust)
    epsilon = EPSILON.check(epsilon)
    if mode not in ("strict", "faithful"):
        raise ParameterError("mode", "strict or faithful", mode)
    wishes = Wishes(schema, epsilon, trust, mode)
    known = wishes.names(attributes, keep)
    size = wishes.size(len(known) if known is not None else keep, classes, owners)
    if known is None and reduce is None and size[0] == len(schema.attributes):
        known = schema.names  # to choose all of them takes no reports
    reduction = wishes.reduction(reduce, known)
    forms = wishes.form("train", train), wishes.form("test", test)
    drawn = wishes.drawn(sampled, reduction)
    split = _Split(reduction, size[0], drawn, _SHARE.check(reduce_share))
    return Study(
        schema=schema,
        trust=trust,
        mode=mode,
        epsilon=epsilon,
        reduction=reduction,
        keep=size[0],
        classes=size[1],
        questions=_with_digits(wishes, split, forms),
        groups=_GROUPS if reduction == "rank" else (1,),
        attributes=known,
        purpose=purpose,
    )


class _Split(NamedTuple):
    """How attributes are chosen, and what that takes of the budget."""

    reduction: str
    keep: int
    sampled: int | None
    share: float


def _with_digits(
    wishes: Wishes, split: _Split, forms: tuple[str | None, str | None]
) -> tuple[Question, ...]:
    """Split the budget with enough digits, whatever the program around has set."""
    with localcontext(Context(prec=40)):
        return _questions(wishes, split, forms)


def _questions(
    wishes: Wishes, split: _Split, forms: tuple[str | None, str | None]
) -> tuple[Question, ...]:
    whole = Decimal(repr(wishes.epsilon))
    reduce_form = REDUCE_FORMS.get(split.reduction)
    # Disjoint groups have the whole budget each; the same people share it between two questions.
    first = whole if reduce_form == "joint" else _floor(whole * Decimal(repr(split.share)))
    rest = _floor(whole - first) if reduce_form in ("pw", "odp") else whole
    train, test = forms
    asked = []
    if reduce_form is not None:
        attributes = len(wishes.schema.attributes)
        default = {"joint": 1, "oda": attributes}.get(reduce_form, split.keep)
        asked.append(_question("reduce", reduce_form, first, split.sampled or default))
    group = 1 if split.reduction == "rank" else 0
    asked.append(_question("train", train or "odp", rest, None, group))
    if test is not None:
        # The papers keep a share for a label that a record to be classified does not have.
        paper = wishes.mode == "faithful" and test in ("odp", "pw")
        budget = _floor(whole * split.keep / (split.keep + 1)) if paper else whole
        asked.append(_question("test", test, budget, None))
    return tuple(asked)


def _question(
    phase: str, form: str, budget: Decimal, sampled: int | None, group: int = 0
) -> Question:
    return Question(
        phase=phase,
        form=form,
        epsilon=float(budget) if form in PRIVATE else None,
        steps=_STEPS.get(form),
        sampled=sampled,
        group=group,
    )


def _floor(amount: Decimal) -> Decimal:
    """Cut to 15 digits, which a float prints as they are."""
    return amount.quantize(Decimal(10) ** (amount.adjusted() - 14), rounding=ROUND_FLOOR)
