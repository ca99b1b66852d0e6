"""Which randomizer errs least on data like these? Shares and means, estimated by each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError
from supm._extensions import installed, load
from supm._random import RandomSource, secure, simulation
from supm._validation import EPSILON, Integers, suggestion
from supm.collection.features import Floats, Ints
from supm.mechanisms import (
    Duchi,
    GeneralizedRandomizedResponse,
    HadamardResponse,
    Hybrid,
    Laplace,
    LocalHashing,
    LocalRandomizer,
    Piecewise,
    SquareWave,
    SubsetSelection,
    UnaryEncoding,
)
from supm.reporting import COLOURS, Result, Table, counted
from supm.schema import Attribute, Continuous, Records, Schema, as_schema

_OF_SHARES: Final[dict[str, Callable[..., Any]]] = {
    "randomized-response": GeneralizedRandomizedResponse.for_epsilon,
    "subset-selection": SubsetSelection.for_epsilon,
    "symmetric-unary": UnaryEncoding.symmetric,
    "optimised-unary": UnaryEncoding.optimised,
    "local-hashing": LocalHashing.for_epsilon,
    "hadamard-response": HadamardResponse.for_epsilon,
}
_OF_MEANS: Final[dict[str, Callable[..., Any]]] = {
    "duchi": Duchi.for_epsilon,
    "piecewise": Piecewise.for_epsilon,
    "hybrid": Hybrid.for_epsilon,
    "square-wave": SquareWave.for_epsilon,
    "laplace": Laplace.for_epsilon,
}
# What may be estimated: in sentences, in the title of a table, beside an axis.
_WORDS: Final = {
    "shares": ("shares", "the shares of classes", "shares"),
    "mean": ("means", "the mean", "the mean"),
}
_REPEATS: Final = Integers("repeats", 1, 10_000)
_CLASSES: Final = Integers("classes", 2, 1 << 16)
_MARKS: Final = "os^Dv<>Pp*X"
_MEANING: Final = (
    "Root mean squared errors: of the estimated share of each class, and of an estimated mean in "
    "parts of the width between the column's public bounds. Four times as many people halve them."
)
_SEEDED: Final = "The randomness came from a seed: a simulation, not private."


class Measured(NamedTuple):
    """How far one randomizer was off, for one column and one budget.

    Parameters
    ----------
    column : str
        What was told.
    estimated : str
        What was estimated of it.
    epsilon : float
        The budget.
    mechanism : str
        The name of the randomizer.
    error, spread : float
        How far estimates were off, and how far that differed between the repetitions.
    """

    column: str
    estimated: str
    epsilon: float
    mechanism: str
    error: float
    spread: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Result):
    """How far each randomizer was off.

    Parameters
    ----------
    name : str
        Whose data.
    people : int
        How many records there are.
    repeats : int
        How often everybody reported anew.
    seeded : bool
        Whether the randomness came from a seed.
    measured : tuple of Measured
        For each column, budget and randomizer: the root mean squared error, of shares over all
        classes and of a mean in parts of the column's public width, and its standard deviation over
        the repetitions.
    """

    name: str
    people: int
    repeats: int
    seeded: bool
    measured: tuple[Measured, ...]

    @property
    def headline(self) -> str:
        """Whose data, and how many people."""
        times = counted(self.repeats, "repetition")
        return f"{self.name}: {self.people} people, {times} with fresh reports."

    def tables(self) -> Sequence[Table]:
        """Return a table of shares and one of means: a row for each column and budget."""
        return [self._table(what) for what in self._kinds]

    def words(self) -> Sequence[str]:
        """Return what the errors are, and which randomizer has least."""
        best = [
            f"Least error of {_WORDS[what][0]} over all columns: "
            + "; ".join(f"{name} at epsilon {epsilon:g}" for epsilon, name in self._best(what))
            + "."
            for what in self._kinds
        ]
        return [_MEANING, *best, *([_SEEDED] if self.seeded else [])]

    def to_frame(self, *, backend: Any = "pandas") -> Any:  # noqa: ANN401  that of the backend
        """Return a row for each column, budget and randomizer as a data frame."""
        return Table(head=Measured._fields, rows=self.measured, words=2).to_frame(backend=backend)

    def to_form(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "n": self.people,
            "repeats": self.repeats,
            "simulation": self.seeded,
            "results": [each._asdict() for each in self.measured],
        }

    def draw(self, figure: Any) -> None:  # noqa: ANN401  matplotlib ships no types
        """Draw the error over all columns against the budget, for shares and for means."""
        panels = figure.subplots(1, len(self._kinds), squeeze=False)[0]
        for panel, what in zip(panels, self._kinds, strict=True):
            self._draw(panel, what)
        figure.suptitle(self.headline)

    def _draw(self, panel: Any, what: str) -> None:  # noqa: ANN401  matplotlib ships no types
        lines = self._over_columns(what)
        styles = zip(cycle(COLOURS.values()), cycle(_MARKS), strict=False)
        for (name, errors), (colour, mark) in zip(lines.items(), styles, strict=False):
            panel.plot(list(errors), list(errors.values()), label=name, color=colour, marker=mark)
        panel.set(xscale="log", yscale="log", xlabel="epsilon (smaller is more private)")
        panel.set_ylabel(f"error of {_WORDS[what][2]}, all columns")
        panel.legend(frameon=False)
        panel.grid(alpha=0.3)

    @property
    def _kinds(self) -> list[str]:
        return [what for what in _WORDS if self._of(what)]

    def _of(self, what: str) -> list[Measured]:
        return [each for each in self.measured if each.estimated == what]

    def _table(self, what: str) -> Table:
        found = self._of(what)
        names = list(dict.fromkeys(each.mechanism for each in found))
        rows: dict[tuple[str, float], dict[str, float]] = {}
        for each in found:
            rows.setdefault((each.column, each.epsilon), {})[each.mechanism] = each.error
        return Table(
            title=f"Error of {_WORDS[what][1]}",
            head=["column", "epsilon", *names],
            rows=[[*key, *(errors.get(name) for name in names)] for key, errors in rows.items()],
            formats=["", "g", *(".2%" for _ in names)],
        )

    def _over_columns(self, what: str) -> dict[str, dict[float, float]]:
        """Return for each randomizer the error over all columns, by budget."""
        squares: dict[str, dict[float, list[float]]] = {}
        for each in self._of(what):
            squares.setdefault(each.mechanism, {}).setdefault(each.epsilon, []).append(
                each.error**2
            )
        return {
            name: {epsilon: float(np.sqrt(np.mean(those))) for epsilon, those in sorted(of.items())}
            for name, of in squares.items()
        }

    def _best(self, what: str) -> Iterator[tuple[float, str]]:
        errors = self._over_columns(what)
        for epsilon in next(iter(errors.values())):
            yield epsilon, min(errors, key=lambda name: errors[name][epsilon])


def compare(  # noqa: PLR0913  each is a choice of the user, given by name
    table: Any,  # noqa: ANN401  records, or a table of any library
    *,
    mechanisms: Iterable[str | type[LocalRandomizer]] | None = None,
    epsilon: float | Iterable[float] = (1.0, 2.0, 4.0),
    columns: Iterable[str] | None = None,
    schema: Schema | str | PathLike[str],
    classes: int = 8,
    repeats: int = 20,
    seed: int | None = None,
    name: str | None = None,
    progress: Callable[[], object] | None = None,
) -> Comparison:
    """Measure on public or synthetic data how far randomizers are off.

    Every record stands for an owner, who spends the whole budget on one column. Shares of classes
    are estimated for every column; means for those that are numbers.

    Parameters
    ----------
    table : table or path-like
        PUBLIC or synthetic data: records, a table of any library, or the name of a file.
    mechanisms : iterable of str or class, optional
        Shipped ones by name, and those of one's own: classes with ``for_epsilon(size=…,
        epsilon=…)``, their names where they are installed, or ``module:Name``; all shipped ones by
        default.
    epsilon : float or iterable of float, default (1, 2, 4)
        The budgets of an owner.
    columns : iterable of str, optional
        Which columns; all by default.
    schema : Schema or path-like
        What is public about the columns.
    classes : int, default 8
        Into how many classes numbers are cut for their shares.
    repeats : int, default 20
        How often everybody reports anew.
    seed : int, optional
        Repeats a run: a simulation, not private.
    name : str, optional
        Whose data, for titles; the name of the file by default.
    progress : callable, optional
        Called after each randomizer, column and budget.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> found = compare(
    ...     wdbc.records(),
    ...     mechanisms=["randomized-response", "hybrid"],
    ...     columns=["mean radius"],
    ...     schema=wdbc.schema,
    ...     epsilon=[1, 4],
    ...     seed=1,
    ... )
    >>> weak, strong = (each.error for each in found.measured if each.mechanism == "hybrid")
    >>> weak > strong
    True
    """
    described = as_schema(schema)
    records = table if isinstance(table, Records) else described.read(table)
    if records.rows == 0:
        raise RecordError("the table has no records, so there is nothing to compare.")
    repeats, classes = _REPEATS.check(repeats), _CLASSES.check(classes)
    source = secure() if seed is None else simulation(seed)
    makers = _makers(mechanisms)
    budgets = [EPSILON.check(e) for e in (epsilon if isinstance(epsilon, Iterable) else [epsilon])]
    measured = []
    for attribute in _chosen(described, columns):
        tasks = _tasks(attribute, records, classes)
        for each in _measure(tasks, makers, budgets, repeats, source):
            measured.append(each)
            if progress is not None:
                progress()
    if not measured:
        rule = "such that one of them estimates something of these columns"
        raise ParameterError("mechanisms", rule, ", ".join(makers))
    return Comparison(
        name=name or (Path(table).name if isinstance(table, str | PathLike) else "data"),
        people=records.rows,
        repeats=repeats,
        seeded=source.simulation,
        measured=tuple(measured),
    )


class _Task(NamedTuple):
    """What is to be estimated of a column, from what, and what is right."""

    column: str
    values: NDArray[Any]
    public: dict[str, float]
    truth: Floats
    width: float


def _makers(
    mechanisms: Iterable[str | type[LocalRandomizer]] | None,
) -> dict[str, Callable[..., Any]]:
    shipped = _OF_SHARES | _OF_MEANS
    if mechanisms is None:
        return dict(shipped)
    found: dict[str, Callable[..., Any]] = {}
    for each in mechanisms:
        if not isinstance(each, str):
            found[each.__name__] = each.for_epsilon  # type: ignore[attr-defined]  # one's own has it
        elif each in shipped:
            found[each] = shipped[each]
        elif ":" in each or each in installed("randomizers"):
            found[each] = load("randomizers", each).for_epsilon
        else:
            raise ParameterError(
                "mechanisms", "names of randomizers", each, suggestion(each, shipped)
            )
    return found


def _chosen(schema: Schema, columns: Iterable[str] | None) -> Iterator[Attribute]:
    known: Mapping[str, Attribute] = {
        each.name: each for each in (*schema.attributes, schema.target)
    }
    for name in known if columns is None else columns:
        if name not in known:
            raise ParameterError("columns", "names of columns", name, suggestion(name, known))
        yield known[name]


def _tasks(attribute: Attribute, records: Records, classes: int) -> dict[str, _Task]:
    """Return what there is to estimate of a column; values that are missing stand for nobody."""
    column = np.asarray(records.columns.get(attribute.name, records.target))
    if not isinstance(attribute, Continuous):
        size = len(attribute.values)
        return {"shares": _shares(attribute.name, column[column < size].astype(np.int64), size)}
    numbers, low, high = column[~np.isnan(column)], attribute.low, attribute.high
    width = high / 2 - low / 2
    places = np.floor((numbers / 2 - low / 2) / width * classes).astype(np.int64)
    mean = np.asarray(numbers.mean())
    return {
        "shares": _shares(attribute.name, np.clip(places, 0, classes - 1), classes),
        "mean": _Task(attribute.name, numbers, {"low": low, "high": high}, mean, high - low),
    }


def _shares(column: str, symbols: Ints, size: int) -> _Task:
    truth = np.bincount(symbols, minlength=size) / len(symbols)
    return _Task(column, symbols, {"size": size}, truth, 1.0)


def _measure(
    tasks: Mapping[str, _Task],
    makers: Mapping[str, Callable[..., Any]],
    budgets: Sequence[float],
    repeats: int,
    source: RandomSource,
) -> Iterator[Measured]:
    for epsilon, name in product(budgets, makers):
        estimated = "mean" if name in _OF_MEANS else "shares"
        if estimated not in tasks:
            continue
        task = tasks[estimated]
        drawn = source.child(f"{task.column} {epsilon!r} {name}")
        randomizer = makers[name](**task.public, epsilon=epsilon)
        errors = np.array([_error(task, randomizer, drawn) for _ in range(repeats)])
        yield Measured(
            column=task.column,
            estimated=estimated,
            epsilon=epsilon,
            mechanism=name,
            error=float(np.sqrt(np.square(errors).mean())),
            spread=float(errors.std()),
        )


def _error(task: _Task, randomizer: Any, source: RandomSource) -> float:  # noqa: ANN401  of either kind
    """Let everybody report once; return how far the estimates are off, in parts of the width."""
    told = randomizer.estimate(randomizer.tally(randomizer.randomize(task.values, source)))
    found = told.mean if hasattr(told, "mean") else told.values
    return float(np.sqrt(np.square((found - task.truth) / task.width).mean()))
