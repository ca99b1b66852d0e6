"""The verb simulate: measure what accuracy a budget would buy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from supm._errors import ParameterError, RecordError
from supm.cli._arguments import epsilons, real, weights, whole
from supm.cli._files import check_picture, check_target, write_json
from supm.cli._options import METHODS, add_study_options
from supm.cli._output import say

if TYPE_CHECKING:
    from supm.collection import Simulation
    from supm.schema import Records, Schema

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm simulate public.csv --target diagnosis --epsilon 1,2,4,8
  supm simulate public.csv --target diagnosis --epsilon 1,2,4,8 --schema schema.json --plot out.png
  supm simulate public.csv --target diagnosis --epsilon 10 --mode faithful --reduce pw --json -
  supm simulate public.csv --target diagnosis --epsilon 2 --trust u,u,d --seed 7
  supm simulate public.csv --target diagnosis --weights malignant=3,benign=1
  supm simulate public.csv --target price --epsilon 2,8          a number: mean squared errors

The file is read as it is: it must be PUBLIC or synthetic data, such as a survey that was published,
that resembles the private data of the study to come.
"""
_FEWEST = 4
_DERIVED = (
    "no --schema was given, so bounds (two standard deviations around the mean) and values come "
    "from {}, which must be public or synthetic; in a study they come from public knowledge, and "
    "accuracy will differ."
)


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "simulate",
        help="measure on PUBLIC data what accuracy a budget would buy",
        description="Let every line of a CSV file stand for an owner, run the whole protocol with\n"
        "them, and cross-validate: everybody's report is drawn once for each repetition and used\n"
        "in all folds. Accuracy is shown beside that of always predicting the commonest class,\n"
        "and the error of a number beside that of always predicting the mean.",
        epilog=f"{_EXAMPLES}\n{METHODS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA.csv", help="PUBLIC or synthetic data")
    parser.add_argument(
        "--target", metavar="COL", help="the column to be predicted; that of --schema by default"
    )
    parser.add_argument(
        "--epsilon",
        type=epsilons,
        default=[1.0, 2.0, 4.0, 8.0],
        metavar="E[,E…]",
        help="the budgets of an owner; 1,2,4,8 by default",
    )
    parser.add_argument("--schema", metavar="FILE", help="bounds and values from public knowledge")
    add_study_options(parser)
    _add_evaluation(parser)
    parser.add_argument("--json", metavar="FILE", help="write the figures; - prints them")
    parser.add_argument("--plot", metavar="FILE", help="draw them (.png, .pdf, .svg)")
    parser.set_defaults(run=_run, parser=parser)


def _add_evaluation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--weights",
        type=weights,
        metavar="W",
        help="how much each class counts in training: balanced, or numbers, such as yes=3,no=1; "
        "all alike by default",
    )
    parser.add_argument(
        "--penalty",
        type=real(1e-6, 1e9),
        default=1.0,
        metavar="C",
        help="the constant of the support vector machine, where one trains; 1 by default",
    )
    parser.add_argument(
        "--folds",
        type=whole(2, 10_000),
        default=10,
        metavar="F",
        help="into how many parts people are split; 10 by default",
    )
    parser.add_argument(
        "--repeats",
        type=whole(1, 10_000),
        default=3,
        metavar="R",
        help="how often everything is drawn anew; 3 by default",
    )
    parser.add_argument(
        "--seed",
        type=whole(0, 1 << 128),
        metavar="S",
        help="repeat a run: a simulation, not private",
    )


def _run(arguments: argparse.Namespace) -> int:
    found = _measure(arguments)
    for note in found.notes:
        say(note)
    if arguments.plot:
        found.plot(arguments.plot)
    if arguments.json:
        write_json(found.to_form(), arguments.json)
    if arguments.json != "-":
        print(found)
        for what, where in (("figures are", arguments.json), ("picture is", arguments.plot)):
            if where:
                print(f"\nThe {what} in {where}.")
    return 0


def _measure(arguments: argparse.Namespace) -> Simulation:
    from supm import secure, simulation  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._output import folds_bar  # noqa: PLC0415  the same
    from supm.cli._study_options import (  # noqa: PLC0415  the same
        check_wishes,
        planned,
        weights_of,
    )
    from supm.collection import simulate_studies  # noqa: PLC0415  the same
    from supm.learning import RadialSVM  # noqa: PLC0415  the same

    check_target("--json", arguments.json)
    check_picture("--plot", arguments.plot)
    source = secure() if arguments.seed is None else simulation(arguments.seed)
    learner = RadialSVM(penalty=arguments.penalty)
    check_wishes(arguments, arguments.epsilon)
    schema, records = _read(arguments)
    _check_folds(records.rows, arguments.folds)
    studies = [
        planned(schema, budget, arguments, owners=records.rows) for budget in arguments.epsilon
    ]
    with folds_bar() as shown:
        return simulate_studies(
            studies,
            records,
            source=source,
            folds=arguments.folds,
            repeats=arguments.repeats,
            learner=learner,
            weights=weights_of(arguments.weights, schema),
            name=_name(arguments),
            progress=shown,
        )


def _read(arguments: argparse.Namespace) -> tuple[Schema, Records]:
    from supm.cli._output import lines_read  # noqa: PLC0415  the same
    from supm.schema.deriving import derive  # noqa: PLC0415  loaded when the verb runs
    from supm.schema.text_table import read_csv  # noqa: PLC0415  the same

    schema = _given_schema(arguments)
    table = read_csv(arguments.data, target=arguments.target, progress=lines_read)
    if schema is None:
        say(_DERIVED.format(arguments.data))
        derived = derive(table, arguments.target)
        schema = derived.schema
        for note in derived.notes:
            say(note)
    return schema, schema.read(table)


def _check_folds(rows: int, folds: int) -> None:
    if rows < _FEWEST:
        message = f"the table has {rows} records, and at least {_FEWEST} are needed."
        raise RecordError(message)
    if folds > rows:
        raise ParameterError("--folds", f"at most the number of records, {rows}", folds)


def _given_schema(arguments: argparse.Namespace) -> Schema | None:
    from supm.cli._study_options import read_schema  # noqa: PLC0415  loaded when the verb runs

    if arguments.schema is None:
        if arguments.target is None:
            arguments.parser.error("--target must be given where there is no --schema.")
        return None
    schema = read_schema(arguments.schema)
    if arguments.target not in (None, schema.target.name):
        rule = f"that of the schema, {schema.target.name!r}, or left out"
        raise ParameterError("--target", rule, arguments.target)
    return schema


def _name(arguments: argparse.Namespace) -> str:
    from pathlib import Path  # noqa: PLC0415  loaded when the verb runs

    return Path(arguments.data).name
