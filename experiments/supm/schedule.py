"""Which jobs a run consists of, and what each of them is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from experiments.supm.jobs import Job
from experiments.supm.settings import (
    DATA,
    FIGURES,
    REDUCTIONS,
    SEARCHED,
    Curve,
    Data,
    Figure,
    Pairs,
)

__all__ = ["FULL", "Entry", "Scope", "entries_of", "nested", "raw", "reading_of", "trial"]

# More attributes than the papers searched: "reduced when … increased to more than 10".
MANY: Final[Pairs] = ((10, 4), (12, 4), (15, 4))
GAMMAS: Final = ("largest", "overall", "mean")
NOISES: Final = ("all", "attributes")


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much is run.

    Parameters
    ----------
    name : str
        "full" or another word, which the tables then show.
    data : tuple of Data
        The data sets, with their budgets and repetitions.
    searched : Pairs
        The (K, L) of experiment 1.
    """

    name: str
    data: tuple[Data, ...]
    searched: Pairs

    def of(self, name: str) -> Data | None:
        """Return a data set of the scope, or None."""
        return next((each for each in self.data if each.name == name), None)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures about the data sets of the scope."""
        return tuple(figure for figure in FIGURES if self.of(figure.data))


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A job with one way of testing, and what it is for.

    Parameters
    ----------
    job : Job
        What is run.
    test : str
        "odp" or "oda"; "raw" and "pw" for the baselines.
    purpose : str
        A figure's name, or the name of a table.
    """

    job: Job
    test: str
    purpose: str


FULL: Final = Scope(name="full", data=tuple(DATA.values()), searched=SEARCHED)


def reading_of(reduction: str) -> str:
    """Return how the horizontal axis is read where the reduction spends too."""
    return "total" if reduction in ("pw", "waldp") else ""


def trial(data: Data, curve: Curve, pair: tuple[int, int], epsilon: float, **more: Any) -> Job:  # noqa: ANN401  fields of a job
    """Return the job of one point of a curve."""
    given = {"reading": reading_of(curve.reduction), "repeats": data.repeats, **more}
    return Job(
        data=data.name,
        reduction=curve.reduction,
        train=curve.train,
        pairs=(pair,),
        epsilon=epsilon,
        **given,
    )


def raw(data: Data, reading: str, folds: str = "equal") -> Job:
    """Return the job without noise, with one reading of gamma."""
    return Job(data=data.name, method="raw", reading=reading, folds=folds, repeats=data.raw_repeats)


def nested(data: Data, curve: Curve, epsilon: float) -> Job:
    """Return the job that chooses among the pairs of a curve by inner folds."""
    return Job(
        data=data.name,
        method="nested",
        reading=reading_of(curve.reduction),
        reduction=curve.reduction,
        train=curve.train,
        pairs=curve.pairs,
        epsilon=epsilon,
        repeats=data.repeats,
    )


def entries_of(scope: Scope) -> tuple[Entry, ...]:
    """Return everything that a run is about; a job may occur more than once."""
    return tuple(entry for data in scope.data for entry in _entries(scope, data))


def _entries(scope: Scope, data: Data) -> Iterator[Entry]:
    yield from _baselines(data)
    for figure in scope.figures:
        if figure.data == data.name:
            yield from _figure(data, figure)
    yield from _search(scope, data)
    yield from _variants(data, _curves(data, "reductions"))
    yield from _combinations(data, _curves(data, "phases"))


def _curves(data: Data, kind: str) -> tuple[Curve, ...]:
    return next(f.curves for f in FIGURES if (f.data, f.kind) == (data.name, kind))


def _baselines(data: Data) -> Iterator[Entry]:
    for folds in ("equal", "grouped")[: 1 + data.grouped]:
        for reading in GAMMAS:
            job = raw(data, reading, folds)
            yield Entry(job=job, test="raw", purpose="baselines")
    for reading in NOISES:
        for epsilon in data.noisy:
            job = Job(
                data=data.name, method="pw", reading=reading, epsilon=epsilon, repeats=data.repeats
            )
            yield Entry(job=job, test="pw", purpose="baselines")


def _points(
    data: Data,
    curve: Curve,
    grid: tuple[float, ...],
    purpose: str,
    **more: Any,  # noqa: ANN401  fields of a job
) -> Iterator[Entry]:
    for pair in curve.pairs:
        for epsilon in grid:
            job = trial(data, curve, pair, epsilon, **more)
            yield Entry(job=job, test=curve.test, purpose=purpose)


def _figure(data: Data, figure: Figure) -> Iterator[Entry]:
    for curve in figure.curves:
        yield from _points(data, curve, data.grid, figure.name)
        if figure.kind == "reductions" and reading_of(curve.reduction):
            yield from _points(data, curve, data.grid, figure.name, reading="twice")


def _search(scope: Scope, data: Data) -> Iterator[Entry]:
    for reduction in data.searches:
        curve = Curve(reduction=reduction, pairs=scope.searched)
        yield from _points(data, curve, data.coarse, "search", repeats=data.search_repeats)


def _variants(data: Data, curves: tuple[Curve, ...]) -> Iterator[Entry]:
    """Nested choice, public bounds, the whole test budget on attributes, folds by group."""
    spending = next(curve for curve in curves if curve.reduction == "pw")
    waldp = Curve(reduction="waldp", pairs=spending.pairs)
    yield from _points(data, waldp, data.coarse, "waldp")
    for curve in curves:
        for epsilon in data.coarse:
            yield Entry(job=nested(data, curve, epsilon), test=curve.test, purpose="nested")
        yield from _points(data, curve, data.coarse, "bounds", bounds="public")
        if data.grouped:
            yield from _points(data, curve, data.coarse, "grouped", folds="grouped")
        else:
            yield from _points(data, curve, data.coarse, "shares", shares="attributes")
    if data.name == "musk2":
        many = Curve(reduction="rand", pairs=MANY)
        yield from _points(data, many, data.coarse, "many attributes")


def _combinations(data: Data, curves: tuple[Curve, ...]) -> Iterator[Entry]:
    """Each pair of training and testing with the reductions that its figure does not show."""
    for curve in curves:
        for reduction in REDUCTIONS:
            other = Curve(
                reduction=reduction, train=curve.train, test=curve.test, pairs=curve.pairs
            )
            yield from _points(data, other, data.combined, "combinations")
