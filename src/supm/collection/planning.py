"""The plan: from schema, budget and trust alone to a study. Private data have no say in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from os import PathLike
from typing import Any, Final

from supm._errors import ParameterError
from supm._extensions import installed, load, name_of
from supm._validation import EPSILON, Integers, Reals, check_kind
from supm.collection.plan_layout import attributes_told, choose_kept, choose_sampled
from supm.collection.plan_wishes import Forms, PlanChoice, PlanWishes, questions
from supm.collection.reduction import Reduction
from supm.learning import Learner
from supm.mechanisms import FrequencyRandomizer
from supm.messages import FORMS, REDUCTIONS, Study, Trust
from supm.owner.joint import own_randomizer
from supm.schema import Schema, as_schema
from supm.schema.discretizer import class_count

_SHARE: Final = Reals("reduce_share", 0.01, 0.99)
_OWNERS: Final = Integers("owners", 1, 1 << 40)


def plan(  # noqa: PLR0913  each is a wish that a user may pin, given by name
    schema: Schema | str | PathLike[str],
    *,
    epsilon: float,
    trust: Trust | str | None = None,
    mode: str = "strict",
    owners: int | None = None,
    attributes: Sequence[str] | None = None,
    keep: int | None = None,
    classes: int | None = None,
    reduce: str | Reduction | None = None,
    train: str | type[FrequencyRandomizer] | None = None,
    test: str | None = None,
    sampled: int | None = None,
    told: int | None = None,
    reduce_share: float = 0.5,
    purpose: str = "",
) -> Study:
    """Return the study that a budget and a trust call for.

    In strict mode every owner reports once, with the whole budget: a few attributes, drawn at
    random, and the target as one symbol. Where many owners are expected, a first group shows which
    classes belong together, and a second trains on those. `explain` says what was chosen, and why.

    Parameters
    ----------
    schema : Schema or path-like
        What is public about a record, or the file that holds it.
    epsilon : float
        The most that any owner spends: in total for a training owner, in total for a test owner.
    trust : Trust or str, optional
        Where each phase happens, as a value or as letters ("u,u,d"); untrusted by default, with
        the device for a test on it.
    mode : {"strict", "faithful"}, default "strict"
        Our protocol, or that of papers 000 and 001, corrected.
    owners : int, optional
        How many owners are expected; more of them allow a first group that looks for classes.
    attributes : sequence of str, optional
        The attributes to use, where they are known: then none are searched for.
    keep, classes : int, optional
        How many attributes are kept (K) and their classes (L); by a public rule where not given.
    reduce : {"rand", "wa", "pw", "waldp", "rank", "regroup"}, optional
        How attributes are chosen, or classes merged. By default: from sampled reports in strict
        mode, where it pays; at random in faithful mode; and by unprotected classes where the
        environment is trusted. An object of one's own is asked what it ``asks``, and chooses when
        it is given to `reduce_study`.
    train, test : {"odp", "oda", "pw", "raw", "joint", "sample"}, optional
        What leaves the owners; ``test`` may be "answer" or "device", and ``train`` a randomizer of
        one's own, by its class or name, which tells all kept attributes as one symbol. By default
        what the trust calls for.
    sampled : int, optional
        How many attributes each owner tells in the reduce phase, drawn at random. By default as
        many as tell most where they are one symbol, K where a budget is split over them, and all of
        them where nothing is promised.
    told : int, optional
        How many attributes each owner tells in the train phase, where they are drawn at random; by
        default as many as tell most.
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
    >>> [(question.phase, question.form, question.sampled) for question in study.questions]
    [('train', 'sample', 2), ('test', 'answer', None)]
    >>> plan(schema, epsilon=4.0, train="oda")
    Traceback (most recent call last):
    supm._errors.ParameterError: train must be one of odp, joint, sample, pw where the train phase
    is untrusted, got 'oda'. Change the trust, or the wish.
    """
    if trust is None:
        trust = "u,u,d" if test == "device" else "u,u,u"
    trust = Trust.parse(trust) if isinstance(trust, str) else trust
    schema = as_schema(schema)
    check_kind("schema", schema, Schema)
    check_kind("trust", trust, Trust)
    epsilon = EPSILON.check(epsilon)
    if mode not in ("strict", "faithful"):
        raise ParameterError("mode", "strict or faithful", mode)
    if mode == "faithful" and schema.task == "continuous":
        rule = f"strict where the target is a number, as {schema.target.name!r} is"
        raise ParameterError("mode", rule, mode)
    if owners is not None:
        owners = _OWNERS.check(owners)
    asks = own_reduction(reduce)
    reduce = asks if asks is None or isinstance(asks, str) else asks.asks
    wishes = PlanWishes(
        schema=schema,
        epsilon=epsilon,
        trust=trust,
        mode=mode,
        owners=owners,
        keep=keep,
        classes=classes,
        sampled=sampled,
    )
    known = wishes.names(attributes)
    train, mechanism = own_form(train, epsilon)
    forms = wishes.form("train", train), wishes.form("test", test)
    by_samples = forms[0] == "sample"
    choice = (choose_sampled if by_samples else choose_kept)(wishes, known, reduce)
    if by_samples and choice.fits_whole and train is None and told is None and test != "sample":
        forms = "joint", forms[1]
    if test is None and forms[1] == "answer" and forms[0] in ("pw", "raw"):
        forms = forms[0], "pw"  # a model about numbers cannot be followed by classes
    leaving = Forms(
        train=forms[0] or "odp",
        train_told=_told(told, choice, forms[0]),
        test=forms[1],
        test_told=_told_in_test(wishes, choice, forms[1]),
        mechanism=mechanism,
    )
    return Study(
        schema=schema,
        trust=trust,
        mode=mode,
        epsilon=epsilon,
        reduction=choice.reduction,
        keep=choice.keep,
        classes=choice.classes,
        questions=questions(wishes, choice, leaving, _SHARE.check(reduce_share)),
        groups=choice.groups,
        attributes=choice.known,
        purpose=purpose,
    )


def _told(wish: int | None, choice: PlanChoice, form: str | None) -> int | None:
    if form != "sample":
        if wish is not None:
            rule = "left out where all kept attributes are told"
            raise ParameterError("told", rule, wish)
        return None
    return choice.train_told if wish is None else Integers("told", 1, choice.keep).check(wish)


def _told_in_test(wishes: PlanWishes, choice: PlanChoice, form: str | None) -> int | None:
    """Return how many attributes a record to be classified tells: it has no label to tell."""
    if form != "sample":
        return None
    merged = choice.reduction == "regroup"
    asked = wishes.asked(choice.known)
    sizes = [2 if merged else class_count(each, choice.classes) for each in asked]
    return attributes_told(wishes.epsilon, 1, sizes, choice.keep)


def own_form(wish: Any, epsilon: float) -> tuple[str | None, str | None]:  # noqa: ANN401  a name or a class
    """Return what is asked in the train phase, and the name of the randomizer if it is one's own.

    Examples
    --------
    >>> own_form("odp", 1.0)
    ('odp', None)
    """
    if wish is None or _only_a_word("randomizers", wish, FORMS):
        return wish, None
    found = load("randomizers", wish)
    if not hasattr(found, "for_epsilon"):
        forms = f"one of {', '.join(FORMS)}, or a randomizer's class with for_epsilon"
        raise ParameterError("train", forms, type(found).__name__)
    name = name_of("randomizers", found)
    own_randomizer(name, 2, epsilon)
    return "joint", name


def own_learner(given: Learner | str | None) -> Learner | None:
    """Return a learner as it is, or the one that a name leads to."""
    if given is None:
        return None
    learner: Learner = _made(load("learners", given))
    if not hasattr(learner, "fit"):
        raise ParameterError("learner", "an object with fit", type(learner).__name__)
    return learner


def own_reduction(given: Reduction | str | None) -> Reduction | str | None:
    """Return a reduction of one's own, or the word of one that a study knows."""
    if given is None or _only_a_word("reductions", given, REDUCTIONS):
        return given
    reduction: Reduction = _made(load("reductions", given))
    asks = getattr(reduction, "asks", None)
    if asks not in set(REDUCTIONS) - {"known", "regroup"} or not hasattr(reduction, "choose"):
        rule = f"one of {', '.join(REDUCTIONS)}, or an object with asks and choose"
        raise ParameterError("reduce", rule, type(reduction).__name__)
    return reduction


def _only_a_word(kind: str, wish: Any, ours: Collection[str]) -> bool:  # noqa: ANN401  a name or an object
    """Say whether a wish is a word of ours, or one that leads nowhere.

    What is installed is read from the disk, so it is asked last.
    """
    if not isinstance(wish, str) or ":" in wish:
        return False
    return wish in ours or wish not in installed(kind)


def _made(found: Any) -> Any:  # noqa: ANN401  an object, or a class that needs no arguments
    return found() if isinstance(found, type) else found
