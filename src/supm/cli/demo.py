"""The verb demo: the whole story on public data."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

from supm.cli._output import Picture, Target, folds_bar, where, write_json
from supm.cli._types import Epsilons, Seed
from supm.reporting import bar, paragraph

if TYPE_CHECKING:
    from supm.collection.demonstration import Scene
    from supm.service.serving import Live

_PICTURE = "supm-demo.png"


def verb(
    *,
    epsilon: Epsilons = [1.0, 2.0, 4.0, 8.0],  # noqa: B006  nobody changes it
    output: Picture = None,
    seed: Seed = None,
    json: Target = None,
    no_serve: bool = False,
) -> None:
    """Tell the whole story on public data: tables and a picture.

    Start an aggregator on this machine and let the 569 people of a public data set (WDBC) choose
    what to ask, train and test a classifier over HTTP without giving their records away: what is
    asked first, what one owner holds, what leaves the device, what the aggregator learns, what
    accuracy that buys, beside the papers' protocol, and what is promised. It takes some seconds;
    then the dashboard of the study stays open.

    Parameters
    ----------
    epsilon : list of float
        The budgets to compare; 1,2,4,8 by default.
    output : str, optional
        Where to write the picture (.png, .pdf, .svg); supm-demo.png by default.
    seed : int, optional
        Repeat a run: a simulation, not private.
    json : str, optional
        Write the figures to a file; - prints them.
    no_serve : bool
        End with the story; --json - does so too.

    Examples
    --------
    ::

        supm demo                                   the story; then the dashboard stays open
        supm demo --no-serve                        for scripts: it ends with the story
        supm demo --epsilon 0.5,2,8                 other budgets; the story is of the middle one
        supm demo --seed 7 --output demo.png        the same numbers every time: a simulation
        supm demo --json -                          for machines
    """
    from supm import secure, simulation
    from supm.collection.demonstration import Scene
    from supm.datasets import load_wdbc

    source = secure() if seed is None else simulation(seed)
    scene = Scene.of(load_wdbc(), epsilon, source)
    from supm.service.serving import live

    picture = output or (None if json == "-" else _PICTURE)
    with live(scene.study, simulation=source.simulation) as study:
        _perform(scene, study, picture, json)
        if not no_serve and json != "-":
            _stay(study)


def _perform(scene: Scene, study: Live, picture: str | None, figures: str | None) -> None:
    """Tell the story, and write what was asked for."""
    from supm.collection.story import parts

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
        for line in where({"picture is": picture, "figures are": figures}):
            print(line)


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
