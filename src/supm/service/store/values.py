"""What goes into the store and comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._validation import check_text
from supm.messages import Study
from supm.service.states import State, open_phase

__all__ = ["ID_BYTES", "LONGEST", "Opened", "Receipt", "Submission"]

ID_BYTES = 16
"""The length of a report's id."""

LONGEST: Final = 2000
"""How long the name of who runs a study may be, and how to reach them: as long as its purpose."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """One study as it is stored.

    Parameters
    ----------
    name : str
        Its public name, drawn at random.
    state : State
        Where it stands.
    documents : tuple of Study
        Its documents in order; the last is the current one.
    minimums : mapping of str to int
        How many reports a phase needs at least before its step is taken.
    deadlines : mapping of str to float
        Until when a phase takes reports, in Unix seconds; a phase without one is absent.
    invited : bool
        Whether a report needs an invitation.
    created : float
        When it was created, in Unix seconds.
    model : str, optional
        The JSON of the model, once there is one.
    weights : str, optional
        How the model was trained: "balanced" or None.
    simulation : bool, default False
        Whether owners draw from a seed: counts, and the model's statement, say so.
    by : str, default ""
        Who runs the study.
    contact : str, default ""
        How owners reach them.
    """

    name: str
    state: State
    documents: tuple[Study, ...]
    minimums: Mapping[str, int]
    deadlines: Mapping[str, float]
    invited: bool
    created: float
    model: str | None = None
    weights: str | None = None
    simulation: bool = False
    by: str = ""
    contact: str = ""

    def __post_init__(self) -> None:
        check_text("by", self.by, LONGEST)
        check_text("contact", self.contact, LONGEST)

    @property
    def study(self) -> Study:
        """The current document."""
        return self.documents[-1]

    @property
    def open_phase(self) -> str | None:
        """The phase whose reports are taken, or None."""
        return open_phase(self.state, self.study)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Submission:
    """Reports of one phase of one study, which were checked against its question already.

    Parameters
    ----------
    name : str
        The study.
    phase : str
        The phase.
    document : str
        The hash of the document that the owners answered.
    ids : ndarray of uint8, shape (n, 16)
        The id of each report.
    symbols : ndarray of int64, shape (n, width)
        What each report tells; never negative.
    invitation : str, optional
        The hash of an invitation, where the study needs one.
    """

    name: str
    phase: str
    document: str
    ids: NDArray[np.uint8]
    symbols: NDArray[np.int64]
    invitation: str | None = None

    def __post_init__(self) -> None:
        # One wrong submission must not spoil the transaction of the others, so it is not made.
        ids, symbols = self.ids, self.symbols
        if ids.dtype != np.uint8 or ids.ndim != 2 or ids.shape[1] != ID_BYTES or not len(ids):
            raise ParameterError("ids", "rows of 16 bytes", f"{ids.dtype} of shape {ids.shape}")
        if symbols.dtype.kind not in "iu" or symbols.ndim != 2 or len(symbols) != len(ids):
            got = f"{symbols.dtype} of shape {symbols.shape}"
            raise ParameterError("symbols", "a row of whole numbers for each id", got)
        if symbols.dtype.kind == "i" and symbols.size and symbols.min() < 0:
            raise ParameterError("symbols", "at least 0", "one below")

    def __len__(self) -> int:
        """Return how many reports there are."""
        return len(self.ids)

    def __repr__(self) -> str:
        """Say how many reports there are, and nothing of them."""
        return f"Submission({self.name!r}, {self.phase!r}, {len(self)} reports)"


@dataclass(frozen=True, kw_only=True, eq=False)
class Receipt:
    """What became of a submission, once the transaction is committed.

    Parameters
    ----------
    new : ndarray of bool
        For each report whether it was stored now; False where its id was stored before.
    refused : str, optional
        Why nothing of the submission was stored; `new` is all False then.
    """

    new: NDArray[np.bool_]
    refused: str | None = None
