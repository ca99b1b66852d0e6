"""What the noise of the paper's trusted generator really promises, by who looks at the messages."""

from __future__ import annotations

from typing import Final

import numpy as np
from experiments.lda_publishing.paper_lda import PaperLDA, PaperTable
from experiments.lda_publishing.settings import DELTA, Scope
from experiments.supm.markdown import table

from supm import simulation
from supm.privacy import GaussianDP, Neighbours

__all__ = ["views_table"]

_WIDTH: Final = 15
_CLAIMED: Final = 0.2
_TABLE: Final = Neighbours.REPLACE_ONE
_AS_CLAIMED: Final = GaussianDP.for_approximate(epsilon=_CLAIMED, delta=DELTA, neighbours=_TABLE)
_WHO: Final = ("publisher", "eavesdropper", "coalition")


def views_table(scope: Scope) -> str:
    """Return the epsilon of each view: with the paper's noise, and with the least for its claim."""
    rows = []
    for parties in scope.parties:
        views = _views(parties)
        # Noise in proportion: the publisher then has just the mu whose epsilon is claimed.
        least = _AS_CLAIMED.mu / views["publisher"]
        cells = [f"{_epsilon(scale * views[who]):.3g}" for scale in (1.0, least) for who in _WHO]
        rows.append((str(parties), f"{_CLAIMED:g}", *cells))
    printed = (f"{who}, paper's noise" for who in _WHO)
    tight = (f"{who}, least noise" for who in _WHO)
    return table(("owners", "claimed", *printed, *tight), rows)


def _views(parties: int) -> dict[str, float]:
    # The views do not depend on the records: any will do.
    one = PaperTable(vectors=np.eye(_WIDTH), labels=np.arange(_WIDTH) % 2)
    paper = PaperLDA(epsilon=_CLAIMED, delta=DELTA)
    return paper.publish([one] * parties, simulation(0)).views


def _epsilon(mu: float) -> float:
    return GaussianDP(mu=mu, neighbours=_TABLE).to_approximate(DELTA).epsilon
