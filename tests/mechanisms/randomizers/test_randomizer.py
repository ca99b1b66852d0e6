"""A randomizer's event: what it is to an accountant, ours and Google's."""

from __future__ import annotations

import pytest
from dp_accounting.pld import PLDAccountant

from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    LocalRandomizer,
    Piecewise,
    SubsetSelection,
)
from supm.privacy import ComposedEvent, Neighbours, accountant_relation

RANDOMIZERS: list[LocalRandomizer] = [
    GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=1.0),
    SubsetSelection.for_epsilon(size=8, epsilon=0.5),
    Piecewise.for_epsilon(low=0.0, high=1.0, epsilon=2.0),
]


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda each: type(each).__name__)
def test_the_event_promises_what_the_randomizer_promises(randomizer: LocalRandomizer) -> None:
    promised = randomizer.event.guarantee(Neighbours.ANY_RECORDS)
    assert randomizer.guarantee <= promised
    assert promised.to_form()["epsilon"] == pytest.approx(randomizer.epsilon, rel=1e-12)


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda each: type(each).__name__)
def test_googles_accountant_finds_the_same_epsilon_for_two_reports(
    randomizer: LocalRandomizer,
) -> None:
    relation = accountant_relation(Neighbours.REPLACE_ONE)
    accountant = PLDAccountant(relation)
    both = ComposedEvent((randomizer.event, randomizer.event))
    accountant.compose(both.to_dp_accounting(Neighbours.REPLACE_ONE))
    assert accountant.get_epsilon(0.0) == pytest.approx(2 * randomizer.epsilon, abs=1e-3)
