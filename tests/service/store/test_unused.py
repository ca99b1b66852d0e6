"""Invitations that nobody has used are counted, whichever phase they were for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TypeAlias

import pytest

from supm.collection import plan
from supm.schema import Schema
from supm.service import actions
from supm.service.store import Opened, Store, Submission, _spent

Told: TypeAlias = Callable[..., Submission]
CODES = [hashlib.sha256(bytes([each])).hexdigest() for each in range(30)]


def send(store: Store, told: Told, opened: Opened, codes: list[str]) -> None:
    now = store.find(opened.name)
    given = [told(now, 1, CODES.index(code), code) for code in codes]
    assert all(each.new.all() for each in store.add(given))


@pytest.mark.parametrize("most", [4, 4096])
def test_what_was_used_is_taken_away(
    store: Store, schema: Schema, told: Told, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(_spent, "_MOST", most)
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
    actions.reduce(store, opened.name)
    actions.open_training(store, opened.name)
    assert store.unused_invitations(opened.name, "train") == left
