from __future__ import annotations

import pytest

from supm._random import simulation
from supm.audit import check_mixed, entry, kinds


@pytest.mark.parametrize("name", kinds())
def test_all_that_is_shipped_passes(name: str) -> None:
    assert check_mixed(entry(name).mechanism, simulation(1), draws=8192).passed
