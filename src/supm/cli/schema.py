"""The verb schema: describe the columns of PUBLIC data."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from supm._errors import ParameterError
from supm.cli._files import check_target, write_text
from supm.cli._output import counted, paragraph, say

if TYPE_CHECKING:
    from supm.schema import Schema

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm schema public.csv --target diagnosis -o schema.json    to a file, to be read and corrected
  supm schema public.csv --target diagnosis -o -              to the screen
  supm schema public.csv --target diagnosis -o - --bounds range
                                                              from the smallest to the largest value
"""
_BOUNDS = {
    "spread": "Numbers end two standard deviations from their mean, or at the last value before, "
    "and are clipped there (--bounds range: at the smallest and the largest value).",
    "range": "Numbers end just outside of the smallest and the largest value (--bounds spread: two "
    "standard deviations from their mean).",
}


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "schema",
        help="write a schema from PUBLIC data",
        description="Write down what the columns of a CSV file seem to be: bounds of numbers,\n"
        "scales of whole numbers, lists of texts. It reads the data, so they must be PUBLIC or\n"
        "synthetic: bounds that come from private data are a leak.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA.csv", help="public data; the first line has names")
    parser.add_argument("--target", required=True, metavar="COL", help="the column to be predicted")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="where to write it; - prints it"
    )
    parser.add_argument(
        "--bounds",
        choices=("spread", "range"),
        default="spread",
        help="where numbers end: two standard deviations from the mean, which serves strict "
        "studies best (default), or at the smallest and the largest value",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from supm.cli._output import lines_read  # noqa: PLC0415  the same
    from supm.schema.deriving import derive  # noqa: PLC0415  loaded when the verb runs
    from supm.schema.text_table import read_csv  # noqa: PLC0415  loaded when the verb runs

    check_target("--output", arguments.output)
    say(
        f"bounds and values come from {arguments.data}, so it must be public or synthetic: from "
        "private data they would be a leak."
    )
    table = read_csv(arguments.data, target=arguments.target, progress=lines_read)
    derived = derive(table, arguments.target, bounds=arguments.bounds)
    for note in derived.notes:
        say(note)
    text = derived.schema.to_json()
    _check_unlike(arguments.output, text)
    write_text("--output", text, arguments.output)
    if arguments.output != "-":
        print(_counted(derived.schema))
        print(paragraph(_BOUNDS[arguments.bounds]))
        print(
            f"The schema is in {arguments.output}: read it, and correct it where you know better."
        )
    return 0


def _check_unlike(target: str, text: str) -> None:
    """Refuse to replace a schema that somebody may have corrected, or what is none."""
    path = Path(target)
    if target != "-" and path.is_file() and path.read_bytes() != text.encode():
        hint = "It holds something else, perhaps corrected by hand; name another file."
        raise ParameterError("--output", "a new file", target, hint)


def _counted(schema: Schema) -> str:
    kinds = Counter(type(attribute).__name__.lower() for attribute in schema.attributes)
    parts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return (
        f"{counted(len(schema.attributes), 'attribute')} ({parts}), target {schema.target.name!r}."
    )
