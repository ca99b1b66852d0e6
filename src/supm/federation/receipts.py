"""What was sent, by its hashes: a party's receipt, and the public record of a round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from supm.federation.participant import Participant
from supm.messages import Commitments


@dataclass(frozen=True, kw_only=True)
class RoundRecord:
    """What can be published of a round before its sum is opened: nothing of it is private.

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


class Receipted:
    """A party that hands over its receipt before each masked vector goes out.

    However the run ends then, the party can show what it sent: a server that drops it sends it no
    release, and a broken connection tells it nothing at all.

    Parameters
    ----------
    party : Participant
        Who answers.
    keep : callable
        Is given the hashes of all that was sent so far; where it raises, the party's part ends.
    """

    def __init__(self, party: Participant, keep: Callable[[Commitments], None]) -> None:
        self._party, self._keep, self._kept = party, keep, 0

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        """Answer one message, as the party does; without a receipt nothing goes out."""
        after, reply = self._party.answer(state, message)
        sent = self._party.commitments(after) if after else None
        if sent is not None and len(sent.rounds) > self._kept:
            self._keep(sent)
            self._kept = len(sent.rounds)
        return after, reply
