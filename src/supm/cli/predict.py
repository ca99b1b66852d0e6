"""The verb predict: answers for test owners, whose records are randomised on this machine."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from supm._errors import SupmError
from supm.cli._files import check_target, write_json
from supm.cli._output import table
from supm.cli._service import checked

if TYPE_CHECKING:
    from supm.messages import Study
    from supm.service.http import Remote

__all__ = ["add_to"]

_EXAMPLES = """\
examples:
  supm predict new.csv --study https://host/studies/NAME
  supm predict new.csv --study https://host/studies/NAME --json answers.json
  supm predict new.csv --release release.json              by what a federation published

Each record is one owner's. Only its randomised report leaves this machine; where the study is
tested on the device, the model comes here and nothing leaves. No token is needed. With a release
nothing leaves either.
"""
_AT_ONCE = 1000


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        "predict",
        help="ask a running study's model, or a release, about records",
        description="Answer for test owners: randomise each record on this machine and send the\n"
        "reports; nothing is stored. Or answer by a federation's release, all on this machine.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA.csv", help="one record in each row")
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--study", metavar="URL", help="the study: https://host/studies/NAME")
    asked.add_argument("--release", metavar="FILE", help="what a federation published")
    parser.add_argument(
        "--trusted",
        action="store_true",
        help="send classes as they are where the study asks for them without a promise",
    )
    parser.add_argument("--json", metavar="FILE", help="write the answers; - prints them")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from supm.cli._rows import records  # noqa: PLC0415  loaded when the verb runs
    from supm.cli._table import read_table  # noqa: PLC0415  the same
    from supm.messages import Study  # noqa: PLC0415  the same
    from supm.service.http import Remote, split_study_url  # noqa: PLC0415  the same

    check_target("--json", arguments.json)
    data = read_table(arguments.data)
    if arguments.release is not None:
        from supm.cli._released import answers_by_release  # noqa: PLC0415  the same

        _tell(*answers_by_release(arguments.release, data), arguments.json)
        return 0
    base, name = split_study_url(arguments.study)
    remote = Remote(f"{base}/api/v1/studies/{name}")
    _check_serving(checked(remote.get_json("")))
    study = Study.from_form(checked(remote.get_json("/document")))
    rows = records(data, study.asked("test"))
    if study.question("test") is None:
        answers = _on_device(remote, rows)
    else:
        trusted = ("test",) if arguments.trusted else ()
        answers = _by_reports(remote, study, rows, trusted)
    _tell(study.schema.target.name, answers, arguments.json)
    return 0


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


def _by_reports(
    remote: Remote, study: Study, rows: list[dict[str, object]], trusted: tuple[str, ...]
) -> list[dict[str, Any]]:
    from supm.cli._progress import progress  # noqa: PLC0415  loaded when the verb runs
    from supm.collection import Owner  # noqa: PLC0415  the same

    shown = progress(rows, total=len(rows), unit="records")
    # Each is another person, with a memory of their own.
    reports = [Owner(trusted=trusted).answer(study, "test", row) for row in shown]
    answers: list[dict[str, Any]] = []
    for start in range(0, len(reports), _AT_ONCE):
        part = reports[start : start + _AT_ONCE]
        told = [{"id": each.id, "symbols": list(each.symbols)} for each in part]
        head = {"version": 1, "study": study.hash, "phase": "test", "group": part[0].group}
        body = json.dumps({**head, "reports": told})
        answers += checked(remote.post_json("/predict", body))["answers"]
    return answers


def _on_device(remote: Remote, rows: list[dict[str, object]]) -> list[dict[str, Any]]:
    from supm.collection import check_statement  # noqa: PLC0415  loaded when the verb runs
    from supm.messages import Model  # noqa: PLC0415  the same
    from supm.schema import Schema  # noqa: PLC0415  the same

    model = Model.from_json(json.dumps(checked(remote.get_json("/model"))))
    check_statement(model)
    asked = Schema(attributes=model.study.asked("test"), target=model.study.schema.target)
    held = asked.read(rows, labelled=False)
    if model.study.numeric:
        return [{"answer": float(each), "probability": None} for each in model.values(held)]
    found = model.predict(held)
    return [{"answer": model.labels[label], "probability": None} for label in found]


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
