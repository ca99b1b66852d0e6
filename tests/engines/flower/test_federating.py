"""A study over Flower, all of whose parties are on this machine."""

from __future__ import annotations

import os
from typing import Any

import pytest

from supm import simulation
from supm.datasets import load_wdbc
from supm.federation import Participant, SchemaEncoding, plan_federation

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("flwr", reason="pip install 'supm[federated]' to run the tests of Flower")

from supm.engines import carry_over_flower


class Leaving:
    """A party that is gone after so many answers."""

    def __init__(self, party: Participant, answers: int) -> None:
        self._party, self._left = party, answers

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        if not self._left:
            raise ConnectionError
        self._left -= 1
        return self._party.answer(state, message)


@pytest.mark.parametrize("answers", [2, 3])
def test_on_flower_a_party_may_be_lost_where_the_study_tolerates_it(answers: int) -> None:
    """It is lost before it sent its masked sums, or after."""
    wdbc, source = load_wdbc(), simulation(3)
    budget: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5}
    circle: dict[str, Any] = {"parties": 4, "colluders": 0, "dropouts": 1}
    study = plan_federation(wdbc.schema, "lda", **budget, **circle)
    rows = SchemaEncoding(schema=wdbc.schema).rows(wdbc.records())
    people: list[Any] = [study.participant(rows, source.child(f"{n}").child) for n in range(4)]
    people[2] = Leaving(people[2], answers)
    coordinator = study.coordinator(simulation=True)
    carry_over_flower(coordinator, people)
    assert coordinator.lost == (2,)
    assert coordinator.outcome is not None
