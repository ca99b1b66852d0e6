"""The verb plan: what each owner would be asked, and what it would cost them."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from supm._errors import ParameterError
from supm.cli._arguments import epsilon, whole
from supm.cli._files import check_target, write_json, write_text
from supm.cli._options import METHODS, add_study_options
from supm.cli._output import counted, paragraph

if TYPE_CHECKING:
    from supm.collection import Account, Forecast
    from supm.messages import Study

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm plan --schema schema.json --owners 10000 --epsilon 2
  supm plan --schema schema.json --owners 10000 --epsilon 2 --trust u,u,d -o study.json
  supm plan --schema schema.json --epsilon 4 --told 2 --classes 3       pin what you like
  supm plan --schema schema.json --owners 500 --epsilon 10 --mode faithful --reduce pw --json -

With --owners the plan is tried on made-up people: a forecast from public things alone, to compare
plans by. What real people would bring, `supm simulate` measures on public data.
"""
# A machine on cells or rows takes longer with people, a scorecard does not.
_MOST_MADE_UP, _FEWEST_MADE_UP = 2_000, 40
_LIKELY = 1 << 20
_MOST_FORECAST = 1_000


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
        type=whole(1, 1 << 40),
        metavar="N",
        help="how many training owners to expect; for two labels, where they are many and the "
        "budget is below 3.47, a first group of them shows which classes belong together",
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
    if arguments.output != "-" or arguments.json:
        _report(study, account(study), arguments)
    if arguments.output:
        write_text("--output", study.to_json() + "\n", arguments.output)
    return 0


def _report(study: Study, spent: Account, arguments: argparse.Namespace) -> None:
    from supm.collection.words import (  # noqa: PLC0415  loaded when the verb runs
        account_form,
        study_form,
    )

    expected = _forecast(study, arguments.owners)
    if arguments.json:
        form = {"owners": arguments.owners, "plan": study_form(study)}
        made_up = None if expected is None else asdict(expected)
        form |= {"guarantee": account_form(spent), "made_up_people": made_up}
        write_json(form, arguments.json)
    if "-" not in (arguments.json, arguments.output):
        _print(study, spent, expected, arguments)


def _print(
    study: Study, spent: Account, expected: Forecast | None, arguments: argparse.Namespace
) -> None:
    from supm.collection.simulation_text import (  # noqa: PLC0415  loaded when the verb runs
        COMBINATIONS,
        asked_table,
    )
    from supm.collection.words import cost_lines, opening_lines  # noqa: PLC0415  the same
    from supm.owner import explain  # noqa: PLC0415  the same

    for line in opening_lines(study):
        print(paragraph(line))
    print(f"\n{asked_table(study, arguments.owners)}\n")
    told = explain(study)
    meaning = [COMBINATIONS] if any(row.truth for row in told.rows) else []
    for line in (*meaning, f"Why: {told.sentence}", *cost_lines(spent)):
        print(paragraph(line))
    if arguments.owners is not None:
        print(paragraph(_expected(study, expected, arguments.owners)))
    for what, where in (("plan is", arguments.json), ("study is", arguments.output)):
        if where:
            print(f"The {what} in {where}.")


def _forecast(study: Study, owners: int | None) -> Forecast | None:
    """Try the plan on made-up people, where there are enough and their target has labels."""
    from supm import simulation  # noqa: PLC0415  loaded when the verb runs
    from supm.collection import forecast  # noqa: PLC0415  the same

    if owners is None or _no_forecast(study, owners):
        return None
    train = study.question("train")
    sampled = train is not None and train.form == "sample"
    people = min(owners, _LIKELY if sampled else _MOST_MADE_UP)
    # Nobody's secret is at stake, and the same plan gets the same forecast.
    return forecast(study, owners=people, source=simulation(0))


def _no_forecast(study: Study, owners: int) -> str:
    """Say why there is no forecast, or nothing where there is one."""
    if study.numeric:
        return "No forecast: there is none for a target that is a number."
    if owners < _FEWEST_MADE_UP:
        return f"No forecast: there is none for fewer than {_FEWEST_MADE_UP} people."
    # Hundreds of attributes would take minutes, and say nothing about the real ones.
    classes = len(study.schema.attributes) * study.classes
    if classes > _MOST_FORECAST:
        return (
            f"No forecast: all attributes together have up to {classes:,} classes, and there is "
            f"none for more than {_MOST_FORECAST:,}."
        )
    return ""


def _expected(study: Study, found: Forecast | None, owners: int) -> str:
    if found is None:
        return _no_forecast(study, owners)
    most = f" (at most {found.owners:,} are made up)" if found.owners < owners else ""
    return (
        f"Forecast on {found.owners} made-up people{most}, whose labels are equally common and go "
        f"with every second attribute: {found.answered:.0%} answered right, {found.on_device:.0%} "
        f"on the device, {found.majority:.0%} by always predicting the commonest class "
        f"({counted(found.repeats, 'repetition')}). Real people may be easier or harder to predict."
    )
