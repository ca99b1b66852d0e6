"""A party of a federation: it answers one message after another, each once, by rules of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import FederationError, MessageError, PromiseError
from supm._random import RandomSource
from supm._validation import check_kind
from supm.federation.protocol import Protocol, RoundQuestion
from supm.federation.rows import Rows
from supm.federation.secure_sum import party
from supm.federation.secure_sum.keys import SHARE_BYTES, hash_text
from supm.federation.secure_sum.party import PartyMemory
from supm.federation.secure_sum.wire import (
    FieldReader,
    Roster,
    roster_fingerprint,
    text_map,
    view_of,
)
from supm.messages import Commitments, Update, commitment

COULD_NOT_ANSWER: Final = "this party could not answer; see its own log."
"""All that goes out where something fails at the party: an error may speak of its table."""

DOES_NOT_TAKE_PART: Final = "this party does not take part in this study; see its own log."
"""All that goes out where a party's policy says no."""

# What every message of a round repeats: to which study, keys and round it belongs.
_HEADER: Final = ("study", "roster", "round")

_LONGEST: Final = 1 << 27
_ENVELOPE_EXTRA: Final = 28
_Answer = tuple[PartyMemory, Update]

# The state of a party that has left: it answers nothing more.
_LEFT: Final = PartyMemory(awaits="nothing").to_bytes()


class _OwnProblem(Exception):  # noqa: N818  it carries an error and is none that is shown
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


@contextmanager
def _on_its_own(sentence: str) -> Iterator[None]:
    """Let nothing out of an error in what is the party's own but a fixed sentence."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  whatever it says, it must not go out
        raise _OwnProblem(sentence, error) from None


class Participant:
    """One party with its table.

    `answer` is a pure step on bytes: it takes the state that the last step returned and a message,
    and returns the new state and the reply. It answers each question once. A message that comes
    again is answered with the same bytes; another one in its place is refused, and the state stays
    as it was. Where something of its own fails, it leaves the run.

    Parameters
    ----------
    rows : Rows
        The party's private table.
    make_protocol : callable
        Turns the text of a study into its protocol, or raises.
    policy : callable
        Is given the protocol and the text before anything else happens, and raises to refuse.
    source_for : callable
        Gives the randomness for a label: "keys", "shares", "round 0", "round 1", ….
    on_problem : callable, optional
        Is told the exception behind each refusal; for the party's own log.

    Notes
    -----
    What leaves a party, besides public keys and its number of rows: for each round one vector under
    masks, and shares of others' secrets. See docs/proofs/secure-sum.md.

    A party that is asked again for a study whose run was stopped draws new noise: whether that is
    allowed is for the policy to say, which can keep a budget.

    Examples
    --------
    `Coordinator` shows a whole run. Here a party says no, and keeps to itself why:

    >>> from supm.federation.rows import grid_rows
    >>> def refuse(text):
    ...     raise ValueError("we do not like it")
    >>> rows = grid_rows(np.zeros((2, 1)), np.zeros(2, dtype=int), classes=1)
    >>> party = Participant(rows, refuse, refuse, refuse, on_problem=print)
    >>> fields = {"study": "text", "parties": 1, "number": 0, "simulation": False}
    >>> state, reply = party.answer(b"", Update(kind="invite", fields=fields).to_bytes())
    we do not like it
    >>> Update.from_bytes(reply).fields["reason"]
    'this party does not take part in this study; see its own log.'
    """

    def __init__(
        self,
        rows: Rows,
        make_protocol: Callable[[str], Protocol],
        policy: Callable[[Protocol, str], None],
        source_for: Callable[[str], RandomSource],
        on_problem: Callable[[Exception], None] | None = None,
    ) -> None:
        check_kind("rows", rows, Rows)
        self._rows = rows
        self._make_protocol = make_protocol
        self._policy = policy
        self._source_for = source_for
        self._on_problem = on_problem or _say_nothing

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        """Answer one message."""
        try:
            return self._answer(state, message)
        except _OwnProblem as error:
            self._on_problem(error.cause)
            # It may have failed because of a record: asked again, it would tell more of it.
            return _LEFT, _refusal_reply(error.sentence)
        except (FederationError, MessageError) as error:
            self._on_problem(error)
            return state, _refusal_reply(str(error))
        except Exception as error:  # noqa: BLE001  whatever it says, it must not go out
            self._on_problem(error)
            return _LEFT, _refusal_reply(COULD_NOT_ANSWER)

    def released(self, state: bytes) -> str:
        """Return what was published at the end of the run, or nothing before."""
        return PartyMemory.from_bytes(state).released

    def roster_fingerprint(self, state: bytes) -> str:
        """Return the fingerprint of the keys that the server gave, to compare with others."""
        return PartyMemory.from_bytes(state).run

    def commitments(self, state: bytes) -> Commitments:
        """Return the hashes of what this party sent, to find them where the run is published."""
        memory = PartyMemory.from_bytes(state)
        return Commitments(
            study=memory.study_hash, run=memory.run, number=memory.number, rounds=memory.sent
        )

    def _answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        memory = PartyMemory.from_bytes(state)
        asked = hashlib.sha256(message).hexdigest()
        if asked == memory.asked:
            return state, memory.reply
        step = getattr(self, f"_on_{memory.awaits}")
        after, update = step(memory, FieldReader(Update.from_bytes(message)))
        reply = update.to_bytes()
        return replace(after, asked=asked, reply=reply).to_bytes(), reply

    def _on_invite(self, memory: PartyMemory, got: FieldReader) -> _Answer:
        got.check_shape("invite", ("study", "parties", "number", "simulation"))
        text = got.text("study")
        with _on_its_own(DOES_NOT_TAKE_PART):
            protocol = self._make_protocol(text)
        got.check_same("parties", protocol.circle.parties)
        number = got.whole("number", 0, protocol.circle.parties - 1)
        source = self._source("keys", simulation=got.flag("simulation"))
        # The policy comes last: what it writes down is spent, whatever happens then.
        with _on_its_own(DOES_NOT_TAKE_PART):
            self._policy(protocol, text)
        study = hash_text(text)
        after = replace(
            memory,
            awaits="roster",
            study=text,
            run=roster_fingerprint(study, Roster(())),
            number=number,
            simulation=got.flag("simulation"),
        ).with_secrets(protocol.rounds, source)
        told = {"size": self._rows.size, "simulation": source.simulation}
        fields = {"study": study, "number": number, **told, **after.public_keys().to_form()}
        return after, Update(kind="keys", fields=fields)

    def _on_roster(self, memory: PartyMemory, got: FieldReader) -> _Answer:
        got.check_shape("roster", ("study", "roster"))
        protocol, study = self._protocol(memory), memory.study_hash
        got.check_same("study", study)
        circle, form = protocol.circle, got.update.fields["roster"]
        roster = Roster.from_form(form, circle.parties, protocol.rounds)
        roster.check()
        _check_enough(roster.members, memory.number, circle.threshold)
        if roster[memory.number] != memory.public_keys():
            raise FederationError("the roster has other keys in the place of this party's own.")
        source = self._source("shares", simulation=memory.simulation)
        envelopes, kept = party.deal_shares(memory, roster, circle.threshold, source)
        run = roster_fingerprint(study, roster)
        after = replace(memory, awaits="question", roster=roster, run=run, held=kept)
        fields = {**_reply_header(after, "study", "roster"), "envelopes": text_map(envelopes)}
        return after, Update(kind="shares", fields=fields)

    def _on_question(self, memory: PartyMemory, got: FieldReader) -> _Answer:
        fields = (*_HEADER, "length", "present", "envelopes")
        got.check_shape("question", fields, numbers=got.update.numbers.size)
        given = got.update.floats
        protocol = self._protocol(memory)
        memory = self._present(memory, got, protocol)
        length = got.whole("length", 1, _LONGEST)
        if not np.isfinite(given).all():
            raise FederationError("a question must hold finite numbers.")
        question = RoundQuestion(number=memory.round, length=length, given=given)
        vector = self._vector(memory, protocol, question)
        if vector.size != length:
            raise FederationError(
                f"in round {memory.round} this protocol tells another count of numbers."
            )
        seen = {**_header_of(memory), "length": length, "present": list(memory.present)}
        after = replace(memory, awaits="survivors", view=view_of(seen, given))
        hidden, header = party.hide_vector(after, vector), _reply_header(after)
        after = replace(after, sent=(*memory.sent, commitment(header, hidden)))
        return after, Update(kind="masked", fields=header, numbers=hidden)

    def _present(self, memory: PartyMemory, got: FieldReader, protocol: Protocol) -> PartyMemory:
        _check_header(memory, got)
        first = memory.round == 0
        allowed = memory.roster.members if first else memory.held[memory.round]
        present = got.parties("present", allowed)
        _check_enough(present, memory.number, protocol.circle.threshold)
        senders = [n for n in present if first and n != memory.number]
        size = 2 * SHARE_BYTES * protocol.rounds + _ENVELOPE_EXTRA
        envelopes = got.bytes_by_party("envelopes", senders, size)
        return replace(memory, present=present, held=party.collect_shares(memory, envelopes))

    def _on_survivors(self, memory: PartyMemory, got: FieldReader) -> _Answer:
        got.check_shape("survivors", (*_HEADER, "survivors"))
        _check_header(memory, got)
        circle = self._protocol(memory).circle
        survivors = got.parties("survivors", memory.present)
        _check_enough(survivors, memory.number, circle.threshold)
        after = replace(memory, survivors=survivors)
        if not circle.dropouts:
            return self._unmask(after)
        fields = {**_reply_header(after), "tags": text_map(party.confirm_tags(after))}
        return replace(after, awaits="confirmed"), Update(kind="confirm", fields=fields)

    def _on_confirmed(self, memory: PartyMemory, got: FieldReader) -> _Answer:
        got.check_shape("confirmed", (*_HEADER, "confirmed", "tags"))
        _check_header(memory, got)
        told = got.parties("confirmed", [n for n in memory.survivors if n != memory.number])
        tags = got.bytes_by_party("tags", told, 32)
        party.check_tags(memory, tags, self._protocol(memory).circle.threshold)
        return self._unmask(memory)

    def _unmask(self, memory: PartyMemory) -> _Answer:
        seeds, lost = party.reveal_shares(memory)
        shares = {"seeds": text_map(seeds), "lost": text_map(lost)}
        more = memory.round + 1 < len(memory.masks)
        after = replace(memory.without_round(), awaits="question" if more else "release")
        return after, Update(kind="unmask", fields={**_reply_header(memory), **shares})

    def _on_release(self, memory: PartyMemory, got: FieldReader) -> _Answer:
        got.check_shape("release", ("study", "roster", "release"))
        _check_header(memory, got, "study", "roster")
        text = got.text("release")
        # What is not kept cannot be lost: the secrets of the run have done their work.
        after = PartyMemory(
            awaits="nothing",
            study=memory.study,
            run=memory.run,
            number=memory.number,
            released=text,
            sent=memory.sent,
        )
        return after, Update(kind="received", fields=_reply_header(memory, "study", "roster"))

    def _on_nothing(self, _memory: PartyMemory, _got: FieldReader) -> _Answer:
        raise FederationError("the run is over; nothing more is answered.")

    def _protocol(self, memory: PartyMemory) -> Protocol:
        with _on_its_own(COULD_NOT_ANSWER):
            return self._make_protocol(memory.study)

    def _vector(
        self, memory: PartyMemory, protocol: Protocol, question: RoundQuestion
    ) -> NDArray[np.int64]:
        label = f"round {memory.round}"
        source = self._source(label, simulation=memory.simulation)
        with _on_its_own(COULD_NOT_ANSWER):
            return _check_vector(protocol.tell(self._rows, question, source))

    def _source(self, label: str, *, simulation: bool) -> RandomSource:
        with _on_its_own(COULD_NOT_ANSWER):
            source = self._source_for(label)
        if source.simulation != simulation:
            # If the others drew from a public seed, this party's noise would be all there is.
            own = "a public seed" if source.simulation else "secure randomness"
            raise FederationError(f"this party draws from {own}, and the run is of the other kind.")
        return source


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


def _say_nothing(_problem: Exception) -> None:
    """Keep no log."""


def _refusal_reply(sentence: str) -> bytes:
    """Return the reply that says no."""
    return Update(kind="refusal", fields={"reason": sentence}).to_bytes()


def _header_of(memory: PartyMemory, *names: str) -> dict[str, Any]:
    """Return what a message to this party must repeat."""
    whole = {"study": memory.study_hash, "roster": memory.run, "round": memory.round}
    return {name: whole[name] for name in names or _HEADER}


def _reply_header(memory: PartyMemory, *names: str) -> dict[str, Any]:
    """Return what a reply of this party repeats."""
    return {**_header_of(memory, *names), "number": memory.number}


def _check_header(memory: PartyMemory, got: FieldReader, *names: str) -> None:
    """Refuse a message of another study, of other keys, or of another round."""
    for name, value in _header_of(memory, *names).items():
        got.check_same(name, value)


def _check_enough(told: Collection[int], number: int, threshold: int) -> None:
    """Refuse a sum over too few, or one without this party."""
    if number not in told or len(told) < threshold:
        raise FederationError(
            f"a sum must be over at least {threshold} parties, this one among them."
        )


def _check_vector(vector: object) -> NDArray[np.int64]:
    """Return a vector of whole numbers; anything else is an error of the protocol."""
    if not isinstance(vector, np.ndarray) or vector.dtype != np.int64 or vector.ndim != 1:
        raise PromiseError("a protocol must tell a vector of int64.")
    return vector
