from __future__ import annotations

import pytest

from supm._random import RandomSource, simulation
from supm.audit import check_mark, check_source, entry, kinds
from supm.mechanisms import GeneralizedRandomizedResponse, LocalHashing, Reports


@pytest.mark.parametrize("name", kinds())
def test_all_that_is_shipped_uses_its_source_and_passes_its_mark_on(name: str) -> None:
    mechanism = entry(name).mechanism
    assert check_mark(mechanism).passed
    assert check_source(mechanism, simulation(1), draws=4096).passed


def test_an_alphabet_too_large_to_be_counted_is_checked_by_its_reports() -> None:
    assert check_mark(LocalHashing.for_epsilon(size=1 << 40, epsilon=1.0)).passed


def test_a_sampler_with_a_seed_of_its_own_is_broken() -> None:
    class Seeded(GeneralizedRandomizedResponse):
        def randomize(self, values: object, source: RandomSource) -> Reports:  # noqa: ARG002  the defect
            return super().randomize(values, simulation(7))  # type: ignore[arg-type]

    found = check_source(Seeded.for_epsilon(size=3, epsilon=1.0), simulation(1))
    assert not found.passed
    assert found.detail == "two seeds gave the same 32768 reports"


def test_where_reports_hardly_vary_equal_reports_prove_nothing() -> None:
    truthful = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=40.0)
    assert check_source(truthful, simulation(1)).passed
