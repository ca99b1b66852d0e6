"""What strangers may send to a discriminant, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from supm import MessageError, ParameterError, simulation
from supm.federation.discriminant import Discriminant, DiscriminantOutcome
from supm.federation.discriminant_sums import MomentNoise
from supm.federation.protocol import Circle, RoundQuestion, run_pooled
from supm.federation.rows import GRID, Rows, VectorEncoding, grid_rows

PLAN = Discriminant.for_budget(
    encoding=VectorEncoding(width=2, classes=2),
    epsilon=1.0,
    delta=1e-3,
    circle=Circle(parties=2, colluders=0),
    bins=4,
)
VECTORS = np.array([[0.5, 0.1], [-0.5, 0.2], [0.4, -0.3], [-0.6, 0.0]] * 100)
ROWS = grid_rows(VECTORS, np.array([1, 0, 1, 0] * 100), classes=2)


def without(form: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in form.items() if key != name}


def cells(form: dict[str, Any], **changed: object) -> dict[str, Any]:
    held: dict[str, Any] = form["histogram"]["cells"]
    return held | changed


@pytest.mark.parametrize(
    "change",
    [
        lambda form: form | {"epsilon": 1.0},
        lambda form: form | {"kind": "margin"},
        lambda form: form | {"noise": without(form["noise"], "sums")},
        lambda form: form | {"noise": form["noise"] | {"sums": 5}},
        lambda form: form | {"noise": form["noise"] | {"sums": 1.5e9}},
        lambda form: form | {"noise": form["noise"] | {"scatter": True}},
        lambda form: form | {"noise": form["noise"] | {"counts": None}},
        lambda form: form | {"noise": form["noise"] | {"sums": 6, "scatter": 6}},
        lambda form: form | {"histogram": "wide"},
        lambda form: form | {"histogram": 7},
        lambda form: form | {"bins": 1},
        lambda form: form | {"bins": 2.5},
        lambda form: form | {"directions": 2},
        lambda form: form | {"directions": 0},
        lambda form: form | {"circle": {"parties": 2}},
        lambda form: form | {"circle": {"parties": 2, "colluders": 2, "dropouts": 0}},
        lambda form: form | {"encoding": {"kind": "vectors", "width": 2}},
        lambda _: None,
        lambda _: [],
    ],
)
def test_a_protocol_that_is_none_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(MessageError):
        Discriminant.from_form(change(PLAN.to_form()))


def question(**changed: Any) -> RoundQuestion:
    given = np.array([1.0, 0.0, -0.5, 0.5])
    fields: dict[str, Any] = {"number": 1, "length": 10, "given": given}
    return RoundQuestion(**fields | changed)


@pytest.mark.parametrize(
    "asked",
    [
        question(number=2),
        question(number=-1),
        question(length=11),
        question(given=np.zeros(3)),
        question(given=np.array([math.nan, 0.0, -0.5, 0.5])),
        question(given=np.array([1.0, 0.0, math.inf, 0.5])),
        question(given=np.array([1.0, 0.0, 0.5, -0.5])),
        question(given=np.array([1.0, 0.0, 0.5, 0.5])),
        question(given=np.array([100.0, 0.0, -0.5, 0.5])),
        RoundQuestion(number=0, length=5),
    ],
)
def test_a_question_that_is_none_is_refused(asked: RoundQuestion) -> None:
    with pytest.raises(MessageError):
        PLAN.tell(ROWS, asked, simulation(1))
    assert PLAN.tell(ROWS, question(), simulation(1)).shape == (10,)


def test_a_question_beyond_the_rounds_is_refused() -> None:
    short = Discriminant.for_budget(
        encoding=PLAN.encoding, epsilon=1.0, delta=1e-3, circle=PLAN.circle, histogram=False
    )
    with pytest.raises(MessageError):
        short.tell(ROWS, question(), simulation(1))


def test_rows_of_another_encoding_are_refused() -> None:
    other = grid_rows(np.zeros((2, 3)), np.zeros(2, dtype=np.int64), classes=2)
    with pytest.raises(ParameterError, match="encoding"):
        PLAN.tell(other, PLAN.ask([]), simulation(1))
    more = Rows(values=ROWS.values, labels=ROWS.labels, classes=3)
    with pytest.raises(ParameterError, match="encoding"):
        PLAN.tell(more, PLAN.ask([]), simulation(1))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"classes": 5, "directions": 3}, "directions"),
        ({"classes": 3, "directions": 2, "bins": 500}, "bins"),
        ({"bins": 1}, "bins"),
        ({"bins": 0}, "bins"),
        ({"directions": 0}, "directions"),
        ({"circle": None}, "circle"),
        ({"share": 1.0}, "share"),
        ({"ratio": 0.0}, "ratio"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 0.0}, "delta"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(changed: dict[str, Any], named: str) -> None:
    settings = {"epsilon": 1.0, "delta": 1e-3, "circle": Circle(parties=1), **changed}
    encoding = VectorEncoding(width=4, classes=settings.pop("classes", 2))
    with pytest.raises(ParameterError, match=named):
        Discriminant.for_budget(encoding=encoding, **settings)


def test_what_is_no_encoding_is_refused() -> None:
    with pytest.raises(ParameterError, match="encoding"):
        Discriminant.for_budget(encoding=None, epsilon=1.0, delta=1e-3, circle=PLAN.circle)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="encoding"):
        Discriminant(encoding=None, circle=PLAN.circle, noise=PLAN.noise)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("classes", "width", "why"),
    [
        (2, 4, "Two classes have one direction"),
        (3, 4, "3 classes have 2, one fewer"),
        (9, 4, "Rows of 4 numbers have no more"),
    ],
)
def test_too_many_directions_are_refused_with_the_reason(
    classes: int, width: int, why: str
) -> None:
    encoding, circle = VectorEncoding(width=width, classes=classes), Circle(parties=1)
    with pytest.raises(ParameterError, match=f"got 7. {why}"):
        Discriminant.for_budget(
            encoding=encoding, epsilon=1.0, delta=1e-3, circle=circle, histogram=False, directions=7
        )


def test_directions_of_a_stranger_may_say_nothing() -> None:
    form = outcome() | {"directions": [[0.0, 0.0]]}
    answers = DiscriminantOutcome.from_form(form).predict_by_moments(ROWS.unit)
    assert set(answers.tolist()) <= {0, 1}


def test_noise_that_promises_nothing_is_refused_when_the_protocol_is_made() -> None:
    noise = MomentNoise(sums=GRID // 100, scatter=GRID**2 // 100, counts=GRID // 100)
    with pytest.raises(ParameterError, match="mu"):
        Discriminant(encoding=PLAN.encoding, circle=PLAN.circle, noise=noise)


def nested(depth: int) -> list[Any]:
    """Return lists within lists: JSON that is read, and that a careless reader falls over."""
    held: list[Any] = [1.0]
    for _ in range(depth):
        held = [held]
    return held


def outcome() -> dict[str, Any]:
    found = run_pooled(PLAN, [ROWS, ROWS], ["a", "b"], simulation(1))
    form: dict[str, Any] = found.to_form()
    return form


@pytest.mark.parametrize(
    "change",
    [
        lambda form: form | {"records": []},
        lambda form: without(form, "moments"),
        lambda form: form | {"moments": without(form["moments"], "sums")},
        lambda form: form | {"moments": form["moments"] | {"counts": [1.0]}},
        lambda form: form | {"moments": form["moments"] | {"counts": [1.0, math.nan]}},
        lambda form: form | {"moments": form["moments"] | {"counts": "many"}},
        lambda form: form | {"moments": form["moments"] | {"sums": []}},
        lambda form: form | {"moments": form["moments"] | {"sums": [[1.0, 2.0], [3.0]]}},
        lambda form: form | {"moments": form["moments"] | {"scatter": [[1.0]]}},
        lambda form: form | {"moments": form["moments"] | {"sum_noise": -1.0}},
        lambda form: form | {"moments": without(form["moments"], "sum_noise")},
        lambda form: form | {"directions": [[1.0]]},
        lambda form: form | {"directions": nested(700)},
        lambda form: form | {"directions": [[10**400]]},
        lambda form: form | {"histogram": {}},
        lambda form: form | {"histogram": form["histogram"] | {"cells": cells(form, bins=5)}},
        lambda form: form | {"histogram": form["histogram"] | {"cells": cells(form, bins=1 << 20)}},
        lambda form: form | {"histogram": form["histogram"] | {"cells": cells(form, low=[2.0])}},
        lambda form: form | {"histogram": form["histogram"] | {"total": -1}},
        lambda _: None,
    ],
)
def test_an_outcome_that_is_none_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    form = outcome()
    DiscriminantOutcome.from_form(form)
    with pytest.raises(MessageError):
        DiscriminantOutcome.from_form(change(form))
