"""Why a submission was refused as a whole."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Refusal"]


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
