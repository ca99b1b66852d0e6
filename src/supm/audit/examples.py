"""Studies to audit: small ones whose channels can be written down, large ones, and their records.

What is learned between two phases is made up: merged classes, and a model whose answer is told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm._validation import Integers
from supm.collection import plan
from supm.messages import CellAnswers, Rule, Scorecard, Study, Trust
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Schema


def completed(study: Study) -> Study:
    """Return a study as it is in its last phase, with public stand-ins for what is learned.

    Parameters
    ----------
    study : Study
        In any phase.

    Returns
    -------
    Study
        The first ``keep`` attributes stand for the chosen ones, the lower and the upper half of the
        classes for merged ones, and a model that goes by the mean class for a trained one. What is
        there already stays.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.schema import Categorical, Continuous, Schema
    >>> schema = Schema(
    ...     attributes=(Continuous("age", low=0, high=100),),
    ...     target=Categorical("ill", values=("no", "yes")),
    ... )
    >>> completed(plan(schema, epsilon=1.0)).rule
    Scorecard(attributes=1, outputs=2)
    """
    if study.attributes is None:
        chosen = study.schema.names[: study.keep]
        study = study.reduced(chosen, _merges(study) if study.reduction == "regroup" else None)
    test = study.question("test")
    if test is None or test.form != "answer" or study.rule is not None:
        return study
    return study.with_rule(_rule(study))


def _merges(study: Study) -> tuple[tuple[int, ...], ...]:
    sizes = [each.size for each in study.discretizers("reduce")][: study.keep]
    return tuple(tuple(int(2 * place >= size) for place in range(size)) for size in sizes)


def _rule(study: Study) -> Rule:
    sizes = tuple(each.size for each in study.discretizers("test"))
    train = study.question("train")
    card = _scorecard(sizes, study.labels, numeric=study.numeric)
    if train is None or train.form != "joint":
        return card
    cells = np.array(list(product(*map(range, sizes))))
    return CellAnswers(answers=card.predict(cells, sizes))


def _scorecard(sizes: tuple[int, ...], labels: int, *, numeric: bool) -> Scorecard:
    """Return a card by which the label, or the number, is as far up as the classes are."""
    shares = [_shares(size) / len(sizes) for size in sizes]
    if numeric:
        points = tuple(2.0 * share[:, np.newaxis] for share in shares)
        return Scorecard(points=points, offsets=np.array([-1.0]))
    # The label nearest to the mean is that of the most points: twice the product, less the square.
    numbers = np.arange(labels, dtype=np.float64)
    points = tuple(2.0 * (labels - 1) * np.outer(share, numbers) for share in shares)
    return Scorecard(points=points, offsets=-(numbers**2))


def _shares(size: int) -> NDArray[np.float64]:
    return np.arange(size) / max(1, size - 1)


_EXAMPLES: Final = Integers(
    "example records", 1, 1 << 12, "Audit a study of fewer attributes, classes and labels."
)
_REDUCTIONS: Final = ("rand", "wa", "pw", "waldp", "rank")
_PAIRS: Final = (*product(("odp", "oda"), repeat=2), ("pw", "pw"), ("joint", "joint"))
_PULSE: Final = Continuous("pulse", low=0, high=200)
_STAGE: Final = Ordinal("stage", values=(1, 2, 3), missing="class")
_SMOKES: Final = Categorical("smokes", values=("no", "yes"))
_ILL: Final = Categorical("ill", values=("no", "yes"))
_STAY: Final = Continuous("stay", low=0, high=30)
_MANY: Final = 30


def small_studies(epsilon: float = 2.0) -> Mapping[str, Study]:
    """Return small studies by name: those of the papers, and those that strict mode plans.

    Parameters
    ----------
    epsilon : float, default 2
        The budget of each owner.

    Returns
    -------
    mapping of str to Study
        Named by reduction, train form and test form: every reduction that chooses attributes with
        every pair of forms that tell all of them, then the studies in which a few attributes are
        drawn or a model's answer is told. Every phase is as untrusted as its form allows.

    Examples
    --------
    >>> [name for name in small_studies() if name.startswith("wa")][:4]
    ['wa, odp, odp', 'wa, odp, oda', 'wa, oda, odp', 'wa, oda, oda']
    """
    told_whole = {
        f"{reduction}, {train}, {test}": _small(reduction, train, test, epsilon)
        for reduction in _REDUCTIONS
        for train, test in _PAIRS
    }
    return told_whole | {name: _shrunk(each) for name, each in _strict(epsilon).items()}


def large_studies(epsilon: float = 2.0) -> Mapping[str, Study]:
    """Return studies of thirty attributes, whose channels are too large to write down.

    Parameters
    ----------
    epsilon : float, default 2
        The budget of each owner.

    Returns
    -------
    mapping of str to Study
        Named as small ones are.

    Examples
    --------
    >>> list(large_studies())
    ['known, sample, answer', 'regroup, sample, answer', 'known, sample, answer of a number']
    """
    attributes = tuple(Continuous(f"x{place}", low=0, high=1) for place in range(_MANY))
    ill = Schema(attributes=attributes, target=_ILL)
    stay = Schema(attributes=attributes, target=_STAY)
    return {
        "known, sample, answer": plan(ill, epsilon=epsilon, classes=4, told=2),
        "regroup, sample, answer": plan(
            ill, epsilon=epsilon, classes=4, reduce="regroup", sampled=2, told=2
        ),
        "known, sample, answer of a number": plan(stay, epsilon=epsilon, classes=4, told=2),
    }


def _strict(epsilon: float) -> dict[str, Study]:
    """Return the studies that strict mode plans: one report of each owner, with all of it."""
    two = Schema(attributes=(_PULSE, _STAGE), target=_ILL)
    mixed = Schema(attributes=(_PULSE, _STAGE, _SMOKES), target=_ILL)
    stay = Schema(attributes=(_PULSE, _STAGE), target=_STAY)
    return {
        "known, sample, answer": plan(two, epsilon=epsilon, classes=2),
        "known, sample, sample": plan(two, epsilon=epsilon, classes=2, told=1, test="sample"),
        "known, sample, answer of mixed sizes": plan(mixed, epsilon=epsilon, classes=3, told=2),
        "known, joint, answer": plan(
            two, epsilon=epsilon, classes=2, attributes=two.names, train="joint"
        ),
        "rank, sample, answer": plan(
            mixed, epsilon=epsilon, classes=2, reduce="rank", keep=2, sampled=1, told=1
        ),
        "regroup, sample, answer": plan(
            two, epsilon=epsilon, classes=4, reduce="regroup", sampled=1, told=2
        ),
        "known, sample, answer of a number": plan(stay, epsilon=epsilon, classes=2, told=1),
        "regroup, sample, answer of a number": plan(
            stay, epsilon=epsilon, classes=2, reduce="regroup", sampled=1, told=1
        ),
    }


def example_records(study: Study) -> list[dict[str, object]]:
    """Return public records that hold every class, every label, the bounds and missing values.

    Parameters
    ----------
    study : Study
        The study; its schema is small.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> example_records(small_studies()["rand, odp, odp"])[0]
    {'pulse': 0.0, 'stage': 1, 'ill': 'no'}
    """
    fields = (*study.schema.attributes, study.schema.target)
    values = [_examples(attribute, study.classes) for attribute in fields]
    _EXAMPLES.check(math.prod(len(each) for each in values))
    names = [attribute.name for attribute in fields]
    return [dict(zip(names, held, strict=True)) for held in product(*values)]


def _examples(attribute: Attribute, classes: int) -> list[object]:
    held: list[object]
    if isinstance(attribute, Continuous):
        low, high = attribute.low, attribute.high
        inner = ((place + 0.5) / classes for place in range(classes))
        held = [low, *(low * (1 - share) + high * share for share in inner), high]
    else:
        held = list(attribute.values)
    return [*held, None] if attribute.missing == "class" else held


def _small(reduction: str, train: str, test: str, epsilon: float) -> Study:
    trusted = {True: "trusted", False: "untrusted"}
    study = plan(
        Schema(attributes=(_PULSE, _STAGE), target=_ILL),
        epsilon=epsilon,
        mode="strict" if "joint" in (train, test) else "faithful",
        trust=Trust(
            reduce=trusted[reduction == "wa"],
            train=trusted[train == "oda"],
            test=trusted[test == "oda"],
        ),
        keep=1,
        classes=2,
        reduce=reduction,
        train=train,
        test=test,
    )
    return _shrunk(study)


def _shrunk(study: Study) -> Study:
    """Give numbers the least grid that has a middle: the arithmetic is that of any other."""
    shrunk = (replace(each, steps=each.steps and 2) for each in study.questions)
    return replace(study, questions=tuple(shrunk))
