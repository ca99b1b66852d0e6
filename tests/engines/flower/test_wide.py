"""Rows so wide that BLAS uses several threads: what is told does not depend on how many."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from supm import simulation
from supm.federation import (
    Circle,
    Coordinator,
    FederatedStudy,
    Margin,
    Participant,
    VectorEncoding,
    party_source,
    run_pooled,
)
from supm.federation.rows import Rows
from supm.learning.margins import Loss

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("flwr", reason="pip install 'supm[federated]' to run the tests of Flower")

from supm.engines.flower import SuperLink, coordinate, take_part

SIZE, WIDTH, SEED = 400, 160, 3
NAMES = ["north", "south"]
ENCODING = VectorEncoding(width=WIDTH, classes=3)
SEVERAL = 2


def rows_of(name: str) -> Rows:
    source = simulation(SEED).child(f"rows of {name}")
    vectors = source.below(1000, WIDTH * SIZE).reshape(SIZE, WIDTH) / 5000.0 - 0.1
    return ENCODING.rows(vectors, source.below(3, SIZE).astype(np.int64))


@pytest.mark.parametrize(("loss", "components"), [("huber", None), ("softmax", 140)])
def test_flower_publishes_what_one_process_with_one_thread_publishes(
    link: SuperLink, parties: Any, keys: Any, loss: Loss, components: int | None
) -> None:
    protocol = Margin.for_budget(
        encoding=ENCODING, epsilon=4.0, delta=1e-5, circle=Circle(parties=2, colluders=0),
        loss=loss, components=components,
    )  # fmt: skip
    study = FederatedStudy(name="wide", protocol=protocol, delta=1e-5)
    private, public = keys(2)
    for name, key in zip(NAMES, private, strict=True):
        source = partial(party_source, simulation(SEED), name)
        party = Participant(rows_of(name), lambda _: protocol, lambda *_: None, source)
        parties.start(name, partial(taking_part, party, link, key))
    coordinator = Coordinator(protocol, study.to_json(), simulation=True)
    with threadpool_limits(SEVERAL, user_api="blas"):
        coordinate(coordinator, link, public, wait=60, patience=60)
        parties.join()
    with threadpool_limits(1, user_api="blas"):
        told = [protocol.tell(*asked) for asked in questions(protocol, coordinator)]
    assert np.array_equal(coordinator.totals[-1], np.sum(told, axis=0))
    # On one machine, where BLAS is not held to one thread, the model is the same bit for bit.
    with threadpool_limits(SEVERAL, user_api="blas"):
        here = run_pooled(protocol, [rows_of(name) for name in NAMES], NAMES, simulation(SEED))
    assert coordinator.outcome.to_form() == here.to_form()


def questions(protocol: Margin, coordinator: Coordinator) -> list[Any]:
    """Return what each party was asked in the last round, with its rows and randomness."""
    last = protocol.ask(coordinator.totals[:-1])
    label = f"round {last.number}"
    return [(rows_of(n), last, party_source(simulation(SEED), n, label)) for n in NAMES]


def taking_part(party: Participant, link: SuperLink, key: Any) -> bytes:
    certificate = link.authority.certificate
    return take_part(party, address=link.address, certificate=certificate, key=key)
