"""The verb statement: print the guarantee of a model, a statement or a study."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from supm._errors import MessageError
from supm._json import read_object
from supm.cli._files import check_target, read_text, write_json
from supm.cli._output import paragraph

if TYPE_CHECKING:
    from supm.messages import Statement

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm statement model.json            what was promised to those whose data made this model
  supm statement study.json            what would be promised to those who answer this study
  supm statement model.json --json -   for machines
"""


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "statement",
        help="print the guarantee of a model, a statement or a study",
        description="Say in plain words what was promised to whom. The file is a model, a\n"
        "statement or a study, as JSON.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a model, a statement or a study")
    parser.add_argument("--json", metavar="FILE", help="write the statement; - prints it")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_target("--json", arguments.json)
    noun, statement, lines = _read(arguments.file, read_text("FILE", arguments.file))
    if arguments.json:
        write_json(statement.to_form(), arguments.json)
    if arguments.json != "-":
        print(f"{arguments.file} is a {noun}.")
        for line in lines:
            print(paragraph(line))
    return 0


def _read(path: str, text: str) -> tuple[str, Statement, list[str]]:
    """Name the file where it is not what it should be."""
    try:
        return _read_text(text)
    except MessageError as error:
        message = f"{path}: {error}"
        raise MessageError(message) from None


def _read_text(text: str) -> tuple[str, Statement, list[str]]:
    """Return what the file is, its statement, and that in words."""
    from supm.cli._words import (  # noqa: PLC0415  loaded when the verb runs
        cost,
        plan_lines,
        statement_lines,
    )
    from supm.collection import (  # noqa: PLC0415  the same
        account,
        check_statement,
        make_statement,
    )
    from supm.messages import Model, Statement, Study  # noqa: PLC0415  the same

    form = read_object(text, "file", MessageError)
    if "statement" in form:
        model = Model.from_json(text)
        check_statement(model)
        return "model", model.statement, statement_lines(model.statement)
    if "phases" in form:
        held = Statement.from_json(text)
        return "statement", held, statement_lines(held)
    if "questions" in form:
        study = Study.from_json(text)
        lines = [*plan_lines(study), *cost(account(study))]
        return "study", make_statement(study, simulation=False), lines
    message = "the file is no model, statement or study of SUPM; their JSON has other fields."
    raise MessageError(message)
