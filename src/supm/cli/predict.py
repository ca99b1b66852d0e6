"""The verb predict: answers for test owners, whose records are randomised on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from supm._errors import SupmError
from supm.cli._files import check_target, write_json
from supm.cli._output import counted, say, table
from supm.cli._service import checked

if TYPE_CHECKING:
    from supm.messages import Report, Study
    from supm.owner.http import Remote
    from supm.schema.text_table import TextTable

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm predict new.csv --study https://host/studies/NAME
  supm predict new.csv --study https://host/studies/NAME --yes --json answers.json
  supm predict new.csv --model model.json                  by a study's model, in a file
  supm predict new.csv --release release.json              by what a federation published

With --study each row is another person, whose randomised report leaves this machine and costs that
person's budget; no wallet remembers it, so you are asked before they are sent.
Where the study is tested on the device, the model comes here and nothing leaves.
No token is needed. With a model or a release nothing leaves either.
"""
_AT_ONCE = 1000


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "predict",
        help="ask a study's model, or a release, about records",
        description="Answer for test owners: randomise each record on this machine and send the\n"
        "reports; nothing is stored. Or answer by a model or a release in a file, all on this "
        "machine.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA.csv", help="one record in each row")
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--study", metavar="URL", help="the study: https://host/studies/NAME")
    asked.add_argument("--model", metavar="FILE", help="a study's model; nothing leaves")
    asked.add_argument("--release", metavar="FILE", help="what a federation published")
    parser.add_argument(
        "--trusted",
        action="store_true",
        help="send classes as they are where the study asks for them without a promise",
    )
    parser.add_argument("--yes", action="store_true", help="send reports without asking")
    parser.add_argument("--json", metavar="FILE", help="write the answers; - prints them")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from supm.cli._output import lines_read  # noqa: PLC0415  the same
    from supm.cli._rows import records  # noqa: PLC0415  loaded when the verb runs
    from supm.messages import Study  # noqa: PLC0415  the same
    from supm.owner.http import Remote, split_study_url  # noqa: PLC0415  the same
    from supm.schema.text_table import read_csv  # noqa: PLC0415  the same

    check_target("--json", arguments.json)
    data = read_csv(arguments.data, progress=lines_read)
    if arguments.study is None:
        _tell(*_at_home(arguments, data), arguments.json)
        return 0
    base, name = split_study_url(arguments.study)
    remote = Remote(f"{base}/api/v1/studies/{name}")
    _check_serving(checked(remote.get_json("")))
    study = Study.from_form(checked(remote.get_json("/document")))
    rows = records(data, study.asked("test"))
    if study.question("test") is None:
        answers = _on_device(remote, rows)
    else:
        reports = _drawn(study, rows, ("test",) if arguments.trusted else ())
        if not _agreed(study, len(rows), yes=arguments.yes):
            return 1
        answers = _by_reports(remote, study, reports)
    _tell(study.schema.target.name, answers, arguments.json)
    return 0


def _at_home(arguments: argparse.Namespace, data: TextTable) -> tuple[str, list[dict[str, Any]]]:
    from supm.cli._released import (  # noqa: PLC0415  loaded when the verb runs
        answers_by_file,
        answers_by_release,
    )

    if arguments.release is not None:
        return answers_by_release(arguments.release, data)
    return answers_by_file(arguments.model, data)


def _agreed(study: Study, rows: int, *, yes: bool) -> bool:
    """Ask before anything leaves; who cannot be asked has not agreed."""
    from supm.cli.contribute import agreed  # noqa: PLC0415  only where something is sent

    _tell_cost(study, rows)
    return agreed(f"Send {counted(rows, 'report')}?", sys.stderr, yes=yes)


def _tell_cost(study: Study, rows: int) -> None:
    """Say whose budget is spent: there is no wallet that would."""
    question = study.question("test")
    if question is None or question.epsilon is None:
        say(f"{counted(rows, 'row')}: each counts as another person, and is sent as it is.")
        return
    say(
        f"{counted(rows, 'row')}: each counts as another person, who spends epsilon = "
        f"{question.epsilon:.6g} on this answer; no wallet remembers it, so asking again about "
        "the same person costs as much again."
    )


def _check_serving(status: dict[str, Any]) -> None:
    state = str(status.get("state"))
    if state == "closed":
        message = "the study is closed; its model answers no more."
    elif state == "trained":
        message = (
            "the study's model does not answer yet: it is trained, and the analyst must serve it."
        )
    else:
        message = f"the study has no model yet: it is {state}."
    if state != "serving":
        raise SupmError(message)


def _drawn(study: Study, rows: list[dict[str, object]], trusted: tuple[str, ...]) -> list[Report]:
    from supm.cli._output import progress  # noqa: PLC0415  loaded when the verb runs
    from supm.owner import Owner, saying_what_is_allowed  # noqa: PLC0415  the same

    shown = progress(rows, total=len(rows), unit="records")
    # Each is another person, with a memory of their own.
    with saying_what_is_allowed(study.asked("test")):
        return [Owner(trusted=trusted).answer(study, "test", row) for row in shown]


def _by_reports(remote: Remote, study: Study, reports: list[Report]) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    for start in range(0, len(reports), _AT_ONCE):
        part = reports[start : start + _AT_ONCE]
        told = [{"id": each.id, "symbols": list(each.symbols)} for each in part]
        head = {"version": 1, "study": study.hash, "phase": "test", "group": part[0].group}
        body = json.dumps({**head, "reports": told})
        answers += _answers(checked(remote.post_json("/predict", body)), len(part))
    return answers


def _answers(form: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return what an aggregator answered, an answer for each report, or say that it did not."""
    told = form.get("answers")
    if not isinstance(told, list) or len(told) != count or not all(map(_is_answer, told)):
        message = "the aggregator's answers are not for these reports; check the address."
        raise SupmError(message)
    return [{name: each[name] for name in ("answer", "probability")} for each in told]


def _is_answer(told: object) -> bool:
    if not isinstance(told, dict) or type(told.get("answer")) not in (str, int, float):
        return False
    # A number, and not "is absent": the aggregator says null where it does not know.
    chance = told.get("probability", "absent")
    return chance is None or (type(chance) in (int, float) and 0 <= chance <= 1)


def _on_device(remote: Remote, rows: list[dict[str, object]]) -> list[dict[str, Any]]:
    from supm.cli._released import answers_by_model  # noqa: PLC0415  loaded when the verb runs
    from supm.collection import check_statement  # noqa: PLC0415  the same
    from supm.messages import Model  # noqa: PLC0415  the same

    model = Model.from_json(json.dumps(checked(remote.get_json("/model"))))
    check_statement(model)
    return answers_by_model(model, rows)


def _tell(target: str, answers: list[dict[str, Any]], place: str | None) -> None:
    if place:
        write_json({"target": target, "answers": answers}, place)
    if place == "-":
        return
    rows = [
        [str(number), str(each["answer"]), _percent(each["probability"])]
        for number, each in enumerate(answers, 1)
    ]
    print(table(["row", target, "probability"], rows, left=2))


def _percent(chance: float | None) -> str:
    return "" if chance is None else f"{chance:.0%}"
