"""What a wallet writes down: limits that an owner sets, and answers that were given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from supm._validation import EPSILON, Reals

__all__ = ["LIMITS", "Answered", "Limits"]

LIMITS: Final = {"total": "in total", "per_study": "for one study"}
"""What may be limited, in words."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that an owner spends; None where they set no limit.

    Parameters
    ----------
    total : float, optional
        Over all studies.
    per_study : float, optional
        On any one study and all that continue it.
    """

    total: float | None = None
    per_study: float | None = None

    def __post_init__(self) -> None:
        for name in LIMITS:
            given = getattr(self, name)
            if given is not None:
                # Zero is a limit too: nothing is to be spent.
                allowed = Reals(name, 0.0, EPSILON.high)
                object.__setattr__(self, name, allowed.check(given))


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One answer that was drawn: for whom, what it cost, and whether it is known to have arrived.

    Parameters
    ----------
    owner : str
        Whose section of the wallet; empty for the only one.
    study, beginning : str
        The hash of the study, and of the one that it continues.
    phase : {"reduce", "train", "test"}
        Which question.
    epsilon : float or None
        What it spent: 0 where the same question had been answered before, None where the owner
        trusted the receiver and nothing is promised.
    purpose : str
        The study's own words.
    server : str
        Where it was to be sent.
    report : str
        The id of the report.
    answered : float
        When it was drawn, in seconds since 1970.
    acknowledged : float or None
        When the server said that it has it.
    """

    owner: str
    study: str
    beginning: str
    phase: str
    epsilon: float | None
    purpose: str
    server: str
    report: str
    answered: float
    acknowledged: float | None
