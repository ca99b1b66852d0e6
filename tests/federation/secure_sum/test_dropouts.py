"""Parties that are lost: the run recovers or stops, and never returns a wrong sum."""

from __future__ import annotations

from typing import Any

import pytest

from supm._errors import FederationError
from supm.federation.protocol import Circle

CIRCLE = Circle(parties=5, colluders=1, dropouts=1)
# The message that the lost party never answers, and from which round on its vector is missing.
STAGES = [
    pytest.param(("invite", 0), 0, id="before keys"),
    pytest.param(("roster", 0), 0, id="after keys"),
    pytest.param(("question", 0), 0, id="after shares"),
    pytest.param(("survivors", 0), 1, id="after masked"),
    pytest.param(("confirmed", 0), 1, id="at unmask"),
    pytest.param(("question", 1), 1, id="between rounds"),
    pytest.param(("survivors", 1), 2, id="after masked of the last round"),
    pytest.param(("confirmed", 1), 2, id="at the last unmask"),
    pytest.param(("release", 0), 2, id="at the release"),
]


@pytest.mark.parametrize("number", [0, 2, 4])
@pytest.mark.parametrize(("stage", "missing"), STAGES)
def test_one_lost_party_is_recovered_from(
    make_run: Any, stage: tuple[str, int], missing: int, number: int
) -> None:
    run = make_run(CIRCLE, 2)
    run.lose = {number: stage}
    done = run.go()
    for place, total in enumerate(done.totals):
        there = [n for n in range(5) if n != number or place < missing]
        assert total.tolist() == run.plain_sum(there, place).tolist()
        assert done.round_sizes[place] == tuple(n + 1 for n in there)
    assert len(done.totals) == 2
    assert done.lost == (() if stage[0] == "release" else (number,))
    assert done.outcome is not None


@pytest.mark.parametrize("stage", [stage.values[0] for stage in STAGES[:-1]])
def test_a_second_lost_party_ends_the_run(make_run: Any, stage: tuple[str, int]) -> None:
    run = make_run(CIRCLE, 2)
    run.lose = {1: ("invite", 0), 3: stage}
    with pytest.raises(FederationError, match=r"2 parties are lost \(number 1, 3\)"):
        run.go()
    done = run.coordinator
    assert done.outcome is None
    assert len(done.totals) == stage[1]
    for place, total in enumerate(done.totals):
        assert total.tolist() == run.plain_sum([0, 2, 3, 4], place).tolist()


@pytest.mark.parametrize("stage", [("invite", 0), ("roster", 0), ("question", 0), ("survivors", 1)])
def test_without_tolerance_any_lost_party_ends_the_run(
    make_run: Any, stage: tuple[str, int]
) -> None:
    run = make_run(Circle(parties=3, colluders=1), 2)
    run.lose = {2: stage}
    with pytest.raises(FederationError, match="this study tolerates 0"):
        run.go()
    assert run.coordinator.outcome is None


def test_several_may_be_lost_in_different_rounds(make_run: Any) -> None:
    run = make_run(Circle(parties=8, colluders=1, dropouts=3), 3)
    run.lose = {7: ("question", 0), 0: ("survivors", 1), 3: ("question", 2)}
    done = run.go()
    there = [list(range(7)), list(range(7)), [1, 2, 4, 5, 6]]
    for place, total in enumerate(done.totals):
        assert total.tolist() == run.plain_sum(there[place], place).tolist()
    assert done.lost == (0, 3, 7)
    assert done.round_sizes[-1] == (2, 3, 5, 6, 7)


def test_a_lost_party_stays_out_and_its_late_reply_is_not_read(make_run: Any) -> None:
    run = make_run(CIRCLE, 2)
    messages = run.until("question")
    replies = run.answers(messages)
    late = replies.pop(2)
    messages = run.coordinator.receive(replies)
    assert 2 not in messages
    while messages is not None:
        messages = run.coordinator.receive({**run.answers(messages), 2: late})
    assert run.coordinator.totals[1].tolist() == run.plain_sum([0, 1, 3, 4], 1).tolist()


def test_who_is_lost_after_its_answer_is_in_that_sum_and_in_no_later_one(make_run: Any) -> None:
    run = make_run(CIRCLE, 2)
    run.lose = {0: ("survivors", 0), 4: ("release", 0)}
    run.go()
    assert run.coordinator.round_sizes == [(1, 2, 3, 4, 5), (2, 3, 4, 5)]
