"""The verb demo: the whole story on public data."""

from __future__ import annotations

import argparse
import json
import signal
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from supm.cli._arguments import epsilons, whole
from supm.cli._files import check_picture, check_target, write_json
from supm.cli._output import paragraph, table
from supm.cli._service import needs_server_packages

if TYPE_CHECKING:
    from supm._random import RandomSource
    from supm.cli._live import Live
    from supm.cli._story import Story
    from supm.collection import Simulation
    from supm.datasets import Dataset
    from supm.learning import Learner
    from supm.messages import Study

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm demo                                   the story; then the dashboard stays open
  supm demo --no-serve                        for scripts: it ends with the story
  supm demo --epsilon 0.5,2,8                 other budgets; the story is told for the middle one
  supm demo --seed 7 --output demo.png        the same numbers every time: a simulation
  supm demo --json -                          for machines
"""
_PICTURE = "supm-demo.png"
_FOLDS, _REPEATS = 10, 3
# Tried out on these people: as good as asking everybody the same at 1 and 2, better at 4 and 8.
_KEPT, _CLASSES = 8, 5
_OPENING = (
    "{} people of a public data set choose what to ask and train a classifier over HTTP, and {} "
    "are tested; each keeps the own record."
)


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "demo",
        help="tell the whole story on public data: tables and a picture",
        description="Start an aggregator on this machine and let the 569 people of a public data\n"
        "set (WDBC) choose what to ask, train and test a classifier over HTTP without giving\n"
        "their records away: what is asked first, what one owner holds, what leaves the device,\n"
        "what the aggregator learns, what accuracy that buys, beside the papers' protocol, and\n"
        "what is promised. It takes some seconds; then the dashboard of the study stays open.",
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
        "--seed",
        type=whole(0, 1 << 128),
        metavar="S",
        help="repeat a run: a simulation, not private",
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file; - prints them")
    parser.add_argument(
        "--no-serve", action="store_true", help="end with the story; --json - does so too"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    picture = arguments.output
    if picture is None and arguments.json != "-":
        picture = _PICTURE
    check_picture("--output", picture)
    check_target("--json", arguments.json)
    scene = _Scene.of(arguments)
    with needs_server_packages():
        from supm.cli._live import live  # noqa: PLC0415  loaded when the verb runs

    with live(scene.story, simulation=scene.source.simulation) as study:
        _perform(scene, study, picture, arguments.json)
        if not arguments.no_serve and arguments.json != "-":
            _stay(study)
    return 0


def _perform(scene: _Scene, study: Live, picture: str | None, figures: str | None) -> None:
    """Tell the story, and write what was asked for."""
    from supm.cli._story import TRAINING, tell  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._telling import parts  # noqa: PLC0415  the same

    aloud = figures != "-"
    if aloud:
        print(f"{paragraph(_OPENING.format(TRAINING, scene.data.rows - TRAINING))}\n", flush=True)
    story = tell(study, scene.data, scene.source.child("story"))
    told = parts(story)
    if aloud:
        _print(1, *told)
    outcome = scene.measure()
    if picture:
        _draw(story, outcome, picture)
    if figures:
        write_json(_for_machines(story, outcome), figures)
    if aloud:
        _print(len(told) + 1, *_ending(story, outcome))
        for what, where in (("picture is", picture), ("figures are", figures)):
            if where:
                print(f"The {what} in {where}.")


def _stay(study: Live) -> None:
    """Leave the pages open until somebody interrupts."""
    print(
        f"\nThe aggregator is still running: {study.page}\n"
        f"The analyst's dashboard is {study.page}/dashboard\n"
        f"Its token is {study.token} (made for this run only).\nCtrl-C ends it.",
        flush=True,
    )
    over = threading.Event()
    # Set here, as a shell starts what runs in its background with interrupts ignored.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: over.set())
    over.wait()


class _Scene(NamedTuple):
    """Who takes part, under which budgets, with which randomness."""

    data: Dataset
    studies: list[Study]
    papers: list[Study]
    learner: Learner
    source: RandomSource

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> _Scene:
        from supm import secure, simulation  # noqa: PLC0415  loaded when the verb runs
        from supm.collection import plan  # noqa: PLC0415  the same
        from supm.datasets import load_wdbc  # noqa: PLC0415  the same
        from supm.learning import RadialSVM  # noqa: PLC0415  the same

        data = load_wdbc()
        budgets = sorted(arguments.epsilon)
        return cls(
            data=data,
            studies=[
                plan(
                    data.schema,
                    epsilon=each,
                    owners=data.rows,
                    reduce="rank",
                    keep=_KEPT,
                    classes=_CLASSES,
                )
                for each in budgets
            ],
            papers=[plan(data.schema, epsilon=each, mode="faithful") for each in budgets],
            learner=RadialSVM(),
            source=secure() if arguments.seed is None else simulation(arguments.seed),
        )

    @property
    def story(self) -> Study:
        """The study that the story is told of."""
        return self.studies[len(self.studies) // 2]

    def measure(self) -> _Compared:
        from supm.cli._output import folds_bar  # noqa: PLC0415  loaded when the verb runs
        from supm.collection import simulate_studies  # noqa: PLC0415  the same

        with folds_bar() as shown:
            found = simulate_studies(
                [*self.studies, *self.papers],
                self.data.records(),
                source=self.source,
                folds=_FOLDS,
                repeats=_REPEATS,
                learner=self.learner,
                name="WDBC",
                progress=shown,
            )
        strict = len(self.studies)
        return _Compared(
            replace(found, results=found.results[:strict]),
            replace(found, results=found.results[strict:]),
        )


class _Compared(NamedTuple):
    """Our protocol and that of the papers, with the same people and budgets."""

    strict: Simulation
    papers: Simulation


def _draw(story: Story, compared: _Compared, path: str) -> None:
    from supm.cli._panels import draw_story  # noqa: PLC0415  loaded when the verb runs
    from supm.collection.simulation_picture import Rising  # noqa: PLC0415  the same

    drawn = compared.strict.curve
    results = compared.papers.results
    papers = Rising(
        name="papers' protocol (± 1 s.d.)",
        kind="papers",
        places=drawn.epsilons,
        values=tuple(each.answered.headline for each in results),
        spread=tuple(each.spread for each in results),
    )
    ours, *others = drawn.lines
    draw_story(story, drawn._replace(lines=(ours, papers, *others)), path)


def _ending(story: Story, compared: _Compared) -> tuple[tuple[str, str], ...]:
    from supm.collection.words import statement_lines  # noqa: PLC0415  loaded when the verb runs

    promised = statement_lines(story.model.statement)
    return (
        ("What accuracy it buys", f"{_figures(compared)}\n{_between(compared.strict)}"),
        ("What is promised", "\n".join(map(paragraph, promised))),
    )


def _figures(compared: _Compared) -> str:
    rows = [
        [
            f"{ours.study.epsilon:g}",
            f"{ours.answered.headline:.1%}",
            f"± {ours.spread:.1%}",
            f"{ours.on_device.headline:.1%}",
            f"{theirs.answered.headline:.1%}",
            f"± {theirs.spread:.1%}",
            f"{ours.answered.of_constant:.1%}",
            str(ours.repeats),
            str(ours.folds),
        ]
        for ours, theirs in zip(compared.strict.results, compared.papers.results, strict=True)
    ]
    head = ["epsilon", "answered", "spread", "on device", "papers", "spread", "majority"]
    return table([*head, "repetitions", "folds"], rows, left=0)


def _print(first: int, *parts: tuple[str, str]) -> None:
    for number, (head, text) in enumerate(parts, first):
        print(f"{number}. {head}\n\n{text}\n", flush=True)


def _between(outcome: Simulation) -> str:
    return paragraph(
        f"Always predicting the commonest class is right for {outcome.constant:.1%}, and a support "
        f"vector machine without privacy for {outcome.baseline.reached.headline:.1%} "
        f"({outcome.baseline.repeats} repetitions). On device: the model comes to the record. "
        f"That {_KEPT} measures of {_CLASSES} classes do well was found on these public data. "
        "Papers: the protocol of papers 000 and 001, corrected, with the same budget. A randomised "
        "answer of two classes is right with probability e^epsilon / (1 + e^epsilon) at most, or "
        "as often as the commonest class, whatever the model."
    )


def _for_machines(story: Story, compared: _Compared) -> dict[str, Any]:
    from supm import __version__  # noqa: PLC0415  loaded when the verb runs

    return {
        "version": __version__,
        "dataset": "wdbc",
        "simulation": story.simulation,
        "epsilon": story.study.epsilon,
        "attributes": list(story.study.attributes or ()),
        "strengths": story.strengths.tolist(),
        "reports": story.people,
        "tested": {"reports": story.people["test"], "right": story.right},
        "report": json.loads(story.report.to_json()),
        "in_reports": story.told.tolist(),
        "estimated": story.estimated.tolist(),
        "true": story.true.tolist(),
        "model": story.model.rule.to_form(),
        "statement": story.model.statement.to_form(),
        "accuracy": compared.strict.to_form(),
        "papers": compared.papers.to_form(),
    }
