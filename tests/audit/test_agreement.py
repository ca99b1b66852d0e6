from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._random import simulation
from supm.audit import check_channel, check_outcomes, check_standard_error, entry, kinds
from supm.audit.subjects import Readable
from supm.mechanisms import FiniteChannel, GeneralizedRandomizedResponse

ALL = [entry(name).mechanism for name in kinds()]


@pytest.mark.parametrize("mechanism", ALL, ids=kinds())
def test_all_that_is_shipped_agrees_with_itself(mechanism: FiniteChannel) -> None:
    if isinstance(mechanism, FiniteChannel):
        assert check_channel(mechanism).passed
        assert check_outcomes(mechanism, simulation(1)).passed
    if isinstance(mechanism, Readable):
        assert check_standard_error(mechanism, simulation(1)).passed


def test_a_channel_of_another_shape_is_broken() -> None:
    class Short(GeneralizedRandomizedResponse):
        def channel(self) -> NDArray[np.float64]:
            return super().channel()[1:]

    found = check_channel(Short.for_epsilon(size=3, epsilon=1.0))
    assert not found.passed
    assert found.detail == "channel has shape (2, 3), exact_channel (3, 3)"


def test_a_channel_that_is_not_a_number_is_broken() -> None:
    class Unknown(GeneralizedRandomizedResponse):
        def channel(self) -> NDArray[np.float64]:
            return super().channel() * np.nan

    assert not check_channel(Unknown.for_epsilon(size=3, epsilon=1.0)).passed
