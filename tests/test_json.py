from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm import MessageError
from supm._json import canonical, check_fields, read_object

VECTORS = json.loads((Path(__file__).parent / "canonical_vectors.json").read_text())
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
objects = st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), plain, max_size=5)


def refusal(text: object) -> str:
    with pytest.raises(MessageError) as caught:
        read_object(text, "report", MessageError)
    return str(caught.value)


@given(objects)
def test_what_is_written_is_read_as_the_same(form: dict[str, Any]) -> None:
    assert read_object(canonical(form), "form", MessageError) == form


@given(objects)
def test_neither_spaces_nor_the_order_of_keys_change_the_canonical_text(
    form: dict[str, Any],
) -> None:
    backwards = json.dumps(dict(reversed(form.items())), indent=3)
    assert canonical(read_object(backwards, "form", MessageError)) == canonical(form)


@pytest.mark.parametrize("vector", VECTORS["numbers"], ids=lambda vector: str(vector["text"]))
def test_numbers_are_written_as_the_standard_prints_them(vector: dict[str, str]) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(vector["bits"]))
    assert canonical(number) == vector["text"]


@pytest.mark.parametrize("vector", VECTORS["documents"], ids=lambda vector: str(vector["about"]))
def test_a_document_has_the_text_that_is_printed(vector: dict[str, str]) -> None:
    assert canonical(json.loads(vector["given"])) == vector["text"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 2**53, -(2**53)])
def test_a_number_that_doubles_do_not_hold_is_not_written(number: float) -> None:
    with pytest.raises(ValueError, match=r"not representable|exceeds safe integer"):
        canonical({"a": number})


def test_half_a_character_is_not_written() -> None:
    with pytest.raises(ValueError, match="non-UTF-8"):
        canonical({"a": "\ud800"})


@pytest.mark.parametrize("text", [None, 1, b"{}", ["{}"], {}])
def test_what_is_not_text_is_refused(text: object) -> None:
    assert refusal(text).startswith("a report must be text")


@pytest.mark.parametrize("text", ["[]", "1", "null", '"{}"', "true"])
def test_what_is_no_object_is_refused(text: str) -> None:
    assert refusal(text) == "the report must be a JSON object."


@pytest.mark.parametrize("text", ["", "{", '{"a" 1}', "{'a': 1}", '{"a": 1}x', "\ufeff{}", "\0"])
def test_what_is_not_json_is_refused_with_its_place(text: str) -> None:
    assert "is not JSON: " in refusal(text)
    assert "line 1, column" in refusal(text)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_of_other_languages_are_refused(constant: str) -> None:
    assert refusal(f'{{"a": [{constant}]}}').startswith(f"{constant} is not a number of JSON")


def test_a_number_of_very_many_digits_is_refused() -> None:
    assert "too many digits" in refusal(f'{{"a": {"9" * 5000}}}')


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_text_that_nests_without_end_is_refused(opening: str) -> None:
    assert "nested too deeply" in refusal('{"a":' + opening * 100_000)


def test_a_text_that_is_too_long_is_refused_before_it_is_read() -> None:
    assert (
        refusal(" " * (1 << 24) + "{}") == "a report must be text of at most 16777216 characters."
    )


def test_a_key_that_occurs_twice_is_refused_however_many_keys_there_are() -> None:
    # A search that compares every key with every other would run for an hour.
    keys = ",".join(f'"{number}":0' for number in range(200_000))
    assert refusal(f'{{{keys},"199999":0}}') == (
        "the key '199999' occurs twice in one object; keep one of them."
    )


@pytest.mark.parametrize("name", ["\n", "a\ud800", "\x1b[2J"])
def test_an_unknown_field_is_named_so_that_it_can_be_printed(name: str) -> None:
    with pytest.raises(MessageError) as caught:
        check_fields({name: 1}, ["a"], "a report", MessageError)
    assert str(caught.value) == f"{name!r} is not a field of a report; its fields are a."


def test_a_long_name_is_cut_and_a_known_field_passes() -> None:
    with pytest.raises(MessageError, match=r"^at\.b{60} is not a field of a report"):
        check_fields({"a": 1, "b" * 999: 1}, ["a"], "a report", MessageError, path="at.")
    check_fields({"a": 1}, ["a", "c"], "a report", MessageError)
