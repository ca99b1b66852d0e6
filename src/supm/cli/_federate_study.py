"""Making a federated study, and saying what it asks of a party."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from supm import RandomSource, simulation
from supm._errors import MessageError, ParameterError, RecordError
from supm.cli._cells import read_records
from supm.cli._files import read_text
from supm.cli._output import table
from supm.cli._rows import check_column
from supm.cli._study_options import read_schema
from supm.cli._table import read_table
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

__all__ = ["describe", "lengths", "made_study", "read_rows", "read_study", "sources", "summary"]

_MADE_UP: Final = 100
_LEAVES: Final = (
    "What leaves, besides keys: each number is a sum over your records with noise that is drawn "
    "here, under masks that cancel only in the sum over all parties."
)


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


def _protocol(arguments: argparse.Namespace, chosen: dict[str, Any]) -> Protocol:
    kind, components = arguments.protocol, arguments.components
    if kind == "pca":
        if components is None:
            raise ParameterError("--components", "given for pca", "nothing")
        return Components.for_budget(**chosen, components=components)
    if kind == "lda":
        if components is not None:
            raise ParameterError("--components", "left out for lda", components)
        return Discriminant.for_budget(**chosen)
    classes = chosen["encoding"].classes
    return Margin.for_budget(**chosen, components=components, loss=_loss(kind, classes))


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
    told = read_table(path)
    for name in (*encoding.schema.names, encoding.schema.target.name):
        check_column(told, name)
    try:
        return encoding.rows(read_records(told, encoding.schema))
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
        "numbers": lengths(study.protocol),
    }


def lengths(protocol: Protocol) -> list[int]:
    """Return how many whole numbers a party tells in each round.

    Parameters
    ----------
    protocol : Protocol
        What is computed.

    Returns
    -------
    list of int
    """
    # A question may depend on the sums before it, so the rounds are gone through with made-up rows.
    encoding = protocol.encoding
    rows = Rows(
        values=np.zeros((_MADE_UP, encoding.width)),
        labels=np.arange(_MADE_UP, dtype=np.int64) % encoding.classes,
        classes=encoding.classes,
    )
    source = simulation(0)
    totals: list[Any] = []
    found = []
    for number in range(protocol.rounds):
        question = protocol.ask(totals)
        found.append(question.length)
        told = protocol.tell(rows, question, source.child(f"round {number}"))
        totals.append(told * protocol.circle.parties)
    return found


def describe(study: FederatedStudy, rows: Rows, path: str) -> list[str]:
    """Say what would leave a party, in paragraphs and a table.

    Parameters
    ----------
    study : FederatedStudy
        The study.
    rows : Rows
        The party's own.
    path : str
        Where they came from.

    Returns
    -------
    list of str
    """
    parts = study.protocol.parts
    counts = lengths(study.protocol)
    names = [part.name for part in parts] if len(parts) == len(counts) else [""] * len(counts)
    cells = [
        [str(n + 1), name, f"{count:,}"]
        for n, (name, count) in enumerate(zip(names, counts, strict=True))
    ]
    shown = table(["round", "what", "whole numbers, masked"], cells, left=2)
    return [
        study.words,
        f"{Path(path).name} has {rows.size:,} records, and that number is told. {_clipped(rows)}",
        _LEAVES,
        shown,
    ]


def _clipped(rows: Rows) -> str:
    if not rows.clipped:
        return "All of them are within the public bound on their length."
    return (
        f"{rows.clipped:,} of them are longer than the public bound and are shortened to it; how "
        "many these are is not told."
    )
