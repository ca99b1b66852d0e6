"""What a plan would reach on made-up people: public priors in place of data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from supm._errors import ParameterError
from supm._random import RandomSource, check_source
from supm._validation import Integers, check_kind
from supm.collection.evaluation import evaluate
from supm.learning import average
from supm.messages import Study
from supm.schema import Attribute, Continuous, Records, Schema

_OWNERS: Final = Integers("owners", 40, 1 << 20, "More do not change a forecast much.")
_MOST: Final = 20_000
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


def _column(attribute: Attribute, level: NDArray[np.float64]) -> NDArray[Any]:
    """Return values of an attribute at such levels: its bounds are two deviations out."""
    if isinstance(attribute, Continuous):
        return attribute.unscaled(level / 2.0)
    values = len(attribute.values)
    places: NDArray[np.int64] = np.floor((level / 2.0 + 1.0) / 2.0 * values).astype(np.int64)
    return np.clip(places, 0, values - 1)


def _normal(count: int, source: RandomSource) -> NDArray[np.float64]:
    words = source.below(1 << 53, count).astype(np.float64)
    drawn: NDArray[np.float64] = ndtri((words + 0.5) / (1 << 53))
    return drawn
