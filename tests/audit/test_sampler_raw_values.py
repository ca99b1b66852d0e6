from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm._random import RandomSource, simulation
from supm.audit import check_raw_values
from supm.mechanisms import OrderedDiscretePerturbation, Reports
from supm.schema import Attribute, Categorical, Continuous, Ordinal

ATTRIBUTES: list[Attribute] = [
    Continuous("age", low=0, high=100),
    Continuous("age", low=0, high=100, missing="class"),
    Ordinal("stage", values=("I", "II", "III", "IV", "V")),
    Categorical("ward", values=("north", "east", "south"), missing="class"),
]


@pytest.mark.parametrize("attribute", ATTRIBUTES)
@pytest.mark.parametrize("classes", [2, 4, 5])
def test_raw_values_of_every_kind_pass(attribute: Attribute, classes: int) -> None:
    odp = OrderedDiscretePerturbation.for_epsilon(attribute=attribute, classes=classes, epsilon=1.0)
    assert check_raw_values(odp, simulation(1), draws=2000).passed


def test_a_maximum_that_is_reported_as_another_class_is_found() -> None:
    class Wrapping(OrderedDiscretePerturbation):
        """The papers' modulus: the last class becomes the first."""

        def randomize(self, values: Any, source: RandomSource) -> Reports:
            at_top = np.asarray(values) >= 100
            return super().randomize(np.where(at_top, 0.0, values), source)

    odp = Wrapping.for_epsilon(attribute=ATTRIBUTES[0], classes=4, epsilon=2.0)
    assert not check_raw_values(odp, simulation(1), draws=4000).passed
