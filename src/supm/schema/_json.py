"""The JSON form of a schema: strict to read, and written in one way only."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any, Final, NoReturn

from supm._errors import SchemaError
from supm.schema._fields import FieldError
from supm.schema.attributes import Attribute, Categorical, Continuous, Ordinal

__all__ = ["attributes_from_json", "attributes_to_json"]

_VERSION: Final = 1
_LONGEST: Final = 1 << 24
_KINDS: Final[dict[str, type[Continuous | Ordinal | Categorical]]] = {
    "continuous": Continuous,
    "ordinal": Ordinal,
    "categorical": Categorical,
}
_FIELDS: Final = ("version", "attributes", "target")


def attributes_from_json(text: str) -> tuple[tuple[Attribute, ...], Attribute]:
    """Return the attributes and the target that a text describes."""
    form = _object(_parsed(text), "the schema")
    _refuse_unknown(form, _FIELDS, "", "a schema")
    for field in _FIELDS:
        if field not in form:
            message = f"{field} is missing; a schema has the fields {', '.join(_FIELDS)}."
            raise SchemaError(message)
    if type(form["version"]) is not int or form["version"] != _VERSION:
        message = f"version must be {_VERSION}; this release reads no other."
        raise SchemaError(message)
    if not isinstance(form["attributes"], list):
        message = "attributes must be a list of objects."
        raise SchemaError(message)
    attributes = tuple(
        _attribute(each, f"attributes[{place}]") for place, each in enumerate(form["attributes"])
    )
    return attributes, _attribute(form["target"], "target")


def attributes_to_json(attributes: tuple[Attribute, ...], target: Attribute) -> str:
    """Write one line for each attribute. Equal schemas have equal text."""
    lines = ",\n    ".join(_line(attribute) for attribute in attributes)
    return (
        f'{{\n  "version": {_VERSION},\n  "attributes": [\n    {lines}\n  ],\n'
        f'  "target": {_line(target)}\n}}\n'
    )


def _parsed(text: object) -> object:
    if not isinstance(text, str) or len(text) > _LONGEST:
        message = f"a schema must be text of at most {_LONGEST} characters."
        raise SchemaError(message)
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        message = f"the schema is not JSON: {error.msg} ({place})."
        raise SchemaError(message) from None
    except RecursionError:
        message = "the schema is not a schema: it is nested too deeply."
        raise SchemaError(message) from None
    except SchemaError:
        raise
    except ValueError:
        message = "the schema is not JSON that can be read: a number has too many digits."
        raise SchemaError(message) from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    form = dict(pairs)
    if len(form) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"the key {twice[:60]!r} occurs twice in one object; keep one of them."
        raise SchemaError(message)
    return form


def _refuse_constant(token: str) -> NoReturn:
    message = f"{token} is not a number of JSON; a bound must be finite."
    raise SchemaError(message)


def _attribute(form: object, path: str) -> Attribute:
    given = dict(_object(form, path))
    kind = given.pop("type", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        message = f"{path}.type must be one of {', '.join(_KINDS)}."
        raise SchemaError(message)
    known = {field.name: field for field in fields(_KINDS[kind])}
    _refuse_unknown(given, ("type", *known), f"{path}.", f"type {kind}")
    for name, field in known.items():
        if name not in given and field.default is MISSING:
            message = f"{path}.{name} is missing; type {kind} needs it."
            raise SchemaError(message)
    try:
        return _KINDS[kind](**given)
    except FieldError as error:
        message = f"{path}.{error.field} {error.problem}"
        raise SchemaError(message) from None


def _object(form: object, path: str) -> dict[str, Any]:
    if not isinstance(form, dict):
        message = f"{path} must be a JSON object."
        raise SchemaError(message)
    return form


def _refuse_unknown(form: dict[str, Any], known: Iterable[str], path: str, noun: str) -> None:
    allowed = list(known)
    for name in form:
        if name not in allowed:
            fields_of = f"{noun}; its fields are {', '.join(allowed)}"
            message = f"{path}{name[:60]} is not a field of {fields_of}."
            raise SchemaError(message)


def _line(attribute: Attribute) -> str:
    kind = next(word for word, known in _KINDS.items() if type(attribute) is known)
    form: dict[str, object] = {"name": attribute.name, "type": kind}
    if isinstance(attribute, Continuous):
        form |= {"low": _plain(attribute.low), "high": _plain(attribute.high)}
    else:
        form |= {"values": list(attribute.values)}
    if attribute.missing != "refuse":
        form |= {"missing": attribute.missing}
    return json.dumps(form, ensure_ascii=False, allow_nan=False)


def _plain(bound: float) -> float:
    """Write a whole bound as a person would: 120, not 120.0."""
    return int(bound) if bound.is_integer() and abs(bound) < 1 << 53 else bound
