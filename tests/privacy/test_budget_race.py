"""Two threads at the same point of a spending: the second one must not get past it."""

from __future__ import annotations

import threading

import pytest

from supm._errors import BudgetError
from supm.privacy import Budget, PureDP, PureLDP
from supm.privacy.guarantee import Guarantee
from supm.privacy.promise_numbers import Neighbours

LONGEST_WAIT = 0.5
ONE = PureDP(epsilon=1.0, neighbours=Neighbours.REPLACE_ONE)


class Meeting:
    """Makes threads wait for each other where what was spent is compared with the limit.

    They meet only if both are there at once. Where only one thread can be there, it waits in vain
    for a moment and goes on.
    """

    def __init__(self, parties: int) -> None:
        self.barrier = threading.Barrier(parties)
        self.comparisons = 0
        self.met = False

    def wait(self) -> None:
        self.comparisons += 1
        try:
            self.barrier.wait(LONGEST_WAIT)
        except threading.BrokenBarrierError:
            return
        self.met = True


@pytest.mark.parametrize("whole", [PureLDP(1.0), ONE], ids=["local", "central"])
@pytest.mark.parametrize("parties", [2, 5])
def test_threads_that_spend_at_once_are_let_in_one_by_one(
    whole: Guarantee, parties: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget, meeting, compare = Budget(whole), Meeting(parties), Guarantee.__le__
    outcomes: list[str] = []

    def compare_together(self: Guarantee, other: object) -> bool:
        meeting.wait()
        return compare(self, other)

    def spend() -> None:
        try:
            budget.spend(whole, purpose="all of it")
        except BudgetError:
            outcomes.append("refused")
        else:
            outcomes.append("spent")

    monkeypatch.setattr(Guarantee, "__le__", compare_together)
    threads = [threading.Thread(target=spend) for _ in range(parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    monkeypatch.undo()
    assert meeting.comparisons >= parties
    assert not meeting.met
    assert sorted(outcomes) == ["refused"] * (parties - 1) + ["spent"]
    assert budget.spent == whole
    assert len(budget.history) == 1
