"""What a party keeps between two messages, and the rules that it keeps, whatever the server says.

It keeps keys, seeds and shares, and nothing of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from supm._errors import FederationError, PromiseError
from supm._json import canonical, read_object
from supm.federation.secure_sum.keys import SHARE_BYTES, hash_text
from supm.federation.secure_sum.wire import FieldReader, Roster, as_bytes, as_text, text_map
from supm.messages.update import Update

_MARK: Final = b"supm-party-1\n"
_LENGTH_BYTES: Final = 8
_TEXTS: Final = ("awaits", "study", "run", "view", "asked", "released")
_PLAIN: Final = (*_TEXTS, "number", "round", "simulation")


@dataclass(frozen=True, kw_only=True)
class PartyMemory:
    """The state of a party in a run. It is secret: it holds the keys of the masks.

    Parameters
    ----------
    awaits : str
        The kind of message that is due next.
    study : str
        The text that was consented to.
    run : str
        The fingerprint of the roster.
    number : int
        The party's number.
    round : int
        The round that is under way or due.
    view : str
        The hash of what this round's question showed.
    asked : str
        The hash of the last message that was answered.
    released : str
        What was published at the end.
    simulation : bool
        Whether the server said that nothing of the run is private.
    envelope : bytes
        The secret of its envelopes.
    masks, seeds : tuple of bytes
        The secrets of each round; empty once the round is over.
    roster : Roster
        The public keys of all.
    held : tuple of mapping of int to bytes
        For each round, by party: a share of its mask secret, then one of its seed.
    present, survivors : tuple of int
        Who was asked in this round, and who answered.
    sent : tuple of str
        The commitment to what it sent in each round so far.
    reply : bytes
        The last answer, to give it again where the message comes again.
    """

    awaits: str = "invite"
    study: str = ""
    run: str = ""
    number: int = 0
    round: int = 0
    view: str = ""
    asked: str = ""
    released: str = ""
    simulation: bool = False
    envelope: bytes = b""
    masks: tuple[bytes, ...] = ()
    seeds: tuple[bytes, ...] = ()
    roster: Roster = field(default_factory=lambda: Roster(()))
    held: tuple[Mapping[int, bytes], ...] = ()
    present: tuple[int, ...] = ()
    survivors: tuple[int, ...] = ()
    sent: tuple[str, ...] = ()
    reply: bytes = b""

    def __repr__(self) -> str:
        """Say what is due, never a secret."""
        return f"PartyMemory(awaits={self.awaits!r}, number={self.number}, round={self.round})"

    def without_round(self) -> PartyMemory:
        """Forget the secrets of the round that is over, and wait for the next."""
        over = self.round
        return replace(
            self,
            round=over + 1,
            masks=_emptied(self.masks, over, b""),
            seeds=_emptied(self.seeds, over, b""),
            held=_emptied(self.held, over, {}),
        )

    def to_bytes(self) -> bytes:
        """Return the state as the engine keeps it."""
        text = canonical(self._form()).encode()
        return b"".join((_MARK, len(text).to_bytes(_LENGTH_BYTES, "little"), text, self.reply))

    def _form(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "envelope": as_text(self.envelope),
            "masks": [as_text(secret) for secret in self.masks],
            "seeds": [as_text(seed) for seed in self.seeds],
            "roster": self.roster.to_form(),
            "held": [text_map(shares) for shares in self.held],
            "present": list(self.present),
            "survivors": list(self.survivors),
            "sent": list(self.sent),
        }

    @classmethod
    def from_bytes(cls, content: bytes) -> PartyMemory:
        """Read what `to_bytes` wrote; nothing is the state of a party that was not asked yet."""
        if not content:
            return cls()
        start = len(_MARK) + _LENGTH_BYTES
        end = start + int.from_bytes(content[len(_MARK) : start], "little")
        try:
            if not content.startswith(_MARK) or end > len(content):
                raise ValueError  # noqa: TRY301  one sentence for all that is no state
            form = read_object(content[start:end].decode(), "state", FederationError)
            return cls._read(form, content[end:])
        except (ValueError, KeyError, TypeError, AttributeError, FederationError):
            message = "the state of this party cannot be read; keep it as it was returned."
            raise FederationError(message) from None

    @classmethod
    def _read(cls, form: dict[str, Any], reply: bytes) -> PartyMemory:
        rounds = len(form["masks"])
        return cls(
            **{name: form[name] for name in _PLAIN},
            envelope=_secret(form["envelope"]),
            masks=tuple(_secret(one) for one in form["masks"]),
            seeds=tuple(_secret(one) for one in form["seeds"]),
            roster=Roster.from_form(form["roster"], len(form["roster"]), rounds),
            held=tuple(_shares(one) for one in form["held"]),
            present=tuple(form["present"]),
            survivors=tuple(form["survivors"]),
            sent=tuple(form["sent"]),
            reply=reply,
        )


def _emptied(values: tuple[Any, ...], place: int, empty: object) -> tuple[Any, ...]:
    return (*values[:place], empty, *values[place + 1 :])


def _secret(text: str) -> bytes:
    return as_bytes(text, 32, "secret") if text else b""


def _shares(form: dict[str, str]) -> dict[int, bytes]:
    return {int(n): as_bytes(text, 2 * SHARE_BYTES, "shares") for n, text in form.items()}


COULD_NOT_ANSWER: Final = "this party could not answer; see its own log."
"""All that goes out where something fails at the party: an error may speak of its table."""

DOES_NOT_TAKE_PART: Final = "this party does not take part in this study; see its own log."
"""All that goes out where a party's policy says no."""

HEADER: Final = ("study", "roster", "round")
"""What every message of a round repeats: to which study, keys and round it belongs."""

_T = TypeVar("_T")


class OwnProblem(Exception):  # noqa: N818  it carries an error and is none that is shown
    """Something of the party's own went wrong: the sentence may go out, the cause stays.

    Parameters
    ----------
    sentence : str
        One of the fixed sentences.
    cause : Exception
        What happened.
    """

    def __init__(self, sentence: str, cause: Exception) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.cause = cause


def on_its_own(sentence: str, call: Callable[[], _T]) -> _T:
    """Call what is the party's own, and let nothing of its errors out but a fixed sentence."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  whatever it says, it must not go out
        raise OwnProblem(sentence, error) from None


def refusal_reply(sentence: str) -> bytes:
    """Return the reply that says no."""
    return Update(kind="refusal", fields={"reason": sentence}).to_bytes()


def header_of(memory: PartyMemory, *names: str) -> dict[str, Any]:
    """Return what a message to this party must repeat."""
    study = hash_text(memory.study)
    whole = {"study": study, "roster": memory.run, "round": memory.round}
    return {name: whole[name] for name in names}


def reply_header(memory: PartyMemory, *names: str) -> dict[str, Any]:
    """Return what a reply of this party repeats."""
    return {**header_of(memory, *names), "number": memory.number}


def check_header(memory: PartyMemory, got: FieldReader, *names: str) -> None:
    """Refuse a message of another study, of other keys, or of another round."""
    for name, value in header_of(memory, *(names or HEADER)).items():
        got.check_same(name, value)


def check_enough(told: Collection[int], number: int, threshold: int) -> None:
    """Refuse a sum over too few, or one without this party."""
    if number not in told or len(told) < threshold:
        message = f"a sum must be over at least {threshold} parties, this one among them."
        raise FederationError(message)


def check_vector(vector: object) -> NDArray[np.int64]:
    """Return a vector of whole numbers; anything else is an error of the protocol."""
    if not isinstance(vector, np.ndarray) or vector.dtype != np.int64 or vector.ndim != 1:
        message = "a protocol must tell a vector of int64."
        raise PromiseError(message)
    return vector
