"""What would leave a party, said and shown to it before it agrees."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from supm import RandomSource, secure
from supm.cli._federate_study import lengths
from supm.cli._output import table
from supm.federation import FederatedStudy, Protocol, Rows

__all__ = ["describe", "example"]

_SHOWN: Final = 3
_LEAVES: Final = (
    "What leaves, besides keys: each number is computed from your records with noise that is drawn "
    "here, under masks that cancel only in the sum over all parties."
)


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
        example(study.protocol, rows, secure()),
    ]


def example(protocol: Protocol, rows: Rows, source: RandomSource) -> str:
    """Show the first numbers of a party as they could leave.

    Under a mask that nobody keeps they are uniform, so whoever sees them learns nothing.

    Parameters
    ----------
    protocol : Protocol
        What is computed.
    rows : Rows
        The party's own.
    source : RandomSource
        Of noise and mask; not the one of the run.

    Returns
    -------
    str
    """
    told = protocol.tell(rows, protocol.ask(()), source)[:_SHOWN]
    masked = told.view(np.uint64) + source.words(told.size)
    numbers = ", ".join(map(str, masked.tolist()))
    return (
        f"Such as these, the first of round 1: {numbers}, … They were drawn just now, to be seen; "
        "those that leave are drawn anew."
    )


def _clipped(rows: Rows) -> str:
    if not rows.clipped:
        return "All of them are within the public bound on their length."
    return (
        f"{rows.clipped:,} of them are longer than the public bound and are shortened to it; how "
        "many these are is not told."
    )
