"""The whole protocol once, with every owner on a device of its own and every report as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.cli._progress import bar
from supm.collection import (
    Owner,
    Reception,
    SampledInterview,
    interview,
    publish,
    reduce_study,
    train,
)
from supm.collection.cards import moments_of
from supm.datasets import Dataset
from supm.learning import Learner, Moments
from supm.messages import Model, Report, Scorecard, Study

__all__ = ["Story", "tell"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Story:
    """What happened, seen from an owner and from the aggregator.

    Parameters
    ----------
    asked : SampledInterview
        The mechanism of the train phase.
    record : dict
        What one training owner holds. It is shown because the data are public.
    report : Report
        What left that owner's device to train.
    people : dict of str to int
        How many reports were counted in each phase.
    told, estimated, true : ndarray of float
        For each attribute how much higher people of the second label are than those of the first,
        from 0 in the lowest class to 1 in the highest: in the reports, estimated from them, and in
        truth, which nobody but a reader of public data can know.
    scores, labels : ndarray
        How far the model's points speak for the second label rather than for the first, for each
        person, and the person's true label number.
    model : Model
        What the aggregator publishes.
    simulation : bool
        Whether the randomness came from a seed.
    """

    asked: SampledInterview
    record: dict[str, Any]
    report: Report
    people: dict[str, int]
    told: NDArray[np.float64]
    estimated: NDArray[np.float64]
    true: NDArray[np.float64]
    scores: NDArray[np.float64]
    labels: NDArray[np.int64]
    model: Model
    simulation: bool

    @property
    def study(self) -> Study:
        """The study with its attributes chosen."""
        return self.model.study


def tell(study: Study, data: Dataset, learner: Learner, source: RandomSource) -> Story:
    """Run a study with the people of a public data set.

    Parameters
    ----------
    study : Study
        Of reports that tell a few attributes each, and of two labels.
    data : Dataset
        The people.
    learner : Learner
        What trains.
    source : RandomSource
        Where the randomness of all devices comes from.

    Returns
    -------
    Story
    """
    crowd = _Crowd(
        owners=[Owner(source=source.child(f"owner {number}")) for number in range(data.rows)],
        records=list(_records(data)),
        simulation=source.simulation,
    )
    people = {}
    with bar(total=data.rows, unit="reports", label="owners report") as shown:
        if study.question("reduce") is not None:
            door, _ = crowd.report(study, "reduce", shown.step)
            people["reduce"] = door.reports
            study = reduce_study(study, door.counts, source)
        desk, first = crowd.report(study, "train", shown.step)
    asked = interview(study, "train")
    counts = desk.counts
    if not isinstance(asked, SampledInterview) or asked.labels != 2 or counts is None:
        raise ParameterError("study", "one of sampled reports and two labels", study.reduction)
    moments, model = moments_of(asked, counts), publish(train(study, counts, learner))
    encoded = asked.encode(data.records())
    return Story(
        asked=asked,
        record=crowd.records[first],
        report=crowd.owners[first].answer(study, "train", crowd.records[first]),
        people=people | {"train": desk.reports},
        told=_told(moments),
        estimated=_estimated(moments),
        true=_true(asked, encoded),
        scores=_scores(model, encoded[:, :-1]),
        labels=encoded[:, -1],
        model=model,
        simulation=source.simulation,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Crowd:
    """People with a record and a device each."""

    owners: list[Owner]
    records: list[dict[str, Any]]
    simulation: bool

    def report(self, study: Study, phase: str, step: Callable[[], object]) -> tuple[Reception, int]:
        """Let the group that is asked report; return also the number of its first member."""
        question = study.question(phase)
        group = 0 if question is None else question.group
        asked = [place for place, owner in enumerate(self.owners) if owner.group(study) == group]
        if not asked:
            raise ParameterError("owners", f"at least one in group {group}", 0)
        door = Reception(study, phase, simulation=self.simulation)
        for place in asked:
            report = self.owners[place].answer(study, phase, self.records[place])
            door.receive(report.to_json())
            step()
        return door, asked[0]


def _records(data: Dataset) -> Iterator[dict[str, Any]]:
    names = list(data.columns)
    for values in zip(*(data.columns[name].tolist() for name in names), strict=True):
        yield dict(zip(names, values, strict=True))


def _scores(model: Model, classes: NDArray[np.int64]) -> NDArray[np.float64]:
    if not isinstance(model.rule, Scorecard):
        raise ParameterError("model", "a scorecard", "another")
    points = model.rule.scores(classes)
    scores: NDArray[np.float64] = points[:, 1] - points[:, 0]
    return scores


def _heights(sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Return how high each class of each attribute is."""
    return np.concatenate([np.linspace(0.0, 1.0, size) for size in sizes])


def _told(moments: Moments) -> NDArray[np.float64]:
    """Return the differences as the reports have them, noise and all."""
    shares = moments.tables / moments.told[:, np.newaxis]
    labels = np.zeros((len(moments.sizes), 2))
    np.add.at(labels, moments.of, shares)
    expected = shares.sum(axis=1) * labels[moments.of, 1]
    rare = labels.prod(axis=1)
    told: NDArray[np.float64] = _summed(moments, shares[:, 1] - expected)
    told /= np.maximum(rare, 1e-3)
    return told


def _estimated(moments: Moments) -> NDArray[np.float64]:
    """Return the differences among people, from covariances whose bias is taken away."""
    estimated: NDArray[np.float64] = _summed(moments, moments.with_label[:, 1])
    estimated /= moments.shares.prod()
    return estimated


def _summed(moments: Moments, together: NDArray[np.float64]) -> NDArray[np.float64]:
    summed = np.zeros(len(moments.sizes))
    np.add.at(summed, moments.of, _heights(moments.sizes) * together)
    return summed


def _true(asked: SampledInterview, encoded: NDArray[np.int64]) -> NDArray[np.float64]:
    heights = encoded[:, :-1] / (np.array(asked.sizes) - 1)
    second = encoded[:, -1] == 1
    true: NDArray[np.float64] = heights[second].mean(axis=0) - heights[~second].mean(axis=0)
    return true
