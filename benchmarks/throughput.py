"""Values per second of each randomizer, beside the packages that have it too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from environments import Peer, PeerError
from ours import Case, randomized_response, the_others
from peers import numpy_vectorised
from tables import Goal, Row, Table
from timing import Step, Work, best_seconds, silent

from supm._random import secure

__all__ = ["Plan", "throughput"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much is measured."""

    count: int
    peer_count: int
    rounds: int
    repeats: int

    def counts(self, peer: Peer, main: str) -> dict[str, int]:
        """Return how many values a package gets for each case."""
        whole = self.peer_count if peer.slow else self.count
        return {case: whole if case == main else self.peer_count for case in peer.cases}


@dataclass
class _Side:
    """One party of the comparison: the best seconds so far, or the reason why there are none."""

    who: str
    how: str
    counts: Mapping[str, int]
    best: dict[str, float] = field(default_factory=dict)
    failure: str = ""

    def improve(self, case: str, seconds: float) -> None:
        self.best[case] = min(seconds, self.best.get(case, float("inf")))

    def per_value(self, case: str) -> float | None:
        return None if self.failure else self.best[case] / self.counts[case]


def throughput(
    plan: Plan, peers: Sequence[Peer], step: Step = silent
) -> tuple[list[Table], list[Goal], bool]:
    """Measure ours, NumPy and the packages in turn; say also whether all could be measured."""
    main, others = randomized_response(plan.count), the_others(plan.count)
    cases = [main, *others]
    ours = _Side("SUPM", "vectorised, secure", {case.name: plan.count for case in cases})
    numpy = _Side(f"NumPy {np.__version__}", "vectorised, not secure", {main.name: plan.count})
    sides = [_Side(peer.name, peer.how, plan.counts(peer, main.name)) for peer in peers]
    for peer, side in zip(peers, sides, strict=True):
        step(f"environment of {peer.name}")
        _attempt(side, peer.prepare)
    for _ in range(plan.rounds):
        step("SUPM and NumPy")
        _measure_here(cases, ours, numpy, plan.repeats)
        for peer, side in zip(peers, sides, strict=True):
            step(peer.name)
            _attempt(side, partial(_measure_there, peer, side))
    tables = [
        _table(f"Randomized response of {plan.count:,} values", [main], [ours, numpy, *sides]),
        _table(f"The other randomizers, {plan.count:,} values", others, [ours, *sides]),
    ]
    complete = not any(side.failure for side in sides)
    return tables, _goals(main.name, ours, numpy, sides), complete


def _attempt(side: _Side, action: Callable[[], None]) -> None:
    if side.failure:
        return
    try:
        action()
    except PeerError as error:
        side.failure = str(error)


def _measure_here(cases: Sequence[Case], ours: _Side, numpy: _Side, repeats: int) -> None:
    source, plain = secure(), numpy_vectorised.generator()
    works: dict[str, Work] = {
        case.name: partial(case.randomizer.randomize, case.values, source) for case in cases
    }
    main = cases[0]
    by_hand = partial(numpy_vectorised.randomized_response, main.values, 5, 1.0, plain)
    # These two are fast and are what the goals are about, so they get more turns.
    pair = best_seconds({ours.who: works.pop(main.name), numpy.who: by_hand}, 4 * repeats)
    numpy.improve(main.name, pair[numpy.who])
    for case, seconds in {main.name: pair[ours.who], **best_seconds(works, repeats)}.items():
        ours.improve(case, seconds)


def _measure_there(peer: Peer, side: _Side) -> None:
    version, seconds = peer.measure(side.counts)
    side.who = f"{peer.name} {version}"
    for case, value in seconds.items():
        side.improve(case, value)


def _table(title: str, cases: Sequence[Case], sides: Sequence[_Side]) -> Table:
    ours = sides[0]
    return Table(
        title,
        [_row(case, side, ours) for case in cases for side in sides if case.name in side.counts],
    )


def _row(case: Case, side: _Side, ours: _Side) -> Row:
    seconds, own = side.per_value(case.name), ours.per_value(case.name)
    scaled = side.counts[case.name] != ours.counts[case.name]
    return {
        "randomizer": case.name,
        "parameters": case.parameters,
        "who": side.who,
        "how": side.how,
        "measured_on": side.counts[case.name],
        "million_values_per_second": None if seconds is None else 1e-6 / seconds,
        "times_our_time": None if seconds is None or own is None else seconds / own,
        "bytes_per_report": case.randomizer.report_bytes if side is ours else None,
        "note": _note(side, scaled=scaled),
    }


def _note(side: _Side, *, scaled: bool) -> str:
    if side.failure:
        return f"not measured: {side.failure}"
    return "scaled from fewer values" if scaled else ""


def _goals(main: str, ours: _Side, numpy: _Side, sides: Sequence[_Side]) -> list[Goal]:
    own, plain = ours.per_value(main) or 0.0, numpy.per_value(main) or 0.0
    there = [side.per_value(main) for side in sides]
    # One package that is missing might have been the fastest: then there is no figure.
    known = [seconds for seconds in there if seconds is not None]
    complete = known and len(known) == len(there)
    return [
        Goal(
            name="randomized response: time of the fastest package over ours",
            measured=min(known) / own if complete else None,
            limit=20.0,
            at_least=True,
        ),
        Goal(
            name="randomized response: our time over plain NumPy's", measured=own / plain, limit=3.0
        ),
    ]
