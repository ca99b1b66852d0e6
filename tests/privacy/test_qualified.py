from __future__ import annotations

import pytest

from supm._random import secure, simulation
from supm.privacy import Guarantee, NoGuarantee, PureLDP, realised


def test_secure_randomness_keeps_the_promise() -> None:
    promise = PureLDP(1.0)
    assert realised(promise, secure()) is promise


@pytest.mark.parametrize("promise", [PureLDP(1.0), NoGuarantee("sent in clear")])
def test_a_seed_leaves_nothing_of_any_promise(promise: Guarantee) -> None:
    left = realised(promise, simulation(1))
    assert left == NoGuarantee("simulation: the randomness came from a seed, so it is not private")


def test_the_child_of_a_simulation_is_a_simulation() -> None:
    assert isinstance(realised(PureLDP(1.0), simulation(1).child("worker")), NoGuarantee)
