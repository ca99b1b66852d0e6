"""The states of a study and the moves between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._validation import check_text
from supm.messages import Study


class State(StrEnum):
    """Where a study stands; each state but the last leads to the next, and all to the last.

    Examples
    --------
    >>> State("trained") is State.TRAINED
    True
    """

    COLLECTING_TO_REDUCE = "collecting to reduce"
    REDUCED = "reduced"
    COLLECTING_TO_TRAIN = "collecting to train"
    TRAINED = "trained"
    SERVING = "serving"
    CLOSED = "closed"


_PHASES: Final = {
    State.COLLECTING_TO_REDUCE: "reduce",
    State.COLLECTING_TO_TRAIN: "train",
    State.SERVING: "test",
}
_ORDER: Final = tuple(State)


def first_state(study: Study) -> State:
    """Return the state in which a study is created."""
    known = study.attributes is not None
    return State.COLLECTING_TO_TRAIN if known else State.COLLECTING_TO_REDUCE


def open_phase(state: State, study: Study) -> str | None:
    """Return the phase whose reports are taken, or None.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> study = plan(load_wdbc().schema, epsilon=1.0, attributes=["mean radius"])
    >>> open_phase(State.COLLECTING_TO_TRAIN, study), open_phase(State.TRAINED, study)
    ('train', None)
    """
    phase = _PHASES.get(state)
    return phase if phase is not None and study.question(phase) is not None else None


def check_move(state: State, to: State) -> None:
    """Raise ParameterError where a study cannot go from one state to another.

    Examples
    --------
    >>> check_move(State.TRAINED, State.SERVING)
    >>> check_move(State.REDUCED, State.SERVING)
    Traceback (most recent call last):
    supm._errors.ParameterError: to must be collecting to train or closed after reduced, got
    'serving'.
    """
    if state is State.CLOSED:
        raise ParameterError("to", "left out, because a closed study stays closed", str(to))
    following = _ORDER[_ORDER.index(state) + 1]
    if to not in (following, State.CLOSED):
        allowed = " or ".join(dict.fromkeys((following.value, State.CLOSED.value)))
        raise ParameterError("to", f"{allowed} after {state.value}", str(to))


class Refusal(StrEnum):
    """The reasons that a receipt may name; each is safe to show to whoever sent it.

    Examples
    --------
    >>> str(Refusal.OVER)
    'phase is over'
    """

    UNKNOWN = "study is not known"
    OVER = "phase is over"
    PAUSED = "phase is being counted"
    LATE = "deadline has passed"
    OTHER_QUESTION = "of another question"
    NO_ROOM = "no room left"
    NOT_INVITED = "an invitation is needed"
    UNKNOWN_INVITATION = "invitation is not known"
    USED_INVITATION = "invitation was used"
    SEVERAL_FOR_ONE = "an invitation is for one report"


ID_BYTES = 16
"""The length of a report's id."""

_LONGEST: Final = 2000


def check_who(by: str, contact: str) -> None:
    """Refuse what cannot be shown as who runs a study, and how to reach them."""
    check_text("by", by, _LONGEST)
    check_text("contact", contact, _LONGEST)


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
        check_who(self.by, self.contact)

    @property
    def study(self) -> Study:
        """The current document."""
        return self.documents[-1]

    @property
    def open_phase(self) -> str | None:
        """The phase whose reports are taken, or None."""
        return open_phase(self.state, self.study)

    @property
    def deadline(self) -> float | None:
        """Until when the open phase takes reports, in Unix seconds."""
        return self.deadlines.get(self.open_phase or "")

    def is_late(self, now: float) -> bool:
        """Say whether the deadline of the open phase has passed."""
        return self.deadline is not None and now > self.deadline


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Submission:
    """Reports of one phase of one study, which were checked against its question already."""

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
class Verdict:
    """What became of a submission, once the transaction is committed."""

    new: NDArray[np.bool_]
    refused: str | None = None
