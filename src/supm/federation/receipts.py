"""What can be published of a round before its sum is opened: nothing of it is private."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RoundRecord"]


@dataclass(frozen=True, kw_only=True)
class RoundRecord:
    """A round, when every party that is left has sent its masked vector.

    Parameters
    ----------
    study : str
        The hash of what the parties consented to.
    run : str
        The fingerprint of all parties' keys.
    round : int
        Which round, from 0.
    asked : tuple of float
        The public numbers with which the parties were asked: none, or a direction that was made
        from noisy sums.
    commitments : tuple of str
        By the number of the party: the hash of what it sent, or nothing where it is lost.
    """

    study: str
    run: str
    round: int
    asked: tuple[float, ...]
    commitments: tuple[str, ...]
