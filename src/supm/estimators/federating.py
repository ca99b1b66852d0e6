"""Many tables, one protocol: what `fit` is for one table, for several that stay where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm.engines import run_study
from supm.estimators._reading import source_for
from supm.federation import Federated, FederatedStudy, Protocol, Rows, SchemaEncoding

_PAIR = 2


def federate(
    parties: Mapping[str, object] | Sequence[object],
    protocol: Protocol,
    *,
    delta: float = 1e-6,
    random_state: int | None = None,
) -> Federated:
    """Run a protocol on several tables in this process, with all its messages and masks.

    Parameters
    ----------
    parties : mapping of str to table, or sequence of tables
        One for each party. With an encoding of a schema: any table that the schema reads, with its
        target. Otherwise: a pair of vectors and labels 0, 1, …. A table may lack a class. One
        without records can take part in a `Discriminant`; the other protocols refuse it.
    protocol : Protocol
        `Discriminant`, `Components` or `Margin`, made for so many parties.
    delta : float, default 1e-6
        At which a Gaussian guarantee is told as an epsilon.
    random_state : int, optional
        None draws secure randomness. A whole number makes a simulation, which is not private.

    Returns
    -------
    Federated

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> from supm.estimators import federate
    >>> from supm.federation import Circle, Discriminant, SchemaEncoding
    >>> wdbc = load_wdbc()
    >>> encoding = SchemaEncoding(schema=wdbc.schema)
    >>> protocol = Discriminant.for_budget(
    ...     encoding=encoding, epsilon=2.0, delta=1e-6, circle=Circle(parties=2, colluders=0)
    ... )
    >>> north = {name: column[0::2] for name, column in wdbc.columns.items()}
    >>> south = {name: column[1::2] for name, column in wdbc.columns.items()}
    >>> run = federate({"north": north, "south": south}, protocol, random_state=1)
    >>> run.outcome.predict(encoding.vectors(wdbc.records())).shape
    (569,)
    >>> run.release.statement.simulation
    True
    """
    named = dict(parties) if isinstance(parties, Mapping) else _numbered(parties)
    if len(named) != protocol.circle.parties:
        wanted = f"the {protocol.circle.parties} of the protocol"
        raise ParameterError("parties", wanted, len(named))
    study = FederatedStudy(name="federate", protocol=protocol, delta=delta)
    tables = {name: _rows(table, protocol) for name, table in named.items()}
    return run_study(study, tables, source_for(random_state, "federate"))


def _numbered(parties: Sequence[object]) -> dict[str, object]:
    return {f"party {number}": table for number, table in enumerate(parties, start=1)}


def _rows(table: object, protocol: Protocol) -> Rows:
    encoding = protocol.encoding
    if isinstance(table, Rows):
        return table
    if isinstance(encoding, SchemaEncoding):
        return encoding.rows(encoding.schema.read(table))
    if isinstance(table, tuple) and len(table) == _PAIR:
        return encoding.rows(table[0], _whole(table[1]))
    raise ParameterError("party", "a pair of vectors and labels", type(table).__name__)


def _whole(labels: object) -> NDArray[np.int64]:
    """Return labels as whole numbers; rounding them would make others of them."""
    given = np.asarray(labels)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise ParameterError("labels", "a flat array of whole numbers", given.dtype.name)
    return given.astype(np.int64)
