"""The verb predict: answers for test owners, whose records are randomised on this machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from supm._errors import MessageError, ParameterError
from supm._json import read_object
from supm.cli._frame import exclusive
from supm.cli._output import Data, File, Target, agreed, emit, lines_read, read_text, say, table
from supm.reporting import counted, progress

if TYPE_CHECKING:
    from supm.messages import Model, Report, Study
    from supm.schema.text_table import TextTable


def verb(
    data: Data,
    /,
    *,
    study: Annotated[str | None, Parameter(metavar="URL")] = None,
    model: File = None,
    release: File = None,
    trusted: bool = False,
    yes: bool = False,
    json: Target = None,
) -> int:
    """Ask a study's model, or a release, about records.

    Answer for test owners: randomise each record on this machine and send the reports; nothing is
    stored. Or answer by a model or a release in a file, all on this machine.

    With --study each row is another person, whose randomised report leaves this machine and costs
    that person's budget; no wallet remembers it, so you are asked before they are sent. Where the
    study is tested on the device, the model comes here and nothing leaves. No token is needed.
    With a model or a release nothing leaves either.

    Parameters
    ----------
    data : str
        One record in each row.
    study : str, optional
        The study: https://host/studies/NAME.
    model : str, optional
        A study's model; nothing leaves.
    release : str, optional
        What a federation published.
    trusted : bool
        Send classes as they are where the study asks for them without a promise.
    yes : bool
        Send reports without asking.
    json : str, optional
        Write the answers; - prints them.

    Examples
    --------
    ::

        supm predict new.csv --study https://host/studies/NAME
        supm predict new.csv --study https://host/studies/NAME --yes --json answers.json
        supm predict new.csv --model model.json                  by a study's model, in a file
        supm predict new.csv --release release.json              by what a federation published
    """
    from supm.schema.text_table import read_csv

    exclusive(needed=True, study=study, model=model, release=release)
    rows = read_csv(data, progress=lines_read)
    if study is not None:
        told = _by_study(study, rows, trusted=trusted, yes=yes)
        if told is None:
            return 1
        target, answers = told
    else:
        target, answers = _at_home(model, release, rows)
    emit({"target": target, "answers": answers}, [_shown(target, answers)], json)
    return 0


_Told = tuple[str, list[dict[str, Any]]]


def _at_home(model: str | None, release: str | None, data: TextTable) -> _Told:
    """Answer on this machine: nothing leaves, nothing is spent."""
    option, path = ("--model", model or "") if release is None else ("--release", release)
    text = read_text(option, path)
    try:
        _check_kind(text, option, path)
        return (_by_model if release is None else _by_release)(text, data)
    except MessageError as error:
        raise MessageError(f"{path}: {error}") from None


def _by_model(text: str, data: TextTable) -> _Told:
    from supm.collection import check_statement
    from supm.messages import Model
    from supm.owner.rows import records

    model = Model.from_json(text)
    check_statement(model)
    rows = records(data, model.study.asked("test"))
    return model.study.schema.target.name, _answers_of(model, rows)


def _by_release(text: str, data: TextTable) -> _Told:
    from supm.federation import SchemaEncoding, open_release
    from supm.messages import Release
    from supm.owner.rows import records
    from supm.owner.words import saying_what_is_allowed

    study, outcome = open_release(Release.from_json(text))
    encoding = study.protocol.encoding
    if not hasattr(outcome, "predict") or not isinstance(encoding, SchemaEncoding):
        wanted = "one that classifies records of a schema"
        raise ParameterError("--release", wanted, study.protocol.kind)
    schema = encoding.schema
    with saying_what_is_allowed(schema.attributes):
        held = schema.read(records(data, schema.attributes), labelled=False)
    labels = getattr(schema.target, "values", ())
    found = outcome.predict(encoding.vectors(held))
    return schema.target.name, [{"answer": labels[each], "probability": None} for each in found]


def _answers_of(model: Model, rows: list[dict[str, object]]) -> list[dict[str, Any]]:
    """Return what a study's model says about each record."""
    from supm.messages import Scorecard
    from supm.owner.words import saying_what_is_allowed
    from supm.schema import Schema

    asked = Schema(attributes=model.study.asked("test"), target=model.study.schema.target)
    with saying_what_is_allowed(asked.attributes):
        held = asked.read(rows, labelled=False)
    if model.study.numeric:
        return [{"answer": float(each), "probability": None} for each in model.values(held)]
    found = model.predict(held)
    chances: list[float | None] = [None] * len(found)
    if isinstance(model.rule, Scorecard):
        chances = model.probabilities(held)[range(len(found)), found].tolist()
    return [
        {"answer": model.labels[label], "probability": chance}
        for label, chance in zip(found, chances, strict=True)
    ]


def _check_kind(text: str, option: str, path: str) -> None:
    """Say which option a file of the other kind belongs to."""
    form = read_object(text, "file", MessageError)
    wanted = {"--release": "what a federation published", "--model": "the model of a study"}
    for other, fields in (("--model", {"study", "rule"}), ("--release", {"content"})):
        if other != option and fields <= set(form):
            hint = f"It is {wanted[other]}: use {other}."
            raise ParameterError(option, wanted[option], path, hint)


def _by_study(address: str, data: TextTable, *, trusted: bool, yes: bool) -> _Told | None:
    from supm.collection import check_statement
    from supm.owner.rows import records
    from supm.service.remote import RemoteStudy

    remote = RemoteStudy(address)
    remote.check_serving()
    study = remote.document()
    rows = records(data, study.asked("test"))
    target = study.schema.target.name
    if study.question("test") is None:
        model = remote.model()
        check_statement(model)
        return target, _answers_of(model, rows)
    reports = _drawn(study, rows, ("test",) if trusted else ())
    return (target, remote.predict(reports)) if _agreed(study, len(rows), yes=yes) else None


def _shown(target: str, answers: list[dict[str, Any]]) -> str:
    rows = [
        [str(number), str(each["answer"]), _percent(each["probability"])]
        for number, each in enumerate(answers, 1)
    ]
    return table(["row", target, "probability"], rows, left=2)


def _agreed(study: Study, rows: int, *, yes: bool) -> bool:
    """Ask before anything leaves; who cannot be asked has not agreed."""
    say(_cost(study, rows))
    return agreed(f"Send {counted(rows, 'report')}?", sys.stderr, yes=yes)


def _cost(study: Study, rows: int) -> str:
    """Say whose budget is spent: there is no wallet that would."""
    question = study.question("test")
    if question is None or question.epsilon is None:
        return f"{counted(rows, 'row')}: each counts as another person, and is sent as it is."
    return (
        f"{counted(rows, 'row')}: each counts as another person, who spends epsilon = "
        f"{question.epsilon:.6g} on this answer; no wallet remembers it, so asking again about "
        "the same person costs as much again."
    )


def _drawn(study: Study, rows: list[dict[str, object]], trusted: tuple[str, ...]) -> list[Report]:
    from supm.owner import Owner, saying_what_is_allowed

    shown = progress(rows, total=len(rows), unit="records")
    # Each is another person, with a memory of their own.
    with saying_what_is_allowed(study.asked("test")):
        return [Owner(trusted=trusted).answer(study, "test", row) for row in shown]


def _percent(chance: float | None) -> str:
    return "" if chance is None else f"{chance:.0%}"
