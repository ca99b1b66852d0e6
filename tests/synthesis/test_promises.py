"""What an archive, a saved synthesizer and models state is never less than what was spent."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from supm import secure, simulation
from supm._errors import MessageError, ParameterError, SchemaError
from supm.audit.channel import exact_epsilon
from supm.estimators import CopulaSynthesizer, NoiseAwareClassifier, NoiseAwareRegressor
from supm.mechanisms import ContinuousLaplace
from supm.mechanisms import GeneralizedRandomizedResponse as Response
from supm.schema import Categorical, Continuous
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn
from supm.synthesis.collecting import Collection

TWO = Categorical("ill", values=("no", "yes"))
THREE = Categorical("town", values=("a", "b", "c"))
NUMBER = Continuous("age", low=0, high=100)


@pytest.mark.parametrize("budget", [0.5, 1.0, 4.0, 20.0, 60.0, 72.0, 80.0])
def test_a_schema_states_no_less_than_a_collection_spends(budget: float) -> None:
    made = Collection(attributes=(TWO, THREE), asked=2, budget=budget)
    spent = exact_epsilon(made.exact_channel())
    assert spent <= made.schema().epsilon <= budget
    # Floats hold a class of two with an epsilon of 36.7 at most.
    assert spent > 0.99 * min(budget, 72.0)


@pytest.mark.parametrize("noise", ["laplace", "piecewise"])
@pytest.mark.parametrize("budget", [0.1, 1.0, 7.0, 30.0])
def test_numbers_state_no_less_than_they_spend(noise: Any, budget: float) -> None:
    made = Collection(attributes=(NUMBER, TWO), asked=2, budget=budget, noise=noise)
    stated = [each.mechanism.epsilon for each in made.schema().columns]
    spent = [each.epsilon for each in made.parts]
    assert all(told >= true for told, true in zip(stated, spent, strict=True))
    assert made.epsilon <= made.schema().epsilon <= budget


def archive(source: Any) -> Archive:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=2.0)
    label = ClassColumn("ill", ("no", "yes"), Response.for_epsilon(size=2, epsilon=2.0))
    schema = ArchiveSchema(
        columns=(NumberColumn("a", law), NumberColumn("b", law), label), target="ill"
    )
    values = np.linspace(0, 1, 400)
    labels = np.where(values > 0.5, "yes", "no")
    return Archive.noised({"a": values, "b": values[::-1], "ill": labels}, schema, source)


def numbers(source: Any) -> Archive:
    law = ContinuousLaplace.for_epsilon(low=0, high=1, epsilon=2.0)
    schema = ArchiveSchema(columns=(NumberColumn("a", law), NumberColumn("b", law)), target="b")
    values = np.linspace(0, 1, 400)
    return Archive.noised({"a": values, "b": values}, schema, source)


@pytest.mark.parametrize(("source", "marked"), [(simulation(1), True), (secure(), False)])
def test_noise_from_a_seed_is_called_a_simulation(source: Any, marked: bool) -> None:  # noqa: FBT001  a case
    held = archive(source)
    assert held.simulation is marked
    assert CopulaSynthesizer(schema=held.schema).fit(held).statement_.simulation is marked
    assert NoiseAwareClassifier(schema=held.schema).fit(held).statement_.simulation is marked
    told = numbers(source)
    assert NoiseAwareRegressor(schema=told.schema).fit(told).statement_.simulation is marked


def test_reports_from_a_seed_make_a_simulated_archive() -> None:
    made = Collection(attributes=(TWO, THREE), asked=2, budget=2.0)
    rows = np.zeros((5, 2), dtype=np.int64)
    assert made.archive(made.randomize(rows, simulation(1))).simulation
    assert not made.archive(made.randomize(rows, secure())).simulation


def test_a_saved_synthesizer_cannot_promise_more_than_its_schema() -> None:
    held = archive(simulation(1))
    fitted = CopulaSynthesizer(schema=held.schema).fit(held)
    text = fitted.to_json()
    assert CopulaSynthesizer.from_json(text).statement_ == fitted.statement_
    form = json.loads(text)
    form["statement"]["total"] = {"type": "pure-ldp", "epsilon": 0.001}
    with pytest.raises(MessageError, match="no stronger than the promise of each part"):
        CopulaSynthesizer.from_json(json.dumps(form))
    for part in form["statement"]["parts"]:
        part["guarantee"] = {"type": "pure-ldp", "epsilon": 0.001}
    with pytest.raises(MessageError, match="states something else than its schema promises"):
        CopulaSynthesizer.from_json(json.dumps(form))


@pytest.mark.parametrize("low", ["0", None, [], {}])
def test_bounds_that_are_no_numbers_are_one_sentence(low: Any) -> None:
    with pytest.raises(ParameterError, match="low must be a number"):
        ContinuousLaplace.for_epsilon(low=low, high=1.0, epsilon=1.0)
    column = {"name": "a", "kind": "number", "low": low, "high": 1}
    form = {
        "version": 1,
        "target": None,
        "columns": [column | {"mechanism": "laplace", "epsilon": 2}],
    }
    with pytest.raises(SchemaError):
        ArchiveSchema.from_json(json.dumps(form))
