"""The states of a study and the moves between them."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from supm._errors import ParameterError
from supm.messages import Study

__all__ = ["State", "check_move", "first_state", "open_phase"]


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
    """Return the state in which a study is created.

    Parameters
    ----------
    study : Study
        The document as planned.

    Returns
    -------
    State
        "collecting to train" where the attributes are known, else "collecting to reduce".
    """
    known = study.attributes is not None
    return State.COLLECTING_TO_TRAIN if known else State.COLLECTING_TO_REDUCE


def open_phase(state: State, study: Study) -> str | None:
    """Return the phase whose reports are taken, or None.

    Parameters
    ----------
    state : State
        Where the study stands.
    study : Study
        Its current document.

    Returns
    -------
    str or None
        "reduce", "train" or "test"; None where the state collects nothing, or the study asks
        nothing in its phase.

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

    Parameters
    ----------
    state : State
        Where it stands.
    to : State
        Where it is to go: the next state, or "closed" from any other.

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
