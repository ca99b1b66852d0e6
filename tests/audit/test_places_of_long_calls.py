from __future__ import annotations

import pytest

from supm._random import simulation
from supm.audit import check_long_calls, entry, kinds


@pytest.mark.parametrize("name", kinds())
def test_all_that_is_shipped_passes(name: str) -> None:
    assert check_long_calls(entry(name).mechanism, simulation(1), rows=2050).passed
