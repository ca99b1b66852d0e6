"""What accuracy would a budget buy? Cross-validation, repeated, with its spread."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource
from supm._validation import Integers, check_kind
from supm.collection.account import Account, account
from supm.collection.crossvalidation import Trial, cross_validate, cross_validate_number
from supm.learning import Learner
from supm.learning import folds as split
from supm.messages import Study
from supm.owner.columns import labels_of
from supm.schema import Records

__all__ = ["NumberSimulation", "Simulation", "simulate", "simulate_number"]

_REPEATS: Final = Integers("repeats", 1, 10_000)
_FOLDS: Final = Integers("folds", 2, 10_000)


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """The accuracy of a study, with what is needed to judge it.

    Parameters
    ----------
    study : Study
        What was asked.
    account : Account
        What owners spend.
    accuracy_mean, accuracy_sd : float
        Over the repetitions; the spread is 0 where there is one.
    balanced_accuracy_mean : float
        Mean of the accuracy within each class.
    on_device_accuracy_mean, on_device_balanced_accuracy_mean : float
        Of the same models where the record does not leave its device.
    majority : float
        Accuracy of always answering the commonest class.
    chosen : mapping of str to int
        In how many folds, over all repetitions, each attribute was chosen; the most often first.
    repeats, folds : int
        How often everything was drawn anew, and into how many folds people were split.
    seconds : float
        How long it took.
    """

    study: Study
    account: Account
    accuracy_mean: float
    accuracy_sd: float
    balanced_accuracy_mean: float
    on_device_accuracy_mean: float
    on_device_balanced_accuracy_mean: float
    majority: float
    chosen: Mapping[str, int]
    repeats: int
    folds: int
    seconds: float


def simulate(  # noqa: PLR0913  each is a choice of the user, given by name
    study: Study,
    records: Records,
    *,
    source: RandomSource,
    folds: int = 10,
    repeats: int = 3,
    learner: Learner | None = None,
    weights: Sequence[float] | str | None = None,
    progress: Callable[[], object] | None = None,
) -> Simulation:
    """Run a study on public or made-up records as often as asked, and sum up.

    Parameters
    ----------
    study : Study
        The study; its attributes may still have to be chosen.
    records : Records
        Labelled records: public, or made up.
    source : RandomSource
        Where all randomness comes from.
    folds : int, default 10
        Number of folds; everybody is in one of them.
    repeats : int, default 3
        How often folds, groups and reports are drawn anew.
    learner : Learner, optional
        What trains on cells; the papers' machine with C = 1 by default.
    weights : "balanced" or sequence of float, optional
        How much each label counts; see `train`.
    progress : callable, optional
        Called after each fold.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=6.0, attributes=["worst radius"], owners=569)
    >>> found = simulate(study, wdbc.records(), source=simulation(1), repeats=1)
    >>> found.accuracy_mean > found.majority
    True
    """
    check_kind("records", records, Records)
    if study.numeric:
        raise ParameterError("target", "a list of classes", "a number", "Use simulate_number.")
    repeats, folds = _REPEATS.check(repeats), _FOLDS.check(folds)
    _check_people(records, folds)
    started = time.perf_counter()
    trials = []
    for number in range(repeats):
        drawn = source.child(f"repeat {number}")
        parts = split(records.rows, folds, drawn.child("folds"))
        trial = cross_validate(
            study, records, parts, drawn, learner=learner, weights=weights, progress=progress
        )
        trials.append(trial)
    return Simulation(
        study=study,
        account=account(study),
        **_summary(trials),
        chosen=_chosen(trials),
        repeats=repeats,
        folds=folds,
        seconds=time.perf_counter() - started,
    )


@dataclass(frozen=True, kw_only=True)
class NumberSimulation:
    """The error of a study of a number, with what is needed to judge it.

    Parameters
    ----------
    study : Study
        What was asked.
    account : Account
        What owners spend.
    error_mean, error_sd : float
        Mean squared error over the repetitions; the spread is 0 where there is one.
    on_device_error_mean : float
        Of the same models where the record does not leave its device.
    constant : float
        Mean squared error of always predicting the true mean.
    repeats, folds : int
        How often everything was drawn anew, and into how many folds people were split.
    seconds : float
        How long it took.
    """

    study: Study
    account: Account
    error_mean: float
    error_sd: float
    on_device_error_mean: float
    constant: float
    repeats: int
    folds: int
    seconds: float


def simulate_number(
    study: Study,
    records: Records,
    *,
    source: RandomSource,
    folds: int = 10,
    repeats: int = 3,
    progress: Callable[[], object] | None = None,
) -> NumberSimulation:
    """Run a study of a number on public or made-up records as often as asked, and sum up.

    Parameters
    ----------
    study : Study
        A study whose target is a number.
    records : Records
        Records with their targets: public, or made up.
    source : RandomSource
        Where all randomness comes from.
    folds : int, default 10
        Number of folds; everybody is in one of them.
    repeats : int, default 3
        How often folds, groups and reports are drawn anew.
    progress : callable, optional
        Called after each fold.

    Returns
    -------
    NumberSimulation

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.schema import Continuous, Schema
    >>> schema = Schema(
    ...     attributes=(Continuous("age", low=0, high=100),),
    ...     target=Continuous("pulse", low=40, high=140),
    ... )
    >>> rows = [{"age": age, "pulse": 60 + age / 2} for age in range(100)] * 5
    >>> study = plan(schema, epsilon=6.0)
    >>> found = simulate_number(study, schema.read(rows), source=simulation(1), repeats=1)
    >>> found.on_device_error_mean < found.constant
    True
    """
    check_kind("records", records, Records)
    repeats, folds = _REPEATS.check(repeats), _FOLDS.check(folds)
    _check_count(records, folds)
    started = time.perf_counter()
    trials = []
    for number in range(repeats):
        drawn = source.child(f"repeat {number}")
        parts = split(records.rows, folds, drawn.child("folds"))
        trials.append(cross_validate_number(study, records, parts, drawn, progress=progress))
    errors = [trial.answered.squared for trial in trials]
    return NumberSimulation(
        study=study,
        account=account(study),
        error_mean=statistics.fmean(errors),
        error_sd=statistics.stdev(errors) if len(errors) > 1 else 0.0,
        on_device_error_mean=statistics.fmean(trial.on_device.squared for trial in trials),
        constant=statistics.fmean(trial.answered.constant for trial in trials),
        repeats=repeats,
        folds=folds,
        seconds=time.perf_counter() - started,
    )


def _summary(trials: list[Trial]) -> dict[str, float]:
    accuracies = [trial.answered.accuracy for trial in trials]
    return {
        "accuracy_mean": statistics.fmean(accuracies),
        "accuracy_sd": statistics.stdev(accuracies) if len(accuracies) > 1 else 0.0,
        "balanced_accuracy_mean": statistics.fmean(
            trial.answered.balanced_accuracy for trial in trials
        ),
        "on_device_accuracy_mean": statistics.fmean(trial.on_device.accuracy for trial in trials),
        "on_device_balanced_accuracy_mean": statistics.fmean(
            trial.on_device.balanced_accuracy for trial in trials
        ),
        "majority": statistics.fmean(trial.answered.majority for trial in trials),
    }


def _chosen(trials: list[Trial]) -> dict[str, int]:
    found = Counter(name for trial in trials for names in trial.attributes for name in names)
    return dict(found.most_common())


def _check_people(records: Records, folds: int) -> None:
    """Refuse what cannot be learned from, by counts only."""
    _check_count(records, folds)
    labels = labels_of(records)
    if int(labels.min()) == int(labels.max()):
        message = "the target has one class only in these records; there is nothing to learn."
        raise RecordError(message)


def _check_count(records: Records, folds: int) -> None:
    if records.rows < max(folds, 4):
        message = (
            f"the table has {records.rows} records, and {folds} folds need at least "
            f"{max(folds, 4)}; use fewer folds or more records."
        )
        raise RecordError(message)
