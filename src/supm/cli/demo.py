"""The verb demo: the whole story on public data."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from supm.cli._files import check_picture, check_target, write_json
from supm.cli._output import epsilons, paragraph, table

if TYPE_CHECKING:
    from supm.cli._outcome import Outcome
    from supm.cli._story import Story

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm demo                                   four budgets side by side, with secure randomness
  supm demo --epsilon 0.5,2,8                 other budgets; the story is told for the middle one
  supm demo --seed 7 --output demo.png        the same numbers every time: a simulation
  supm demo --json -                          for machines
"""
_PICTURE = "supm-demo.png"
_FOLDS, _REPEATS = 10, 5


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "demo",
        help="tell the whole story on public data: tables and a picture",
        description="Let the 569 people of a public data set (WDBC) train a classifier without\n"
        "giving their records away: what one owner holds, what leaves the device, what the\n"
        "aggregator learns, what accuracy that buys, and what is promised. It takes less than a\n"
        "minute.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--epsilon",
        type=epsilons,
        default=[1.0, 2.0, 4.0, 8.0],
        metavar="E[,E…]",
        help="the budgets to compare; 1,2,4,8 by default",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="where to write the picture (.png, .pdf, .svg); supm-demo.png by default",
    )
    parser.add_argument(
        "--seed", type=int, metavar="S", help="repeat a run: a simulation, not private"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file; - prints them")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    picture = arguments.output
    if picture is None and arguments.json != "-":
        picture = _PICTURE
    check_picture("--output", picture)
    check_target("--json", arguments.json)
    story, outcome = _measure(arguments)
    if picture:
        _draw(story, outcome, picture)
    if arguments.json:
        write_json(_for_machines(story, outcome), arguments.json)
    if arguments.json != "-":
        _print(story, outcome)
        for what, where in (("picture is", picture), ("figures are", arguments.json)):
            if where:
                print(f"The {what} in {where}.")
    return 0


def _measure(arguments: argparse.Namespace) -> tuple[Story, Outcome]:
    from supm import secure, simulation  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._outcome import measure  # noqa: PLC0415  the same
    from supm.cli._story import tell  # noqa: PLC0415  the same
    from supm.collection import plan  # noqa: PLC0415  the same
    from supm.datasets import load_wdbc  # noqa: PLC0415  the same
    from supm.learning import RadialSVM  # noqa: PLC0415  the same

    source = secure() if arguments.seed is None else simulation(arguments.seed)
    data, learner = load_wdbc(), RadialSVM()
    budgets = sorted(arguments.epsilon)
    studies = [plan(data.schema, epsilon=each, owners=data.rows) for each in budgets]
    story = tell(studies[len(studies) // 2], data, learner, source.child("story"))
    outcome = measure(
        studies, data.records(), source, folds=_FOLDS, repeats=_REPEATS, learner=learner
    )
    return story, outcome


def _draw(story: Story, outcome: Outcome, path: str) -> None:
    from supm.cli._outcome import curve  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._panels import draw_story  # noqa: PLC0415  the same

    draw_story(story, curve(outcome, "WDBC"), path)


def _print(story: Story, outcome: Outcome) -> None:
    from supm.cli._outcome import figures  # noqa: PLC0415  loaded when the verb runs

    parts = (
        ("What one owner holds", _holds(story)),
        ("What leaves the device", _leaves(story)),
        ("What the aggregator learns", _learns(story)),
        ("What accuracy it buys", f"{figures(outcome)}\n{_between(outcome)}"),
        ("What is promised", paragraph(story.model.statement.words)),
    )
    for number, (head, text) in enumerate(parts, 1):
        print(f"{number}. {head}\n\n{text}\n")


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
    told = ", ".join(str(symbol + 1) for symbol in story.report.symbols)
    several = randomizer.width > 1
    noun = f"names {randomizer.width} of them" if several else "names one of them"
    among = "the own is among them" if several else "the own one"
    luck = among if story.held in story.report.symbols else "all others" if several else "another"
    words = (
        f"The classes and the label together are one of {randomizer.size} combinations. The device "
        f"{noun}: the owner's own, number {story.held + 1}, with probability "
        f"{float(randomizer.hit):.3f}, and otherwise only others, all alike. This time it named "
        f"{told}: {luck}, but nobody else can tell. This is the whole report:"
    )
    return f"{paragraph(words)}\n{story.report.to_json()}"


def _learns(story: Story) -> str:
    from supm.cli._panels import commonest, name_of_cell  # noqa: PLC0415  loaded when the verb runs

    words = (
        f"{story.people['reduce']} owners, by lot, helped to choose the attributes, and the other "
        f"{story.people['train']} to train. Out of reports, and never a record, come the estimated "
        "share of people with each combination of classes, and a model: an answer for each. The "
        "true shares are known here because the data are public."
    )
    rows = [
        [
            name_of_cell(story, cell),
            str(story.model.labels[story.model.answers[cell]]),
            *(f"{share[cell]:.1%}" for share in (story.told, story.estimated, story.true)),
        ]
        for cell in commonest(story)
    ]
    head = ["classes", "the model says", "in reports", "estimated", "true"]
    return f"{paragraph(words)}\n{table(head, rows, left=2)}"


def _between(outcome: Outcome) -> str:
    return paragraph(
        f"Always predicting the commonest class is right for {outcome.majority:.1%}, and the same "
        f"learner without privacy for {outcome.baseline.accuracy:.1%} "
        f"({outcome.baseline.repeats} repetitions). On device: the model comes to the record."
    )


def _for_machines(story: Story, outcome: Outcome) -> dict[str, Any]:
    from supm import __version__  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._outcome import for_machines  # noqa: PLC0415  the same

    return {
        "version": __version__,
        "dataset": "wdbc",
        "simulation": story.simulation,
        "epsilon": story.study.epsilon,
        "attributes": list(story.study.attributes or ()),
        "reports": story.people,
        "report": json.loads(story.report.to_json()),
        "in_reports": story.told.tolist(),
        "estimated": story.estimated.tolist(),
        "true": story.true.tolist(),
        "model": story.model.answers.tolist(),
        "statement": story.model.statement.to_form(),
        "accuracy": for_machines(outcome),
    }
