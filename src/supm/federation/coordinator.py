"""The server of a federation: it asks, adds up what is masked, and opens nothing but sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import FederationError
from supm._validation import check_kind
from supm.federation.protocol import Protocol
from supm.federation.secure_sum.keys import SHARE_BYTES, hash_text
from supm.federation.secure_sum.party import Opening
from supm.federation.secure_sum.wire import (
    FieldReader,
    PartyKeys,
    Roster,
    read_replies,
    reading_of,
    roster_fingerprint,
    text_map,
    view_of,
)
from supm.messages import Update, commitment

_MOST_ROWS: Final = 1 << 40
_ENVELOPE_EXTRA: Final = 28
_TAG_BYTES: Final = 32
_Replies = dict[int, FieldReader]
_Messages = dict[int, bytes]


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


class Coordinator:
    """Walk a protocol through its rounds, as pure steps on bytes.

    `begin` returns the first messages, `receive` takes the replies and returns the next ones, and
    None at the end. A party that does not answer is lost and stays out; the run goes on while no
    more are lost than the circle tolerates. A reply that cannot be used, and a refusal, end the run
    with FederationError, which names the party by its number. What parties say to the release
    changes nothing any more and is not read.

    Parameters
    ----------
    protocol : Protocol
        What is asked, and what is made of the sums.
    study_text : str
        What the parties consent to; their protocol is made of it.
    finish : callable, optional
        Is given the outcome and the sizes of the last round, and returns the text that is sent to
        the parties at the end.
    record : callable, optional
        Is given a `RoundRecord` when all have sent what they send in a round, before any of it is
        opened: to publish it. Where it raises, the run stops.
    simulation : bool, default False
        Whether parties may draw from public seeds; nothing of such a run is private.

    Attributes
    ----------
    outcome : object
        What the protocol concluded; None before the end.
    totals : list of ndarray of int64
        The sums of the rounds that are over.
    round_sizes : list of tuple of int
        For each of these rounds, the sizes of the parties in its sum, by number.
    commitments : list of tuple of str
        For each round, by the number of the party: the hash of what it sent masked.
    members : tuple of int
        Who is still there.

    Notes
    -----
    A party that is lost after it sent its vector is in the sum of that round and in no later one.
    A protocol that divides a sum by a number of rows has that number in its vectors.

    What the server sees, and what it cannot make of it: docs/proofs/secure-sum.md.

    Examples
    --------
    >>> from supm import secure
    >>> from supm.federation.discriminant import Discriminant
    >>> from supm.federation.rows import VectorEncoding
    >>> from supm.federation.participant import Participant
    >>> from supm.federation.rows import grid_rows
    >>> from supm.federation.protocol import Circle
    >>> protocol = Discriminant.for_budget(
    ...     encoding=VectorEncoding(width=4, classes=2), epsilon=1.0, delta=1e-5,
    ...     circle=Circle(parties=3, colluders=1),
    ... )
    >>> rows = grid_rows(np.full((10, 4), 0.1), np.arange(10) % 2, classes=2)
    >>> parties = [
    ...     Participant(rows, lambda _: protocol, lambda *_: None, lambda _: secure())
    ...     for _ in range(3)
    ... ]
    >>> server, states = Coordinator(protocol, "the study"), {}
    >>> messages = server.begin()
    >>> while messages is not None:
    ...     replies = {}
    ...     for number, message in messages.items():
    ...         state = states.get(number, b"")
    ...         states[number], replies[number] = parties[number].answer(state, message)
    ...     messages = server.receive(replies)
    >>> len(server.totals), server.round_sizes[-1], server.lost
    (2, (10, 10, 10), ())
    """

    def __init__(
        self,
        protocol: Protocol,
        study_text: str,
        *,
        finish: Callable[[Any, tuple[int, ...]], str] | None = None,
        record: Callable[[RoundRecord], None] | None = None,
        simulation: bool = False,
    ) -> None:
        check_kind("protocol", protocol, Protocol)
        check_kind("study_text", study_text, str)
        self._protocol, self._circle = protocol, protocol.circle
        self._text, self._study = study_text, hash_text(study_text)
        self._finish = finish or (lambda _outcome, _sizes: "")
        self._record = record or (lambda _record: None)
        self.simulation = simulation
        self._awaits = "begin"
        self.members: tuple[int, ...] = tuple(range(self._circle.parties))
        self.outcome: Any = None
        self.totals: list[NDArray[np.int64]] = []
        self.round_sizes: list[tuple[int, ...]] = []
        self.commitments: list[tuple[str, ...]] = []

    @property
    def lost(self) -> tuple[int, ...]:
        """The numbers of the parties that are lost."""
        return tuple(sorted(set(range(self._circle.parties)) - set(self.members)))

    @property
    def turns(self) -> int:
        """How often the parties are asked: for keys, shares, each round's sum, and at the end."""
        for_each_round = 3 if self._circle.dropouts else 2
        return 2 + for_each_round * self._protocol.rounds + 1

    @property
    def roster_fingerprint(self) -> str:
        """The fingerprint of all public keys, to compare with what the parties see."""
        if self._awaits in {"begin", "keys"}:
            raise FederationError("there is no roster before the parties have sent their keys.")
        return self._fingerprint

    def begin(self) -> dict[int, bytes]:
        """Return an invitation for each party."""
        if self._awaits != "begin":
            raise FederationError("this run has begun; make another Coordinator for another run.")
        self._awaits = "keys"
        common = {"study": self._text, "parties": len(self.members), "simulation": self.simulation}
        return {
            n: Update(kind="invite", fields={**common, "number": n}).to_bytes()
            for n in self.members
        }

    def receive(self, replies: Mapping[int, bytes]) -> dict[int, bytes] | None:
        """Take the replies to the last messages."""
        if self._awaits == "received":
            # The sums are open and published: no reply can change that any more.
            self._awaits = "over"
            return None
        step = getattr(self, f"_on_{self._awaits}", None)
        if step is None:
            raise FederationError(
                "no replies are due; the run has not begun, is over, or was stopped."
            )
        self._awaits = "stopped"
        got = read_replies(replies, self.members, self._circle.parties)
        self._keep(got)
        messages: _Messages = step(got)
        return messages

    def _keep(self, numbers: Iterable[int]) -> None:
        self.members = tuple(sorted(numbers))
        if len(self.members) < self._circle.threshold:
            names = ", ".join(str(n) for n in self.lost)
            raise FederationError(
                f"{len(self.lost)} parties are lost (number {names}), and this study tolerates "
                f"{self._circle.dropouts}; nothing of the sum under way was opened."
            )

    def _on_keys(self, got: _Replies) -> _Messages:
        told = {n: self._entry(n, one) for n, one in got.items()}
        self._sizes = {n: size for n, (_, size) in told.items()}
        entries = [told[n][0] if n in told else None for n in range(self._circle.parties)]
        self._roster = Roster(tuple(entries))
        self._fingerprint = roster_fingerprint(self._study, self._roster)
        fields = {"study": self._study, "roster": self._roster.to_form()}
        return self._to_all("shares", "roster", fields)

    def _entry(self, number: int, one: FieldReader) -> tuple[PartyKeys, int]:
        with reading_of(number):
            keys = ("envelope", "masks", "commitments")
            one.check_shape("keys", ("study", "number", "size", "simulation", *keys))
            one.check_same("study", self._study)
            one.check_same("number", number)
            if one.flag("simulation") and not self.simulation:
                raise FederationError("it draws from a public seed, and the run is no simulation.")
            entry = PartyKeys.read(one, self._protocol.rounds)
            entry.check()
            return entry, one.whole("size", 0, _MOST_ROWS)

    def _on_shares(self, got: _Replies) -> _Messages:
        dealt: dict[int, dict[int, bytes]] = {}
        size = 2 * SHARE_BYTES * self._protocol.rounds + _ENVELOPE_EXTRA
        for number, one in got.items():
            with reading_of(number):
                self._check(one, "shares", number, ("envelopes",))
                others = [n for n in self._roster.members if n != number]
                dealt[number] = one.bytes_by_party("envelopes", others, size)
        return self._ask(dealt)

    def _ask(self, dealt: Mapping[int, Mapping[int, bytes]]) -> _Messages:
        present = self.members
        asked = self._question = self._protocol.ask(tuple(self.totals))
        given = np.ascontiguousarray(asked.given, dtype=np.float64)
        fields = {**self._header(), "length": asked.length, "present": list(present)}
        self._view = view_of(fields, given)
        self._present, self._awaits = present, "masked"
        return {
            n: Update(
                kind="question",
                fields={**fields, "envelopes": text_map(_envelopes_for(n, dealt, present))},
                numbers=given.view(np.uint64),
            ).to_bytes()
            for n in present
        }

    def _on_masked(self, got: _Replies) -> _Messages:
        total = np.zeros(self._question.length, dtype=np.uint64)
        for number, one in got.items():
            with reading_of(number):
                self._check(one, "masked", number, (), numbers=total.size)
            np.add(total, one.update.numbers, out=total)
        self._masked, self._survivors = total, self.members
        self._keep_record(got)
        awaits = "confirm" if self._circle.dropouts else "unmask"
        fields = {**self._header(), "survivors": list(self._survivors)}
        return self._to_all(awaits, "survivors", fields)

    def _keep_record(self, got: _Replies) -> None:
        told = {n: commitment(one.update.fields, one.update.numbers) for n, one in got.items()}
        self.commitments.append(tuple(told.get(n, "") for n in range(self._circle.parties)))
        record = RoundRecord(
            study=self._study,
            run=self._fingerprint,
            round=len(self.totals),
            asked=tuple(float(each) for each in self._question.given),
            commitments=self.commitments[-1],
        )
        self._record(record)

    def _on_confirm(self, got: _Replies) -> _Messages:
        tags: dict[int, dict[int, bytes]] = {}
        for number, one in got.items():
            with reading_of(number):
                self._check(one, "confirm", number, ("tags",))
                others = [n for n in self._survivors if n != number]
                tags[number] = one.bytes_by_party("tags", others, _TAG_BYTES)
        self._awaits = "unmask"
        return {n: self._confirmed(n, tags) for n in self.members}

    def _confirmed(self, number: int, tags: Mapping[int, Mapping[int, bytes]]) -> bytes:
        others = [n for n in self.members if n != number]
        told = {n: tags[n][number] for n in others}
        fields = {**self._header(), "confirmed": others, "tags": text_map(told)}
        return Update(kind="confirmed", fields=fields).to_bytes()

    def _on_unmask(self, got: _Replies) -> _Messages:
        lost = [n for n in self._present if n not in self._survivors]
        seeds, secrets = _by_owner(self._survivors), _by_owner(lost)
        for number, one in got.items():
            with reading_of(number):
                self._check(one, "unmask", number, ("seeds", "lost"))
                _add_shares(seeds, number, one, "seeds")
                _add_shares(secrets, number, one, "lost")
        opening = Opening(
            study=self._study,
            round=len(self.totals),
            view=self._view,
            threshold=self._circle.threshold,
            roster=self._roster,
        )
        self._keep_total(opening.total(self._masked, seeds, secrets))
        return self._ask({}) if len(self.totals) < self._protocol.rounds else self._release()

    @property
    def declared(self) -> int:
        """How many rows the parties of the sum under way said before that they have."""
        return sum(self._sizes_of(self._survivors))

    def _keep_total(self, total: NDArray[np.int64]) -> None:
        if self._protocol.rows_told(total) != self.declared:
            raise FederationError(
                "the rows in the sum are not as many as the parties declared; at least one of them "
                "sent what is no answer to the question, and nothing is released."
            )
        self.totals.append(total)
        self.round_sizes.append(self._sizes_of(self._survivors))

    def _release(self) -> _Messages:
        sizes = self.round_sizes[-1]
        self.outcome = self._protocol.conclude(tuple(self.totals))
        text = self._finish(self.outcome, sizes)
        fields = {"study": self._study, "roster": self._fingerprint, "release": text}
        return self._to_all("received", "release", fields)

    def _check(
        self, one: FieldReader, kind: str, number: int, fields: Iterable[str], *, numbers: int = 0
    ) -> None:
        header = self._header()
        if kind == "shares":
            del header["round"]
        header["number"] = number
        one.check_shape(kind, (*header, *fields), numbers=numbers)
        for name, value in header.items():
            one.check_same(name, value)

    def _header(self) -> dict[str, Any]:
        return {"study": self._study, "roster": self._fingerprint, "round": len(self.totals)}

    def _sizes_of(self, numbers: Iterable[int]) -> tuple[int, ...]:
        return tuple(self._sizes[n] for n in numbers)

    def _to_all(self, awaits: str, kind: str, fields: dict[str, Any]) -> _Messages:
        self._awaits = awaits
        return dict.fromkeys(self.members, Update(kind=kind, fields=fields).to_bytes())


def _envelopes_for(
    number: int, dealt: Mapping[int, Mapping[int, bytes]], present: Iterable[int]
) -> dict[int, bytes]:
    return {n: dealt[n][number] for n in present if dealt and n != number}


def _by_owner(numbers: Iterable[int]) -> dict[int, dict[int, bytes]]:
    return {n: {} for n in numbers}


def _add_shares(
    shares: dict[int, dict[int, bytes]], holder: int, one: FieldReader, name: str
) -> None:
    for owner, share in one.bytes_by_party(name, list(shares), SHARE_BYTES).items():
        shares[owner][holder] = share
