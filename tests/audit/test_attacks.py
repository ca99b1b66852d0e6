from __future__ import annotations

import pytest

from supm._random import simulation
from supm.audit import attack, check_attack
from supm.audit.subjects import Auditable
from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    JointReport,
    LocalHashing,
    SubsetSelection,
    UnaryEncoding,
)

LARGE: list[Auditable] = [
    SubsetSelection.for_epsilon(size=60, epsilon=2.0),
    UnaryEncoding.symmetric(size=60, epsilon=2.0),
    UnaryEncoding.optimised(size=60, epsilon=2.0),
    LocalHashing.for_epsilon(size=500, epsilon=2.0),
    LocalHashing.for_epsilon(size=1 << 40, epsilon=2.0),
    JointReport.for_epsilon(sizes=(8, 8, 4), epsilon=2.0),
]


@pytest.mark.parametrize("mechanism", LARGE, ids=lambda each: type(each).__name__)
def test_a_large_alphabet_is_attacked_through_what_a_report_supports(mechanism: Auditable) -> None:
    bound = attack(mechanism, simulation(1), trials=60_000)
    assert 1.6 < bound.epsilon <= mechanism.epsilon


def test_the_pair_of_inputs_can_be_chosen() -> None:
    class ThirdTold(GeneralizedRandomizedResponse):
        """Symbol 2 of 4 is not randomised."""

        def draw(self, symbols, source):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  as its parent's
            told = super().draw(symbols, source)
            told[symbols == 2] = 2
            return told

    leaky = ThirdTold.for_epsilon(size=4, epsilon=1.0)
    assert check_attack(leaky, simulation(1), trials=50_000).passed
    assert attack(leaky, simulation(1), left=2, right=0, trials=50_000).epsilon > 4.0
