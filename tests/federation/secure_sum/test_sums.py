"""The happy path: what comes out is the plain sum, bit for bit, and the same each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm._errors import FederationError
from supm.federation.protocol import Circle

CIRCLES = [
    Circle(parties=1),
    Circle(parties=2),
    Circle(parties=3, colluders=0),
    Circle(parties=5, colluders=1, dropouts=1),
    Circle(parties=8, colluders=1, dropouts=3),
]


@pytest.mark.parametrize("circle", CIRCLES, ids=lambda c: f"{c.parties}-{c.dropouts}")
@pytest.mark.parametrize("rounds", [1, 3])
def test_the_totals_are_the_plain_sums(make_run: Any, circle: Circle, rounds: int) -> None:
    run = make_run(circle, rounds)
    done = run.go()
    everyone = range(circle.parties)
    for number, total in enumerate(done.totals):
        assert total.dtype == np.int64
        assert total.tolist() == run.plain_sum(everyone, number).tolist()
    assert len(done.totals) == rounds
    assert done.round_sizes[-1] == tuple(n + 1 for n in everyone)
    assert done.lost == ()
    assert run.problems == []


def test_every_party_gets_what_is_published_and_sees_the_same_keys(make_run: Any) -> None:
    run = make_run(Circle(parties=3, colluders=1))
    done = run.go()
    for participant, state in zip(run.participants, run.states, strict=True):
        assert participant.released(state) == "sizes (1, 2, 3)"
        assert participant.roster_fingerprint(state) == done.roster_fingerprint


@pytest.mark.parametrize("dropouts", [0, 1])
def test_a_simulation_sends_the_same_bytes_each_time(make_run: Any, dropouts: int) -> None:
    runs = [make_run(Circle(parties=4, colluders=1, dropouts=dropouts), seed=7) for _ in range(2)]
    for run in runs:
        run.go()
    first, second = ([update.to_bytes() for _, update in run.sent] for run in runs)
    assert first == second


def test_two_real_runs_share_no_bytes_but_public_ones(make_run: Any) -> None:
    runs = [make_run(Circle(parties=3, colluders=1)) for _ in range(2)]
    for run in runs:
        run.go()
    for (_, one), (_, two) in zip(runs[0].sent, runs[1].sent, strict=True):
        assert one.kind == two.kind
        assert one.to_bytes() != two.to_bytes()
        assert not set(one.numbers.tolist()) & set(two.numbers.tolist())


def test_the_steps_on_the_wire_are_those_that_the_page_lists(make_run: Any) -> None:
    run = make_run(Circle(parties=2), rounds=1)
    run.go()
    asked = ["invite", "roster", "question", "survivors", "release"]
    assert [update.kind for number, update in run.asked if number == 1] == asked
    told = ["keys", "shares", "masked", "unmask", "received"]
    assert [update.kind for number, update in run.sent if number == 1] == told


def test_a_circle_that_may_lose_parties_confirms_who_is_left(make_run: Any) -> None:
    run = make_run(Circle(parties=4, colluders=0, dropouts=1), rounds=1)
    run.go()
    kinds = [update.kind for number, update in run.asked if number == 1]
    assert kinds == ["invite", "roster", "question", "survivors", "confirmed", "release"]


def test_a_run_begins_once_and_ends_once(make_run: Any) -> None:
    run = make_run(Circle(parties=2))
    with pytest.raises(FederationError, match="no replies are due"):
        run.coordinator.receive({})
    with pytest.raises(FederationError, match="no roster"):
        _ = run.coordinator.roster_fingerprint
    run.go()
    with pytest.raises(FederationError, match="no replies are due"):
        run.coordinator.receive({})
    with pytest.raises(FederationError, match="has begun"):
        run.coordinator.begin()


def test_a_real_run_refuses_a_party_that_draws_from_a_public_seed(make_run: Any) -> None:
    run = make_run(Circle(parties=2), seed=3)
    run.coordinator.simulation = False
    with pytest.raises(FederationError, match="party 0 refused: this party draws from a public"):
        run.go()


def test_a_server_that_is_told_of_a_public_seed_stops(make_run: Any) -> None:
    run = make_run(Circle(parties=2), seed=3)
    messages = run.coordinator.begin()
    run.coordinator.simulation = False
    with pytest.raises(FederationError, match="party 0 cannot be used: it draws from a public"):
        run.coordinator.receive(run.answers(messages))
