"""The verb simulate: measure what accuracy a budget would buy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from supm._errors import ParameterError
from supm.cli._files import check_picture, check_target, read_text, write_json
from supm.cli._output import epsilons, paragraph, say
from supm.cli.plan import add_study_options

if TYPE_CHECKING:
    from supm.cli._outcome import Outcome
    from supm.schema import Records, Schema

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm simulate public.csv --target diagnosis --epsilon 1,2,4,8
  supm simulate public.csv --target diagnosis --epsilon 1,2,4,8 --schema schema.json --plot out.png
  supm simulate public.csv --target diagnosis --epsilon 10 --mode faithful --reduce pw --json -
  supm simulate public.csv --target diagnosis --epsilon 2 --trust u,u,d --seed 7

The file is read as it is: it must be PUBLIC or synthetic data, such as a survey that was published,
that resembles the private data of the study to come.
"""
_DERIVED = (
    "no --schema was given, so bounds and values come from {}, which must be public or synthetic; "
    "in a study they come from public knowledge, and accuracy will differ."
)


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "simulate",
        help="measure on PUBLIC data what accuracy a budget would buy",
        description="Let every line of a CSV file stand for an owner, run the whole protocol with\n"
        "them, and cross-validate: everybody's report is drawn once for each repetition and used\n"
        "in all folds. Accuracy is shown beside that of always predicting the commonest class.",
        epilog=_EXAMPLES,
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
    parser.add_argument("--penalty", type=float, default=1.0, metavar="C", help="the machine's C")
    parser.add_argument("--folds", type=int, default=10, metavar="F", help="10 by default")
    parser.add_argument("--repeats", type=int, default=3, metavar="R", help="3 by default")
    parser.add_argument("--seed", type=int, metavar="S", help="repeat a run")
    parser.add_argument("--json", metavar="FILE", help="write the figures; - prints them")
    parser.add_argument("--plot", metavar="FILE", help="draw them (.png, .pdf, .svg)")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    outcome = _measure(arguments)
    if arguments.plot:
        from supm.cli._curve import draw  # noqa: PLC0415  loaded when the verb runs
        from supm.cli._outcome import curve  # noqa: PLC0415  the same

        draw(curve(outcome, _name(arguments)), arguments.plot)
    if arguments.json:
        from supm.cli._outcome import for_machines  # noqa: PLC0415  the same

        write_json(for_machines(outcome), arguments.json)
    if arguments.json != "-":
        _print(outcome, arguments)
    return 0


def _measure(arguments: argparse.Namespace) -> Outcome:
    from supm import secure, simulation  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._outcome import measure  # noqa: PLC0415  the same
    from supm.cli._study_options import planned  # noqa: PLC0415  the same
    from supm.learning import RadialSVM  # noqa: PLC0415  the same

    check_target("--json", arguments.json)
    check_picture("--plot", arguments.plot)
    source = secure() if arguments.seed is None else simulation(arguments.seed)
    learner = RadialSVM(penalty=arguments.penalty)
    schema, records = _read(arguments)
    studies = [
        planned(schema, budget, arguments, owners=records.rows) for budget in arguments.epsilon
    ]
    return measure(
        studies,
        records,
        source,
        folds=arguments.folds,
        repeats=arguments.repeats,
        learner=learner,
    )


def _read(arguments: argparse.Namespace) -> tuple[Schema, Records]:
    from supm.cli._cells import read_records  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._derive import derive  # noqa: PLC0415  the same
    from supm.cli._table import read_table  # noqa: PLC0415  the same

    schema = _given_schema(arguments)
    table = read_table(arguments.data)
    if schema is None:
        say(_DERIVED.format(arguments.data))
        derived = derive(table, arguments.target)
        for note in derived.notes:
            say(note)
        schema = derived.schema
    if schema.task == "continuous":
        hint = "It holds many different numbers; make classes of them first."
        raise ParameterError("--target", "a column of classes", schema.target.name, hint)
    return schema, read_records(table, schema)


def _given_schema(arguments: argparse.Namespace) -> Schema | None:
    from supm.schema import Schema  # noqa: PLC0415  loaded when the verb runs

    if arguments.schema is None:
        if arguments.target is None:
            raise ParameterError("--target", "given where there is no --schema", None)
        return None
    schema = Schema.from_json(read_text("--schema", arguments.schema))
    if arguments.target not in (None, schema.target.name):
        rule = f"that of the schema, {schema.target.name!r}, or left out"
        raise ParameterError("--target", rule, arguments.target)
    return schema


def _name(arguments: argparse.Namespace) -> str:
    from pathlib import Path  # noqa: PLC0415  loaded when the verb runs

    return Path(arguments.data).name


def _print(outcome: Outcome, arguments: argparse.Namespace) -> None:
    from supm.cli._outcome import figures  # noqa: PLC0415  loaded when the verb runs

    print(f"{_name(arguments)}: {outcome.people} people, target {outcome.target!r}.\n")
    print(figures(outcome))
    print(f"\n{paragraph(_between(outcome))}")
    _print_plans(outcome)
    for what, where in (("figures are", arguments.json), ("picture is", arguments.plot)):
        if where:
            print(f"\nThe {what} in {where}.")


def _print_plans(outcome: Outcome) -> None:
    """Say what every budget has in common once, and the rest for each."""
    from supm.cli._words import cost, plan_lines  # noqa: PLC0415  loaded when the verb runs

    plans = [
        [*plan_lines(result.study, outcome.people), *cost(result.account)]
        for result in outcome.results
    ]
    shared = [line for line in plans[0] if all(line in lines for lines in plans)]
    print("\nThe plan")
    for line in shared:
        print(paragraph(line, indent="  "))
    for result, lines in zip(outcome.results, plans, strict=True):
        own = [line for line in lines if line not in shared]
        if own:
            print(f"\nepsilon = {result.study.epsilon:g}")
        for line in own:
            print(paragraph(line, indent="  "))


def _between(outcome: Outcome) -> str:
    baseline = outcome.baseline
    often = "repetition" if baseline.repeats == 1 else "repetitions"
    return (
        f"Always predicting the commonest class is right for {outcome.majority:.1%}; the same "
        f"learner without privacy, on the raw data of {baseline.people} people, for "
        f"{baseline.accuracy:.1%} ({baseline.repeats} {often}). The spread is the standard "
        "deviation over the repetitions. On device: the same models, where a record is tested "
        "without leaving its owner."
    )
