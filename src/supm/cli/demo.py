"""The verb demo: a randomizer at work on public data."""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING, Any

from supm import ParameterError, __version__, secure, simulation
from supm.cli._output import check_target, epsilon, notice, table, write_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from supm.cli._demonstration import Demonstration, Result

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm demo                                   three budgets side by side, with secure randomness
  supm demo --epsilon 0.5,2,8                 other budgets
  supm demo --seed 7 --output demo.png        the same numbers every time: a simulation
  supm demo --json -                          for machines
"""
_FORMATS = (".png", ".pdf", ".svg")
_PICTURE = "supm-demo.png"
_MOST = 6
_HOPELESS = 0.5


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "demo",
        help="show a randomizer at work: a table and a picture",
        description="Let the owners of a public data set (WDBC) report one measurement under\n"
        "local differential privacy, and estimate the histogram from the reports alone.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--epsilon",
        type=_epsilons,
        default=[1.0, 2.0, 4.0],
        metavar="E[,E…]",
        help="the budgets to compare, at most 6; 1,2,4 by default",
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
    from supm.cli._demonstration import demonstrate  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._picture import draw  # noqa: PLC0415  loaded when the verb runs

    picture = _picture(arguments)
    check_target("--json", arguments.json)
    source = secure() if arguments.seed is None else simulation(arguments.seed)
    shown = demonstrate(arguments.epsilon, source)
    for asked, result in zip(arguments.epsilon, shown.results, strict=True):
        notice(asked, result.mechanism.epsilon)
    if picture:
        draw(shown, picture)
    if arguments.json:
        write_json(_for_machines(shown), arguments.json)
    if arguments.json != "-":
        _print(shown)
        print(f"\nThe picture is in {picture}.")
        if arguments.json:
            print(f"The figures are in {arguments.json}.")
    return 0


def _epsilons(text: str) -> list[float]:
    """Read a list of different numbers."""
    numbers = [epsilon(part) for part in text.split(",")]
    if len(numbers) > _MOST or len(set(numbers)) < len(numbers):
        message = f"must be at most {_MOST} different numbers, with commas between, got {text!r}"
        raise argparse.ArgumentTypeError(message)
    return numbers


def _picture(arguments: argparse.Namespace) -> str | None:
    """Return where to draw; nowhere if all goes to a machine and no picture was asked for."""
    path: str | None = arguments.output
    if path is None:
        path = None if arguments.json == "-" else _PICTURE
    if path is not None and not path.lower().endswith(_FORMATS):
        raise ParameterError("--output", f"a file that ends in {', '.join(_FORMATS)}", path)
    check_target("--output", path)
    return path


def _print(shown: Demonstration) -> None:
    print(_story(shown))
    for result in shown.results:
        reach = (result.high - result.low) / 2
        rows = zip(
            shown.labels,
            _percent(shown.true),
            _percent(result.reported),
            _percent(result.estimated),
            [f"± {half:.1%}" for half in reach],
            strict=True,
        )
        band = f"{result.confidence:.0%} band"
        print(f"\nepsilon = {result.mechanism.epsilon:.3g}")
        print(table(["class", "true", "reported", "estimated", band], list(rows)))
        if reach.max() > _HOPELESS:
            print(f"Too little budget for {shown.owners} owners: a band is wider than 100%.")


def _story(shown: Demonstration) -> str:
    """Say in plain words what left each device, for the smallest budget."""
    result = min(shown.results, key=lambda each: each.mechanism.epsilon)
    mechanism = result.mechanism
    classes, kept = len(shown.labels), float(mechanism.response.hit)
    text = (
        f"{shown.owners} owners hold one number each: the {shown.attribute} of a tumour's cell "
        "nuclei. The number stays on the owner's device. The device looks up which of "
        f"{classes} public classes it falls into, keeps that class with probability {kept:.3f} "
        f"(at epsilon {mechanism.epsilon:.3g}) and otherwise takes one of the other {classes - 1}, "
        f"all alike. What leaves the device is that one class: {mechanism.report_bits} bits. "
        f"{result.guarantee} {_spent(shown)}{_randomness(shown)}"
    )
    return "\n".join(textwrap.wrap(text, 88))


def _spent(shown: Demonstration) -> str:
    if len(shown.results) == 1:
        return ""
    total = sum(result.mechanism.epsilon for result in shown.results)
    return (
        f"The {len(shown.results)} budgets below are alternatives: an owner who sent all of these "
        f"reports would have spent their sum, {total:.3g}. "
    )


def _randomness(shown: Demonstration) -> str:
    if shown.simulation:
        return "This run is a simulation, not private."
    return "The randomness is secure: its key came from the operating system."


def _percent(shares: NDArray[np.float64]) -> list[str]:
    return [f"{share:.1%}" for share in shares]


def _for_machines(shown: Demonstration) -> dict[str, Any]:
    return {
        "version": __version__,
        "dataset": "wdbc",
        "attribute": shown.attribute,
        "owners": shown.owners,
        "simulation": shown.simulation,
        "classes": list(shown.labels),
        "true": shown.true.tolist(),
        "results": [_result_for_machines(result) for result in shown.results],
    }


def _result_for_machines(result: Result) -> dict[str, Any]:
    return {
        "epsilon": result.mechanism.epsilon,
        "guarantee": result.guarantee.to_json(),
        "report_bits": result.mechanism.report_bits,
        "reported": result.reported.tolist(),
        "estimated": result.estimated.tolist(),
        "low": result.low.tolist(),
        "high": result.high.tolist(),
        "confidence": result.confidence,
    }
