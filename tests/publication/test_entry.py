"""Entries: one meaning has one text, and nothing else is read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm import ParameterError, PublicationError
from supm._json import canonical
from supm.publication.entry import ChainEntry, LogEntry, ReleaseEntry, RoundEntry, read_entry
from supm.publication.history import rotating

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

HASH = "5" * 64
# One of each kind that JSON has, with what is easily taken for something else.
STRANGE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    1.0,
    -(2**70),
    10**400,
    2.5,
    math.nan,
    math.inf,
    "",
    "x",
    "\ud800",
    "\x1b[2J",
    "9" * 64,
    [],
    {},
    [None],
    [[]],
    [[1]],
    [{}],
    ["a"],
    {"parts": 1},
    {"version": 1},
)

EMPTY: tuple[Any, ...] = (None, False, 0, [], {})


@pytest.fixture
def entries(maker: Maker) -> list[LogEntry]:
    return [
        maker.release(),
        maker.joint_release((HASH, ""), ("", HASH)),
        maker.round(3, HASH, "", asked=(0.5, -1e-300)),
        rotating(maker.time, maker.key(2).verifier, maker.key(1)),
        maker.contract(),
    ]


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


def written(form: Any) -> str:
    """Write like `canonical`, and also what that would refuse."""
    return json.dumps(form, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def test_what_was_written_is_read(entries: list[LogEntry]) -> None:
    for entry in entries:
        found = read_entry(entry.text)
        assert found == entry
        assert found.text == entry.text
        assert type(found) is type(entry)


def test_the_text_is_canonical_json_with_version_and_kind(entries: list[LogEntry]) -> None:
    for entry in entries:
        form = json.loads(entry.text)
        assert canonical(form) == entry.text
        assert (form["version"], form["kind"]) == (1, entry.kind)
        assert list(form) == sorted(form)


def test_an_entry_with_a_strange_value_is_refused_or_is_another_entry(
    entries: list[LogEntry],
) -> None:
    """No other error leaves than PublicationError, whatever is where."""
    for entry in entries:
        form, refused = json.loads(entry.text), 0
        for path in places(form):
            for strange in STRANGE:
                text = written(changed(form, path, strange))
                try:
                    found = read_entry(text)
                except PublicationError as error:
                    refused += bool(str(error).encode())
                else:
                    assert found.text == text
                    assert found.text.encode()
        assert refused > 0.8 * len(STRANGE) * len(list(places(form)))


def test_what_is_read_has_fields_of_the_right_kind(entries: list[LogEntry]) -> None:
    """An empty list is no empty text: neither a run nor a signature may be one."""
    for entry in entries:
        form = json.loads(entry.text)
        for path in places(form):
            held = form
            for key in path:
                held = held[key]
            if isinstance(held, str):
                for strange in EMPTY:
                    with pytest.raises(PublicationError):
                        read_entry(written(changed(form, path, strange)))


def test_a_missing_or_surplus_field_is_refused(entries: list[LogEntry]) -> None:
    for entry in entries:
        form = json.loads(entry.text)
        for path in places(form):
            held = form
            for key in path:
                held = held[key]
            if not isinstance(held, dict):
                continue
            with pytest.raises(PublicationError):
                read_entry(written(changed(form, path, held | {"surplus": 1})))
            for name in held:
                rest = {key: value for key, value in held.items() if key != name}
                with pytest.raises(PublicationError):
                    read_entry(written(changed(form, path, rest)))


@pytest.mark.parametrize("version", [0, 2, "1", True, 1.0, None, []])
def test_another_version_is_refused(maker: Maker, version: object) -> None:
    form = maker.contract().to_form() | {"version": version}
    with pytest.raises(PublicationError):
        read_entry(written(form))


@pytest.mark.parametrize("kind", ["Release", "", "rounds", None, [], {}, 3])
def test_an_unknown_kind_is_refused(maker: Maker, kind: object) -> None:
    form = maker.contract().to_form() | {"kind": kind}
    with pytest.raises(PublicationError, match="an entry of the log"):
        read_entry(written(form))


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda text: " " + text,
        lambda text: text + "\n",
        lambda text: text.replace(":", ": "),
        lambda text: text.replace(",", ", "),
        lambda text: json.dumps(dict(reversed(json.loads(text).items())), separators=(",", ":")),
        lambda text: text.replace('"kind"', '"\\u006bind"'),
        lambda text: text.replace("{", '{"kind":"chain",', 1),
        lambda text: text.replace('"chain":1,', '"chain":1.0,'),
        lambda text: text.replace('"chain":1,', '"chain":1e0,'),
        lambda text: text.replace('"chain":1,', '"chain":true,'),
        lambda text: text.encode(),
        lambda text: [text],
        lambda text: text[:-1],
        lambda text: "\ufeff" + text,
        lambda _: "[" * 100_000,
        lambda _: "null",
        lambda _: "",
        lambda _: None,
    ],
)
def test_another_way_of_writing_is_refused(maker: Maker, rewrite: Callable[[str], Any]) -> None:
    text = maker.contract().text
    with pytest.raises(PublicationError):
        read_entry(rewrite(text))


@given(text=st.text())
def test_no_other_error_leaves_for_any_text(text: str) -> None:
    with pytest.raises(PublicationError):
        read_entry(text)


def test_a_round_asks_with_finite_numbers(maker: Maker) -> None:
    entry = maker.round(0, HASH, asked=(0.25,))
    for number in ("1e400", "-1e400", "NaN", "Infinity", "true", '"1"'):
        with pytest.raises(PublicationError):
            read_entry(entry.text.replace("0.25", number))
    wrong: tuple[Any, ...] = ((math.nan,), (math.inf,), ("1",))
    for asked in wrong:
        with pytest.raises(ParameterError, match="asked must be finite"):
            replace(entry, asked=asked)


def test_an_entry_promises_what_its_statement_does(maker: Maker) -> None:
    form = maker.release().to_form()
    other = maker.release(epsilon=0.1).to_form()
    for name in ("promised", "statement"):
        with pytest.raises(PublicationError, match="promises something else"):
            read_entry(written(form | {name: other[name]}))
    with pytest.raises(PublicationError, match="promises something else"):
        read_entry(written(form | {"study": "f" * 64}))


def test_guarantees_are_told_by_whom_they_are_made_to(maker: Maker) -> None:
    assert list(maker.release().guarantees) == ["who helped to train", "who was tested"]
    assert list(maker.joint_release((HASH,)).guarantees) == ["each record"]


@pytest.mark.parametrize(
    "time",
    [
        "2026-11-18T14:00:00",
        "2026-11-18 14:00:00Z",
        "2026-11-18T14:00:00z",
        "2026-11-18T14:00:00.5Z",
        "2026-11-18T14:00:00+00:00",
        "2026-2-3T14:00:00Z",
        "2026-02-30T14:00:00Z",
        "2026-11-18T24:00:00Z",
        " 2026-11-18T14:00:00Z",
        "২০২৬-11-18T14:00:00Z",
        "",
        None,
        0,
    ],
)
def test_another_time_is_refused(maker: Maker, time: Any) -> None:
    with pytest.raises(ParameterError, match="time must be a time in UTC"):
        replace(maker.contract(), time=time)


@pytest.mark.parametrize("hash_", ["", "5" * 63, "5" * 65, "A" * 64, "g" * 64, None, HASH + "\n"])
def test_another_hash_is_refused(maker: Maker, hash_: Any) -> None:
    with pytest.raises(ParameterError, match="content must be a hash"):
        replace(maker.release(), content=hash_)
    with pytest.raises(ParameterError, match="log must be a hash"):
        replace(maker.contract(), log=hash_)
    with pytest.raises(ParameterError, match="run must be a hash"):
        replace(maker.joint_release((HASH,)), run=hash_)


@pytest.mark.parametrize(
    "name", ["", "a/b", "..\\b", "a\nb", "\x1b[2J", "x" * 201, "\ud800", "\u202e", None, 7]
)
def test_another_name_of_a_file_is_refused(maker: Maker, name: Any) -> None:
    with pytest.raises(ParameterError, match="name must be a file name"):
        replace(maker.release(), name=name)


@pytest.mark.parametrize("address", ["", "0x", "ab" * 20, "0x" + "g" * 40, "0x" + "0" * 41, None])
def test_another_address_is_refused(maker: Maker, address: Any) -> None:
    with pytest.raises(ParameterError, match="contract must be 0x"):
        replace(maker.contract(), contract=address)
    with pytest.raises(ParameterError, match="publisher must be 0x"):
        replace(maker.contract(), publisher=address)


def test_other_wrong_parts_are_refused(maker: Maker) -> None:
    release, round_ = maker.release(), maker.round(0, HASH)
    wrong: list[tuple[LogEntry, dict[str, Any]]] = [
        (release, {"size": -1}),
        (release, {"size": True}),
        (release, {"statement": "none"}),
        (release, {"commitments": ((HASH,),)}),
        (maker.joint_release((HASH,)), {"commitments": ((),)}),
        (round_, {"commitments": ()}),
        (round_, {"commitments": ("x",)}),
        (round_, {"commitments": [HASH]}),
        (round_, {"round": -1}),
        (round_, {"study": ""}),
        (maker.contract(), {"chain": 0}),
    ]
    for entry, parts in wrong:
        with pytest.raises(ParameterError):
            replace(entry, **parts)


def test_a_change_of_keys_has_one_way_to_write_the_key(maker: Maker) -> None:
    entry = rotating(maker.time, maker.key(2).verifier, maker.key(1))
    name, told, key = entry.key.split("+", 2)
    wrong: tuple[Any, ...] = (f"{entry.key}\n", f" {entry.key}", f"{name}+{told.upper()}+{key}", 7)
    for each in wrong:
        with pytest.raises((ParameterError, PublicationError)):
            replace(entry, key=each)
    acts: tuple[Any, ...] = ("", "Rotate", None, [])
    for act in acts:
        with pytest.raises(ParameterError, match="act must be rotate or revoke"):
            replace(entry, act=act)
    for signature in ("0" * 127, "0" * 130, "F" * 128, "g" * 128):
        with pytest.raises(ParameterError, match="128 hexadecimal digits"):
            replace(entry, signature=signature)


def test_the_kinds_are_told_apart(maker: Maker) -> None:
    assert isinstance(read_entry(maker.release().text), ReleaseEntry)
    assert isinstance(read_entry(maker.round(0, HASH).text), RoundEntry)
    assert isinstance(read_entry(maker.contract().text), ChainEntry)
