"""Answers by what a federation published, on this machine: nothing leaves and nothing is spent."""

from __future__ import annotations

from typing import Any

from supm._errors import MessageError, ParameterError
from supm.cli._files import read_text
from supm.cli._rows import records
from supm.cli._table import Table
from supm.federation import SchemaEncoding, open_release
from supm.messages import Release

__all__ = ["answers_by_release"]


def answers_by_release(path: str, data: Table) -> tuple[str, list[dict[str, Any]]]:
    """Return the name of the target, and an answer for each row.

    Parameters
    ----------
    path : str
        The file of a release.
    data : Table
        One record in each row, with the attributes of the release's schema.

    Returns
    -------
    tuple of str and list of dict
    """
    try:
        release = Release.from_json(read_text("--release", path))
        study, outcome = open_release(release)
    except MessageError as error:
        message = f"{path}: {error}"
        raise MessageError(message) from None
    encoding = study.protocol.encoding
    if not hasattr(outcome, "predict") or not isinstance(encoding, SchemaEncoding):
        wanted = "one that classifies records of a schema"
        raise ParameterError("--release", wanted, study.protocol.kind)
    schema = encoding.schema
    held = schema.read(records(data, schema.attributes), labelled=False)
    found = outcome.predict(encoding.vectors(held))
    labels = getattr(schema.target, "values", ())
    answers = [{"answer": labels[label], "probability": None} for label in found]
    return schema.target.name, answers
