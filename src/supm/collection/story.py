"""The whole protocol once: every owner on a device of its own, every report over HTTP."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.collection.cards import moments_of
from supm.collection.counting import Counts
from supm.collection.reduction import associations
from supm.learning import Moments
from supm.messages import Model, Report, Scorecard, Study
from supm.owner import Owner, SampledInterview, interview

if TYPE_CHECKING:
    from supm.datasets import Dataset

TRAINING: Final = 512
"""So many people help to choose or to train; the others are tested."""


class Aggregator(Protocol):
    """Where the reports go: a study that collects, wherever it runs."""

    def document(self) -> Study:
        """Return what an owner is asked now."""
        ...

    def send(self, report: Report) -> dict[str, Any]:
        """Take what an owner tells, and return the receipt with the answer to it."""
        ...

    def step(self, *steps: str) -> None:
        """Take steps as the analyst does."""
        ...

    def counts(self, phase: str) -> Counts:
        """Return what the reports of a phase add up to."""
        ...

    def model(self) -> Model:
        """Return the published model."""
        ...


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
    strengths : ndarray of float
        For each chosen attribute how strongly it goes with the label, between 0 and 1, estimated
        from the reports of the reduce phase.
    right, commonest : int
        How many of the tested were answered with their label, and how many have the commonest one.
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
    strengths: NDArray[np.float64]
    right: int
    commonest: int
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


def tell(
    aggregator: Aggregator, data: Dataset, source: RandomSource, step: Callable[[], object]
) -> Story:
    """Run a study of two labels with the people of a public data set; each report is a step.

    A first group's reports, of a few attributes each, choose what is asked of those who train.
    """
    crowd = _People.of(aggregator, data, source)
    planned = aggregator.document()
    chose = crowd.report("reduce", step)
    aggregator.step("reduce", "open")
    trained = crowd.report("train", step)
    first, report = next(iter(trained.items()))
    aggregator.step("train", "serve")
    answers = crowd.test(step)
    model = aggregator.model()
    asked, counts = interview(model.study, "train"), aggregator.counts("train")
    if not isinstance(asked, SampledInterview) or asked.labels != 2:
        raise ParameterError("study", "one of sampled reports and two labels", "another")
    moments, encoded = moments_of(asked, counts), asked.encode(data.records())
    labels = [crowd.records[place][data.schema.target.name] for place in answers]
    return Story(
        asked=asked,
        record=crowd.records[first],
        report=report,
        people={"reduce": len(chose), "train": len(trained), "test": len(answers)},
        strengths=_strengths(planned, model.study, aggregator.counts("reduce")),
        right=sum(map(operator.eq, answers.values(), labels)),
        commonest=Counter(labels).most_common(1)[0][1],
        told=_told(moments),
        estimated=_estimated(moments),
        true=_true(asked, encoded),
        scores=_scores(model, encoded[:, :-1]),
        labels=encoded[:, -1],
        model=model,
        simulation=source.simulation,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _People:
    """People with a record and a device each, some of whom train and some of whom are tested."""

    aggregator: Aggregator
    owners: list[Owner]
    records: list[dict[str, Any]]
    training: list[int]
    tested: list[int]

    @classmethod
    def of(cls, aggregator: Aggregator, data: Dataset, source: RandomSource) -> _People:
        """Give everybody a device, and let most of them train."""
        order = source.child("who trains").permutation(data.rows).tolist()
        train = sorted(order[:TRAINING])
        return cls(
            aggregator=aggregator,
            owners=[Owner(source=source.child(f"owner {number}")) for number in range(data.rows)],
            records=list(_records(data)),
            training=train,
            tested=sorted(order[TRAINING:]),
        )

    def report(self, phase: str, step: Callable[[], object]) -> dict[int, Report]:
        """Let the group that is asked report; return what each of its members sent."""
        study = self.aggregator.document()
        question = study.question(phase)
        if question is None:
            raise ParameterError("study", f"one with a {phase} phase", "another")
        group = question.group
        sent = {}
        for place in self.training:
            if self.owners[place].group(study) == group:
                sent[place] = self.owners[place].answer(study, phase, self.records[place])
                self.aggregator.send(sent[place])
                step()
        if not sent:
            raise ParameterError("owners", f"at least one in group {group}", 0)
        return sent

    def test(self, step: Callable[[], object]) -> dict[int, object]:
        """Let everybody else tell the model's answer, and return the aggregator's for each."""
        study, answers = self.aggregator.document(), {}
        for place in self.tested:
            told = self.owners[place].answer(study, "test", self.records[place])
            answers[place] = self.aggregator.send(told)["answer"]
            step()
        return answers


def _records(data: Dataset) -> Iterator[dict[str, Any]]:
    names = list(data.columns)
    for values in zip(*(data.columns[name].tolist() for name in names), strict=True):
        yield dict(zip(names, values, strict=True))


def _scores(model: Model, classes: NDArray[np.int64]) -> NDArray[np.float64]:
    if not isinstance(model.rule, Scorecard):
        raise ParameterError("model", "a scorecard", "another")
    points = model.rule.scores(classes)
    return points[:, 1] - points[:, 0]


def _strengths(planned: Study, study: Study, counts: Counts) -> NDArray[np.float64]:
    """Return how strongly each chosen attribute goes with the label."""
    found = dict(zip(planned.schema.names, associations(planned, counts).tolist(), strict=True))
    return np.array([found[name] for name in study.attributes or ()])


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
    return np.asarray(heights[second].mean(axis=0) - heights[~second].mean(axis=0))
