"""What accuracy would a study reach, and what without privacy? Cross-validation, repeated."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError
from supm._random import RandomSource, check_source
from supm._validation import Integers, check_kind
from supm.collection.crowd import Crowd
from supm.collection.features import Floats, Ints, raw_features
from supm.collection.reduction import Reduction
from supm.collection.spending import Account, account
from supm.collection.testing import answer_on_device
from supm.learning import Learner, Metric, WeightedCells, average, folds, measure, score
from supm.learning import folds as split
from supm.messages import Study
from supm.owner.columns import labels_of, numbers_of
from supm.schema import Records, Schema

_REPEATS: Final = Integers("repeats", 1, 10_000)
_FOLDS: Final = Integers("folds", 2, 10_000)
_FEWEST: Final = 4
# A kernel machine on raw records grows with the square of people, so it gets no more than these.
_MOST_PEOPLE: Final = 4_000
_REPEATED: Final = 2_000

_Predict: TypeAlias = Callable[[Floats], NDArray[Any]]
_Fit: TypeAlias = Callable[[Floats, NDArray[Any]], _Predict]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """What one repetition showed.

    Parameters
    ----------
    answered : Scores or Errors
        Of the answers to the reports of the test phase; on the device where nothing is reported.
        Errors where the target is a number.
    on_device : Scores or Errors
        Of the same models where the record does not leave its device.
    attributes : tuple of tuple of str
        The attributes that each fold's model was about.
    """

    answered: Metric
    on_device: Metric
    attributes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What a study reached, with what is needed to judge it.

    Parameters
    ----------
    study : Study
        What was asked.
    account : Account
        What owners spend.
    answered : Scores or Errors
        The means over the repetitions, of the answers to reports; errors where the target is a
        number. The figure of the best constant is among them.
    on_device : Scores or Errors
        Of the same models where the record does not leave its device.
    spread : float
        Standard deviation of the accuracy, or of the mean squared error, of the answers over the
        repetitions; 0 where there is one.
    chosen : mapping of str to int
        In how many folds, over all repetitions, each attribute was chosen; the most often first.
    repeats, folds : int
        How often everything was drawn anew, and into how many folds people were split.
    seconds : float
        How long it took.
    """

    study: Study
    account: Account
    answered: Metric
    on_device: Metric
    spread: float
    chosen: Mapping[str, int]
    repeats: int
    folds: int
    seconds: float


def evaluate(  # noqa: PLR0913  each is a choice of the user, given by name
    study: Study,
    records: Records,
    *,
    source: RandomSource,
    folds: int = 10,
    repeats: int = 3,
    learner: Learner | None = None,
    weights: Sequence[float] | str | None = None,
    reduction: Reduction | None = None,
    progress: Callable[[], object] | None = None,
) -> Evaluation:
    """Run a study on public or made-up records as often as asked, and sum up.

    Parameters
    ----------
    study : Study
        The study; its attributes may still have to be chosen.
    records : Records
        Records with their targets: public, or made up.
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
    reduction : Reduction, optional
        Who chooses attributes, where that is not left to the study.
    progress : callable, optional
        Called after each fold.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=6.0, attributes=["worst radius"], owners=569)
    >>> found = evaluate(study, wdbc.records(), source=simulation(1), repeats=1)
    >>> found.answered.accuracy > found.answered.majority
    True
    """
    check_kind("records", records, Records)
    repeats, folds = _REPEATS.check(repeats), _FOLDS.check(folds)
    _check_people(study, records, folds)
    started = time.perf_counter()
    trials = []
    for number in range(repeats):
        drawn = source.child(f"repeat {number}")
        parts = split(records.rows, folds, drawn.child("folds"))
        trial = cross_validate(
            study,
            records,
            parts,
            drawn,
            learner=learner,
            weights=weights,
            reduction=reduction,
            progress=progress,
        )
        trials.append(trial)
    headlines = [trial.answered.headline for trial in trials]
    return Evaluation(
        study=study,
        account=account(study),
        answered=average([trial.answered for trial in trials]),
        on_device=average([trial.on_device for trial in trials]),
        spread=statistics.stdev(headlines) if repeats > 1 else 0.0,
        chosen=_chosen(trials),
        repeats=repeats,
        folds=folds,
        seconds=time.perf_counter() - started,
    )


def cross_validate(  # noqa: PLR0913  each is a choice of the user, given by name
    study: Study,
    records: Records,
    folds: Sequence[Ints],
    source: RandomSource,
    *,
    learner: Learner | None = None,
    weights: Sequence[float] | str | None = None,
    reduction: Reduction | None = None,
    progress: Callable[[], object] | None = None,
) -> Trial:
    """Run a study once on people who are all simulated, and score what it answers.

    Everybody draws one report for each question, and all folds use the same. In faithful mode
    attributes are chosen once from everybody's reports, as the papers do, which sees the people who
    are tested; in strict mode from the reports of the training folds.

    Parameters
    ----------
    study : Study
        The study; its attributes may still have to be chosen.
    records : Records
        Records with their targets: public, or made up. They are scored against those.
    folds : sequence of ndarray of int
        Row numbers of each fold; those in no fold take no part.
    source : RandomSource
        Where all randomness comes from.
    learner : Learner, optional
        What trains on cells; the papers' machine with C = 1 by default.
    weights : "balanced" or sequence of float, optional
        How much each label counts; see `train`.
    reduction : Reduction, optional
        Who chooses attributes, where that is not left to the study.
    progress : callable, optional
        Called after each fold.

    Returns
    -------
    Trial

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> from supm.learning import folds
    >>> wdbc = load_wdbc()
    >>> study = plan(wdbc.schema, epsilon=8.0)
    >>> split = folds(wdbc.rows, 10, simulation(1))
    >>> trial = cross_validate(study, wdbc.records(), split, simulation(1))
    >>> trial.answered.accuracy > trial.answered.majority
    True
    """
    rows, parts, chosen = _taking_part(folds), list(folds), []
    crowd = Crowd(study, records, check_source(source), reduction)
    answered, on_device = np.zeros(crowd.people), np.zeros(crowd.people)
    shared = crowd.reduce(parts) if study.mode == "faithful" else None
    for place, fold in enumerate(parts):
        others = [*parts[:place], *parts[place + 1 :]]
        reduced = crowd.reduce(others) if shared is None else shared
        trained = crowd.train(reduced, others, learner, weights)
        on_device[fold] = answer_on_device(trained, crowd.rows(fold))
        asks = reduced.question("test") is not None
        answered[fold] = crowd.test(trained, fold) if asks else on_device[fold]
        chosen.append(reduced.attributes or ())
        if progress is not None:
            progress()
    return Trial(
        answered=_judged(study, records, rows, answered),
        on_device=_judged(study, records, rows, on_device),
        attributes=tuple(chosen),
    )


def _judged(study: Study, records: Records, rows: Ints, told: Floats) -> Metric:
    if study.numeric:
        return measure(numbers_of(records)[rows], told[rows])
    return score(labels_of(records)[rows], told[rows].astype(np.int64))


def _taking_part(folds: Sequence[Ints]) -> Ints:
    if len(folds) < 2:
        raise ParameterError("folds", "at least two sets of rows", len(folds))
    rows = np.sort(np.concatenate(folds))
    if (np.diff(rows) == 0).any():
        raise ParameterError("folds", "sets of rows without a row in common", "a row in two")
    return rows


def _chosen(trials: list[Trial]) -> dict[str, int]:
    found = Counter(name for trial in trials for names in trial.attributes for name in names)
    return dict(found.most_common())


def _check_people(study: Study, records: Records, folds: int) -> None:
    """Refuse what cannot be learned from, by counts only."""
    if records.rows < max(folds, _FEWEST):
        raise RecordError(
            f"the table has {records.rows} records, and {folds} folds need at least "
            f"{max(folds, _FEWEST)}; use fewer folds or more records."
        )
    if not study.numeric and np.ptp(labels_of(records)) == 0:
        raise RecordError(
            "the target has one class only in these records; there is nothing to learn."
        )


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """What can be learned without privacy.

    Parameters
    ----------
    reached : Scores or Errors
        Means over the repetitions; errors of a straight line where the target is a number.
    people : int
        Of so many people, drawn at random where there are more.
    repeats : int
        How often the folds were drawn anew.
    """

    reached: Metric
    people: int
    repeats: int


def repetitions(rows: int, repeats: int) -> int:
    """Return how often the folds are drawn: once is enough where there are many people."""
    return repeats if rows <= _REPEATED else 1


def without_privacy(  # noqa: PLR0913  each is a choice of the user, given by name
    schema: Schema,
    records: Records,
    learner: Learner,
    source: RandomSource,
    *,
    split: int,
    repeats: int,
    progress: Callable[[], object],
    weights: Floats | None = None,
) -> Baseline:
    """Cross-validate on the raw records: a learner of labels, or least squares for a number."""
    truth: NDArray[Any]
    if schema.task == "continuous":
        rows, truth = np.arange(records.rows), numbers_of(records)
        fit: _Fit = _least_squares
        judge: Callable[..., Metric] = measure
    else:
        rows = source.child("people").permutation(records.rows)[:_MOST_PEOPLE]
        truth = labels_of(records)[rows]
        fit, judge = _fit_of(learner, weights, truth), score
    repeats, features = repetitions(records.rows, repeats), raw_features(schema, records, rows)
    found = []
    for number in range(repeats):
        parts = folds(len(rows), split, source.child(f"raw {number}"))
        found.append(judge(truth, _predicted(fit, features, truth, parts, progress)))
    return Baseline(reached=average(found), people=len(rows), repeats=repeats)


def _fit_of(learner: Learner, weights: Floats | None, truth: NDArray[Any]) -> _Fit:
    counted = np.ones(int(truth.max()) + 1) if weights is None else weights

    def fit(features: Floats, labels: Ints) -> _Predict:
        cells = WeightedCells(features=features, labels=labels, weights=counted[labels])
        return learner.fit(cells, classes=len(counted)).predict

    return fit


def _predicted(
    fit: _Fit,
    features: Floats,
    truth: NDArray[Any],
    parts: Sequence[Ints],
    progress: Callable[[], object],
) -> NDArray[Any]:
    """Return what is predicted for each part by a fit to the others."""
    told = np.empty_like(truth)
    for part in parts:
        others = np.setdiff1d(np.concatenate(parts), part)
        told[part] = fit(features[others], truth[others])(features[part])
        progress()
    return told


def _least_squares(features: Floats, truth: NDArray[Any]) -> _Predict:
    centre = features.mean(axis=0)
    slopes = np.linalg.lstsq(features - centre, truth - truth.mean(), rcond=1e-8)[0]
    return lambda asked: truth.mean() + (asked - centre) @ slopes
