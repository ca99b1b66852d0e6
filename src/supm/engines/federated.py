"""A federated study with all parties here: what comes out, however messages are carried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.engines.in_process import Answerer, Asker, carry_in_process
from supm.federation import Federated, FederatedStudy, RoundRecord, Rows, party_source

__all__ = ["Carrier", "run_study"]

Carrier = Callable[[Asker, Sequence[Answerer]], None]
"""Takes messages from the side that asks to the parties and back until all is done."""


def run_study(
    study: FederatedStudy,
    tables: Mapping[str, Rows],
    source: RandomSource,
    *,
    record: Callable[[RoundRecord], None] | None = None,
    carry: Carrier = carry_in_process,
) -> Federated:
    """Run a study on tables that are all here, with all its messages and masks.

    Parameters
    ----------
    study : FederatedStudy
        What the parties would consent to.
    tables : mapping of str to Rows
        The parties by name, in the order of their numbers.
    source : RandomSource
        `supm.secure()`, or `supm.simulation(seed)`.
    record : callable, optional
        Is given a `RoundRecord` before a round is opened, to publish it.
    carry : callable, optional
        What carries messages; by default they stay in this process.

    Returns
    -------
    Federated

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.datasets import load_wdbc
    >>> from supm.federation import plan_federation
    >>> wdbc = load_wdbc()
    >>> study = plan_federation(wdbc.schema, "lda", epsilon=1, delta=1e-5, parties=1)
    >>> run_study(study, {"clinic": study.protocol.encoding.rows(wdbc.records())}, simulation(1))
    <Published: discriminant of federation.>
    """
    parties = study.protocol.circle.parties
    if len(tables) != parties:
        raise ParameterError("tables", f"those of {parties} parties", len(tables))
    people = [
        study.participant(rows, partial(party_source, source, name), on_problem=_raise)
        for name, rows in tables.items()
    ]
    coordinator = study.coordinator(record=record, simulation=source.simulation)
    carry(coordinator, people)
    return Federated.of(study, coordinator)


def _raise(problem: Exception) -> None:
    """Raise what a party would keep to itself: here whoever runs them all is to see it."""
    raise problem
