"""What would leave a party, said and shown to it before it agrees."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from supm import RandomSource, secure
from supm.cli._output import table
from supm.federation import FederatedStudy, Rows

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
    protocol = study.protocol
    rounds = zip(protocol.parts, protocol.lengths, strict=True)
    cells = [[str(n), part.name, f"{count:,}"] for n, (part, count) in enumerate(rounds, start=1)]
    shown = table(["round", "what", "whole numbers, masked"], cells, left=2)
    return [
        study.words,
        f"{Path(path).name} has {rows.size:,} records, and that number is told. {_clipped(rows)}",
        _LEAVES,
        shown,
        example(secure()),
    ]


def example(source: RandomSource) -> str:
    """Show numbers such as those that leave a party.

    Under a mask every number is equally likely, whatever it hides, so nothing is computed for it.

    Parameters
    ----------
    source : RandomSource
        Where the numbers come from.

    Returns
    -------
    str
    """
    numbers = ", ".join(map(str, source.words(_SHOWN).tolist()))
    return (
        "Under its mask each number is any from 0 to 2^64 - 1 with the same chance, whatever it "
        f"hides. So what leaves looks like these, which were drawn just now: {numbers}, …"
    )


def _clipped(rows: Rows) -> str:
    if not rows.clipped:
        return "All of them are within the public bound on their length."
    return (
        f"{rows.clipped:,} of them are longer than the public bound and are shortened to it; how "
        "many these are is not told."
    )
