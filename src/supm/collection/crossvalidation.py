"""One repetition of cross-validation, in which everybody reports once and is tested once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource, check_source
from supm.collection.crowd import Crowd
from supm.collection.testing import answer_on_device
from supm.learning import Errors, Learner, Scores, measure, score
from supm.messages import Study
from supm.owner.columns import labels_of, numbers_of
from supm.schema import Records

__all__ = ["NumberTrial", "Trial", "cross_validate", "cross_validate_number"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """What one repetition showed.

    Parameters
    ----------
    answered : Scores
        Of the answers to the reports of the test phase; on the device where nothing is reported.
    on_device : Scores
        Of the same models where the record does not leave its device.
    attributes : tuple of tuple of str
        The attributes that each fold's model was about.
    """

    answered: Scores
    on_device: Scores
    attributes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class NumberTrial:
    """What one repetition showed, where the target is a number.

    Parameters
    ----------
    answered : Errors
        Of the answers to the reports of the test phase; on the device where nothing is reported.
    on_device : Errors
        Of the same models where the record does not leave its device.
    """

    answered: Errors
    on_device: Errors


def cross_validate(  # noqa: PLR0913  each is a choice of the user, given by name
    study: Study,
    records: Records,
    folds: Sequence[NDArray[np.int64]],
    source: RandomSource,
    *,
    learner: Learner | None = None,
    weights: Sequence[float] | str | None = None,
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
        Labelled records: public, or made up. They are scored against their true labels.
    folds : sequence of ndarray of int
        Row numbers of each fold; those in no fold take no part.
    source : RandomSource
        Where all randomness comes from.
    learner : Learner, optional
        What trains on cells; the papers' machine with C = 1 by default.
    weights : "balanced" or sequence of float, optional
        How much each label counts; see `train`.
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
    if study.numeric:
        raise ParameterError("target", "a list of classes", "a number")
    crowd = Crowd(study, records, check_source(source))
    answers = _answers(crowd, folds, _Training(learner, weights), progress)
    truth = labels_of(records)[answers.rows]
    return Trial(
        answered=score(truth, answers.told.astype(np.int64)),
        on_device=score(truth, answers.kept.astype(np.int64)),
        attributes=answers.chosen,
    )


def cross_validate_number(
    study: Study,
    records: Records,
    folds: Sequence[NDArray[np.int64]],
    source: RandomSource,
    *,
    progress: Callable[[], object] | None = None,
) -> NumberTrial:
    """Run a study of a number once on people who are all simulated, and measure its errors.

    Parameters
    ----------
    study : Study
        A study whose target is a number.
    records : Records
        Records with their targets: public, or made up.
    folds : sequence of ndarray of int
        Row numbers of each fold; those in no fold take no part.
    source : RandomSource
        Where all randomness comes from.
    progress : callable, optional
        Called after each fold.

    Returns
    -------
    NumberTrial
    """
    if not study.numeric:
        raise ParameterError("target", "a number", "a list of classes")
    crowd = Crowd(study, records, check_source(source))
    answers = _answers(crowd, folds, _Training(None, None), progress)
    truth = numbers_of(records)[answers.rows]
    return NumberTrial(
        answered=measure(truth, answers.told), on_device=measure(truth, answers.kept)
    )


class _Training(NamedTuple):
    learner: Learner | None
    weights: Sequence[float] | str | None


class _Answers(NamedTuple):
    """What each person who takes part was answered: to a report, and on the device."""

    rows: NDArray[np.int64]
    told: NDArray[np.float64]
    kept: NDArray[np.float64]
    chosen: tuple[tuple[str, ...], ...]


def _answers(
    crowd: Crowd,
    folds: Sequence[NDArray[np.int64]],
    training: _Training,
    progress: Callable[[], object] | None,
) -> _Answers:
    rows = _taking_part(folds)
    told, kept = np.zeros(crowd.people), np.zeros(crowd.people)
    chosen = []
    parts = list(folds)
    shared = crowd.reduce(parts) if crowd.study.mode == "faithful" else None
    for place, fold in enumerate(parts):
        others = [*parts[:place], *parts[place + 1 :]]
        reduced = crowd.reduce(others) if shared is None else shared
        trained = crowd.train(reduced, others, *training)
        kept[fold] = answer_on_device(trained, crowd.rows(fold))
        told[fold] = crowd.test(trained, fold) if reduced.question("test") else kept[fold]
        chosen.append(reduced.attributes or ())
        if progress is not None:
            progress()
    return _Answers(rows, told[rows], kept[rows], tuple(chosen))


def _taking_part(folds: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    if len(folds) < 2:
        raise ParameterError("folds", "at least two sets of rows", len(folds))
    rows = np.sort(np.concatenate(folds))
    if (np.diff(rows) == 0).any():
        raise ParameterError("folds", "sets of rows without a row in common", "a row in two")
    return rows
