"""A real federation on Flower whose party 1 misbehaves: a clear end, or the model of the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supm import simulation
from supm._errors import FederationError
from supm.federation import (
    Circle,
    Components,
    Coordinator,
    FederatedStudy,
    Participant,
    VectorEncoding,
    party_source,
)
from supm.federation.rows import Rows
from supm.messages import Update

if not os.environ.get("SUPM_REQUIRE_ALL"):
    pytest.importorskip("flwr", reason="pip install 'supm[federated]' to run the tests of Flower")

from flwr.app import Message

from supm.engines.flower import NodeKey, SuperLink, coordinate, take_part
from supm.engines.flower.taking_part import END, PartyNode, bytes_of, record_of

PARTIES, SIZE, SEED = 3, 120, 11
ENCODING = VectorEncoding(width=4, classes=1)
# In another process, killed where it is asked for its vector.
KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
import test_misbehaving as here
from supm.engines.flower import NodeKey, take_part
from supm.messages import Update

class Killed:
    def answer(self, state, message):
        if Update.from_bytes(message).kind == "question":
            os.kill(os.getpid(), signal.SIGKILL)
        return party.answer(state, message)

party = here.participant(1, dropouts=int(sys.argv[5]))
take_part(Killed(), address=sys.argv[1], certificate=Path(sys.argv[2]),
          key=NodeKey.read(Path(sys.argv[3])))
"""


def study(dropouts: int = 0) -> FederatedStudy:
    circle = Circle(parties=PARTIES, colluders=0, dropouts=dropouts)
    protocol = Components.for_budget(
        encoding=ENCODING, epsilon=1.0, delta=1e-5, circle=circle, components=2
    )
    return FederatedStudy(name="misbehaving", protocol=protocol, delta=1e-5)


def rows_of(number: int) -> Rows:
    drawn = simulation(SEED).child(f"rows {number}").below(1000, 4 * SIZE).reshape(SIZE, 4)
    return ENCODING.rows(drawn / 2000.0, np.zeros(SIZE, dtype=np.int64))


def participant(number: int, *, dropouts: int = 0) -> Participant:
    protocol = study(dropouts).protocol
    source = partial(party_source, simulation(SEED), f"party {number}")
    return Participant(rows_of(number), lambda _: protocol, lambda *_: None, source)


def model_of(numbers: list[int], dropouts: int = 0) -> dict[str, Any]:
    """Return what the protocol concludes from the sum over some parties, without any wire."""
    protocol = study(dropouts).protocol
    told = [
        protocol.tell(
            rows_of(n), protocol.ask([]), party_source(simulation(SEED), f"party {n}", "round 0")
        )
        for n in numbers
    ]
    form: dict[str, Any] = protocol.conclude([np.sum(told, axis=0)]).to_form()
    return form


class Changed:
    """A party whose replies of one kind are changed on their way."""

    def __init__(self, kind: str, change: Callable[[bytes], bytes]) -> None:
        self._party, self._kind, self._change = participant(1), kind, change

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        after, reply = self._party.answer(state, message)
        return after, self._change(reply) if Update.from_bytes(reply).kind == self._kind else reply


def too_short(reply: bytes) -> bytes:
    update = Update.from_bytes(reply)
    return Update(kind="masked", fields=update.fields, numbers=update.numbers[:-1]).to_bytes()


def no_number(reply: bytes) -> bytes:
    changed = reply.replace(b'"size":%d' % SIZE, b'"size":NaN')
    assert changed != reply
    return changed


def one_row_more(reply: bytes) -> bytes:
    update = Update.from_bytes(reply)
    numbers = update.numbers.copy()
    numbers[-1] += np.uint64(1)
    return Update(kind="masked", fields=update.fields, numbers=numbers).to_bytes()


@pytest.fixture
def run(link: SuperLink, parties: Any, keys: Any) -> Any:
    """Return a function that runs the study with some party 1, and ends within a minute."""

    def whole(first: Callable[[NodeKey], Any], *, dropouts: int = 0) -> tuple[Any, Coordinator]:
        private, public = keys(PARTIES)
        chosen = study(dropouts)
        coordinator = Coordinator(chosen.protocol, chosen.to_json(), simulation=True)
        for number in (0, 2):
            parties.start(f"party {number}", joining(link, private[number], number, dropouts))
        parties.start("party 1", lambda: first(private[1]))
        parties.start("server", lambda: coordinate(coordinator, link, public, wait=60, patience=10))
        # Whoever is not done after half a minute each has hung, and fails the test.
        return parties.join()["server"], coordinator

    return whole


def joining(link: SuperLink, key: NodeKey, number: int, dropouts: int) -> Callable[[], bytes]:
    certificate = link.authority.certificate
    party = participant(number, dropouts=dropouts)
    return lambda: take_part(party, address=link.address, certificate=certificate, key=key)


@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    [
        ("masked", too_short, "the reply of party 1 cannot be used: it must bring 11 numbers."),
        (
            "keys",
            no_number,
            "the reply of party 1 cannot be used: it is no message of this version.",
        ),
        ("masked", one_row_more, "the rows in the sum are not as many as the parties declared"),
    ],
)
def test_a_wrong_reply_stops_the_run_and_nothing_is_concluded(
    run: Any, link: SuperLink, kind: str, change: Callable[[bytes], bytes], sentence: str
) -> None:
    certificate, other = link.authority.certificate, Changed(kind, change)
    error, coordinator = run(
        lambda key: take_part(other, address=link.address, certificate=certificate, key=key)
    )
    assert isinstance(error, FederationError)
    assert sentence in str(error)
    assert coordinator.outcome is None
    assert coordinator.totals == []


def twice(link: SuperLink, key: NodeKey) -> None:
    """Answer each message rightly, and then again with what would change the sum."""
    state, party, over = b"", participant(1), False
    with PartyNode.connected(link.address, link.authority.certificate, key, 20) as there:
        while not over:
            if (message := there.receive()) is None:
                time.sleep(0.1)
                continue
            over = message.metadata.message_type == END
            reply = b""
            if not over:
                state, reply = party.answer(state, bytes_of(message.content) or b"")
            again = one_row_more(reply) if reply and Update.from_bytes(reply).numbers.size else b"x"
            for content in (reply, again):
                there.send(Message(record_of(content), reply_to=message))


def test_of_a_party_that_answers_twice_the_first_answer_counts(run: Any, link: SuperLink) -> None:
    error, coordinator = run(lambda key: twice(link, key))
    assert error is None
    assert coordinator.outcome.to_form() == model_of([0, 1, 2])


@pytest.mark.parametrize("dropouts", [0, 1])
def test_a_party_that_is_killed_is_a_loss_that_the_study_tolerates_or_not(
    run: Any, link: SuperLink, parties: Any, tmp_path: Path, dropouts: int
) -> None:
    def killed(_: NodeKey) -> int:
        words = [link.address, str(link.authority.certificate), str(tmp_path / "party1")]
        more = [str(Path(__file__).parent), str(dropouts)]
        program = [sys.executable, "-c", KILLED, *words, *more]
        return subprocess.run(program, check=False, timeout=90).returncode  # noqa: S603  the test's own words

    error, coordinator = run(killed, dropouts=dropouts)
    assert parties.ended["party 1"] == -signal.SIGKILL
    if dropouts:
        assert error is None
        assert coordinator.lost == (1,)
        assert coordinator.outcome.to_form() == model_of([0, 2], dropouts)
    else:
        assert isinstance(error, FederationError)
        assert "1 parties are lost (number 1), and this study tolerates 0" in str(error)
        assert coordinator.outcome is None
