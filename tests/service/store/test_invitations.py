"""Used invitations: each once, and no row or order of rows that stands for one report."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import pytest
import sqlalchemy as sa

from supm.collection import plan
from supm.schema import Schema
from supm.service import actions
from supm.service.store import Opened, Store, Submission, _leaves
from supm.service.store._tables import METADATA, ids, spent
from supm.service.store.values import Refusal

Told: TypeAlias = Callable[..., Submission]


def hashes(count: int, salt: str = "") -> list[str]:
    return [hashlib.sha256(f"{salt}{each}".encode()).hexdigest() for each in range(count)]


def invite(store: Store, schema: Schema, codes: list[str]) -> Opened:
    study = plan(schema, epsilon=3.0, mode="faithful", attributes=["age", "stage"])
    return store.create(study, token_hash="0" * 64, minimums={}, deadlines={}, invitations=codes)


def leaves(store: Store) -> list[tuple[bytes, bytes]]:
    with store._database.reading() as connection:
        found = connection.execute(sa.select(spent).order_by(spent.c.start)).all()
    return [(each.start, each.packed) for each in found]


@pytest.mark.parametrize("most", [4, 4096])
def test_each_is_used_once_however_leaves_are_split(
    store: Store, schema: Schema, told: Told, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(_leaves, "_MOST", most)
    codes = hashes(40)
    opened = invite(store, schema, codes)
    for first in range(0, 40, 3):
        given = [told(opened, 1, at, codes[at]) for at in range(first, min(first + 3, 40))]
        assert all(each.new.all() for each in store.add(given))
    again = store.add([told(opened, 1, 100 + at, code) for at, code in enumerate(codes)])
    assert {each.refused for each in again} == {Refusal.USED_INVITATION}
    held = b"".join(packed for _, packed in leaves(store))
    assert sorted(held[at : at + 32].hex() for at in range(0, len(held), 32)) == sorted(codes)
    assert (len(leaves(store)) == 1) == (most > 40)
    starts = [start for start, _ in leaves(store)]
    assert starts[0] == b""
    for (start, packed), after in zip(leaves(store), [*starts[1:], b"\xff" * 33], strict=True):
        own = [packed[at : at + 32] for at in range(0, len(packed), 32)]
        assert own == sorted(own)
        assert start <= own[0] <= own[-1] < after
        assert min(most // 2, 40) <= len(own) <= most


def test_a_full_leaf_becomes_two_of_half_its_size(
    store: Store, schema: Schema, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_leaves, "_MOST", 8)
    codes = hashes(9)
    opened = invite(store, schema, codes)
    store.add([told(opened, 1, at, code) for at, code in enumerate(codes)])
    assert [len(packed) // 32 for _, packed in leaves(store)] == [5, 4]


def test_the_order_in_which_invitations_came_is_nowhere(
    store: Store, schema: Schema, told: Told
) -> None:
    codes = hashes(30)
    opened = invite(store, schema, codes)
    for at, code in enumerate(codes):
        store.add([told(opened, 1, at, code)])
    (((_, packed)),) = leaves(store)
    assert [packed[at : at + 32].hex() for at in range(0, 960, 32)] == sorted(codes)
    columns = {
        table.name: {each.name for each in table.columns} for table in METADATA.sorted_tables
    }
    assert [name for name, own in columns.items() if "hash" in own] == ["documents", "invitations"]


def test_postgresql_relates_no_invitation_to_a_transaction(
    postgres: Callable[[], str], schema: Schema, told: Told
) -> None:
    store = Store.open(postgres())
    codes = hashes(30)
    opened = invite(store, schema, codes)
    for at, code in enumerate(codes):
        store.add([told(opened, 1, at, code)])
    with store._database.reading() as connection:
        text = "SELECT length(s.packed) FROM spent s JOIN ids i ON i.xmin = s.xmin"
        together = connection.execute(sa.text(text)).scalars().all()
        assert connection.execute(sa.select(sa.func.count()).select_from(ids)).scalar_one() == 30
    # The last transaction wrote the leaf; that it holds thirty is all that one learns.
    assert together == [30 * 32]
    store.close()


def test_two_servers_that_fill_two_studies_in_either_order_do_not_wait_for_each_other(
    postgres: Callable[[], str], schema: Schema, told: Told
) -> None:
    url = postgres()
    one, other = Store.open(url), Store.open(url)
    first, second = (invite(one, schema, hashes(200, salt)) for salt in "ab")

    def fill(store: Store, at: int, *, turned: bool) -> None:
        pairs = (first, hashes(200, "a")), (second, hashes(200, "b"))
        given = [told(opened, 1, at, codes[at]) for opened, codes in pairs]
        store.add(given[::-1] if turned else given)

    with ThreadPoolExecutor(2) as threads:
        sent = [
            threads.submit(fill, store, 2 * at + turned, turned=bool(turned))
            for at in range(60)
            for turned, store in enumerate((one, other))
        ]
        for each in sent:
            each.result()
    assert one.reports(first.name)["train"] == other.reports(second.name)["train"] == 120
    one.close()
    other.close()


CODES = [hashlib.sha256(bytes([each])).hexdigest() for each in range(30)]


def send(store: Store, told: Told, opened: Opened, codes: list[str]) -> None:
    now = store.find(opened.name)
    given = [told(now, 1, CODES.index(code), code) for code in codes]
    assert all(each.new.all() for each in store.add(given))


@pytest.mark.parametrize("most", [4, 4096])
def test_what_was_used_is_taken_away(
    store: Store, schema: Schema, told: Told, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(_leaves, "_MOST", most)
    study = plan(schema, epsilon=3.0, attributes=["age", "stage"])
    opened, other = (
        store.create(study, token_hash="0" * 64, minimums={}, deadlines={}, invitations=CODES)
        for _ in range(2)
    )
    assert store.unused_invitations(opened.name, "train") == 30
    send(store, told, opened, CODES[:11])
    store.add([told(opened, 1, 99, CODES[0])])  # used already
    assert store.unused_invitations(opened.name, "train") == 19
    assert store.unused_invitations(other.name, "train") == 30


@pytest.mark.parametrize(("reduce", "left"), [("rank", 20), ("waldp", 30)])
def test_who_is_asked_once_has_used_it_and_who_is_asked_twice_has_not(
    store: Store, schema: Schema, told: Told, reduce: str, left: int
) -> None:
    study = plan(schema, epsilon=6.0, reduce=reduce, keep=2, test="answer")
    opened = store.create(study, token_hash="0" * 64, minimums={}, deadlines={}, invitations=CODES)
    send(store, told, opened, CODES[:10])
    assert store.unused_invitations(opened.name, "reduce") == 20
    actions.reduce_stored(store, opened.name)
    actions.open_training(store, opened.name)
    assert store.unused_invitations(opened.name, "train") == left
