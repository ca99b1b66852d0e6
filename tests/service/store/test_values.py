from __future__ import annotations

from itertools import product

import pytest

from supm import ParameterError
from supm.collection import plan
from supm.schema import Schema
from supm.service.store.values import State, check_move, first_state, open_phase

ORDER = list(State)


@pytest.mark.parametrize(("state", "to"), list(product(State, State)))
def test_a_study_goes_to_the_next_state_or_is_closed(state: State, to: State) -> None:
    following = ORDER.index(to) == ORDER.index(state) + 1
    if state is not State.CLOSED and (following or to is State.CLOSED):
        check_move(state, to)
    else:
        with pytest.raises(ParameterError, match=r"^to must be"):
            check_move(state, to)


def test_known_attributes_are_collected_for_at_once(schema: Schema) -> None:
    known = plan(schema, epsilon=1.0, attributes=["age"])
    assert first_state(known) is State.COLLECTING_TO_TRAIN
    assert first_state(plan(schema, epsilon=3.0, reduce="rank")) is State.COLLECTING_TO_REDUCE


def test_a_phase_is_open_where_its_state_collects(schema: Schema) -> None:
    study = plan(schema, epsilon=3.0, reduce="rank")
    phases = {state: open_phase(state, study) for state in State}
    assert {state: phase for state, phase in phases.items() if phase} == {
        State.COLLECTING_TO_REDUCE: "reduce",
        State.COLLECTING_TO_TRAIN: "train",
        State.SERVING: "test",
    }


def test_a_phase_that_asks_nothing_is_never_open(schema: Schema) -> None:
    drawn = plan(schema, epsilon=3.0, mode="faithful", keep=1, trust="u,u,d")
    assert open_phase(State.COLLECTING_TO_REDUCE, drawn) is None
    assert open_phase(State.SERVING, drawn) is None
