"""What a party keeps of a run: hashes that bind it to what it sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm import MessageError, ParameterError
from supm.messages.update import Commitments, commitment

KEPT = Commitments(study="0a" * 32, run="1b" * 32, number=2, rounds=("2c" * 32, "3d" * 32))
WHERE: dict[str, Any] = {"study": "0a" * 32, "run": "1b" * 32, "round": 0, "number": 2}
words = st.lists(st.integers(0, 2**64 - 1), max_size=9)
rounds = st.lists(st.binary(min_size=32, max_size=32).map(bytes.hex), max_size=4).map(tuple)


@given(sent=words)
def test_a_commitment_is_the_hash_of_where_and_what(sent: list[int]) -> None:
    """Written by hand: a mark, sorted JSON, a line's end, and little-endian words."""
    where = (f'{{"number":2,"round":0,"run":"{WHERE["run"]}","study":"{WHERE["study"]}"}}').encode()
    body = b"".join(each.to_bytes(8, "little") for each in sent)
    wanted = hashlib.sha256(b"supm-commitment-1\n" + where + b"\n" + body).hexdigest()
    assert commitment(WHERE, np.array(sent, dtype=np.uint64)) == wanted


def test_the_order_of_bytes_of_the_machine_does_not_matter() -> None:
    sent = np.arange(5, dtype=np.uint64)
    assert commitment(WHERE, sent.astype(">u8")) == commitment(WHERE, sent)


@given(sent=words.filter(len), place=st.integers(0, 8), bit=st.integers(0, 63))
def test_any_other_bit_is_another_commitment(sent: list[int], place: int, bit: int) -> None:
    vector = np.array(sent, dtype=np.uint64)
    other = vector.copy()
    other[place % len(sent)] ^= np.uint64(1 << bit)
    assert commitment(WHERE, vector) != commitment(WHERE, other)


@pytest.mark.parametrize("name", sorted(WHERE))
def test_another_place_is_another_commitment(name: str) -> None:
    vector = np.arange(3, dtype=np.uint64)
    assert commitment(WHERE | {name: "other"}, vector) != commitment(WHERE, vector)


def test_a_longer_vector_is_another_one() -> None:
    found = {commitment(WHERE, np.zeros(count, dtype=np.uint64)) for count in range(5)}
    assert len(found) == 5


@given(number=st.integers(0, 1 << 20), told=rounds)
def test_a_receipt_is_read_as_it_was_written(number: int, told: tuple[str, ...]) -> None:
    kept = replace(KEPT, number=number, rounds=told)
    assert Commitments.from_json(kept.to_json()) == kept
    assert list(json.loads(kept.to_json())) == ["number", "rounds", "run", "study", "version"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"study": "0" * 63}, "study must be a hash"),
        ({"run": "G" * 64}, "run must be a hash"),
        ({"run": None}, "run must be a hash"),
        ({"number": -1}, "number must be"),
        ({"number": True}, "number must be"),
        ({"number": (1 << 20) + 1}, "number must be"),
        ({"rounds": ["2c" * 32]}, "rounds must be of kind tuple"),
        ({"rounds": ("",)}, "each of rounds must be a hash"),
        ({"rounds": (None,)}, "each of rounds must be a hash"),
    ],
)
def test_a_wrong_part_is_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        replace(KEPT, **wrong)


@pytest.mark.parametrize("version", [0, 2, "1", True, None])
def test_another_version_is_refused(version: object) -> None:
    form = json.loads(KEPT.to_json()) | {"version": version}
    with pytest.raises(MessageError, match="version of a receipt must be 1"):
        Commitments.from_json(json.dumps(form))


def test_damage_is_refused_or_read_as_another_receipt(
    survives_damage: Callable[[str, Callable[[str], Any]], int],
) -> None:
    assert survives_damage(KEPT.to_json(), Commitments.from_json) > 150
