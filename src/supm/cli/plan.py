"""The verb plan: what each owner would be asked, and what it would cost them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from supm._errors import ParameterError
from supm.cli._arguments import epsilon, whole
from supm.cli._files import check_target, write_json, write_text
from supm.cli._options import METHODS, add_study_options
from supm.cli._output import paragraph

if TYPE_CHECKING:
    from supm.collection import Account
    from supm.messages import Study

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm plan --schema schema.json --owners 10000 --epsilon 2
  supm plan --schema schema.json --owners 10000 --epsilon 2 --trust u,u,d -o study.json
  supm plan --schema schema.json --owners 500 --epsilon 10 --mode faithful --reduce pw --json -
"""


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "plan",
        help="say what each owner would be asked, and what it would cost them",
        description="Make a study from a schema and a budget. No data are read: a plan that\n"
        "depended on private data would tell about them.",
        epilog=f"{_EXAMPLES}\n{METHODS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--schema", required=True, metavar="FILE", help="what is public")
    parser.add_argument(
        "--owners",
        required=True,
        type=whole(1, 1 << 40),
        metavar="N",
        help="how many training owners to expect",
    )
    parser.add_argument(
        "--epsilon", required=True, type=epsilon, metavar="E", help="what an owner may spend"
    )
    add_study_options(parser)
    parser.add_argument("--purpose", default="", metavar="TEXT", help="what the study is for")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the study, which owners consent to; - prints it",
    )
    parser.add_argument("--json", metavar="FILE", help="write plan and cost; - prints them")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from supm.cli._study_options import (  # noqa: PLC0415  loaded when the verb runs
        notice_limits,
        planned,
        read_schema,
    )
    from supm.collection import account  # noqa: PLC0415  the same

    check_target("--output", arguments.output)
    check_target("--json", arguments.json)
    if arguments.output == arguments.json == "-":
        raise ParameterError("--json", "another place than that of --output", "-")
    study = planned(
        read_schema(arguments.schema),
        arguments.epsilon,
        arguments,
        owners=arguments.owners,
        purpose=arguments.purpose,
    )
    notice_limits(study)
    _report(study, account(study), arguments)
    if arguments.output:
        write_text("--output", study.to_json() + "\n", arguments.output)
    return 0


def _report(study: Study, spent: Account, arguments: argparse.Namespace) -> None:
    from supm.cli._words import (  # noqa: PLC0415  loaded when the verb runs
        cost,
        cost_for_machines,
        plan_for_machines,
        plan_lines,
    )

    if arguments.json:
        form = {"owners": arguments.owners, "plan": plan_for_machines(study)}
        write_json(form | {"guarantee": cost_for_machines(spent)}, arguments.json)
    if "-" not in (arguments.json, arguments.output):
        for line in (*plan_lines(study, arguments.owners), *cost(spent)):
            print(paragraph(line))
        for what, where in (("plan is", arguments.json), ("study is", arguments.output)):
            if where:
                print(f"The {what} in {where}.")
