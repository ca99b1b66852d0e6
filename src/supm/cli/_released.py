"""Answers by a release or a model in a file: on this machine, nothing leaves, nothing is spent."""

from __future__ import annotations

from typing import Any

from supm._errors import MessageError, ParameterError
from supm._json import read_object
from supm.cli._files import read_text
from supm.collection import check_statement
from supm.federation import SchemaEncoding, open_release
from supm.messages import Model, Release
from supm.owner.rows import records
from supm.owner.words import saying_what_is_allowed
from supm.schema import Schema
from supm.schema.text_table import TextTable

__all__ = ["answers_by_file", "answers_by_model", "answers_by_release"]


def answers_by_release(path: str, data: TextTable) -> tuple[str, list[dict[str, Any]]]:
    """Return the name of the target, and an answer for each row.

    Parameters
    ----------
    path : str
        The file of a release.
    data : TextTable
        One record in each row, with the attributes of the release's schema.

    Returns
    -------
    tuple of str and list of dict
    """
    text = read_text("--release", path)
    try:
        _check_kind(text, "--release", path)
        release = Release.from_json(text)
        study, outcome = open_release(release)
    except MessageError as error:
        message = f"{path}: {error}"
        raise MessageError(message) from None
    encoding = study.protocol.encoding
    if not hasattr(outcome, "predict") or not isinstance(encoding, SchemaEncoding):
        wanted = "one that classifies records of a schema"
        raise ParameterError("--release", wanted, study.protocol.kind)
    schema = encoding.schema
    with saying_what_is_allowed(schema.attributes):
        held = schema.read(records(data, schema.attributes), labelled=False)
    found = outcome.predict(encoding.vectors(held))
    labels = getattr(schema.target, "values", ())
    answers = [{"answer": labels[label], "probability": None} for label in found]
    return schema.target.name, answers


def answers_by_file(path: str, data: TextTable) -> tuple[str, list[dict[str, Any]]]:
    """Return the name of the target, and an answer for each row by the model of a study.

    Parameters
    ----------
    path : str
        The file of a model.
    data : TextTable
        One record in each row, with the attributes that the model uses.

    Returns
    -------
    tuple of str and list of dict
    """
    text = read_text("--model", path)
    try:
        _check_kind(text, "--model", path)
        model = Model.from_json(text)
        check_statement(model)
    except MessageError as error:
        message = f"{path}: {error}"
        raise MessageError(message) from None
    rows = records(data, model.study.asked("test"))
    return model.study.schema.target.name, answers_by_model(model, rows)


def answers_by_model(model: Model, rows: list[dict[str, object]]) -> list[dict[str, Any]]:
    """Return what a study's model says about each record.

    Parameters
    ----------
    model : Model
        Its statement was checked.
    rows : list of dict
        The records.

    Returns
    -------
    list of dict
    """
    asked = Schema(attributes=model.study.asked("test"), target=model.study.schema.target)
    with saying_what_is_allowed(asked.attributes):
        held = asked.read(rows, labelled=False)
    if model.study.numeric:
        return [{"answer": float(each), "probability": None} for each in model.values(held)]
    found = model.predict(held)
    return [{"answer": model.labels[label], "probability": None} for label in found]


def _check_kind(text: str, option: str, path: str) -> None:
    """Say which option a file of the other kind belongs to."""
    form = read_object(text, "file", MessageError)
    wanted = {"--release": "what a federation published", "--model": "the model of a study"}
    for other, fields in (("--model", {"study", "rule"}), ("--release", {"content"})):
        if other != option and fields <= set(form):
            hint = f"It is {wanted[other]}: use {other}."
            raise ParameterError(option, wanted[option], path, hint)
