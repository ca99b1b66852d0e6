"""The verb train: train a model on the reports of a study."""

from __future__ import annotations

import argparse
import json

from supm.cli._files import check_target, write_json
from supm.cli._service import add_remote, remote_step, say_status

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  SUPM_TOKEN=… supm train --study https://host/studies/NAME
  supm train --study https://host/studies/NAME --token-file token.txt --balanced --no-serve
"""


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "train",
        help="train a model on the reports of a running study",
        description="Train on the reports of the train phase, and let the model answer.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_remote(parser)
    parser.add_argument(
        "--balanced", action="store_true", help="let rare labels count as much as common ones"
    )
    parser.add_argument(
        "--serve",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="let the model answer as well (default)",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_target("--json", arguments.json)
    weights = "balanced" if arguments.balanced else None
    steps = [("train", json.dumps({"weights": weights}))]
    form = remote_step(arguments, steps + ([("serve", "{}")] if arguments.serve else []))
    if arguments.json:
        write_json(form, arguments.json)
    if arguments.json != "-":
        say_status(form)
    return 0
