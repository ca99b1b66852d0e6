"""The joint interview: one cell number for the whole answer, with the whole budget."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from supm import secure, simulation
from supm._errors import ParameterError
from supm.audit import exact_epsilon
from supm.mechanisms import SubsetSelection
from supm.owner import JointInterview
from supm.schema import Categorical, Continuous, Ordinal, Records, Schema, discretize

SCHEMA = Schema(
    attributes=(
        Continuous("pulse", low=0, high=200),
        Ordinal("stage", values=(1, 2, 3), missing="class"),
    ),
    target=Categorical("ill", values=("no", "yes", "unknown")),
)
CUTS = tuple(discretize(attribute, 3) for attribute in SCHEMA.attributes)


def make(*, labels: int | None = 3, epsilon: float = 1.0) -> JointInterview:
    cells = 3 * 4 * (labels or 1)
    randomizer = SubsetSelection.for_epsilon(size=cells, epsilon=epsilon)
    return JointInterview(discretizers=CUTS, labels=labels, randomizer=randomizer)


def everybody() -> Records:
    held = product((0.0, 100.0, 200.0), (1, 2, 3, None), ("no", "yes", "unknown"))
    table: list[dict[str, Any]] = [
        {"pulse": pulse, "stage": stage, "ill": ill} for pulse, stage, ill in held
    ]
    return SCHEMA.read(table)


def test_every_combination_has_a_cell_of_its_own_and_the_label_runs_fastest() -> None:
    assert make().encode(everybody())[:, 0].tolist() == list(range(36))
    assert make(labels=None).encode(everybody())[::3, 0].tolist() == list(range(12))


def test_the_sizes_are_those_of_the_classes_and_then_of_the_labels() -> None:
    assert make().sizes == (3, 4, 3)
    assert make(labels=None).sizes == (3, 4)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0])
def test_the_whole_budget_goes_to_the_one_symbol(epsilon: float) -> None:
    asked = make(labels=None, epsilon=epsilon)
    exact = exact_epsilon(asked.exact_channel())
    assert exact <= asked.epsilon <= epsilon
    assert exact == pytest.approx(epsilon, rel=1e-12)


def test_what_is_told_is_a_set_in_increasing_order() -> None:
    asked = make(epsilon=1.0)
    reports = asked.randomize(asked.encode(everybody()), simulation(1))
    assert reports.symbols.shape == (36, asked.width)
    assert asked.width > 1
    assert asked.accepts(reports.symbols).all()
    assert not asked.accepts(reports.symbols[:, ::-1]).any()
    assert not asked.accepts(np.repeat(reports.symbols[:, :1], asked.width, axis=1)).any()


def test_reports_say_whether_their_randomness_came_from_a_seed() -> None:
    asked = make()
    inputs = asked.encode(everybody())
    assert asked.randomize(inputs, simulation(1)).simulation
    assert not asked.randomize(inputs, secure()).simulation


def test_a_record_to_be_classified_needs_no_label() -> None:
    records = SCHEMA.read({"pulse": [10.0], "stage": [3]}, labelled=False)
    assert make(labels=None).encode(records).tolist() == [[2]]
    with pytest.raises(ParameterError, match="labelled for this phase"):
        make().encode(records)
