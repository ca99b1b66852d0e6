"""The verb synthesize: rows without noise from records that were noised long ago."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from supm.cli._arguments import whole
from supm.cli._files import write_json, write_text
from supm.cli._output import counted, paragraph, say

if TYPE_CHECKING:
    from supm.synthesis.quality import Quality

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm synthesize noisy.csv --schema archive.json -o rows.csv
  supm synthesize noisy.csv --schema archive.json -o rows.csv --rows 100000 --report quality.html
  supm synthesize noisy.csv --schema archive.json -o rows.csv --mode faithful --seed 7 --json -

archive.json says how each column was noised. Bounds and epsilon are public; they were fixed when
the records were collected:
  {"version": 1, "target": "weight", "columns": [
    {"name": "age", "kind": "number", "low": 0, "high": 100, "mechanism": "laplace", "epsilon": 2},
    {"name": "weight", "kind": "number", "low": 20, "high": 140, "mechanism": "piecewise",
     "epsilon": 2},
    {"name": "sex", "kind": "class", "values": ["f", "m"], "mechanism": "randomized_response",
     "epsilon": 1}]}
Mechanisms of numbers are laplace, gaussian (with a delta), piecewise and square_wave. A column
whose mechanism or epsilon is not given is refused.
"""
_MOST = 10**8


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "synthesize",
        help="make rows without noise from an archive of noised records",
        description="Estimate the distribution behind records that were noised under local\n"
        "privacy, and draw new rows from it. They are of nobody, cost nobody any budget, and are\n"
        "as right as the noise allows; what it does not allow is said.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="the noised records, a CSV file")
    parser.add_argument(
        "--schema", required=True, metavar="FILE", help="how each column was noised; see below"
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="write the rows (.csv); - prints them",
    )
    parser.add_argument(
        "--rows",
        type=whole(1, _MOST),
        metavar="N",
        help="how many rows to make; as many as records by default",
    )
    parser.add_argument("--report", metavar="FILE", help="write a page about their quality (.html)")
    parser.add_argument(
        "--mode",
        choices=("strict", "faithful"),
        default="strict",
        help="the best we know (default), or what paper 004 printed, corrected",
    )
    parser.add_argument("--seed", type=whole(0, 1 << 128), metavar="S", help="repeat a run")
    parser.add_argument("--json", metavar="FILE", help="write the figures; - prints them")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    _check_targets(arguments)
    from supm.cli._output import bar  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._synthesis_run import fitted, read_archive, written  # noqa: PLC0415  the same
    from supm.synthesis.quality import assess  # noqa: PLC0415  the same

    archive = read_archive(arguments.data, arguments.schema)
    with bar(total=4, unit="steps", label="estimating") as shown:
        model = fitted(archive, arguments)
        shown.step()
        shown.label("drawing rows")
        rows = model.sample(archive.rows if arguments.rows is None else arguments.rows)
        shown.step()
        shown.label("judging")
        quality = assess(archive, rows)
        shown.step()
        shown.label("writing")
        written(rows, arguments.output)
        if arguments.report:
            _write_page(quality, arguments)
        shown.step()
    _tell(quality, model, arguments)
    return 0


def _check_targets(arguments: argparse.Namespace) -> None:
    from supm.cli._files import check_targets  # noqa: PLC0415  loaded when it runs

    check_targets(
        {"DATA": arguments.data, "--schema": arguments.schema},
        {"-o": arguments.output, "--report": arguments.report, "--json": arguments.json},
    )


def _write_page(quality: Quality, arguments: argparse.Namespace) -> None:
    from supm.cli._synthesis_page import page  # noqa: PLC0415  loaded when it is asked for

    made = f"Made in {arguments.mode} mode by supm synthesize."
    name = Path(arguments.data).name
    write_text("--report", page(quality, name=name, made=made), arguments.report)


def _tell(quality: Quality, model: Any, arguments: argparse.Namespace) -> None:  # noqa: ANN401  either mode's
    if arguments.json:
        form = {
            "mode": arguments.mode,
            "statement": model.statement_.to_form(),
            **quality.to_form(),
        }
        write_json(form, arguments.json)
    aloud = _aloud(arguments)
    columns = len(quality.schema.columns)
    held = f"{counted(quality.rows, 'noised record')} of {counted(columns, 'column')}"
    print(f"{held}.", file=aloud)
    print(paragraph(f"What each record had spent: {quality.spent}"), file=aloud)
    nothing = "Synthesis spends nothing more: it reads what was told already, and no record."
    print(paragraph(nothing), file=aloud)
    for each in quality.doubts.values():
        say(each)
    print("\nWhat can and cannot be known:", file=aloud)
    for each in quality.sentences:
        print(paragraph(each, indent="  "), file=aloud)
    print(file=aloud)
    for what, where in (
        (f"{counted(quality.synthetic_rows, 'synthetic row')} written to", arguments.output),
        ("The figures are in", arguments.json),
        ("The report is in", arguments.report),
    ):
        if where not in (None, "-"):
            print(f"{what} {where}.", file=aloud)


def _aloud(arguments: argparse.Namespace) -> TextIO:
    targets = (arguments.output, arguments.report, arguments.json)
    return sys.stderr if "-" in targets else sys.stdout
