"""The whole protocol once, every report over HTTP, and in words what left and what is learned."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.collection.cards import moments_of
from supm.collection.counting import Counts
from supm.collection.features import Floats, Ints
from supm.collection.reduction import associations
from supm.learning import Moments
from supm.messages import Model, Report, Scorecard, Study
from supm.owner import Owner, SampledInterview, interview
from supm.reporting import Table, paragraph

if TYPE_CHECKING:
    from supm.datasets import Dataset

TRAINING: Final = 512
"""So many people help to choose or to train; the others are tested."""

_SHOWN: Final = 6
_NOTHING: Final = "0.00"
_BY_RANK: Final = (
    "Once noise is taken off, nothing sure is left of those at 0.00: they were kept by rank, to "
    "make up {}, and those who train decide how many points each gets."
)


class Aggregator(Protocol):
    """Where the reports go: a study that collects, wherever it runs."""

    def document(self) -> Study:
        """Return what an owner is asked now."""
        ...

    def send(self, report: Report) -> dict[str, Any]:
        """Take what an owner tells, and return the receipt with the answer to it."""
        ...

    def step(self, *steps: str) -> object:
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
    strengths: Floats
    right: int
    commonest: int
    told: Floats
    estimated: Floats
    true: Floats
    scores: Floats
    labels: Ints
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


def _scores(model: Model, classes: Ints) -> Floats:
    if not isinstance(model.rule, Scorecard):
        raise ParameterError("model", "a scorecard", "another")
    points = model.rule.scores(classes)
    return points[:, 1] - points[:, 0]


def _strengths(planned: Study, study: Study, counts: Counts) -> Floats:
    """Return how strongly each chosen attribute goes with the label."""
    found = dict(zip(planned.schema.names, associations(planned, counts).tolist(), strict=True))
    return np.array([found[name] for name in study.attributes or ()])


def _heights(sizes: tuple[int, ...]) -> Floats:
    """Return how high each class of each attribute is."""
    return np.concatenate([np.linspace(0.0, 1.0, size) for size in sizes])


def _told(moments: Moments) -> Floats:
    """Return the differences as the reports have them, noise and all."""
    shares = moments.tables / moments.told[:, np.newaxis]
    labels = np.zeros((len(moments.sizes), 2))
    np.add.at(labels, moments.of, shares)
    expected = shares.sum(axis=1) * labels[moments.of, 1]
    rare = labels.prod(axis=1)
    told: Floats = _summed(moments, shares[:, 1] - expected)
    told /= np.maximum(rare, 1e-3)
    return told


def _estimated(moments: Moments) -> Floats:
    """Return the differences among people, from covariances whose bias is taken away."""
    estimated: Floats = _summed(moments, moments.with_label[:, 1])
    estimated /= moments.shares.prod()
    return estimated


def _summed(moments: Moments, together: Floats) -> Floats:
    summed = np.zeros(len(moments.sizes))
    np.add.at(summed, moments.of, _heights(moments.sizes) * together)
    return summed


def _true(asked: SampledInterview, encoded: Ints) -> Floats:
    heights = encoded[:, :-1] / (np.array(asked.sizes) - 1)
    second = encoded[:, -1] == 1
    return np.asarray(heights[second].mean(axis=0) - heights[~second].mean(axis=0))


def parts(story: Story) -> tuple[tuple[str, str], ...]:
    """Return the parts of the story that come before any accuracy."""
    return (
        ("What is asked first", _chooses(story)),
        ("What one owner holds", _holds(story)),
        ("What leaves the device", _leaves(story)),
        ("What the aggregator learns", _learns(story)),
    )


def points(story: Story) -> Floats:
    """Return how far the highest class of each attribute speaks for the second label."""
    rule = story.model.rule
    if not isinstance(rule, Scorecard):
        raise ParameterError("model", "a scorecard", "another")
    return np.array([np.diff(each[[0, -1]], axis=0)[0] @ (-1.0, 1.0) for each in rule.points])


def _drawn(story: Story) -> list[Any]:
    """Return the discretizers of the attributes that the owner tells about."""
    return [story.asked.discretizers[place] for place in _split(story)[0]]


def _split(story: Story) -> tuple[list[int], list[int], int]:
    """Return places, classes and the label of the report."""
    *told, label = story.report.symbols
    return told[: story.asked.sampled], told[story.asked.sampled :], label


def _held(discretizer: Any, story: Story) -> int:  # noqa: ANN401  any discretizer of a number
    return int(discretizer.encode([story.record[discretizer.attribute.name]])[0])


def _chooses(story: Story) -> str:
    study, helped = story.study, story.people["reduce"]
    question, names = study.question("reduce"), study.attributes or ()
    if question is None:
        raise ParameterError("study", "one with a reduce phase", "another")
    words = (
        f"By lot, {helped} of {helped + story.people['train']} owners help to choose what the "
        f"others are asked. Each tells about {question.sampled} of the "
        f"{len(study.schema.attributes)} measures and the label, randomised on the device, and "
        f"is not asked again. The study goes on with the {len(names)} measures that go with the "
        "label most, between 0 and 1, as far as these reports can tell (0 is what noise shows):"
    )
    order = np.argsort(-story.strengths, kind="stable").tolist()
    rows = [[names[place], f"{story.strengths[place]:.2f}"] for place in order]
    told = f"{paragraph(words)}\n{Table(head=['measure', 'goes with the label'], rows=rows)}"
    unsure = any(strength == _NOTHING for _, strength in rows)
    return f"{told}\n{paragraph(_BY_RANK.format(len(names)))}" if unsure else told


def _holds(story: Story) -> str:
    study, target = story.study, story.study.schema.target.name
    rows: list[list[str]] = []
    for each in _drawn(story):
        place, value = _held(each, story), story.record[each.attribute.name]
        told = f"{place + 1} of {each.size}: {each.labels[place]}"
        rows.append([each.attribute.name, f"{value:g}", told])
    rows.append([target, str(story.record[target]), "the label"])
    words = (
        f"A record of {len(story.record)} values, which stays on the owner's device. By lot, the "
        f"device is to tell about {story.asked.sampled} of its {study.keep} measures, by public "
        "classes, and the label:"
    )
    return f"{paragraph(words)}\n{Table(head=['value', 'held', 'class'], rows=rows)}"


def _leaves(story: Story) -> str:
    drawn, (_, classes, label) = _drawn(story), _split(story)
    labels = story.model.labels
    combined = math.prod(each.size for each in drawn)
    cells, gap = len(labels) * combined, story.asked.truth(combined)
    own = [_held(each, story) for each in drawn]
    true = own == classes and labels[label] == story.record[story.study.schema.target.name]
    told = zip(classes, drawn, strict=True)
    named = [f"class {place + 1} of {each.attribute.name}" for place, each in told]
    words = (
        f"The classes and the label together are one of {cells} combinations. The device tells "
        f"the owner's own with probability {gap + (1 - gap) / cells:.3f}, and otherwise one of "
        f"the others, all alike. This time it told {', '.join(named)}, and {labels[label]}: "
        f"{'the truth' if true else 'not the truth'}, but nobody else can tell. This is the whole "
        "report, with the places of the measures before their classes:"
    )
    return f"{paragraph(words)}\n{story.report.to_json()}"


def _learns(story: Story) -> str:
    first, second = story.model.labels
    given = points(story)
    order = np.argsort(-np.abs(given), kind="stable")[:_SHOWN]
    words = (
        f"Out of {story.people['train']} reports, and never a record, come estimates of how each "
        "measure goes with the label and the others, and a model: points for each class, which add "
        f"up. Below is how much higher {second} lies than {first}, from 0 in the lowest class to 1 "
        "in the highest. The truth is known here because the data are public. Each estimate is "
        f"rough; the model adds up {given.size} of them. The {len(order)} measures with most "
        "points are:"
    )
    names = story.study.attributes or ()
    rows = [
        [
            names[place],
            *(f"{each[place]:.2f}" for each in (story.told, story.estimated, story.true)),
            f"{given[place]:+.2f}",
        ]
        for place in order.tolist()
    ]
    head = ["measure", "in reports", "estimated", "true", f"points for {second}"]
    return f"{paragraph(words)}\n{Table(head=head, rows=rows)}\n{_tested(story)}"


def _tested(story: Story) -> str:
    people = story.people["test"]
    return paragraph(
        f"Then {people} others follow the published model on their devices, and send its answer "
        f"through randomized response. The aggregator's answer is right for {story.right} of them; "
        f"{story.commonest} have the commonest label."
    )
