"""Damage: every wrong value in every place of a message, and what must come of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from supm import MessageError

DEEP: list[Any] = []
for _ in range(200):
    DEEP = [DEEP]

# One of each kind that JSON has, with what is easily taken for something else.
WRONG: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    0,
    3,
    2.5,
    1e400,
    float("nan"),
    10**400,
    -(2**70),
    "",
    "x",
    "\ud800",
    "9" * 64,
    [],
    {},
    [None],
    [[1]],
    ["a", "a"],
    {"version": 1},
    {"type": "pure-ldp", "epsilon": -1},
    DEEP,
)


def places(form: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside a form, itself included."""
    yield path
    if isinstance(form, dict | list):
        for key in form if isinstance(form, dict) else range(len(form)):
            yield from places(form[key], (*path, key))


def changed(form: Any, path: tuple[Any, ...], value: object) -> Any:
    """Return a copy with another value in one place."""
    if not path:
        return value
    copy = deepcopy(form)
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


def damaged(form: Any) -> Iterator[str]:
    """Yield the texts of a form with a wrong value, without a field, and with one more."""
    for path in places(form):
        for value in WRONG:
            yield json.dumps(changed(form, path, value))
        held = form
        for key in path:
            held = held[key]
        if isinstance(held, dict):
            yield json.dumps(changed(form, path, held | {"surplus": 1}))
            for name in held:
                rest = {key: value for key, value in held.items() if key != name}
                yield json.dumps(changed(form, path, rest))


@pytest.fixture
def survives_damage() -> Callable[[str, Callable[[str], Any]], int]:
    """Return a check that damage is refused with MessageError, or is read as another message.

    What is read must be written and read again as the same. The result is how many were refused.
    """

    def check(text: str, read: Callable[[str], Any]) -> int:
        refused = 0
        for wrong in damaged(json.loads(text)):
            try:
                found = read(wrong)
            except MessageError as error:
                refused += bool(str(error).encode())  # encoding fails where it could not be printed
            else:
                assert read(found.to_json()).to_json() == found.to_json()
        return refused

    return check
