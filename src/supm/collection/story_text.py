"""The story in words: what is asked first, what leaves a device, what the aggregator learns."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm.collection.story import Story
from supm.messages import Scorecard
from supm.reporting import Table, paragraph

_SHOWN: Final = 6
_NOTHING: Final = "0.00"
_BY_RANK: Final = (
    "Once noise is taken off, nothing sure is left of those at 0.00: they were kept by rank, to "
    "make up {}, and those who train decide how many points each gets."
)


def parts(story: Story) -> tuple[tuple[str, str], ...]:
    """Return the parts of the story that come before any accuracy."""
    return (
        ("What is asked first", _chooses(story)),
        ("What one owner holds", _holds(story)),
        ("What leaves the device", _leaves(story)),
        ("What the aggregator learns", _learns(story)),
    )


def points(story: Story) -> NDArray[np.float64]:
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
