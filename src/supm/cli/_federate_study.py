"""Making a federated study, and reading it and the tables that it is about."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any, Final

from supm import RandomSource
from supm._errors import MessageError, ParameterError, RecordError
from supm.cli._files import read_text
from supm.cli._output import lines_read
from supm.cli._rows import check_column
from supm.cli._service import UsageError
from supm.cli._study_options import read_schema
from supm.federation import (
    Circle,
    Components,
    Discriminant,
    FederatedStudy,
    Margin,
    Protocol,
    Rows,
    SchemaEncoding,
    party_source,
)
from supm.learning.margins import Loss
from supm.schema.text_table import read_csv

__all__ = ["made_study", "read_rows", "read_study", "sources", "summary"]


def made_study(arguments: argparse.Namespace) -> FederatedStudy:
    """Return the study that the options describe.

    Parameters
    ----------
    arguments : Namespace
        The options of ``supm federate create``.

    Returns
    -------
    FederatedStudy
    """
    encoding = SchemaEncoding(schema=read_schema(arguments.schema))
    circle = Circle(
        parties=arguments.parties, colluders=arguments.colluders, dropouts=arguments.dropouts
    )
    chosen: dict[str, Any] = {
        "encoding": encoding,
        "circle": circle,
        "epsilon": arguments.epsilon,
        "delta": arguments.delta,
    }
    return FederatedStudy(
        name=arguments.name,
        purpose=arguments.purpose,
        delta=arguments.delta,
        protocol=_protocol(arguments, chosen),
    )


# What may be chosen of one protocol, and is left out for the others.
_OPTIONS: Final = {
    "pca": ("components", "share"),
    "lda": ("directions", "histogram"),
    "svm": ("components",),
    "logistic": ("components",),
}


def _protocol(arguments: argparse.Namespace, chosen: dict[str, Any]) -> Protocol:
    kind = arguments.protocol
    own = _given(arguments, kind)
    if kind == "pca":
        if "components" not in own:
            message = "--components must be given for pca: how many are published."
            raise UsageError(message)
        return Components.for_budget(**chosen, **own)
    if kind == "lda":
        return Discriminant.for_budget(**chosen, **own)
    return Margin.for_budget(**chosen, **own, loss=_loss(kind, chosen["encoding"].classes))


def _given(arguments: argparse.Namespace, kind: str) -> dict[str, Any]:
    """Return the options of a protocol that were given, and refuse those of another."""
    options = sorted({name for names in _OPTIONS.values() for name in names})
    given = {name: getattr(arguments, name) for name in options}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given.keys() - set(_OPTIONS[kind]):
        option = "--no-histogram" if name == "histogram" else f"--{name}"
        raise ParameterError(option, f"left out for {kind}", given[name])
    return given


def _loss(kind: str, classes: int) -> Loss:
    if kind == "svm":
        return "huber"
    return "logistic" if classes == 2 else "softmax"


def read_study(path: str) -> FederatedStudy:
    """Read a study from a file.

    Parameters
    ----------
    path : str
        The name of the file.

    Returns
    -------
    FederatedStudy
    """
    text = read_text("STUDY", path)
    try:
        return FederatedStudy.from_json(text)
    except MessageError as error:
        message = f"{path}: {error}"
        raise MessageError(message) from None


def read_rows(path: str, study: FederatedStudy, schema: str | None = None) -> Rows:
    """Read a party's table as the study describes it.

    Parameters
    ----------
    path : str
        The name of the CSV file.
    study : FederatedStudy
        The study, which holds the schema.
    schema : str, optional
        The file of the schema that the party expects.

    Returns
    -------
    Rows
    """
    encoding = study.protocol.encoding
    if not isinstance(encoding, SchemaEncoding):
        message = "this study is about vectors; the command line reads tables with a schema."
        raise MessageError(message)
    if schema is not None and read_schema(schema) != encoding.schema:
        hint = "The study was made with another schema, with other bounds or values."
        raise ParameterError("--schema", "the schema of the study", schema, hint)
    told = read_csv(path, progress=lines_read)
    for name in (*encoding.schema.names, encoding.schema.target.name):
        check_column(told, name)
    try:
        return encoding.rows(encoding.schema.read(told))
    except RecordError as error:
        message = str(error) if path in str(error) else f"{path}: {error}"
        raise RecordError(message) from None


def sources(source: RandomSource, number: int) -> Any:  # noqa: ANN401  what Participant takes
    """Return where a party's randomness comes from, step by step.

    Parameters
    ----------
    source : RandomSource
        Of the whole run.
    number : int
        The party's.

    Returns
    -------
    callable
        From the label of a step to a RandomSource.
    """
    return partial(party_source, source, f"party {number}")


def summary(study: FederatedStudy) -> dict[str, Any]:
    """Return what machines want to know of a study.

    Parameters
    ----------
    study : FederatedStudy
        The study.

    Returns
    -------
    dict
    """
    promise, circle = study.promise, study.protocol.circle
    return {
        "name": study.name,
        "hash": study.hash,
        "protocol": study.protocol.kind,
        "epsilon": getattr(promise, "epsilon", None),
        "delta": getattr(promise, "delta", None),
        "parties": circle.parties,
        "colluders": circle.colluders,
        "dropouts": circle.dropouts,
        "numbers": list(study.protocol.lengths),
    }
