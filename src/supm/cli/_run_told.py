"""What the entry of a release tells of the run that made it: parties, rounds, and who was lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from supm._errors import PublicationError
from supm._json import read_object
from supm.cli._output import counted
from supm.federation import FederatedStudy
from supm.messages import Release
from supm.publication.entry import ReleaseEntry

__all__ = ["run_told"]

_WITHOUT: Final = (
    "WARNING: {} parties made this release together, and it was published without its rounds: none "
    "of them can find out whether it was counted."
)


def run_told(content: bytes, entry: ReleaseEntry, facts: dict[str, Any]) -> Iterator[str]:
    """Yield in words who took part by the entry of a release, where that can be known.

    Parameters
    ----------
    content : bytes
        The file of a release or of a synthesizer, which was read before.
    entry : ReleaseEntry
        Its entry.
    facts : dict
        For machines: what is told is added.

    Yields
    ------
    str

    Raises
    ------
    PublicationError
        If the entry tells of another number of parties or rounds than the study has, or of more
        parties that were lost than it tolerates.
    """
    text = content.decode("utf-8-sig")
    # A synthesizer has such a statement, too, and was made by no run.
    if "content" not in read_object(text, "file", PublicationError):
        return
    release = Release.from_json(text)
    protocol = FederatedStudy.from_json(release.study).protocol
    parties, rounds = protocol.circle.parties, protocol.rounds
    if not entry.commitments:
        if parties > 1:
            yield _WITHOUT.format(parties)
        return
    shape = f"{counted(rounds, 'round')} of {_parties(parties)}"
    if [len(each) for each in entry.commitments] != [parties] * rounds:
        message = f"the entry tells of other rounds than the release's study has: {shape}."
        raise PublicationError(message)
    lost, tolerated = _lost(entry), protocol.circle.dropouts
    if len(lost) > tolerated:
        message = (
            f"by the entry {_parties(len(lost))} had left before the end of the run, and the "
            f"release's study tolerates {tolerated}."
        )
        raise PublicationError(message)
    facts |= {"parties": parties, "rounds": rounds, "lost": sorted(lost)}
    yield f"The entry holds {shape}, with a hash of what each sent{_but(lost)}."


def _lost(entry: ReleaseEntry) -> dict[int, list[int]]:
    """Return for each party that is missing somewhere the rounds in which it is."""
    found: dict[int, list[int]] = {}
    for number, told in enumerate(entry.commitments):
        for party, each in enumerate(told):
            if not each:
                found.setdefault(party, []).append(number)
    return found


def _but(lost: dict[int, list[int]]) -> str:
    told = "; ".join(f"party {party} in {_rounds(missing)}" for party, missing in lost.items())
    return f". Lost, so not counted: {told}" if told else ""


def _rounds(missing: list[int]) -> str:
    noun = "round" if len(missing) == 1 else "rounds"
    return f"{noun} {', '.join(map(str, missing))}"


def _parties(count: int) -> str:
    return "1 party" if count == 1 else f"{count} parties"
