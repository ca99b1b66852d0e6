"""The story in words: what an owner holds, what leaves the device, what the aggregator learns."""

from __future__ import annotations

from typing import Any

from supm.cli._output import paragraph, table
from supm.cli._panels import commonest, name_of_cell
from supm.cli._story import Story

__all__ = ["parts"]


def parts(story: Story) -> tuple[tuple[str, str], ...]:
    """Return the parts of the story that come before any accuracy.

    Parameters
    ----------
    story : Story
        What happened.

    Returns
    -------
    tuple of (str, str)
        Each with a heading and a text.
    """
    return (
        ("What one owner holds", _holds(story)),
        ("What leaves the device", _leaves(story)),
        ("What the aggregator learns", _learns(story)),
    )


def _holds(story: Story) -> str:
    study = story.study
    rows = [
        [each.attribute.name, f"{story.record[each.attribute.name]:g}", _class(each, story)]
        for each in study.discretizers("train")
    ]
    target = study.schema.target.name
    rows.append([target, str(story.record[target]), "the label"])
    words = (
        f"A record of {len(story.record)} values, which stays on the owner's device. The study "
        f"asks about {study.keep} of its {len(study.schema.attributes)} measures, by public "
        "classes, and the label:"
    )
    return f"{paragraph(words)}\n{table(['value', 'held', 'class'], rows, left=1)}"


def _class(discretizer: Any, story: Story) -> str:  # noqa: ANN401  any discretizer of a number
    place = int(discretizer.encode([story.record[discretizer.attribute.name]])[0])
    return f"{place + 1} of {discretizer.size}: {discretizer.labels[place]}"


def _leaves(story: Story) -> str:
    randomizer = story.asked.randomizer
    told = ", ".join(map(str, story.report.symbols))
    several = randomizer.width > 1
    noun = f"names {randomizer.width} of them" if several else "names one of them"
    among = "the own is among them" if several else "the own one"
    luck = among if story.held in story.report.symbols else "all others" if several else "another"
    words = (
        f"The classes and the label together are one of {randomizer.size} combinations, numbered "
        f"from 0. The device {noun}: the owner's own, number {story.held}, with probability "
        f"{float(randomizer.hit):.3f}, and otherwise only others, all alike. This time it named "
        f"{told}: {luck}, but nobody else can tell. This is the whole report:"
    )
    return f"{paragraph(words)}\n{story.report.to_json()}"


def _learns(story: Story) -> str:
    cells = commonest(story)
    words = (
        f"{story.people['reduce']} owners, by lot, helped to choose the attributes, and the other "
        f"{story.people['train']} to train. Out of reports, and never a record, come the estimated "
        "share of people with each combination of classes, and a model: an answer for each. The "
        "true shares are known here because the data are public. The commonest "
        f"{len(cells)} of {story.true.size} combinations are:"
    )
    rows = [
        [
            name_of_cell(story, cell),
            str(story.model.labels[story.model.answers[cell]]),
            *(f"{share[cell]:.1%}" for share in (story.told, story.estimated, story.true)),
        ]
        for cell in cells
    ]
    head = ["classes", "the model says", "in reports", "estimated", "true"]
    return f"{paragraph(words)}\n{table(head, rows, left=2)}"
