"""The one codec: the fields of a class are its form, and nothing else is read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import MessageError, ParameterError, PublicationError
from supm._validation import Integers
from supm.messages.codec import Message


@dataclass(frozen=True, kw_only=True)
class Inner(Message):
    noun = "an inner note"
    kind = "inner"
    number: int

    def __post_init__(self) -> None:
        Integers("number", 0, 9).check(self.number)


@dataclass(frozen=True, kw_only=True)
class Other(Message):
    noun = "another note"
    kind = "other"
    text: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Note(Message):
    noun = "a note"
    version = 3
    words: tuple[str, ...]
    notes: tuple[Inner, ...] = ()
    either: Inner | Other | None = None
    table: NDArray[np.float64] = field(default_factory=lambda: np.zeros((1, 2)))
    groups: tuple[tuple[int, ...], ...] | None = None
    plain: dict[str, Any] = field(default_factory=dict)
    fixed: ClassVar[str] = "is no field"

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", np.array(self.table, dtype=np.float64))


NOTE = Note(
    words=("one", "two"),
    notes=(Inner(number=1), Inner(number=2)),
    either=Other(text="three"),
    table=np.array([[4.0, 0.5]]),
    groups=((0, 1), ()),
    plain={"a": [1, {}]},
)
FORM: dict[str, Any] = {
    "version": 3,
    "words": ["one", "two"],
    "notes": [{"kind": "inner", "number": 1}, {"kind": "inner", "number": 2}],
    "either": {"kind": "other", "text": "three"},
    "table": [[4.0, 0.5]],
    "groups": [[0, 1], []],
    "plain": {"a": [1, {}]},
}


def test_a_message_is_written_and_read_as_its_fields() -> None:
    assert NOTE.to_form() == FORM
    again = Note.from_json(NOTE.to_json())
    assert again.to_form() == FORM
    assert again.notes == NOTE.notes
    assert again.groups == NOTE.groups
    assert replace(NOTE, either=None).to_form()["either"] is None


def test_the_text_is_canonical() -> None:
    assert '"table":[[4,0.5]]' in NOTE.to_json()
    assert Note.from_json(json.dumps(FORM, indent=2)).to_json() == NOTE.to_json()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"version": 2}, "the version of a note must be 3; this release reads no other."),
        ({"version": True}, "the version of a note must be 3; this release reads no other."),
        ({"more": 1}, "more is not a field of a note; its fields are version, words, notes"),
        ({"words": "one"}, "words of a note must be a list."),
        ({"words": None}, "words of a note must be a list."),
        ({"notes": [FORM["notes"][0], 7]}, "notes[1] of a note: an inner note must be a JSON obj"),
        (
            {"notes": [{"kind": "inner", "number": 10}]},
            "notes[0] of a note: number must be a whole",
        ),
        ({"notes": [{"kind": "inner"}]}, "notes[0] of a note: an inner note has the fields kind"),
        (
            {"notes": [{"kind": "other", "number": 1}]},
            "notes[0] of a note: the kind of an inner no",
        ),
        ({"either": {"kind": "x"}}, "either of a note must be of the kind inner or other."),
        ({"either": "inner"}, "either of a note must be of the kind inner or other."),
        ({"either": {"kind": ["inner"]}}, "either of a note must be of the kind inner or other."),
        ({"table": [[1, True]]}, "table of a note must be a table of numbers."),
        ({"table": [["1"]]}, "table of a note must be a table of numbers."),
        ({"groups": [1]}, "groups[0] of a note must be a list."),
    ],
)
def test_what_is_wrong_is_said_with_the_path_to_it(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(MessageError) as refusal:
        Note.from_form(FORM | change)
    assert str(refusal.value).startswith(complaint)


@pytest.mark.parametrize("name", [name for name in FORM if name != "version"])
def test_a_field_that_is_left_out_is_refused(name: str) -> None:
    form = {each: value for each, value in FORM.items() if each != name}
    with pytest.raises(MessageError, match="a note has the fields version, words"):
        Note.from_form(form)


def test_a_room_may_refuse_with_an_error_of_its_own() -> None:
    class Published(Inner):
        refusal = PublicationError

    with pytest.raises(PublicationError, match="number must be"):
        Published.from_form({"kind": "inner", "number": -1})
    with pytest.raises(ParameterError):
        Published(number=-1)


@dataclass(frozen=True, kw_only=True)
class Pair(Message):
    noun = "a pair"
    one: Plain | Plainer


@dataclass(frozen=True, kw_only=True)
class Plain(Message):
    noun = "a plain note"
    text: str


@dataclass(frozen=True, kw_only=True)
class Plainer(Message):
    noun = "a plainer note"
    number: int


def test_of_several_without_a_kind_it_is_the_one_whose_fields_are_there() -> None:
    for one in (Plain(text="a"), Plainer(number=1)):
        assert Pair.from_form(Pair(one=one).to_form()).one == one
