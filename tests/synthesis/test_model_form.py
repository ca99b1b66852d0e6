"""A model that a stranger wrote: anything that learning cannot have made is refused when read."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from supm import simulation
from supm._errors import MessageError
from supm.estimators import CopulaSynthesizer
from supm.mechanisms import ContinuousLaplace, GeneralizedRandomizedResponse
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn
from supm.synthesis.saved import model_from_form, model_to_form
from supm.synthesis.synthetic_model import learn_model

HUGE = 10**400
ROWS = 600


def _nominal(name: str, *values: str) -> ClassColumn:
    return ClassColumn(
        name, values, GeneralizedRandomizedResponse.for_epsilon(size=len(values), epsilon=4.0)
    )


SCHEMA = ArchiveSchema(
    columns=(
        NumberColumn("age", ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=4.0)),
        NumberColumn("pay", ContinuousLaplace.for_epsilon(low=0, high=10, epsilon=4.0)),
        _nominal("town", "x", "y", "z"),
        _nominal("street", "left", "right"),
        _nominal("ill", "no", "yes"),
    ),
    target="ill",
)


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    share = np.linspace(0, 1, ROWS)
    low = np.arange(ROWS) % 2 == 0
    table = {
        "age": 100 * share,
        "pay": 10 * share,
        "town": np.where(share < 0.3, "x", np.where(share < 0.6, "y", "z")),
        "street": np.where(share < 0.3, "left", "right"),
        "ill": np.where(low, "no", "yes"),
    }
    form = model_to_form(learn_model(Archive.noised(table, SCHEMA, simulation(1)), bins=10))
    found: dict[str, Any] = json.loads(json.dumps(form))
    return found


def at(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return what puts a value at a place of a form."""

    def change(form: Any) -> None:
        for step in path[:-1]:
            form = form[step]
        form[path[-1]] = value(form[path[-1]]) if callable(value) else value

    return change


def copula(name: str, *path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    return at("copulas", 0, name, *path, value=value)


HOSTILE: dict[str, Callable[[dict[str, Any]], None]] = {
    "a huge factor": copula("factor", 0, 0, value=HUGE),
    "a huge knot": copula("knots", 0, 0, value=HUGE),
    "a huge level": copula("levels", 0, 0, value=HUGE),
    "a huge shift": copula("shifts", 0, 0, value=HUGE),
    "a huge prior": at("prior", 0, value=HUGE),
    "a huge share": at("marginals", 0, 0, 0, value=HUGE),
    "a huge share of a tree": at("tree", 0, "shares", 0, 0, 0, value=HUGE),
    "a large factor": copula("factor", 0, 0, value=1e300),
    "a large shift": copula("shifts", 0, 0, value=1e300),
    "no knots": copula("knots", value=[]),
    "no levels": copula("levels", value=[]),
    "rows without knots": copula("knots", value=[[], []]),
    "nothing known": lambda form: form["copulas"][0].update(knots=[[], []], levels=[[], []]),
    "one knot": lambda form: form["copulas"][0].update(knots=[[0], [0]], levels=[[0], [0]]),
    "knots of unequal width": copula("knots", value=lambda old: [old[0], old[1][1:]]),
    "fewer levels than knots": copula("levels", value=lambda old: [row[1:] for row in old]),
    "levels above one": copula("levels", 0, -1, value=1.1),
    "levels below zero": copula("levels", 0, 0, value=-0.1),
    "levels that fall": copula("levels", 0, value=lambda old: old[::-1]),
    "knots that fall": copula("knots", 0, value=lambda old: old[::-1]),
    "knots that stay": copula("knots", 0, 1, value=-6.0),
    "knots that are not finite": copula("knots", 0, -1, value=float("inf")),
    "no shifts": copula("shifts", value=[]),
    "too few shifts": copula("shifts", value=lambda old: old[1:]),
    "shifts that are not finite": copula("shifts", 0, 0, value=float("inf")),
    "a factor that is no number": copula("factor", 0, 0, value=float("nan")),
    "a flat factor": copula("factor", value=lambda old: old[0] + old[1]),
    "texts as prior": at("prior", value=["0.5", "0.5"]),
    "truths as prior": at("prior", value=[True, False]),
    "texts as shares": at("marginals", 0, 0, value=lambda old: list(map(str, old))),
    "no shares": at("marginals", 0, 0, value=[]),
    "a text as tied": at("tied", value="no"),
    "a number as tied": at("tied", value=0),
    "a truth as version": at("version", value=True),
    "a fraction as version": at("version", value=1.0),
    "a truth as parent": at("tree", 1, "parent", value=False),
    "a truth as column": at("tree", 0, "column", value=False),
    "a branch twice": at("tree", value=lambda old: [*old, old[0]]),
    "a branch instead of another": at("tree", value=lambda old: [old[0], old[0]]),
    "a branch below itself": at("tree", 0, "parent", value=0),
    "a branch too few": at("tree", value=lambda old: old[:1]),
    "a column below zero": at("tree", 0, "column", value=-2),
    "a field more in a branch": at("tree", 0, "more", value=1),
    "a field more in a copula": copula("more", value=1),
    "a copula too many": at("copulas", value=lambda old: [*old, old[0]]),
    "a copula that is a list": at("copulas", 0, value=[]),
}


def test_what_was_learned_is_read_and_drawn_from(written: dict[str, Any]) -> None:
    assert [each["parent"] for each in written["tree"]] == [None, 0]
    assert np.any(written["copulas"][0]["shifts"])
    model = model_from_form(written)
    assert json.loads(json.dumps(model_to_form(model))) == written
    assert len(model.sample(50, simulation(2))["age"]) == 50


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_what_was_changed_is_refused_in_one_sentence(
    written: dict[str, Any], change: Callable[[Any], None]
) -> None:
    form = copy.deepcopy(written)
    change(form)
    with pytest.raises(MessageError) as refusal:
        model_from_form(form)
    assert str(refusal.value).count(".") == 1
    assert "\n" not in str(refusal.value)


def test_the_version_of_the_text_is_a_whole_number() -> None:
    schema = ArchiveSchema(columns=SCHEMA.columns[:2])
    held = {"age": np.linspace(0, 100, 50), "pay": np.linspace(0, 10, 50)}
    table = Archive.noised(held, schema, simulation(1)).table()
    text = CopulaSynthesizer(schema=schema).fit(table).to_json()
    form = json.loads(text)
    for version in (True, 2.0, 1):
        with pytest.raises(MessageError, match="version of a copula synthesizer must be 2"):
            CopulaSynthesizer.from_json(json.dumps({**form, "version": version}))
    form["model"]["copulas"][0]["factor"][0][0] = HUGE
    with pytest.raises(MessageError, match="too many digits"):
        CopulaSynthesizer.from_json(json.dumps(form))
