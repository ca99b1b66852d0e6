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
from timing import Race, Step

from supm._random import secure

__all__ = ["Plan", "Throughput"]


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

    def improve(self, seconds: Mapping[str, float]) -> None:
        for case, value in seconds.items():
            self.best[case] = min(value, self.best.get(case, float("inf")))

    def per_value(self, case: str) -> float | None:
        return None if self.failure else self.best[case] / self.counts[case]


class Throughput:
    """Ours, NumPy and the packages, measured in rounds."""

    def __init__(self, plan: Plan, peers: Sequence[Peer]) -> None:
        self._plan = plan
        self._main, *self._others = [randomized_response(plan.count), *the_others(plan.count)]
        cases = [self._main, *self._others]
        main = self._main.name
        self._ours = _Side("SUPM", "vectorised, secure", {case.name: plan.count for case in cases})
        version = f"NumPy {np.__version__}"
        self._numpy = _Side(version, "vectorised, not secure", {main: plan.count})
        self._peers = [
            (peer, _Side(peer.name, peer.how, plan.counts(peer, main))) for peer in peers
        ]
        source = secure()
        works = {
            each.name: partial(each.randomizer.randomize, each.values, source) for each in cases
        }
        plain = numpy_vectorised.generator()
        by_hand = partial(numpy_vectorised.randomized_response, self._main.values, 5, 1.0, plain)
        self._pair = Race[str]({"ours": works.pop(main), "numpy": by_hand})
        self._rest = Race[str](works)

    def prepare(self, step: Step) -> None:
        """Make the packages' environments."""
        for peer, side in self._peers:
            step(f"environment of {peer.name}")
            _attempt(side, peer.prepare)

    def measure(self, step: Step) -> None:
        """Give each side its turns of one round."""
        step("SUPM and NumPy")
        # These two are fast and are what the goals are about, so they get more turns.
        self._pair.take_turns(4 * self._plan.repeats)
        self._rest.take_turns(self._plan.repeats)
        main = self._main.name
        self._numpy.improve({main: self._pair.seconds["numpy"]})
        self._ours.improve({main: self._pair.seconds["ours"], **self._rest.seconds})
        for peer, side in self._peers:
            step(peer.name)
            _attempt(side, partial(_measure_there, peer, side))

    @property
    def complete(self) -> bool:
        """Whether all packages could be measured."""
        return not any(side.failure for _, side in self._peers)

    def tables(self) -> list[Table]:
        """Return the main comparison and that of the other randomizers."""
        sides, count = [side for _, side in self._peers], self._plan.count
        return [
            _table(
                f"Randomized response of {count:,} values",
                [self._main],
                [self._ours, self._numpy, *sides],
            ),
            _table(f"The other randomizers, {count:,} values", self._others, [self._ours, *sides]),
        ]

    def goals(self) -> list[Goal]:
        """Return the goals of the main comparison."""
        sides = [side for _, side in self._peers]
        return _goals(self._main.name, self._ours, self._numpy, sides)


def _attempt(side: _Side, action: Callable[[], None]) -> None:
    if side.failure:
        return
    try:
        action()
    except PeerError as error:
        side.failure = str(error)


def _measure_there(peer: Peer, side: _Side) -> None:
    version, seconds = peer.measure(side.counts)
    side.who = f"{peer.name} {version}"
    side.improve(seconds)


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
