"""What accuracy would a budget buy? Several budgets side by side, with what lies around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource, secure, simulation
from supm._validation import EPSILON
from supm.collection.evaluation import Baseline, Evaluation, evaluate, repetitions, without_privacy
from supm.collection.features import Floats
from supm.collection.planning import own_learner, own_reduction, plan
from supm.collection.reduction import Reduction
from supm.collection.simulation_picture import Curve, curve, draw_curve
from supm.collection.simulation_text import kind_of, tables, words
from supm.collection.training import label_weights, weights_in_order
from supm.collection.words import account_form, limit_notes, study_form
from supm.learning import Learner, RadialSVM
from supm.messages import Study, Trust
from supm.owner.columns import labels_of, numbers_of
from supm.reporting import Result, Table, legend_below
from supm.schema import Records, Schema, as_schema

_BUDGETS: Final = (1.0, 2.0, 4.0, 8.0)
_FEWEST: Final = 4


class Progress(Protocol):
    """Whatever shows how far a simulation is."""

    def __call__(self, done: int, total: int, what: str, /) -> object:
        """Take the folds that are done, all folds, and what is under way."""
        ...


@dataclass(frozen=True, kw_only=True, repr=False)
class Simulation(Result):
    """What accuracy budgets buy, or how far they reduce the error of a number.

    Parameters
    ----------
    name : str
        Whose data.
    people : int
        How many records there are.
    labels : int or None
        How many classes there are among them; None where the target is a number.
    constant : float
        Share of the commonest class, or mean squared error of always predicting the mean.
    baseline : Baseline
        What is reached without privacy.
    results : tuple of Evaluation
        One for each study.
    seeded : bool
        Whether the randomness came from a seed.
    weights : "balanced" or tuple of float, optional
        How much each label counted.
    """

    name: str
    people: int
    labels: int | None
    constant: float
    baseline: Baseline
    results: tuple[Evaluation, ...]
    seeded: bool
    weights: str | tuple[float, ...] | None = None

    @property
    def target(self) -> str:
        """What was predicted."""
        return self.results[0].study.schema.target.name

    @property
    def notes(self) -> tuple[str, ...]:
        """What users should know beside the figures: promises that are worth little."""
        return tuple(note for each in self.results for note in limit_notes(each.study))

    @property
    def curve(self) -> Curve:
        """What a picture shows."""
        return curve(self)

    @property
    def headline(self) -> str:
        """Whose data, how many people, and what was predicted."""
        return f"{self.name}: {self.people} people, target {self.target!r}."

    def tables(self) -> list[Table]:
        """Return the figures, who was asked what, and what is promised."""
        return tables(self)

    def words(self) -> list[str]:
        """Return what the tables mean, and the plans that led to them."""
        return words(self)

    def draw(self, figure: Any) -> None:  # noqa: ANN401  matplotlib ships no types
        """Draw lines that rise with the budget, between levels that do not depend on it."""
        panel = figure.subplots()
        draw_curve(panel, self.curve)
        legend_below(figure, panel)

    def to_form(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; the keys are a contract."""
        return {
            "n": self.people,
            "target": self.target,
            kind_of(self).constant: self.constant,
            "results": [self._form(each) for each in self.results],
        }

    def _form(self, result: Evaluation) -> dict[str, Any]:
        study, kind, reached = result.study, kind_of(self), self.baseline.reached
        evaluation = {
            "repeats": result.repeats,
            "folds": result.folds,
            "chosen": dict(result.chosen),
            "weights": list(self.weights) if isinstance(self.weights, tuple) else self.weights,
            f"without_privacy_{kind.headline}_mean": reached.headline,
            f"without_privacy_{kind.beside}": reached.beside,
            "without_privacy_people": self.baseline.people,
            "without_privacy_repeats": self.baseline.repeats,
        }
        return {
            "epsilon": study.epsilon,
            "mode": study.mode,
            "trust": list(study.trust.words),
            f"{kind.headline}_mean": result.answered.headline,
            f"{kind.headline}_sd": result.spread,
            kind.beside: result.answered.beside,
            f"on_device_{kind.headline}_mean": result.on_device.headline,
            f"on_device_{kind.beside}": result.on_device.beside,
            "plan": study_form(study) | {"evaluation": evaluation},
            # What the study promises; a seeded run itself keeps nothing secret.
            "guarantee": account_form(result.account) | {"simulation": self.seeded},
            "seconds": result.seconds,
        }


def simulate(  # noqa: PLR0913  each is a choice of the user, given by name
    table: Any,  # noqa: ANN401  records, or a table of any library
    *,
    target: str | None = None,
    schema: Schema | str | PathLike[str] | None = None,
    epsilon: float | Iterable[float] = _BUDGETS,
    trust: str | Trust | None = None,
    mode: str = "strict",
    folds: int = 10,
    repeats: int = 3,
    seed: int | None = None,
    learner: Learner | str | None = None,
    reduce: str | Reduction | None = None,
    weights: Mapping[str, float] | Sequence[float] | str | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    **wishes: Any,  # noqa: ANN401  what else `plan` takes
) -> Simulation:
    """Measure on public or synthetic data what accuracy each budget would buy.

    Every record stands for an owner; the whole protocol is run with them and cross-validated.

    Parameters
    ----------
    table : table or path-like
        PUBLIC or synthetic data that resemble the private data of the study to come: records, a
        table of any library, or the name of a CSV, Parquet or Feather file.
    target : str, optional
        What is to be predicted; it must be given where there is no schema.
    schema : Schema or path-like, optional
        What is public about them; derived from the table itself by default.
    epsilon : float or iterable of float, default (1, 2, 4, 8)
        The budgets of an owner.
    trust : str or Trust, optional
        Where the phases reduce, train and test happen; see `plan`.
    mode : {"strict", "faithful"}, default "strict"
        Whether to be right, or as the papers were.
    folds, repeats : int, default 10 and 3
        Into how many parts people are split, and how often everything is drawn anew.
    seed : int, optional
        Repeats a run: a simulation, not private.
    learner : Learner or str, optional
        What trains on cells, and without privacy, or the name of one that is installed, or
        ``module:Name``; the papers' machine with C = 1 by default.
    reduce : str or Reduction, optional
        How attributes are chosen, as `plan` takes it; an object of one's own chooses them itself.
    weights : "balanced", mapping of str to float or sequence of float, optional
        How much each label counts; see `train`.
    name : str, optional
        Whose data, for titles; the name of the file by default.
    progress : callable, optional
        Called after each fold, with how many are done, how many there are, and what is under way.
    **wishes
        What else `plan` takes, such as ``keep``, ``classes`` or ``train``.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> found = simulate(
    ...     wdbc.records(), schema=wdbc.schema, epsilon=[1, 8], folds=3, repeats=1, seed=1
    ... )
    >>> weak, strong = found.results
    >>> found.constant < strong.answered.accuracy, weak.account.training.epsilon <= 1
    (True, True)
    """
    described = _described(table, target, schema)
    records = table if isinstance(table, Records) else described.read(table)
    budgets = [
        EPSILON.check(each) for each in (epsilon if isinstance(epsilon, Iterable) else [epsilon])
    ]
    counted = weights_in_order(weights, described)
    if _FEWEST <= records.rows < folds:
        raise ParameterError("folds", f"at most the number of records, {records.rows}", folds)
    reduce = own_reduction(reduce)
    asked: dict[str, Any] = {"trust": trust, "mode": mode, "owners": records.rows, "reduce": reduce}
    studies = [plan(described, epsilon=each, **asked, **wishes) for each in budgets]
    return simulate_studies(
        studies,
        records,
        source=secure() if seed is None else simulation(seed),
        folds=folds,
        repeats=repeats,
        learner=own_learner(learner),
        reduction=None if isinstance(reduce, str) else reduce,
        weights=counted,
        name=name or (Path(table).name if isinstance(table, str | PathLike) else "data"),
        progress=progress,
    )


def simulate_studies(  # noqa: PLR0913  each is a choice of the user, given by name
    studies: Sequence[Study],
    records: Records,
    *,
    source: RandomSource,
    folds: int = 10,
    repeats: int = 3,
    learner: Learner | None = None,
    reduction: Reduction | None = None,
    weights: Sequence[float] | str | None = None,
    name: str = "data",
    progress: Progress | None = None,
) -> Simulation:
    """Simulate studies of one schema on the same people; see `simulate`.

    Parameters
    ----------
    studies : sequence of Study
        At least one.
    records : Records
        Records with their targets: public, or made up.
    source : RandomSource
        Where all randomness comes from.
    folds, repeats : int, default 10 and 3
        Into how many parts people are split, and how often everything is drawn anew.
    learner : Learner, optional
        What trains on cells, and without privacy.
    reduction : Reduction, optional
        Who chooses attributes, where that is not left to the studies.
    weights : "balanced" or sequence of float, optional
        How much each label counts.
    name : str, default "data"
        Whose data, for titles.
    progress : callable, optional
        Called after each fold.

    Returns
    -------
    Simulation
    """
    if not studies:
        raise ParameterError("epsilon", "at least one budget", "none")
    first, trains = studies[0], RadialSVM() if learner is None else learner
    shares = _shares(first, records)
    total = folds * (repeats * len(studies) + repetitions(records.rows, repeats))
    steps = _Steps(progress, total)
    results = tuple(
        evaluate(
            study,
            records,
            source=source,
            folds=folds,
            repeats=repeats,
            learner=trains,
            weights=weights,
            reduction=reduction,
            progress=steps.of(f"epsilon {study.epsilon:g}"),
        )
        for study in studies
    )
    baseline = without_privacy(
        first.schema,
        records,
        trains,
        source,
        split=folds,
        repeats=repeats,
        progress=steps.of("without privacy"),
        weights=None if shares is None else label_weights(first, weights, shares),
    )
    return Simulation(
        name=name,
        people=records.rows,
        labels=None if shares is None else int((shares > 0).sum()),
        constant=_variance(records) if shares is None else float(shares.max()),
        baseline=baseline,
        results=results,
        seeded=source.simulation,
        weights=weights if weights is None or isinstance(weights, str) else tuple(weights),
    )


def _described(
    table: object, target: str | None, schema: Schema | str | PathLike[str] | None
) -> Schema:
    if schema is None:
        if target is None:
            raise ParameterError("target", "given where there is no schema", target)
        return Schema.from_frame(table, target=target)
    found = as_schema(schema)
    if target not in (None, found.target.name):
        rule = f"that of the schema, {found.target.name!r}, or left out"
        raise ParameterError("target", rule, target)
    return found


def _shares(study: Study, records: Records) -> Floats | None:
    """Return how common each label is; None where the target is a number."""
    if study.numeric:
        if _variance(records) == 0:
            raise RecordError(
                "the target is the same number in all records; there is nothing to learn."
            )
        return None
    counts = np.bincount(labels_of(records), minlength=study.labels)
    return counts / records.rows


def _variance(records: Records) -> float:
    return float(numbers_of(records).var())


class _Steps:
    """Counts the folds that are done, and says so where somebody listens."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def of(self, what: str) -> Callable[[], None]:
        """Return what is called after each fold of a part."""
        self._tell(what)

        def step() -> None:
            self._done += 1
            self._tell(what)

        return step

    def _tell(self, what: str) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total, what)
