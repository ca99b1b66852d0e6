"""A run without masks, where nobody is to be hidden from: one party, or an experiment.

The sums are the ones that the masked run opens, to the last bit, since masks cancel exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.federation.protocol import Protocol
from supm.federation.rows import Rows

__all__ = ["party_source", "run_pooled"]


def party_source(source: RandomSource, party: str, label: str) -> RandomSource:
    """Return the randomness of one step of one party.

    A simulation gives each party and step a stream of its own, the same in process and on Flower.

    Parameters
    ----------
    source : RandomSource
        Of the whole run.
    party : str
        What the party is called.
    label : str
        Which step.

    Returns
    -------
    RandomSource
    """
    return source.child(party).child(label)


def run_pooled(
    protocol: Protocol, tables: Sequence[Rows], names: Sequence[str], source: RandomSource
) -> Any:  # noqa: ANN401  each protocol its own
    """Run all rounds in this process and return what the protocol concludes.

    Parameters
    ----------
    protocol : Protocol
        What is computed.
    tables : sequence of Rows
        One for each party of the protocol's circle.
    names : sequence of str
        What the parties are called; each has noise of its own.
    source : RandomSource
        `supm.secure()`, or `supm.simulation(seed)`.

    Returns
    -------
    object
        The protocol's outcome.
    """
    if len(tables) != protocol.circle.parties or len(set(names)) != len(tables):
        wanted = f"{protocol.circle.parties}, each with a name of its own"
        raise ParameterError("tables", wanted, len(tables))
    totals: list[NDArray[np.int64]] = []
    for number in range(protocol.rounds):
        question = protocol.ask(totals)
        total = np.zeros(question.length, dtype=np.int64)
        for name, rows in zip(names, tables, strict=True):
            total += protocol.tell(rows, question, party_source(source, name, f"round {number}"))
        totals.append(total)
    return protocol.conclude(totals)
