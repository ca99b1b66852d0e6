"""What plans would reach on made-up people, and budgets around a study's own: public priors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from supm._errors import ParameterError, SupmError
from supm._random import RandomSource, check_source, simulation
from supm._validation import Integers, check_kind
from supm.collection.evaluation import evaluate
from supm.collection.features import Floats, Ints
from supm.collection.planning import plan
from supm.learning import average
from supm.messages import Study
from supm.schema import Attribute, Continuous, Records, Schema

_FEWEST, _MOST, _UNKNOWN = 40, 20_000, 1000
_OWNERS: Final = Integers("owners", _FEWEST, 1 << 20, "More do not change a forecast much.")
_FACTORS: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
_REPEATS: Final = 3
_LARGEST: Final = 64.0
_SEED: Final = 1
_APART: Final = 0.5  # how far labels shift an attribute that goes with them, in deviations
_SHARED: Final = 0.3  # how much of an attribute's spread all attributes have in common


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The accuracy that a plan reached on made-up people.

    Parameters
    ----------
    answered : float
        Accuracy of the answers to the reports of the test phase.
    on_device : float
        Accuracy of the same models where the record does not leave its device.
    majority : float
        Accuracy of always answering the commonest label.
    owners, repeats : int
        How many people were made up, and how often.
    """

    answered: float
    on_device: float
    majority: float
    owners: int
    repeats: int


def forecast(study: Study, *, owners: int, source: RandomSource, repeats: int = 3) -> Forecast:
    """Try a plan on people who were made up from its schema alone.

    Every second attribute goes with the label, all of them with each other, and the labels are
    equally common. Real data may be kinder or harder; two plans for the same schema can be compared
    by it without looking at anybody.

    Parameters
    ----------
    study : Study
        The plan; its target has labels.
    owners : int
        How many people are expected; 20,000 are made up at most.
    source : RandomSource
        Where the people and their reports come from.
    repeats : int, default 3
        How often.

    Returns
    -------
    Forecast

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> study = plan(load_wdbc().schema, epsilon=4.0, owners=2000)
    >>> found = forecast(study, owners=2000, source=simulation(1), repeats=1)
    >>> found.on_device > found.majority + 0.2
    True
    """
    check_kind("study", study, Study)
    if study.numeric:
        raise ParameterError("target", "a list of classes for a forecast", "a number")
    owners = min(_OWNERS.check(owners), _MOST)
    check_source(source)
    found = []
    for number in range(Integers("repeats", 1, 1000).check(repeats)):
        drawn = source.child(f"forecast {number}")
        people = made_up_people(study.schema, owners, drawn.child("people"))
        found.append(evaluate(study, people, source=drawn, folds=5, repeats=1))
    answered = average([each.answered for each in found])
    return Forecast(
        answered=answered.headline,
        on_device=average([each.on_device for each in found]).headline,
        majority=answered.of_constant,
        owners=owners,
        repeats=repeats,
    )


def made_up_people(schema: Schema, owners: int, source: RandomSource) -> Records:
    """Return records of people who do not exist, from a schema alone."""
    labels = len(getattr(schema.target, "values", ()))
    target = source.below(labels, owners).astype(np.int64)
    common = _normal(owners, source)
    columns = {}
    for place, attribute in enumerate(schema.attributes):
        own = _normal(owners, source)
        level = np.sqrt(_SHARED) * common + np.sqrt(1.0 - _SHARED) * own
        if place % 2 == 0:
            # Which labels lie high differs from attribute to attribute.
            turned = (target + place // 2) % labels
            level += _APART * (2.0 * turned / max(labels - 1, 1) - 1.0)
        columns[attribute.name] = _column(attribute, level)
    return Records(attributes=schema.attributes, columns=columns, target=target, rows=owners)


def _column(attribute: Attribute, level: Floats) -> NDArray[Any]:
    """Return values of an attribute at such levels: its bounds are two deviations out."""
    if isinstance(attribute, Continuous):
        return attribute.unscaled(level / 2.0)
    values = len(attribute.values)
    places: Ints = np.floor((level / 2.0 + 1.0) / 2.0 * values).astype(np.int64)
    return np.clip(places, 0, values - 1)


def _normal(count: int, source: RandomSource) -> Floats:
    words = source.below(1 << 53, count).astype(np.float64)
    return np.asarray(ndtri((words + 0.5) / (1 << 53)))


def round_owners(expected: int) -> int:
    """Return a number of people to make up: two digits, within what a forecast takes.

    Examples
    --------
    >>> round_owners(0), round_owners(1234), round_owners(10**7)
    (1000, 1200, 20000)
    """
    return int(float(f"{min(max(expected or _UNKNOWN, _FEWEST), _MOST):.1e}"))


def accuracy_by_budget(study: Study, owners: int) -> dict[str, Any]:
    """Return the accuracy that budgets around a study's own would reach on made-up people.

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> study = plan(load_wdbc().schema, epsilon=4.0, attributes=["mean radius"])
    >>> found = accuracy_by_budget(study, 100)
    >>> [point["epsilon"] for point in found["points"]]
    [1.0, 2.0, 4.0, 8.0, 16.0]
    """
    told: dict[str, Any] = {
        "owners": owners,
        "repeats": _REPEATS,
        "epsilon": study.epsilon,
        "device": study.question("test") is None,
        "note": "",
        "points": [],
    }
    if study.numeric:
        told["note"] = "There is no forecast where the target is a number."
        return told
    budgets = [study.epsilon * factor for factor in _FACTORS]
    tried = [each for each in budgets if each <= max(_LARGEST, study.epsilon)]
    points = [_point(study, epsilon, owners) for epsilon in tried]
    told["points"] = [point for point in points if point is not None]
    if not told["points"]:
        told["note"] = "A forecast cannot be made for this study."
    return told


def _point(study: Study, epsilon: float, owners: int) -> dict[str, float] | None:
    try:
        tried = study if epsilon == study.epsilon else _other(study, epsilon, owners)
        found = forecast(tried, owners=owners, source=simulation(_SEED), repeats=_REPEATS)
    except SupmError:
        # Some budgets allow no such plan; the others are shown.
        return None
    return {
        "epsilon": epsilon,
        "answered": found.answered,
        "on_device": found.on_device,
        "majority": found.majority,
    }


def _other(study: Study, epsilon: float, owners: int) -> Study:
    """Return the plan of another budget, with everything else that was chosen for this one."""
    return plan(study.schema, **{**_chosen(study, owners), "epsilon": epsilon})


def _chosen(study: Study, owners: int) -> dict[str, Any]:
    """Return the wishes that make this study; what the planner's rules give anyway is none."""
    wishes: dict[str, Any] = {
        "epsilon": study.epsilon,
        "trust": study.trust,
        "mode": study.mode,
        "owners": owners,
        "attributes": study.attributes,
    }
    # Forms twice, as the rule of each depends on the others; then numbers, which follow from all.
    for name, held in [*_FORMS.items(), *_FORMS.items(), *_NUMBERS.items()]:
        own = held(study)
        if own is not None and own != held(plan(study.schema, **wishes)):
            wishes[name] = own
    return wishes


def _form(phase: str) -> Callable[[Study], str | None]:
    return lambda study: getattr(study.question(phase), "form", None)


def _told(phase: str) -> Callable[[Study], int | None]:
    return lambda study: getattr(study.question(phase), "sampled", None)


def _reduction(study: Study) -> str | None:
    return None if study.reduction == "known" else study.reduction


def _share(study: Study) -> float | None:
    """Return which part of the budget the choice of attributes gets where it is shared."""
    question = study.question("reduce")
    if question is None or question.epsilon is None or len(study.groups) > 1:
        return None
    return question.epsilon / study.epsilon


_FORMS: Final[dict[str, Callable[[Study], str | None]]] = {
    "reduce": _reduction,
    "train": _form("train"),
    "test": _form("test"),
}
_NUMBERS: Final[dict[str, Callable[[Study], float | None]]] = {
    "classes": lambda study: study.classes,
    "keep": lambda study: study.keep,
    "sampled": _told("reduce"),
    "told": _told("train"),
    "reduce_share": _share,
}
