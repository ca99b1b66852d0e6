"""Questions to the outcomes: lines over budgets, the best (K, L), where a level is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from experiments.supm.jobs import Job, Outcome
from experiments.supm.schedule import Scope, nested, raw, trial
from experiments.supm.settings import FIGURES, Curve, Data, Figure
from numpy.typing import NDArray

__all__ = ["EMPTY", "Line", "Results", "best_of", "figure_of", "first_at_least", "shared_budgets"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """Accuracies in per cent over budgets.

    Parameters
    ----------
    epsilon : ndarray of float
        The budgets that were run.
    values : ndarray of float, shape (budgets, repetitions)
        The accuracy in each repetition.
    """

    epsilon: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over repetitions at each budget."""
        found: NDArray[np.float64] = self.values.mean(axis=1)
        return found

    @property
    def sd(self) -> NDArray[np.float64]:
        """The standard deviation over repetitions at each budget."""
        found: NDArray[np.float64] = self.values.std(axis=1, ddof=min(1, self.repeats - 1))
        return found

    @property
    def repeats(self) -> int:
        """The number of repetitions."""
        return int(self.values.shape[1])

    def __len__(self) -> int:
        return len(self.epsilon)

    def at(self, epsilon: float) -> NDArray[np.float64] | None:
        """Return the repetitions at a budget, or None where it was not run."""
        found = np.flatnonzero(self.epsilon == epsilon)
        return self.values[found[0]] if found.size else None

    def only(self, budgets: Sequence[float]) -> Line:
        """Return the part at some budgets."""
        kept = np.isin(self.epsilon, budgets)
        return Line(epsilon=self.epsilon[kept], values=self.values[kept])

    def reaches(self, level: float) -> float | None:
        """Return the smallest budget at which the mean is at least a level."""
        return first_at_least(self.epsilon, self.mean, level)

    def each_reaches(self, level: float) -> list[float | None]:
        """Return the same for each repetition alone."""
        return [first_at_least(self.epsilon, one, level) for one in self.values.T]


EMPTY: Final = Line(epsilon=np.empty(0), values=np.empty((0, 1)))
"""Nothing was run."""


def first_at_least(
    epsilon: NDArray[np.float64], accuracy: NDArray[np.float64], level: float
) -> float | None:
    """Return where a polygon first reaches a level, or None.

    Examples
    --------
    >>> first_at_least(np.array([10.0, 20.0]), np.array([80.0, 90.0]), 85.0)
    15.0
    """
    above = np.flatnonzero(accuracy >= level)
    if not above.size:
        return None
    place = int(above[0])
    if place == 0:
        return float(epsilon[0])
    rise = accuracy[place] - accuracy[place - 1]
    part = (level - accuracy[place - 1]) / rise
    return float(epsilon[place - 1] + part * (epsilon[place] - epsilon[place - 1]))


def shared_budgets(lines: Sequence[Line]) -> list[float]:
    """Return the budgets at which all lines were run, smallest first."""
    return sorted(set.intersection(*(set(line.epsilon.tolist()) for line in lines)))


def best_of(lines: Sequence[Line]) -> Line:
    """Return the best of some lines in each repetition, at the budgets that all of them have."""
    budgets = shared_budgets(lines)
    if not budgets:
        return EMPTY
    values = np.max([line.only(budgets).values for line in lines], axis=0)
    return Line(epsilon=np.array(budgets), values=values)


def figure_of(data: str, kind: str, paper: str = "000") -> Figure:
    """Return the figure of a data set and experiment."""
    return next(f for f in FIGURES if (f.data, f.kind, f.paper) == (data, kind, paper))


class Results:
    """What a run found.

    Parameters
    ----------
    scope : Scope
        What was to be run.
    outcomes : mapping of Job to Outcome
        What is finished.
    """

    def __init__(self, scope: Scope, outcomes: Mapping[Job, Outcome]) -> None:
        self.scope = scope
        self.outcomes = outcomes

    def majority(self, data: str) -> float | None:
        """Return the share of the commonest class in per cent."""
        found = (o.majority for j, o in self.outcomes.items() if j.data == data)
        first = next(found, None)
        return None if first is None else 100 * first

    def baseline(self, data: str, reading: str = "largest", folds: str = "equal") -> Line:
        """Return the accuracy without noise, as a line with one point."""
        given = self.scope.of(data)
        jobs = [raw(given, reading, folds)] if given else []
        return self._line(jobs, "raw")

    def noisy(self, data: str, reading: str = "all") -> Line:
        """Return the accuracy of the piecewise mechanism on all attributes."""
        given = self.scope.of(data)
        jobs = [
            Job(data=data, method="pw", reading=reading, epsilon=e, repeats=given.repeats)
            for e in (given.noisy if given else ())
            if given
        ]
        return self._line(jobs, "pw")

    def line(self, data: Data, curve: Curve, pair: tuple[int, int], **more: Any) -> Line:  # noqa: ANN401  fields of a job
        """Return the accuracy for one (K, L), at all budgets that were run."""
        budgets = sorted({*data.grid, *data.coarse})
        return self._line([trial(data, curve, pair, e, **more) for e in budgets], curve.test)

    def best(self, data: Data, curve: Curve, **more: Any) -> Line:  # noqa: ANN401  fields of a job
        """Return the best (K, L) of each repetition and budget, seen on the test folds."""
        return best_of([self.line(data, curve, pair, **more) for pair in curve.pairs])

    def chosen(self, data: Data, curve: Curve) -> Line:
        """Return the accuracy where inner folds choose (K, L)."""
        return self._line([nested(data, curve, e) for e in data.coarse], curve.test)

    def _line(self, jobs: list[Job], test: str) -> Line:
        done = [job for job in jobs if job in self.outcomes]
        if not done:
            return EMPTY
        values = np.array([self.outcomes[job].accuracy(test) for job in done])
        return Line(epsilon=np.array([job.epsilon for job in done]), values=values)
