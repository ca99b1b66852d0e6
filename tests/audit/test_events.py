from __future__ import annotations

import numpy as np
import pytest

from supm._random import simulation
from supm.audit import entry, kinds
from supm.audit.events import events, has_events, supports
from supm.audit.subjects import count_inputs, values_of
from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    LocalHashing,
    Reports,
    SubsetSelection,
    SupportRandomizer,
    UnaryEncoding,
)

MAKERS = (
    GeneralizedRandomizedResponse.for_epsilon,
    HadamardResponse.for_epsilon,
    LocalHashing.for_epsilon,
    SubsetSelection.for_epsilon,
    UnaryEncoding.optimised,
)


@pytest.mark.parametrize("mechanism", [make(size=11, epsilon=1.0) for make in MAKERS], ids=repr)
def test_support_is_what_the_mechanism_itself_counts(mechanism: SupportRandomizer) -> None:
    reports = mechanism.randomize(np.arange(11), simulation(1))
    counts = mechanism.tally(reports).counts
    for symbol in range(11):
        found = supports(mechanism, reports.symbols, np.full(11, symbol))
        assert np.count_nonzero(found) == counts[symbol]


def test_hashes_of_the_largest_alphabet_are_computed_without_overflow() -> None:
    hashing = LocalHashing.for_epsilon(size=1 << 40, epsilon=1.0)
    held = simulation(1).below(1 << 40, 200).astype(np.int64)
    told = hashing.randomize(held, simulation(2)).symbols
    exact = [
        (int(factor) * symbol + int(shift)) % hashing.prime % hashing.buckets == bucket
        for (factor, shift, bucket), symbol in zip(told.tolist(), held.tolist(), strict=True)
    ]
    assert supports(hashing, told, held).tolist() == exact


@pytest.mark.parametrize("name", kinds())
def test_events_come_as_often_as_their_chance(name: str) -> None:
    mechanism = entry(name).mechanism
    assert has_events(mechanism)
    held = np.resize(np.arange(count_inputs(mechanism)), 20_000)
    reports = mechanism.randomize(values_of(mechanism, held), simulation(1))
    found = list(events(mechanism, reports, held, simulation(2)))
    assert found
    for event in found:
        assert event.seen.mean() == pytest.approx(event.chance[event.group].mean(), abs=0.02)


def test_a_report_that_is_not_randomised_is_seen_always() -> None:
    meter = entry("laplace").mechanism
    held = np.full(10, 7)
    reports = Reports(symbols=held, simulation=True)
    assert [event.seen.mean() for event in events(meter, reports, held, simulation(1))] == [0, 1, 1]
