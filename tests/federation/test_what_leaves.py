"""Every byte that a party sends, for every protocol: masked numbers, sizes and public keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import secure
from supm.audit.goodness import goodness_of_fit
from supm.datasets import load_wdbc
from supm.engines import carry_in_process
from supm.federation import (
    Circle,
    Components,
    Coordinator,
    Discriminant,
    FederatedStudy,
    Margin,
    Participant,
    Protocol,
    SchemaEncoding,
)
from supm.messages import Update

WDBC = load_wdbc()
ENCODING = SchemaEncoding(schema=WDBC.schema)
PARTIES = 3
KINDS = ("discriminant", "covariance", "subspace", "margin")
# All that a reply may hold besides numbers. What is secret in it is encrypted or a share of a key.
FIELDS = {
    "keys": {"study", "number", "size", "simulation", "envelope", "masks", "commitments"},
    "shares": {"study", "roster", "number", "envelopes"},
    "masked": {"study", "roster", "round", "number"},
    "confirm": {"study", "roster", "round", "number", "tags"},
    "unmask": {"study", "roster", "round", "number", "seeds", "lost"},
    "received": {"study", "roster", "number"},
}


class Listened:
    """A party whose told numbers and replies are written down."""

    def __init__(self, table: dict[str, Any], protocol: Protocol) -> None:
        self.told: list[NDArray[np.int64]] = []
        self.sent: list[bytes] = []
        rows = ENCODING.rows(WDBC.schema.read(table))
        heard = _Heard(protocol, self.told)
        self._inner = Participant(rows, lambda _: heard, lambda *_: None, lambda _: secure())  # type: ignore[arg-type,return-value]  # it stands in for the protocol

    def answer(self, state: bytes, message: bytes) -> tuple[bytes, bytes]:
        after, reply = self._inner.answer(state, message)
        self.sent.append(reply)
        return after, reply


class _Heard:
    def __init__(self, protocol: Protocol, told: list[NDArray[np.int64]]) -> None:
        self._protocol, self._told = protocol, told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)

    def tell(self, *question: Any) -> NDArray[np.int64]:
        self._told.append(self._protocol.tell(*question))
        return self._told[-1]


def protocol(kind: str, dropouts: int = 0) -> Protocol:
    budget: dict[str, Any] = {
        "encoding": ENCODING,
        "epsilon": 1.0,
        "delta": 1e-5,
        "circle": Circle(parties=PARTIES, colluders=0, dropouts=dropouts),
    }
    if kind in ("discriminant", "moments"):
        return Discriminant.for_budget(histogram=kind == "discriminant", **budget)
    if kind in ("covariance", "subspace"):
        return Components.for_budget(components=2, **budget | {"share": kind})
    components = 5 if kind == "margin" else None
    return Margin.for_budget(loss="huber", components=components, **budget)


def tables() -> list[dict[str, Any]]:
    return [
        {name: column[start::PARTIES] for name, column in WDBC.columns.items()}
        for start in range(PARTIES)
    ]


RUNS = [
    *(pytest.param((kind, 0), id=kind) for kind in KINDS),
    *(pytest.param((kind, 1), id=f"{kind}, one lost") for kind in KINDS),
]


@pytest.fixture(params=RUNS, scope="module")
def parties(request: pytest.FixtureRequest) -> list[Listened]:
    kind, dropouts = request.param
    chosen = protocol(kind, dropouts)
    study = FederatedStudy(name="listened", protocol=chosen, delta=1e-5)
    people = [Listened(table, chosen) for table in tables()]
    server = Coordinator(chosen, study.to_json())
    # The last party sends its first vector, and it does not arrive.
    carry_in_process(server, people, lost=lambda turn, n: bool(dropouts) and (turn, n) == (2, 2))
    assert server.lost == ((2,) if dropouts else ())
    return people


def test_the_run_in_which_a_party_is_lost_has_every_kind_of_reply() -> None:
    chosen = protocol("covariance", 1)
    people = [Listened(table, chosen) for table in tables()]
    carry_in_process(Coordinator(chosen, "the study"), people)
    assert {Update.from_bytes(one).kind for each in people for one in each.sent} == set(FIELDS)


def test_as_many_numbers_leave_in_each_round_as_follow_from_public_parameters() -> None:
    for chosen in map(protocol, (*KINDS, "moments", "rows")):
        people = [Listened(table, chosen) for table in tables()]
        carry_in_process(Coordinator(chosen, "the study"), people)
        for each in people:
            assert tuple(told.size for told in each.told) == chosen.lengths


def test_replies_hold_the_fields_that_are_known(parties: list[Listened]) -> None:
    for each in parties:
        for reply in map(Update.from_bytes, each.sent):
            assert set(reply.fields) == FIELDS[reply.kind]
            assert (reply.numbers.size > 0) == (reply.kind == "masked")


def test_sizes_are_the_only_small_numbers(parties: list[Listened]) -> None:
    for number, each in enumerate(parties):
        for reply in map(Update.from_bytes, each.sent):
            plain = {k: v for k, v in reply.fields.items() if isinstance(v, int)}
            allowed = {"number", "round", "size", "simulation"}
            assert set(plain) <= allowed
            if reply.kind == "keys":
                assert plain["size"] == len(tables()[number][WDBC.schema.target.name])


def test_masked_numbers_are_uniform(parties: list[Listened]) -> None:
    for each in parties:
        masked = [Update.from_bytes(one) for one in each.sent]
        bits = np.concatenate([one.numbers for one in masked if one.kind == "masked"])
        for shift in (0, 28, 60):
            counts = np.bincount(
                ((bits >> np.uint64(shift)) & np.uint64(15)).astype(int), minlength=16
            )
            assert goodness_of_fit(counts, np.full(16, 1 / 16)) > 1e-9


def test_no_told_number_and_no_value_is_in_any_byte(parties: list[Listened]) -> None:
    for each, table in zip(parties, tables(), strict=True):
        sent = b"".join(each.sent)
        for told in each.told:
            large = told[np.abs(told) > 1 << 20]
            assert not any(sent.find(one.tobytes()) >= 0 for one in large)
            assert not any(sent.find(str(int(one)).encode()) >= 0 for one in large)
        values = np.concatenate([table[name] for name in WDBC.schema.names[:6]]).astype(np.float64)
        seen = {value.tobytes() for value in values} | {value.tobytes()[::-1] for value in values}
        assert not any(one in sent for one in seen)


def test_what_was_told_had_noise_before_it_was_masked() -> None:
    chosen = protocol("discriminant")
    rows = ENCODING.rows(WDBC.schema.read(tables()[0]))
    question = chosen.ask([])
    first, second = (chosen.tell(rows, question, secure()) for _ in range(2))
    assert (first != second).mean() > 0.99
