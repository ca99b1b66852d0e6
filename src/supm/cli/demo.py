"""The verb demo: the whole story on public data."""

from __future__ import annotations

import argparse
import signal
import threading
from typing import TYPE_CHECKING

from supm.cli._arguments import epsilons, whole
from supm.cli._files import check_picture, check_target, write_json
from supm.cli._output import bar, folds_bar, paragraph
from supm.cli._service import needs_server_packages

if TYPE_CHECKING:
    from supm.cli._live import Live
    from supm.collection.demonstration import Scene

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
    from supm import secure, simulation  # noqa: PLC0415  loaded when the verb runs
    from supm.collection.demonstration import Scene  # noqa: PLC0415  the same
    from supm.datasets import load_wdbc  # noqa: PLC0415  the same

    picture = arguments.output
    if picture is None and arguments.json != "-":
        picture = _PICTURE
    check_picture("--output", picture)
    check_target("--json", arguments.json)
    source = secure() if arguments.seed is None else simulation(arguments.seed)
    scene = Scene.of(load_wdbc(), arguments.epsilon, source)
    with needs_server_packages():
        from supm.cli._live import live  # noqa: PLC0415  loaded when the verb runs

    with live(scene.study, simulation=source.simulation) as study:
        _perform(scene, study, picture, arguments.json)
        if not arguments.no_serve and arguments.json != "-":
            _stay(study)
    return 0


def _perform(scene: Scene, study: Live, picture: str | None, figures: str | None) -> None:
    """Tell the story, and write what was asked for."""
    from supm.collection.story_text import parts  # noqa: PLC0415  loaded when the verb runs

    aloud = figures != "-"
    if aloud:
        print(f"{paragraph(scene.opening)}\n", flush=True)
    with bar(total=scene.data.rows, unit="reports", label="owners report") as shown:
        story = scene.tell(study, shown.step)
    told = parts(story)
    if aloud:
        _print(1, *told)
    with folds_bar() as reached:
        found = scene.compare(story, reached)
    if picture:
        found.plot(picture)
    if figures:
        write_json(found.to_form(), figures)
    if aloud:
        _print(len(told) + 1, *found.parts[len(told) :])
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


def _print(first: int, *parts: tuple[str, str]) -> None:
    for number, (head, text) in enumerate(parts, first):
        print(f"{number}. {head}\n\n{text}\n", flush=True)
