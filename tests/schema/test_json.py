from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supm._errors import SchemaError
from supm.schema import Attribute, Categorical, Continuous, Ordinal, Schema

BY_HAND = """
{"version": 1,
 "attributes": [
   {"name": "age", "type": "continuous", "low": 0, "high": 120},
   {"name": "stage", "type": "ordinal", "values": ["I", "II", "III"], "missing": "class"}
 ],
 "target": {"name": "diagnosis", "type": "categorical", "values": ["benign", "malignant"]}}
"""

_letters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cf"))
_names = st.text(_letters, min_size=1, max_size=20).filter(lambda name: bool(name.strip()))
_plain = st.one_of(
    st.text(_letters, max_size=8),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
)
_values = st.lists(_plain, min_size=2, max_size=6, unique=True).map(tuple)
_bounds = st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)).filter(
    lambda pair: pair[0] < pair[1]
)
_missing = st.sampled_from(["refuse", "class"])


@st.composite
def _attributes(draw: st.DrawFn, name: str, missing: st.SearchStrategy[Any]) -> Attribute:
    if draw(st.booleans()):
        low, high = draw(_bounds)
        return Continuous(name, low=low, high=high, missing=draw(missing))
    if draw(st.booleans()):
        return Ordinal(name, values=draw(_values), missing=draw(missing))
    return Categorical(name, values=draw(_values), missing=draw(missing))


@st.composite
def _schemas(draw: st.DrawFn) -> Schema:
    *names, last = draw(st.lists(_names, min_size=2, max_size=5, unique=True))
    attributes = tuple(draw(_attributes(name, _missing)) for name in names)
    return Schema(attributes=attributes, target=draw(_attributes(last, st.just("refuse"))))


def _form() -> dict[str, Any]:
    return dict(json.loads(BY_HAND))


def _refusal(form: object) -> str:
    with pytest.raises(SchemaError) as caught:
        Schema.from_json(form if isinstance(form, str) else json.dumps(form))
    return str(caught.value)


def test_a_schema_written_by_hand_is_read() -> None:
    assert Schema.from_json(BY_HAND) == Schema(
        attributes=(
            Continuous("age", low=0, high=120),
            Ordinal("stage", values=("I", "II", "III"), missing="class"),
        ),
        target=Categorical("diagnosis", values=("benign", "malignant")),
    )


@settings(deadline=None)
@given(_schemas())
def test_a_schema_survives_saving_and_loading_with_its_text(schema: Schema) -> None:
    text = schema.to_json()
    again = Schema.from_json(text)
    assert again == schema
    assert again.to_json() == text
    assert text.encode().decode() == text
    pairs = zip(again.attributes, schema.attributes, strict=True)
    assert all(repr(one) == repr(other) for one, other in pairs)


def test_one_schema_has_one_text_however_it_was_written() -> None:
    other = json.dumps(_form() | {"attributes": _form()["attributes"]}, indent=4, sort_keys=True)
    other = other.replace('"low": 0', '"low": -0.0').replace('"high": 120', '"high": 1.2e2')
    assert Schema.from_json(other).to_json() == Schema.from_json(BY_HAND).to_json()


def test_the_kinds_of_values_are_kept() -> None:
    form = _form()
    form["attributes"][1]["values"] = [True, 2, 3.0, "4"]
    values = Schema.from_json(Schema.from_json(json.dumps(form)).to_json()).attributes[1]
    assert isinstance(values, Ordinal)
    assert [type(value) for value in values.values] == [bool, int, float, str]


@pytest.mark.parametrize("version", [0, 2, "1", 1.0, True, None])
def test_another_version_is_refused(version: Any) -> None:
    assert _refusal(_form() | {"version": version}).startswith("version must be 1")


@pytest.mark.parametrize("field", ["version", "attributes", "target"])
def test_a_schema_without_one_of_its_fields_is_refused(field: str) -> None:
    form = _form()
    del form[field]
    assert _refusal(form).startswith(f"{field} is missing")


def test_a_field_that_no_schema_has_is_refused() -> None:
    assert _refusal(_form() | {"epsilon": 1}).startswith("epsilon is not a field of a schema")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"type": "continous"}, "attributes[0].type must be one of continuous, ordinal, categorical"),
    ({"type": None}, "attributes[0].type must be one of"),
    ({"type": ["continuous"]}, "attributes[0].type must be one of"),
    ({"min": 0}, "attributes[0].min is not a field of type continuous; its fields are type, name"),
    ({"values": [1, 2]}, "attributes[0].values is not a field of type continuous"),
    ({"low": "0"}, "attributes[0].low must be a finite number"),
    ({"low": None}, "attributes[0].low must be a finite number"),
    ({"low": 200}, "attributes[0].low must be below high"),
    ({"high": 0}, "attributes[0].low must be below high, but both are 0"),
    ({"high": True}, "attributes[0].high must be a finite number"),
    ({"name": ""}, "attributes[0].name must be text"),
    ({"missing": "drop"}, "attributes[0].missing must be"),
    ({"type": "ordinal"}, "attributes[0].low is not a field of type ordinal"),
]


@pytest.mark.parametrize(("change", "start"), WRONG)
def test_what_is_wrong_in_an_attribute_is_named_by_its_path(
    change: dict[str, Any], start: str
) -> None:
    form = _form()
    form["attributes"][0] |= change
    assert _refusal(form).startswith(start)


def test_the_path_leads_to_a_value_in_a_list_and_to_the_target() -> None:
    form = _form()
    form["attributes"][1]["values"][2] = None
    assert _refusal(form).startswith("attributes[1].values[2] must be text")
    form = _form()
    form["target"]["values"] = ["benign"]
    assert _refusal(form).startswith("target.values must be at least two")


@pytest.mark.parametrize("field", ["name", "low", "high"])
def test_a_field_that_an_attribute_needs_is_asked_for(field: str) -> None:
    form = _form()
    del form["attributes"][0][field]
    assert _refusal(form).startswith(f"attributes[0].{field} is missing")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "not JSON"),
        ("[]", "the schema must be a JSON object"),
        ("null", "the schema must be a JSON object"),
        ("\ufeff{}", "not JSON"),
        (BY_HAND + "{}", "not JSON: Extra data"),
        (BY_HAND.replace("120", "NaN"), "NaN is not a number of JSON"),
        (BY_HAND.replace("120", "-Infinity"), "-Infinity is not a number of JSON"),
        (BY_HAND.replace("120", "1e999"), "attributes[0].high must be a finite number"),
        (BY_HAND.replace("120", "9" * 5000), "a number has too many digits"),
        (BY_HAND.replace("120", "9" * 400), "a number has too many digits"),
        (BY_HAND.replace('"high"', '"low"'), "the key 'low' occurs twice"),
        (BY_HAND.replace('"stage"', '"age"'), "the name 'age' occurs twice"),
        (BY_HAND.replace('"diagnosis"', '"age"'), "the name 'age' occurs twice"),
        (BY_HAND.replace('"I"', '"\\ud800"'), "attributes[1].values[0] must be Unicode"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (" " * (2**24 + 1), "at most 16777216 characters"),
        ('{"version": 1, "attributes": {}, "target": {}}', "attributes must be a list of objects"),
        ('{"version": 1, "attributes": [], "target": []}', "target must be a JSON object"),
        ('{"version": 1, "attributes": [3], "target": {}}', "attributes[0] must be a JSON object"),
    ],
    ids=range(20),
)
def test_text_that_is_no_schema_is_refused_with_one_sentence(text: str, part: str) -> None:
    message = _refusal(text)
    assert part in message
    assert len(message) < 200


def test_bytes_are_refused() -> None:
    with pytest.raises(SchemaError, match="must be text"):
        Schema.from_json(BY_HAND.encode())  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", ["\x1b[2K", "\n", "\x00", "\x9b", "\u202e", "\u2066"])
def test_names_and_values_do_not_command_the_terminal_of_who_reads_them(mark: str) -> None:
    with pytest.raises(SchemaError, match="without control characters") as refused:
        Continuous(f"age{mark}", low=0, high=1)
    assert mark not in str(refused.value)
    with pytest.raises(SchemaError, match="without control characters") as refused:
        Categorical("ill", values=("no", f"yes{mark}"))
    assert mark not in str(refused.value)
