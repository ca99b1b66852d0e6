"""Small studies and the records that can occur in them: what the audit of studies goes through."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Final

from supm._validation import Integers
from supm.collection import plan
from supm.messages import REDUCE_FORMS, Study, Trust
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Schema

__all__ = ["example_records", "small_studies"]

_EXAMPLES: Final = Integers(
    "example records", 1, 1 << 12, "Audit a study of fewer attributes, classes and labels."
)
_REDUCTIONS: Final = ("rand", *REDUCE_FORMS)
_PAIRS: Final = (*product(("odp", "oda"), repeat=2), ("pw", "pw"), ("joint", "joint"))


def small_studies(epsilon: float = 2.0) -> Mapping[str, Study]:
    """Return small studies by name: every reduction with every pair of train and test forms.

    Parameters
    ----------
    epsilon : float, default 2
        The budget of each owner.

    Returns
    -------
    mapping of str to Study
        Named by reduction, train form and test form. Every phase is as untrusted as its form
        allows.

    Examples
    --------
    >>> [name for name in small_studies() if name.startswith("wa")][:4]
    ['wa, odp, odp', 'wa, odp, oda', 'wa, oda, odp', 'wa, oda, oda']
    """
    return {
        f"{reduction}, {train}, {test}": _small(reduction, train, test, epsilon)
        for reduction in _REDUCTIONS
        for train, test in _PAIRS
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
    schema = Schema(
        attributes=(
            Continuous("pulse", low=0, high=200),
            Ordinal("stage", values=(1, 2, 3), missing="class"),
        ),
        target=Categorical("ill", values=("no", "yes")),
    )
    trusted = {True: "trusted", False: "untrusted"}
    study = plan(
        schema,
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
    # The least grid that has a middle: the arithmetic is that of any other.
    shrunk = (replace(each, steps=each.steps and 2) for each in study.questions)
    return replace(study, questions=tuple(shrunk))
