"""The verb reduce: choose what the rest of a study is about."""

from __future__ import annotations

import argparse

from supm.cli._files import check_target, write_json
from supm.cli._service import add_remote, remote_step, say_status

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  SUPM_TOKEN=… supm reduce --study https://host/studies/NAME
  supm reduce --study https://host/studies/NAME --token-file token.txt --no-open --json -
"""


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "reduce",
        help="choose what a running study goes on with",
        description="Choose attributes or merge classes from the reports of the reduce phase, and\n"
        "open the train phase.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_remote(parser)
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="open the train phase as well (default)",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_target("--json", arguments.json)
    steps = [("reduce", "{}")] + ([("open", "{}")] if arguments.open else [])
    form = remote_step(arguments, steps)
    if arguments.json:
        write_json(form, arguments.json)
    if arguments.json != "-":
        say_status(form)
    return 0
