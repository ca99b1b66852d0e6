"""A party's receipt: hashes of what it sends, in a file before what they bind leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from supm.cli._files import write_text
from supm.federation import Participant

__all__ = ["Receipted"]

_WHAT_FOR: Final = (
    "holds hashes of what is sent. When the release is published, supm verify RELEASE --key KEY "
    "--receipt FILE says whether it was counted."
)


class Receipted:
    """A party that writes its receipt before each masked vector goes out.

    However the run ends then, the party can show what it sent: a server that drops it sends it no
    release, and a broken connection tells it nothing at all.

    Parameters
    ----------
    party : Participant
        Who answers.
    path : str
        The file of the receipt.
    say : callable
        Takes a sentence.
    """

    def __init__(self, party: Participant, path: str, say: Callable[[str], None]) -> None:
        self._party, self._path, self._say = party, path, say
        self._written = 0

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        """Answer one message, as the party does; a receipt that cannot be written ends its part."""
        after, reply = self._party.answer(state, message)
        kept = self._party.commitments(after) if after else None
        if kept is not None and len(kept.rounds) > self._written:
            write_text("--receipt", kept.to_json() + "\n", self._path)
            if not self._written:
                self._say(f"{self._path} {_WHAT_FOR}")
            self._written = len(kept.rounds)
        return after, reply
